//! What the lab asks of a service: one JSON object on standard input.

use std::path::PathBuf;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wirelab_stack::{
    Binding, Codec, Compression, EndOfMessage, Flush, HttpCache, Reply, Security, SoapVersion,
    TokenCache, Transport,
};

use crate::faults::FaultSwitches;
use crate::refusal::Refusal;

/// The configuration of one service process.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ServiceConfig {
    /// The contract to serve: `transfer`, `charging`, `calendar`, `records`, `petclinic` or
    /// `stream`.
    pub contract: String,
    /// How to speak it.
    pub stack: Stack,
    /// `127.0.0.1:0`, `[::1]:8080`, `unix:/path`, or an address of a link
    /// (198.18.0.0/15); port 0 takes a free one.
    #[serde(default = "any_port")]
    pub listen: String,
    /// Where metrics are served, an address of the loopback interface.
    #[serde(default = "any_port")]
    pub metrics_listen: String,
    /// What the service holds.
    #[serde(default)]
    pub store: Store,
    /// Files for security tls and mtls.
    #[serde(default)]
    pub tls: TlsFiles,
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
    /// Keep the last reply of each operation, so that its codec can be timed
    /// (`GET /codec-times` on the metrics address).
    #[serde(default)]
    pub codec_times: bool,
}

/// How a contract is spoken.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Stack {
    /// The binding.
    pub binding: Binding,
    /// The codec of messages.
    pub codec: Codec,
    /// The version of SOAP, with binding soap; null: 1.1.
    #[serde(default)]
    pub soap: Option<SoapVersion>,
    /// Compression of messages.
    #[serde(default)]
    pub compression: Compression,
    /// The transport.
    pub transport: Transport,
    /// Security of the transport.
    #[serde(default)]
    pub security: Security,
    /// How the end of a reply is marked.
    #[serde(default)]
    pub end_of_message: EndOfMessage,
    /// What caches of HTTP make of replies.
    #[serde(default)]
    pub http_cache: HttpCache,
    /// When the items of a streamed reply of `sse` or `rest` are sent.
    #[serde(default)]
    pub flush: Flush,
    /// How long the service waits before it closes a connection, in milliseconds.
    #[serde(default)]
    pub close_delay_ms: u64,
    /// Whether calls are answered.
    #[serde(default)]
    pub reply: Reply,
    /// What token-xml caches, with that codec; null: names.
    #[serde(default)]
    pub token_cache: Option<TokenCache>,
}

impl Stack {
    /// What the caches of a connection hold.
    pub(crate) fn token_cache(&self) -> TokenCache {
        self.token_cache.unwrap_or_default()
    }

    /// True when the service closes each connection after one reply.
    pub(crate) fn closes(&self) -> bool {
        // HTTP/1.0 without keep-alive, and a body that ends with its connection.
        self.transport == Transport::Http10 || self.end_of_message == EndOfMessage::UntilClose
    }
}

/// What the service holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Store {
    /// Size of the text that Hello and HelloBytes answer, in bytes; at most 64 MiB.
    pub hello_bytes: u64,
    /// Accounts of charging, numbered from 1.
    pub accounts: u32,
    /// What each account holds at the start, in the smallest unit of money.
    pub balance: u32,
    /// Records and petclinic: where rows are kept.
    pub kind: StoreKind,
    /// With sqlite: the path of the file, which is made again; with postgres: the
    /// database's URL.
    pub url: Option<String>,
    /// Connections to the database at most; null: the library's default.
    pub pool: Option<u32>,
    /// How long a call waits for a free connection and for the database, in milliseconds.
    pub timeout_ms: u64,
    /// With binding soap: who a request's UsernameToken must name; null: no token is needed.
    pub username: Option<String>,
    /// With binding soap: the password that it must carry.
    pub password: Option<String>,
}

impl Default for Store {
    fn default() -> Self {
        Store {
            // Defaults of contracts/README.md: the text `Hello, wirelab`, 1,000 accounts.
            hello_bytes: 14,
            accounts: 1_000,
            balance: 1_000_000_000,
            kind: StoreKind::default(),
            url: None,
            pool: None,
            timeout_ms: 2_000,
            username: None,
            password: None,
        }
    }
}

/// Where a service of records or petclinic keeps its rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum StoreKind {
    /// In the service's memory.
    #[default]
    Memory,
    /// SQLite.
    Sqlite,
    /// H2.
    H2,
    /// HSQLDB.
    Hsqldb,
    /// PostgreSQL.
    Postgres,
}

impl StoreKind {
    /// The value of the axis `store`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            StoreKind::Memory => "memory",
            StoreKind::Sqlite => "sqlite",
            StoreKind::H2 => "h2",
            StoreKind::Hsqldb => "hsqldb",
            StoreKind::Postgres => "postgres",
        }
    }
}

/// Files in PEM (RFC 7468) for security tls and mtls.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct TlsFiles {
    /// The service's certificate, and those that lead from it to its authority.
    pub certificate: Option<PathBuf>,
    /// The certificate's private key.
    pub key: Option<PathBuf>,
    /// With mtls: certificates of the authorities that sign clients' certificates.
    pub client_ca: Option<PathBuf>,
}

/// Options of the sockets that a service accepts.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Writes {
    /// In one send where they fit.
    #[default]
    Joined,
    /// In two sends.
    Split,
}

/// Rust has no garbage collector, so there is nothing to set.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
        // With the path of the option at fault, which the refusal must name.
        let mut input = serde_json::Deserializer::from_str(line);
        let config = serde_path_to_error::deserialize(&mut input).map_err(|error| {
            let option = option(error.path());
            let remedy = remedy(&option);
            Refusal::new(option, error.into_inner().to_string(), remedy)
        })?;
        // A second value on the line would be ignored in silence.
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
    // serde_path_to_error writes `?` for a step that was not reached.
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
        "stack.binding" => "use binding=rest, sse, websocket, soap, grpc, iiop or raw",
        "stack.codec" => {
            "use codec=text, json, protobuf or xml with rest, json with sse, json or protobuf with \
             websocket, soap-literal, soap-rpc or soap-encoded with soap, protobuf with grpc, cdr \
             with iiop, soap-literal or token-xml with raw"
        }
        "stack.soap" => "use soap=1.1 or soap=1.2",
        "stack.compression" => "use compression=none, gzip or zstd",
        "stack.transport" => "use transport=http/1.0, http/1.1, http/2 or tcp",
        "stack.security" => "use security=none, tls or mtls",
        "stack.end_of_message" => "use end_of_message=content-length, chunked or until-close",
        "stack.http_cache" => "use http_cache=none, revalidate or proxy",
        "stack.flush" => "use flush=item or flush=library",
        "stack.token_cache" => "use token_cache=names or token_cache=names+texts",
        "stack.reply" => "use reply=two-way or reply=one-way",
        "socket.writes" => "use writes=joined or writes=split",
        _ if option.starts_with("collector") => "leave collector empty: Rust has none",
        _ => "give a value that docs/reference/process.md names",
    }
}
