//! The server's side of a point in the axis space.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wirelab_wire_own::token_xml;

/// How a contract is spoken.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
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
    /// How the end of a reply is told.
    #[serde(default)]
    pub end_of_message: EndOfMessage,
    /// How long the service waits before it closes a connection, in milliseconds.
    #[serde(default)]
    pub close_delay_ms: u64,
    /// Whether calls are answered.
    #[serde(default)]
    pub reply: ReplyWay,
    /// What token-xml caches, with that codec; null: names.
    #[serde(default)]
    pub token_cache: Option<TokenCache>,
}

/// The binding axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Binding {
    /// REST over HTTP, on axum.
    Rest,
    /// SOAP over HTTP, on axum.
    Soap,
    /// gRPC, on tonic.
    Grpc,
    /// CORBA's IIOP, on a loop of our own.
    Iiop,
    /// Messages after their length, on a loop of our own.
    Raw,
}

/// The codec axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Codec {
    /// Plain text.
    Text,
    /// JSON.
    Json,
    /// Protocol Buffers.
    Protobuf,
    /// XML without an envelope.
    Xml,
    /// SOAP, document/literal.
    SoapLiteral,
    /// SOAP, rpc/literal.
    SoapRpc,
    /// SOAP, rpc/encoded.
    SoapEncoded,
    /// CORBA's common data representation.
    Cdr,
    /// XML as binary tokens.
    TokenXml,
}

/// The axis `soap`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SoapVersion {
    /// The W3C note of 2000.
    #[default]
    #[serde(rename = "1.1")]
    V11,
    /// The W3C recommendation of 2007.
    #[serde(rename = "1.2")]
    V12,
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
    /// RFC 8878.
    Zstd,
}

/// The transport axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Transport {
    /// RFC 1945: every reply is HTTP/1.0 and ends the connection.
    #[serde(rename = "http/1.0")]
    Http10,
    /// RFC 9112; a request of RFC 1945 is answered too.
    #[serde(rename = "http/1.1")]
    Http11,
    /// RFC 9113, by prior knowledge, or by ALPN with TLS.
    #[serde(rename = "http/2")]
    Http2,
    /// No protocol of the web between the binding and the connection.
    #[serde(rename = "tcp")]
    Tcp,
}

/// The security axis.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Security {
    /// Plain sockets.
    #[default]
    None,
    /// The service shows a certificate.
    Tls,
    /// Clients show one too.
    Mtls,
}

/// How the end of a reply is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EndOfMessage {
    /// By its length, told beforehand.
    #[default]
    ContentLength,
    /// By a last chunk of no length (RFC 9112 section 7.1).
    Chunked,
    /// By the end of the connection.
    UntilClose,
}

/// Whether calls are answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReplyWay {
    /// Every call is answered.
    #[default]
    TwoWay,
    /// None is; the report listener tells how many were processed.
    OneWay,
}

/// What both ends of a connection of token-xml cache.
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

impl From<TokenCache> for token_xml::TokenCache {
    fn from(cache: TokenCache) -> Self {
        match cache {
            TokenCache::Names => token_xml::TokenCache::Names,
            TokenCache::NamesAndTexts => token_xml::TokenCache::NamesAndTexts,
        }
    }
}

impl Stack {
    /// What the caches of a connection hold.
    pub(crate) fn token_cache(&self) -> token_xml::TokenCache {
        self.token_cache.unwrap_or_default().into()
    }

    /// True when hyper carries this stack as HTTP/1.x.
    pub(crate) fn http1(&self) -> bool {
        matches!(self.transport, Transport::Http10 | Transport::Http11)
    }

    /// True when the service closes each connection after one reply.
    pub(crate) fn closes(&self) -> bool {
        self.transport == Transport::Http10 || self.end_of_message == EndOfMessage::UntilClose
    }
}
