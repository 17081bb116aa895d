//! REST's representations of messages: a codec and its media type.

pub(crate) mod compression;
pub(crate) mod xml;

use prost::Message as _;
use serde::{Deserialize, Serialize};
use wirelab_contract::json::Object;
use wirelab_contract::{Contract, Message, lists};

use wirelab_stack::Codec;

/// The field of [`ErrorMessage`], and of the other codecs' errors.
#[derive(Serialize)]
struct ErrorBody<'a> {
    error: &'a str,
}

/// An application error in protobuf (contracts/README.md, REST).
#[derive(Clone, PartialEq, prost::Message)]
struct ErrorMessage {
    #[prost(string, tag = "1")]
    error: String,
}

/// Codecs of the other bindings, named one by one: the compiler then asks what
/// is to become of a new one.
macro_rules! not_rest {
    () => {
        Codec::SoapLiteral | Codec::SoapRpc | Codec::SoapEncoded | Codec::Cdr | Codec::TokenXml
    };
}

/// In text there is Hello's reply and nothing else, and that needs no writer.
const NO_FORM: &str = "the codec has no form for messages of fields";

/// What REST does with a codec.
pub(crate) trait Representation {
    /// The media type of what is written, with parameters.
    fn content_type(self) -> &'static str;

    /// Whether a body of that media type is read.
    fn reads(self, media_type: &str) -> bool;

    /// A message as bytes.
    fn write<M: Message>(self, message: &M) -> Vec<u8>;

    /// A message from bytes.
    ///
    /// # Errors
    /// What is wrong with them.
    fn read<M: Message>(self, body: &[u8]) -> Result<M, String>;

    /// The sentence of an answer that is no reply.
    fn problem(self, contract: Contract, text: String) -> Vec<u8>;
}

impl Representation for Codec {
    fn content_type(self) -> &'static str {
        match self {
            Codec::Text => "text/plain; charset=utf-8",
            other => other.media_type(),
        }
    }

    fn reads(self, media_type: &str) -> bool {
        let also = match self {
            Codec::Xml => "text/xml",
            other => other.media_type(),
        };
        [self.media_type(), also]
            .iter()
            .any(|own| media_type.eq_ignore_ascii_case(own))
    }

    fn write<M: Message>(self, message: &M) -> Vec<u8> {
        match self {
            Codec::Json => serde_json::to_vec(message).expect("messages are maps with text keys"),
            Codec::Xml => xml::write(message),
            Codec::Cbor => cbor(message),
            Codec::Msgpack => msgpack(message),
            Codec::Protobuf => message.encode_to_vec(),
            Codec::Text | not_rest!() => unreachable!("{NO_FORM}"),
        }
    }

    fn read<M: Message>(self, body: &[u8]) -> Result<M, String> {
        match self {
            Codec::Json => serde_json::from_slice::<Object<M>>(body)
                .map(|object| object.0)
                .map_err(|error| error.to_string()),
            Codec::Xml => xml::read(body).map_err(|error| error.to_string()),
            Codec::Cbor => {
                let mut rest = body;
                let read: Object<M> =
                    ciborium::from_reader(&mut rest).map_err(|error| error.to_string())?;
                whole(read, rest.len())
            }
            Codec::Msgpack => {
                let mut rest = body;
                let read = Object::deserialize(&mut rmp_serde::Deserializer::new(&mut rest));
                whole(read.map_err(|error| error.to_string())?, rest.len())
            }
            Codec::Protobuf => lists::from_protobuf(body).map_err(|error| error.to_string()),
            Codec::Text | not_rest!() => Err(NO_FORM.to_owned()),
        }
    }

    fn problem(self, contract: Contract, text: String) -> Vec<u8> {
        match self {
            Codec::Json => {
                serde_json::to_vec(&ErrorBody { error: &text }).expect("a text can be written")
            }
            Codec::Xml => xml::write_error(contract, &text),
            Codec::Cbor => cbor(&ErrorBody { error: &text }),
            Codec::Msgpack => msgpack(&ErrorBody { error: &text }),
            Codec::Protobuf => ErrorMessage { error: text }.encode_to_vec(),
            Codec::Text | not_rest!() => text.into_bytes(),
        }
    }
}

fn cbor(message: &impl Serialize) -> Vec<u8> {
    let mut out = Vec::new();
    ciborium::into_writer(message, &mut out).expect("messages are maps with text keys");
    out
}

fn msgpack(message: &impl Serialize) -> Vec<u8> {
    rmp_serde::to_vec_named(message).expect("messages are maps with text keys")
}

/// The message, when nothing follows it.
fn whole<M>(read: Object<M>, left: usize) -> Result<M, String> {
    match left {
        0 => Ok(read.0),
        _ => Err(format!("{left} bytes follow the message")),
    }
}
