//! `bytes` in the JSON mapping: standard base64 with padding (RFC 4648 section 4).

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::Serializer;

pub(crate) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&STANDARD.encode(bytes))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<u8>, D::Error> {
    let text: Cow<'de, str> = Cow::deserialize(input)?;
    STANDARD.decode(text.as_bytes()).map_err(D::Error::custom)
}
