//! What the lab asks of a service: one JSON object on standard input.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::faults::FaultSwitches;
use crate::refusal::Refusal;

/// The configuration of one service process.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServiceConfig {
    /// The contract to serve: `transfer`.
    pub contract: String,
    /// How to speak it.
    pub stack: Stack,
    /// `127.0.0.1:0`, `[::1]:8080` or `unix:/path`; port 0 takes a free one.
    #[serde(default = "any_port")]
    pub listen: String,
    /// Where metrics are served, an address of the loopback interface.
    #[serde(default = "any_port")]
    pub metrics_listen: String,
    /// What the service holds.
    #[serde(default)]
    pub store: Store,
    /// Options of the sockets that it accepts.
    #[serde(default)]
    pub socket: SocketOptions,
    /// OS threads that run service code.
    #[serde(default = "one")]
    pub processors: u32,
    /// Options of a garbage collector; Rust has none.
    #[serde(default)]
    pub collector: Collector,
    /// Faults to commit, none by default.
    #[serde(default)]
    pub faults: FaultSwitches,
}

/// The server's side of a point in the axis space.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stack {
    /// The binding.
    pub binding: Binding,
    /// The codec of messages.
    pub codec: Codec,
    /// Compression of messages.
    #[serde(default)]
    pub compression: Compression,
    /// The transport.
    pub transport: Transport,
    /// Security of the transport.
    #[serde(default)]
    pub security: Security,
}

/// The binding axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Binding {
    /// REST over HTTP, on axum.
    Rest,
    /// gRPC, on tonic.
    Grpc,
}

/// The codec axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Codec {
    /// Plain text.
    Text,
    /// JSON.
    Json,
    /// Protocol Buffers.
    Protobuf,
}

/// The compression axis.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Compression {
    /// Messages as they are.
    #[default]
    None,
    /// RFC 1952.
    Gzip,
}

/// The transport axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Transport {
    /// RFC 9112; a request of RFC 1945 is answered too.
    #[serde(rename = "http/1.1")]
    Http11,
    /// RFC 9113, by prior knowledge.
    #[serde(rename = "http/2")]
    Http2,
}

/// The security axis.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Security {
    /// Plain sockets.
    #[default]
    None,
}

/// What the service holds.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Store {
    /// Size of the text that Hello and HelloBytes answer, in bytes; at most 64 MiB.
    pub hello_bytes: u64,
}

impl Default for Store {
    fn default() -> Self {
        Store { hello_bytes: 14 }
    }
}

/// Options of the sockets that a service accepts.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SocketOptions {
    /// Nagle's algorithm (RFC 896).
    pub nagle: bool,
    /// How a reply's header and body are sent.
    pub writes: Writes,
    /// `TCP_QUICKACK`, set again after every receive; null: the kernel's way.
    pub quickack: Option<bool>,
    /// `SO_RCVBUF` of accepted sockets, in bytes; null: the kernel's.
    pub tcp_window: Option<u32>,
    /// HTTP/2 window offered for requests, per stream and connection, in
    /// bytes; null: the library's.
    pub h2_window: Option<u32>,
}

/// How a reply's header and body are sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Writes {
    /// In one send where they fit.
    #[default]
    Joined,
    /// In two sends.
    Split,
}

/// Rust has no garbage collector, so there is nothing to set.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Collector {}

fn any_port() -> String {
    "127.0.0.1:0".to_owned()
}

fn one() -> u32 {
    1
}

impl ServiceConfig {
    /// Reads a configuration; does not judge whether it can be honoured.
    ///
    /// # Errors
    /// When `line` is not JSON, or has a key or value that no service has.
    pub fn parse(line: &str) -> Result<Self, Refusal> {
        let mut input = serde_json::Deserializer::from_str(line);
        let config = serde_path_to_error::deserialize(&mut input).map_err(|error| {
            let option = option(error.path());
            let remedy = remedy(&option);
            Refusal::new(option, error.into_inner().to_string(), remedy)
        })?;
        input
            .end()
            .map_err(|error| Refusal::new(".", error.to_string(), remedy(".")))?;
        Ok(config)
    }
}

/// The option that a path leads to; `.` is the configuration itself. Where
/// the text ends too early the last step is not known.
fn option(path: &serde_path_to_error::Path) -> String {
    let path = path.to_string();
    let known = path.trim_end_matches(['?', '.']);
    if known.is_empty() {
        ".".to_owned()
    } else {
        known.to_owned()
    }
}

/// What to do about a value of `option` that could not even be read.
fn remedy(option: &str) -> &'static str {
    match option {
        "." => "give one JSON object on one line, as in docs/reference/process.md",
        "stack.binding" => "use binding=rest or binding=grpc",
        "stack.codec" => "use codec=text or codec=json with rest, codec=protobuf with grpc",
        "stack.compression" => "use compression=none or compression=gzip",
        "stack.transport" => "use transport=http/1.1 or transport=http/2",
        "stack.security" => "use security=none",
        "socket.writes" => "use writes=joined or writes=split",
        _ if option.starts_with("collector") => "leave collector empty: Rust has none",
        _ => "give a value that docs/reference/process.md names",
    }
}
