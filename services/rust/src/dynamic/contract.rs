//! What the service serves.

use super::codec;
use super::exchange::{Exchange, exchange as exchange_of};
use super::model::{Reply, Request};
use super::operation;
use super::rules::Numbered;

/// Bindings with their codecs. XML and SOAP need types that are generated.
pub const STACKS: [(&str, &str); 5] = [
    ("rest", "json"),
    ("rest", "protobuf"),
    ("rest", "cbor"),
    ("rest", "msgpack"),
    ("grpc", "protobuf"),
];

/// The action in SOAP, which is not served: no request has it.
pub const ACTION: &str = "none";

/// The body of an error in a binding that is not served.
pub fn write_fault(_code: &str, text: &str) -> Vec<u8> {
    text.as_bytes().to_vec()
}

/// The path in gRPC.
pub fn grpc_path() -> &'static str {
    operation::path()
}

/// The call over HTTP in a codec, its sample reply read.
///
/// # Errors
/// A sample that is not the reply.
pub fn exchange(codec: &str, sample: &[u8], numbered: Numbered) -> Result<Exchange, String> {
    Ok(match codec {
        "json" => exchange_of(
            codec::from_json::<Reply>(sample)?,
            numbered,
            codec::from_json::<Request>,
            codec::to_json,
        ),
        "cbor" => exchange_of(
            codec::from_cbor::<Reply>(sample)?,
            numbered,
            codec::from_cbor::<Request>,
            codec::to_cbor,
        ),
        "msgpack" => exchange_of(
            codec::from_msgpack::<Reply>(sample)?,
            numbered,
            codec::from_msgpack::<Request>,
            codec::to_msgpack,
        ),
        _ => exchange_of(
            codec::from_protobuf::<Reply>(sample)?,
            numbered,
            codec::from_protobuf::<Request>,
            codec::to_protobuf,
        ),
    })
}
