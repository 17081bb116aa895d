//! Formats with a serializer and a deserializer of serde, by the mapping of contracts/README.md.
//!
//! In JSON (RFC 8259), CBOR (RFC 8949) and MessagePack (its specification of 2017) a message is
//! a map whose keys are the names of its fields; in CBOR and MessagePack integers, texts and
//! bytes are those of the format. In Avro it is its fields, in their order.

mod avro;

/// Any document of these formats.
pub use ciborium::Value;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, IntoDeserializer, MapAccess};
use wirelab_contract::Message;
use wirelab_contract::json::Object;

use super::{Codec, Mismatch};

/// True of the one format whose reader borrows texts from the bytes; the readers of the
/// others take a stream.
pub(super) fn has_view(codec: Codec) -> bool {
    codec == Codec::Json
}

/// Parses one whole JSON document into a message.
///
/// The document is proven to be UTF-8 once (RFC 8259 section 8.1), strings
/// that are passed over included.
pub(super) fn parse_json<'a, M: Deserialize<'a>>(body: &'a [u8]) -> Result<M, Mismatch> {
    // `Object` refuses arrays, which serde would take for structs.
    let parsed = serde_json::from_str::<Object<M>>(json_text(body)?);
    parsed
        .map(|object| object.0)
        .map_err(|error| malformed_json(body, &error))
}

/// Parses a JSON array into the message whose only field is that list.
pub(super) fn parse_json_list<M: Message>(body: &[u8]) -> Result<M, Mismatch> {
    let mut input = serde_json::Deserializer::from_str(json_text(body)?);
    // The array is given to the derived reader as the value of the message's one field, so
    // that its items are read and bounded by the same code as in a message.
    let list = OnlyField {
        name: list_field::<M>(),
        value: Some(&mut input),
    };
    let message = M::deserialize(MapAccessDeserializer::new(list));
    let message = message.map_err(|error| malformed_json(body, &error))?;
    // White space may follow, and nothing else (RFC 8259 section 2).
    input.end().map_err(|error| malformed_json(body, &error))?;
    Ok(message)
}

pub(super) fn json_text(body: &[u8]) -> Result<&str, Mismatch> {
    const NOT_UTF8: &str = "not UTF-8 (RFC 8259 section 8.1)";
    let text = std::str::from_utf8(body);
    text.map_err(|error| Mismatch::malformed(Codec::Json, error.valid_up_to(), NOT_UTF8))
}

pub(super) fn malformed_json(body: &[u8], error: &serde_json::Error) -> Mismatch {
    let offset = offset_of(body, error.line(), error.column());
    Mismatch::malformed(Codec::Json, offset, &error.to_string())
}

/// The JSON array of a message's only list.
///
/// # Panics
/// When the message has no list.
pub(super) fn json_list<M: Message>(message: &M) -> Vec<u8> {
    let mut written = serde_json::to_vec(message).expect("messages are maps with string keys");
    // `{"name":[…]}`: what is around the array goes, and the order of fields stays.
    // Cut out of the whole message, so that the items are written by the same code as
    // in one.
    written.pop();
    written.drain(.."{\"\":".len() + list_field::<M>().len());
    written
}

/// The name of a message's only field.
fn list_field<M: Message>() -> String {
    let empty = serde_json::to_value(M::default()).expect("messages are maps with string keys");
    // Protocol Buffers demands a message around a list; its field name occurs nowhere
    // in REST's array.
    let first = empty
        .as_object()
        .and_then(|fields| fields.keys().next().cloned());
    first.expect("a message with a list")
}

/// A map with one entry, whose value is a whole document.
struct OnlyField<'a, R> {
    name: String,
    value: Option<&'a mut serde_json::Deserializer<R>>,
}

impl<'de, R: serde_json::de::Read<'de>> MapAccess<'de> for OnlyField<'_, R> {
    type Error = serde_json::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Self::Error> {
        match self.value {
            Some(_) => seed
                .deserialize(self.name.as_str().into_deserializer())
                .map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, Self::Error> {
        let value = self.value.take().expect("a value follows its key once");
        seed.deserialize(value)
    }
}

/// The offset of a position given by line and column, both counted from 1.
fn offset_of(body: &[u8], line: usize, column: usize) -> usize {
    let ends = memchr::memchr_iter(b'\n', body);
    // serde_json counts lines from 1 and columns in bytes.
    let line_start = line
        .checked_sub(2)
        .and_then(|before| ends.into_iter().nth(before));
    line_start.map_or(0, |end| end + 1) + column.saturating_sub(1)
}

/// Appends a message.
///
/// # Panics
/// With a codec of another family.
pub(super) fn append<M: Message>(codec: Codec, message: &M, out: &mut Vec<u8>) {
    match codec {
        Codec::Json => append_json(message, out),
        Codec::Cbor => ciborium::into_writer(message, out).expect(WRITTEN),
        // Named: field names as keys, not an array by position.
        Codec::Msgpack => rmp_serde::encode::write_named(out, message).expect(WRITTEN),
        Codec::Avro => avro::write(message, out).expect(WRITTEN),
        other => panic!("{other} {OTHER_FAMILY}"),
    }
}

const WRITTEN: &str = "messages are maps with text keys of types of the profile, and memory grows";
const OTHER_FAMILY: &str = "is not a codec with a serializer of serde";

/// Appends a message in JSON.
pub(super) fn append_json<M: Message>(message: &M, out: &mut Vec<u8>) {
    serde_json::to_writer(out, message).expect(WRITTEN);
}

/// Any document of JSON, CBOR or MessagePack, for those who ask for the names in it. In JSON
/// it may be an array: the lists of petclinic are.
///
/// # Errors
/// [`Mismatch::Malformed`] when the bytes are not a document.
///
/// # Panics
/// With a codec that is not self-describing.
pub fn document(codec: Codec, bytes: &[u8]) -> Result<Value, Mismatch> {
    match codec {
        Codec::Json => {
            let parsed = serde_json::from_str(json_text(bytes)?);
            parsed.map_err(|error| malformed_json(bytes, &error))
        }
        _ => parse(codec, bytes),
    }
}

/// A document of JSON in a self-describing codec; base64 stays text.
///
/// # Panics
/// With a codec that is not self-describing.
#[must_use]
pub fn transcode(codec: Codec, json: &serde_json::Value) -> Vec<u8> {
    const WRITTEN: &str = "values of JSON have a form, and memory grows";
    let mut out = Vec::new();
    match codec {
        Codec::Json => serde_json::to_writer(&mut out, json).expect(WRITTEN),
        Codec::Cbor => ciborium::into_writer(json, &mut out).expect(WRITTEN),
        Codec::Msgpack => rmp_serde::encode::write_named(&mut out, json).expect(WRITTEN),
        other => panic!("{other} is not self-describing"),
    }
    out
}

/// The text of an application error: a message whose one field is `error`.
///
/// # Errors
/// [`Mismatch::Malformed`] when the bytes are anything else.
pub(super) fn error(codec: Codec, bytes: &[u8]) -> Result<String, Mismatch> {
    parse::<ErrorText>(codec, bytes).map(|body| body.error)
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ErrorText {
    error: String,
}

/// The text of an error of petclinic: the map `{"className": kind, "exMessage": text}`.
///
/// # Errors
/// [`Mismatch::Malformed`] when the bytes are anything else.
pub(super) fn error_info(codec: Codec, bytes: &[u8]) -> Result<String, Mismatch> {
    let info = parse::<ErrorInfo>(codec, bytes)?;
    // Its content is the service's own, but there must be one.
    if info.class_name.is_empty() {
        return Err(Mismatch::differs("className", b"a kind of error", b"none"));
    }
    Ok(info.ex_message)
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ErrorInfo {
    class_name: String,
    ex_message: String,
}

/// Reads a message that fills `bytes`.
///
/// # Errors
/// [`Mismatch::Malformed`] when the bytes are anything else.
///
/// # Panics
/// With a codec of another family.
pub(super) fn parse<M: DeserializeOwned>(codec: Codec, bytes: &[u8]) -> Result<M, Mismatch> {
    if codec == Codec::Json {
        return parse_json(bytes);
    }
    let malformed = |offset, why: &str| Mismatch::malformed(codec, offset, why);
    let mut rest = bytes;
    let parsed: Result<M, String> = match codec {
        // ciborium bounds its recursion, so nesting cannot exhaust the stack.
        Codec::Cbor => ciborium::from_reader(&mut rest)
            .map(|object: Object<M>| object.0)
            .map_err(|error| error.to_string()),
        Codec::Msgpack => {
            let mut reader = rmp_serde::Deserializer::new(&mut rest);
            Object::deserialize(&mut reader)
                .map(|object| object.0)
                .map_err(|error| error.to_string())
        }
        Codec::Avro => avro::read(&mut rest).map_err(|error| error.to_string()),
        other => panic!("{other} {OTHER_FAMILY}"),
    };
    // The place at which the reader stopped: near the error, and exact for bytes that
    // follow the message.
    let end = bytes.len() - rest.len();
    match parsed {
        Err(why) => Err(malformed(end, &why)),
        // The readers stop behind the first value and would ignore the rest.
        Ok(_) if end < bytes.len() => Err(malformed(end, "bytes after the message")),
        Ok(message) => Ok(message),
    }
}
