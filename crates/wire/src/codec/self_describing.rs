//! JSON (RFC 8259), CBOR (RFC 8949) and MessagePack (its specification of 2017), by the
//! mapping of contracts/README.md: a message is a map whose keys are the names of its
//! fields. In CBOR and MessagePack integers, texts and bytes are those of the format.

use std::io::Cursor;

use ciborium::Value;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use wirelab_contract::Message;
use wirelab_contract::json::Object;

use super::{Codec, Mismatch};

/// Parses one whole JSON document into a message.
///
/// The document is proven to be UTF-8 once (RFC 8259 section 8.1), strings
/// that are passed over included.
pub(super) fn parse_json<'a, M: Deserialize<'a>>(body: &'a [u8]) -> Result<M, Mismatch> {
    let text = std::str::from_utf8(body).map_err(|error| {
        Mismatch::malformed(
            Codec::Json,
            error.valid_up_to(),
            "not UTF-8 (RFC 8259 section 8.1)",
        )
    })?;
    // `Object` refuses arrays, which serde would take for structs.
    let parsed = serde_json::from_str::<Object<M>>(text);
    parsed.map(|object| object.0).map_err(|error| {
        let offset = offset_of(body, error.line(), error.column());
        Mismatch::malformed(Codec::Json, offset, &error.to_string())
    })
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
/// With another codec than these two.
pub(super) fn append<M: Message>(codec: Codec, message: &M, out: &mut Vec<u8>) {
    const WRITTEN: &str = "messages are maps with text keys, and memory grows";
    match codec {
        Codec::Cbor => ciborium::into_writer(message, out).expect(WRITTEN),
        // Named: field names as keys, not an array by position.
        Codec::Msgpack => rmp_serde::encode::write_named(out, message).expect(WRITTEN),
        other => panic!("{other} is neither cbor nor msgpack"),
    }
}

/// Any document of JSON, CBOR or MessagePack, for those who ask for the names in it.
///
/// # Errors
/// [`Mismatch::Malformed`] when the bytes are no map.
///
/// # Panics
/// With another codec than these three.
pub fn object(codec: Codec, bytes: &[u8]) -> Result<Value, Mismatch> {
    match codec {
        Codec::Json => parse_json(bytes),
        _ => parse(codec, bytes),
    }
}

/// A document of JSON as one of CBOR or MessagePack; base64 stays text.
///
/// # Panics
/// With another codec than these two.
#[must_use]
pub fn transcode(codec: Codec, json: &serde_json::Value) -> Vec<u8> {
    const WRITTEN: &str = "values of JSON have a form, and memory grows";
    let mut out = Vec::new();
    match codec {
        Codec::Cbor => ciborium::into_writer(json, &mut out).expect(WRITTEN),
        Codec::Msgpack => rmp_serde::encode::write_named(&mut out, json).expect(WRITTEN),
        other => panic!("{other} is neither cbor nor msgpack"),
    }
    out
}

/// The text of an application error: the map `{"error": text}`.
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

/// Reads a map that fills `bytes`.
///
/// # Errors
/// [`Mismatch::Malformed`] when the bytes are anything else.
///
/// # Panics
/// With another codec than these two.
pub(super) fn parse<M: DeserializeOwned>(codec: Codec, bytes: &[u8]) -> Result<M, Mismatch> {
    let malformed = |offset, why: &str| Mismatch::malformed(codec, offset, why);
    let mut input = Cursor::new(bytes);
    let parsed: Result<Object<M>, String> = match codec {
        Codec::Cbor => ciborium::from_reader(&mut input).map_err(|error| error.to_string()),
        Codec::Msgpack => {
            let mut reader = rmp_serde::Deserializer::new(&mut input);
            Object::deserialize(&mut reader).map_err(|error| error.to_string())
        }
        other => panic!("{other} is neither cbor nor msgpack"),
    };
    let end = usize::try_from(input.position()).expect("a position within the bytes");
    match parsed {
        Err(why) => Err(malformed(end, &why)),
        // Both readers stop behind the first value and would ignore the rest.
        Ok(_) if end < bytes.len() => Err(malformed(end, "bytes after the message")),
        Ok(Object(message)) => Ok(message),
    }
}
