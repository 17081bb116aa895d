//! The codecs of REST: one row per codec, with its media types, its library, and how messages and
//! errors are written and read.

mod avro;
pub(crate) mod compression;
pub(crate) mod times;
pub(crate) mod xml;

use prost::Message as _;
use serde::{Deserialize, Serialize};
use wirelab_contract::json::Object;
use wirelab_contract::{Contract, Message, lists};
use wirelab_stack::Codec;

use crate::documents::ready::OWN;

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

    /// The body of an answer that is not a reply.
    fn write_error(self, contract: Contract, text: &str) -> Vec<u8>;

    /// The libraries that the ready line names, also for codecs of the other bindings.
    fn libraries(self) -> &'static [&'static str];
}

/// Codecs of the other bindings, named one by one: the compiler then asks what
/// is to become of a new one.
macro_rules! not_rest {
    () => {
        Codec::SoapLiteral | Codec::SoapRpc | Codec::SoapEncoded | Codec::Cdr | Codec::TokenXml
    };
}

// Messages are generic and serde's and prost's traits have no trait objects, so a row cannot hold
// function pointers: the table expands to one `match` per function instead.
macro_rules! rest_codecs {
    ($(
        $codec:ident {
            content_type: $content_type:expr,
            reads: $reads:expr,
            libraries: $libraries:expr,
            write: |$message:pat_param| $write:expr,
            read: |$body:pat_param| $read:expr,
            error: |$contract:pat_param, $text:pat_param| $error:expr,
        }
    )*) => {
        impl Representation for Codec {
            fn content_type(self) -> &'static str {
                match self {
                    $(Codec::$codec => $content_type,)*
                    not_rest!() => self.media_type(),
                }
            }

            fn reads(self, media_type: &str) -> bool {
                let own: &[&str] = match self {
                    $(Codec::$codec => &$reads,)*
                    not_rest!() => &[],
                };
                own.iter().any(|own| media_type.eq_ignore_ascii_case(own))
            }

            fn write<M: Message>(self, message: &M) -> Vec<u8> {
                if const { M::CONTRACT.is_json_and_protobuf_only() } {
                    return match self {
                        Codec::Json => json(message),
                        Codec::Protobuf => message.encode_to_vec(),
                        _ => unreachable!("{NO_FORM}"),
                    };
                }
                match self {
                    $(Codec::$codec => { let $message = message; $write })*
                    not_rest!() => unreachable!("{NO_FORM}"),
                }
            }

            fn read<M: Message>(self, body: &[u8]) -> Result<M, String> {
                if const { M::CONTRACT.is_json_and_protobuf_only() } {
                    return match self {
                        Codec::Json => from_json(body),
                        Codec::Protobuf => from_protobuf(body),
                        _ => Err(NO_FORM.to_owned()),
                    };
                }
                match self {
                    $(Codec::$codec => { let $body = body; $read })*
                    not_rest!() => Err(NO_FORM.to_owned()),
                }
            }

            fn write_error(self, contract: Contract, text: &str) -> Vec<u8> {
                match self {
                    $(Codec::$codec => { let ($contract, $text) = (contract, text); $error })*
                    not_rest!() => text.as_bytes().to_vec(),
                }
            }

            fn libraries(self) -> &'static [&'static str] {
                match self {
                    $(Codec::$codec => &$libraries,)*
                    Codec::SoapLiteral | Codec::SoapRpc => &["quick-xml"],
                    // No library maps values to the encoding of SOAP 1.1 section 5.
                    Codec::SoapEncoded => &["quick-xml", OWN],
                    Codec::Cdr | Codec::TokenXml => &[OWN],
                }
            }
        }
    };
}

rest_codecs! {
    Json {
        content_type: "application/json",
        reads: ["application/json"],
        libraries: ["serde_json"],
        write: |message| json(message),
        read: |body| from_json(body),
        error: |_, text| serde_json::to_vec(&ErrorBody { error: text }).expect(SERIALIZABLE),
    }
    Xml {
        content_type: "application/xml",
        // Both name the same format (RFC 7303 section 9.2).
        reads: ["application/xml", "text/xml"],
        libraries: ["quick-xml"],
        write: |message| xml::write(message),
        read: |body| xml::read(body).map_err(|error| error.to_string()),
        error: |contract, text| xml::write_error(contract, text),
    }
    Cbor {
        content_type: "application/cbor",
        reads: ["application/cbor"],
        libraries: ["ciborium"],
        write: |message| cbor(message),
        read: |body| {
            let mut rest = body;
            let read = ciborium::from_reader::<Object<M>, _>(&mut rest);
            whole(read.map_err(|error| error.to_string())?, rest.len())
        },
        error: |_, text| cbor(&ErrorBody { error: text }),
    }
    Msgpack {
        content_type: "application/vnd.msgpack",
        reads: ["application/vnd.msgpack"],
        libraries: ["rmp-serde"],
        write: |message| rmp_serde::to_vec_named(message).expect(SERIALIZABLE),
        read: |body| {
            let mut rest = body;
            let read = Object::deserialize(&mut rmp_serde::Deserializer::new(&mut rest));
            whole(read.map_err(|error| error.to_string())?, rest.len())
        },
        error: |_, text| rmp_serde::to_vec_named(&ErrorBody { error: text }).expect(SERIALIZABLE),
    }
    Avro {
        content_type: "application/avro",
        reads: ["application/avro"],
        libraries: ["apache-avro"],
        write: |message| avro::write(M::CONTRACT, M::NAME, message),
        read: |body| avro::read(M::CONTRACT, M::NAME, body),
        error: |contract, text| avro::write(contract, avro::ERROR, &ErrorBody { error: text }),
    }
    Protobuf {
        content_type: "application/x-protobuf",
        reads: ["application/x-protobuf"],
        libraries: ["prost"],
        write: |message| message.encode_to_vec(),
        read: |body| from_protobuf(body),
        error: |_, text| ErrorMessage { error: text.to_owned() }.encode_to_vec(),
    }
    Text {
        content_type: "text/plain; charset=utf-8",
        reads: ["text/plain"],
        libraries: [OWN],
        // Hello's reply is the only message in text, and `binding::rest` sends it as it is.
        write: |_| unreachable!("{NO_FORM}"),
        read: |_| Err(NO_FORM.to_owned()),
        error: |_, text| text.as_bytes().to_vec(),
    }
}

const NO_FORM: &str = "the codec has no form for messages of fields";

// Serializers into memory fail only on maps whose keys are not texts, and no message has one.
const SERIALIZABLE: &str = "messages are maps with text keys";

/// The body of an error in JSON, CBOR, MessagePack and Avro.
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

fn json(message: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(message).expect(SERIALIZABLE)
}

fn from_json<M: Message>(body: &[u8]) -> Result<M, String> {
    match serde_json::from_slice::<Object<M>>(body) {
        Ok(object) => Ok(object.0),
        Err(error) => Err(error.to_string()),
    }
}

fn from_protobuf<M: Message>(body: &[u8]) -> Result<M, String> {
    lists::from_protobuf(body).map_err(|error| error.to_string())
}

fn cbor(message: &impl Serialize) -> Vec<u8> {
    let mut out = Vec::new();
    ciborium::into_writer(message, &mut out).expect(SERIALIZABLE);
    out
}

/// The message, when nothing follows it.
fn whole<M>(read: Object<M>, left: usize) -> Result<M, String> {
    match left {
        0 => Ok(read.0),
        _ => Err(format!("{left} bytes follow the message")),
    }
}

#[cfg(test)]
mod tests {
    use wirelab_contract::transfer::HelloReply;

    use super::*;

    #[test]
    fn a_row_has_the_media_type_of_the_axis_table() {
        for codec in Codec::ALL {
            let content_type = codec.content_type();
            let essence = content_type.split(';').next();
            assert_eq!(essence, codec.media_type().split(';').next(), "{codec}");
        }
    }

    #[test]
    fn bytes_behind_a_message_are_refused() {
        let message = HelloReply {
            text: "Hello".to_owned(),
        };
        for codec in [Codec::Json, Codec::Cbor, Codec::Msgpack, Codec::Avro] {
            let mut body = codec.write(&message);
            assert_eq!(codec.read(&body), Ok(message.clone()), "{codec}");
            body.push(0xc0);
            assert!(codec.read::<HelloReply>(&body).is_err(), "{codec}");
        }
    }
}
