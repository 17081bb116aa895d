//! How calls travel: the axes as far as the caller's side is concerned.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The point in the axis space, as far as the caller's side is concerned.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stack {
    /// The binding.
    pub binding: Binding,
    /// The codec of messages.
    pub codec: Codec,
    /// Compression of request bodies, and what `accept-encoding` asks for; in
    /// raw of every content, in both directions.
    #[serde(default)]
    pub compression: Compression,
    /// The transport.
    pub transport: Transport,
    /// Connection policy.
    #[serde(default)]
    pub connection: Connection,
    /// Sends on the client's side.
    #[serde(default)]
    pub writes: Writes,
    /// Nagle's algorithm on the client's sockets.
    #[serde(default)]
    pub nagle: bool,
    /// `TCP_QUICKACK` set again after every receive; absent: the kernel's way.
    #[serde(default)]
    pub quickack: Option<bool>,
    /// `SO_RCVBUF` of the client's sockets in bytes; absent: the kernel's.
    #[serde(default)]
    pub tcp_window: Option<u32>,
    /// HTTP/2 window that the client offers, per stream and per connection,
    /// in bytes; absent: 2^30 - 1, never the limit.
    #[serde(default)]
    pub h2_window: Option<u32>,
    /// Version of SOAP; absent: 1.1. For binding soap only.
    #[serde(default)]
    pub soap: Option<SoapVersion>,
    /// Whether calls are answered. `one-way` exists for binding raw only.
    #[serde(default)]
    pub reply: Reply,
    /// Security of the transport.
    #[serde(default)]
    pub security: Security,
    /// Byte order of our GIOP messages; absent: little. For binding iiop only.
    #[serde(default)]
    pub byte_order: Option<ByteOrder>,
    /// What token-xml is encoded from; absent: the message. For that codec only.
    #[serde(default)]
    pub token_source: Option<TokenSource>,
    /// What token-xml caches; absent: names. For that codec only.
    #[serde(default)]
    pub token_cache: Option<TokenCache>,
    /// What the engine does with a reply.
    #[serde(default)]
    pub work: Work,
}

/// The binding axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Binding {
    /// REST over HTTP.
    Rest,
    /// SOAP over HTTP.
    Soap,
    /// gRPC over HTTP/2.
    Grpc,
    /// CORBA: GIOP 1.2 over a stream.
    Iiop,
    /// Length-prefixed messages over a stream (contracts/README.md, Raw).
    Raw,
}

/// The codec axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Codec {
    /// Plain text.
    Text,
    /// JSON by the mapping of contracts/README.md.
    Json,
    /// Protocol Buffers.
    Protobuf,
    /// XML by the mapping of contracts/README.md.
    Xml,
    /// SOAP, document/literal.
    #[serde(rename = "soap-literal")]
    SoapLiteral,
    /// SOAP, rpc/literal.
    #[serde(rename = "soap-rpc")]
    SoapRpc,
    /// SOAP 1.1, rpc/encoded.
    #[serde(rename = "soap-encoded")]
    SoapEncoded,
    /// Common Data Representation.
    Cdr,
    /// Tokens for XML (docs/reference/token-xml.md).
    #[serde(rename = "token-xml")]
    TokenXml,
}

/// The compression axis.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Compression {
    /// Bodies as they are.
    #[default]
    None,
    /// RFC 1952.
    Gzip,
    /// RFC 8878.
    Zstd,
}

/// The transport axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Transport {
    /// RFC 1945.
    #[serde(rename = "http/1.0")]
    Http10,
    /// RFC 9112.
    #[serde(rename = "http/1.1")]
    Http11,
    /// RFC 9113, by prior knowledge; with TLS by ALPN.
    #[serde(rename = "http/2")]
    Http2,
    /// A stream of bytes, without HTTP.
    #[serde(rename = "tcp")]
    Tcp,
}

/// The version of SOAP.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SoapVersion {
    /// W3C Note of 8 May 2000.
    #[default]
    #[serde(rename = "1.1")]
    V11,
    /// W3C Recommendation of 27 April 2007.
    #[serde(rename = "1.2")]
    V12,
}

/// Whether calls are answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// Every call has a reply.
    #[default]
    TwoWay,
    /// No call has one; a call ends when the service reports that it has
    /// processed it (`report` of the group).
    OneWay,
}

/// The security axis.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Security {
    /// Plain text.
    #[default]
    None,
    /// TLS 1.3 or 1.2; the server's certificate is verified. Every
    /// connection makes a full handshake: sessions are never resumed.
    Tls,
    /// The same, and the client shows a certificate.
    Mtls,
}

/// The order of bytes in our GIOP messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ByteOrder {
    /// Least significant byte first.
    #[default]
    Little,
    /// Most significant byte first.
    Big,
}

/// What token-xml is encoded from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TokenSource {
    /// From the typed message.
    #[default]
    Message,
    /// By way of the XML text, as Kangasharju, Tarkoma and Raatikainen (2003) had to.
    Text,
}

/// What both ends of a connection cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TokenCache {
    /// Names of elements and attributes, as Kangasharju, Tarkoma and Raatikainen (2003) did.
    #[default]
    #[serde(rename = "names")]
    Names,
    /// Texts and values of attributes too.
    #[serde(rename = "names+texts")]
    NamesAndTexts,
}

/// The connection axis.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Connection {
    /// One connection per call.
    #[serde(default)]
    pub close: bool,
    /// Number of connections; absent: as many as the load's concurrency needs
    /// (keep: one per user). With `close`: ignored.
    #[serde(default)]
    pub count: Option<u32>,
    /// Calls in flight per connection: 1, pipeline=N (HTTP/1.x) or multiplex=N (HTTP/2).
    #[serde(default = "one_default")]
    pub in_flight: InFlight,
}

/// Calls in flight per connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct InFlight(pub u32);

impl Default for InFlight {
    fn default() -> Self {
        InFlight(1)
    }
}

/// Sends on one side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Writes {
    /// Header and body in one send where they fit.
    #[default]
    Joined,
    /// Header and body in two sends.
    Split,
}

/// What the engine does with a reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Work {
    /// Full decode, and comparison with what the contract says.
    #[default]
    Decode,
    /// Status, length and frame only. Replies whose numbers go into later
    /// requests are read all the same, and so are those of token-xml, whose
    /// caches must follow, unless they repeat the last right one and nothing
    /// has entered the caches, and those of raw that are unlike a right one:
    /// only their content tells an error.
    Frame,
}

fn one_default() -> InFlight {
    InFlight(1)
}
