//! What makes a reply right, of a service that is not of the lab.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What makes a reply right. What is left out is not checked. A reply that fails it is an
/// error of code `wrong_reply`, or `application_error` where its status is another.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// HTTP status; absent: any 2xx.
    #[serde(default)]
    pub status: Option<u16>,
    /// Header fields, or gRPC metadata of head and trailers: one field of the name has
    /// exactly that value. At most 64.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Part of the body, which is JSON: every key is there with that value, arrays have the
    /// same length and match element by element, numbers are compared as numbers.
    #[serde(default)]
    pub json: Option<serde_json::Value>,
    /// JSON Schema of the body. Other documents that it names are not fetched.
    #[serde(default)]
    pub json_schema: Option<serde_json::Value>,
    /// SHA-256 of the body, in hexadecimal; of gRPC each message's.
    #[serde(default)]
    pub sha256: Option<String>,
    /// Size of the body, content encoding undone; of gRPC each message's.
    #[serde(default)]
    pub bytes: Option<SizeRange>,
    /// gRPC status; absent: 0. With another one no message is needed.
    #[serde(default)]
    pub grpc_status: Option<u32>,
    /// Part of every message of the reply as proto3 JSON: fields that are named must have
    /// that value, as in `json`. Needs the method's description.
    #[serde(default)]
    pub message: Option<serde_json::Value>,
}

/// A size between two, in bytes.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SizeRange {
    /// At least; absent: 0.
    #[serde(default)]
    pub min: Option<u64>,
    /// At most; absent: no limit.
    #[serde(default)]
    pub max: Option<u64>,
}
