//! `bytes` in the serde form of the messages.
//!
//! Human-readable formats get standard base64 with padding (RFC 4648 section
//! 4) under the newtype name `base64Binary`, so that a format that names its
//! types (SOAP section 5 encoding) can tell it from a string and a reader may
//! drop the white space that XML Schema part 2, section 3.2.16, allows. Other
//! formats get the bytes.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::{Deserializer, Error, Visitor};
use serde::ser::Serializer;

/// Name of the newtype that base64 text is written and read as.
pub const BASE64_BINARY: &str = "base64Binary";

pub(crate) fn serialize<S: Serializer>(bytes: &[u8], output: S) -> Result<S::Ok, S::Error> {
    if output.is_human_readable() {
        // A newtype, because serde has no other way to hand a type's name to a serializer;
        // JSON ignores it.
        output.serialize_newtype_struct(BASE64_BINARY, &STANDARD.encode(bytes))
    } else {
        output.serialize_bytes(bytes)
    }
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<u8>, D::Error> {
    if input.is_human_readable() {
        input.deserialize_newtype_struct(BASE64_BINARY, Base64)
    } else {
        input.deserialize_byte_buf(Octets)
    }
}

struct Base64;

impl<'de> Visitor<'de> for Base64 {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("base64 text")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, text: D) -> Result<Vec<u8>, D::Error> {
        text.deserialize_str(self)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Vec<u8>, E> {
        STANDARD.decode(text).map_err(E::custom)
    }
}

struct Octets;

impl<'de> Visitor<'de> for Octets {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes")
    }

    // Both: formats that own their buffer give it away, others lend it.
    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }

    fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
        Ok(bytes)
    }
}
