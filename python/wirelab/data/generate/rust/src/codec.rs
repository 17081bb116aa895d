//! Messages as bytes.

use std::fmt::Display;

use prost::Message;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Depth of MessagePack, as serde_json limits that of JSON: the stack is not used up.
const DEPTH_MAX: usize = 128;

/// Media types that a codec's requests may have; the first is that of replies.
pub fn media_types(codec: &str) -> &'static [&'static str] {
    match codec {
        "json" => &["application/json"],
        "protobuf" => &["application/x-protobuf"],
        // Both name the same format (RFC 7303 section 9.2).
        "xml" => &["application/xml", "text/xml"],
        "cbor" => &["application/cbor"],
        "msgpack" => &["application/vnd.msgpack"],
        "avro" => &["application/avro"],
        _ => &["text/xml"],
    }
}

fn text(error: impl Display) -> String {
    error.to_string()
}

/// Reads JSON.
///
/// # Errors
/// Bytes that are not the message.
pub fn from_json<M: DeserializeOwned>(body: &[u8]) -> Result<M, String> {
    // serde would take an array for a struct.
    let first = body.iter().find(|byte| !byte.is_ascii_whitespace());
    if first != Some(&b'{') {
        return Err("the body is not an object of JSON".to_owned());
    }
    serde_json::from_slice(body).map_err(text)
}

/// Writes JSON.
///
/// # Errors
/// A value that has no form there.
pub fn to_json<M: Serialize>(message: &M) -> Result<Vec<u8>, String> {
    serde_json::to_vec(message).map_err(text)
}

/// Reads CBOR.
///
/// # Errors
/// Bytes that are not the message.
pub fn from_cbor<M: DeserializeOwned>(body: &[u8]) -> Result<M, String> {
    if body.first().is_none_or(|byte| byte >> 5 != 5) {
        return Err("the body is not a map of CBOR".to_owned());
    }
    let mut rest = body;
    let message = ciborium::from_reader(&mut rest).map_err(text)?;
    whole(message, rest)
}

/// Writes CBOR.
///
/// # Errors
/// A value that has no form there.
pub fn to_cbor<M: Serialize>(message: &M) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    ciborium::into_writer(message, &mut out).map_err(text)?;
    Ok(out)
}

/// Reads MessagePack.
///
/// # Errors
/// Bytes that are not the message.
pub fn from_msgpack<M: DeserializeOwned>(body: &[u8]) -> Result<M, String> {
    if !matches!(body.first(), Some(0x80..=0x8f | 0xde | 0xdf)) {
        return Err("the body is not a map of MessagePack".to_owned());
    }
    let mut rest = body;
    let mut reader = rmp_serde::Deserializer::new(&mut rest);
    reader.set_max_depth(DEPTH_MAX);
    let message = M::deserialize(&mut reader).map_err(text)?;
    whole(message, rest)
}

/// Writes MessagePack.
///
/// # Errors
/// A value that has no form there.
pub fn to_msgpack<M: Serialize>(message: &M) -> Result<Vec<u8>, String> {
    rmp_serde::to_vec_named(message).map_err(text)
}

/// Reads Protocol Buffers.
///
/// # Errors
/// Bytes that are not the message.
pub fn from_protobuf<M: Message + Default>(body: &[u8]) -> Result<M, String> {
    M::decode(body).map_err(text)
}

/// Writes Protocol Buffers.
///
/// # Errors
/// None.
pub fn to_protobuf<M: Message>(message: &M) -> Result<Vec<u8>, String> {
    Ok(message.encode_to_vec())
}

/// The message, when nothing follows it.
fn whole<M>(message: M, rest: &[u8]) -> Result<M, String> {
    match rest.len() {
        0 => Ok(message),
        left => Err(format!("{left} bytes follow the message")),
    }
}
