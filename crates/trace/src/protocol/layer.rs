//! What a byte of a TCP stream is for.

use serde::{Deserialize, Serialize};

/// What the content of a message is written in, as its head says or its first
/// byte shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Content {
    /// Not known.
    #[default]
    Other,
    /// JSON.
    Json,
    /// XML, SOAP among it.
    Xml,
    /// Protobuf.
    Protobuf,
    /// CORBA's common data representation.
    Cdr,
    /// Plain text.
    Text,
}

/// The kinds of bytes: every byte of a stream is of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Start lines and fields of HTTP/1, up to and with the empty line.
    HttpHeads,
    /// Sizes, line ends and trailers of chunked bodies.
    HttpChunks,
    /// What an HTTP/2 client sends first.
    H2Preface,
    /// SETTINGS frames, acknowledgements too.
    H2Settings,
    /// WINDOW_UPDATE frames.
    H2WindowUpdate,
    /// PING frames.
    H2Ping,
    /// HEADERS and CONTINUATION frames.
    H2Headers,
    /// Heads and padding of DATA frames.
    H2Data,
    /// GOAWAY frames.
    H2Goaway,
    /// RST_STREAM frames.
    H2RstStream,
    /// PRIORITY, PUSH_PROMISE and unknown frames.
    H2Other,
    /// The five bytes before every message of gRPC.
    GrpcPrefixes,
    /// Headers of GIOP messages, and of the requests and replies in them.
    GiopHeaders,
    /// Whole GIOP messages that carry no call: LocateRequest, CloseConnection and their like.
    GiopControl,
    /// Lengths before messages (contracts/README.md, Raw).
    RawLengths,
    /// Heads of TLS records, and what precedes their content.
    TlsRecords,
    /// Handshakes, alerts and changes of cipher.
    TlsHandshake,
    /// Encrypted content, authentication tags among it.
    TlsData,
    /// Authentication tags, content types and padding of records that were decrypted.
    TlsTags,
    /// Message bytes: bodies without any framing.
    Message,
    /// Bytes of no protocol that is known here, or after its thread was lost.
    Unknown,
}

impl Kind {
    /// All, in the order of their numbers.
    pub const ALL: [Kind; 21] = [
        Kind::HttpHeads,
        Kind::HttpChunks,
        Kind::H2Preface,
        Kind::H2Settings,
        Kind::H2WindowUpdate,
        Kind::H2Ping,
        Kind::H2Headers,
        Kind::H2Data,
        Kind::H2Goaway,
        Kind::H2RstStream,
        Kind::H2Other,
        Kind::GrpcPrefixes,
        Kind::GiopHeaders,
        Kind::GiopControl,
        Kind::RawLengths,
        Kind::TlsRecords,
        Kind::TlsHandshake,
        Kind::TlsData,
        Kind::TlsTags,
        Kind::Message,
        Kind::Unknown,
    ];

    /// Neither content, plain or encrypted, nor unknown.
    pub fn is_overhead(self) -> bool {
        !matches!(self, Kind::Message | Kind::TlsData | Kind::Unknown)
    }

    /// The name in a ladder of packets.
    pub fn text(self) -> &'static str {
        match self {
            Kind::HttpHeads => "HTTP head",
            Kind::HttpChunks => "chunk framing",
            Kind::H2Preface => "HTTP/2 preface",
            Kind::H2Settings => "SETTINGS",
            Kind::H2WindowUpdate => "WINDOW_UPDATE",
            Kind::H2Ping => "PING",
            Kind::H2Headers => "HEADERS",
            Kind::H2Data => "DATA head",
            Kind::H2Goaway => "GOAWAY",
            Kind::H2RstStream => "RST_STREAM",
            Kind::H2Other => "other frame",
            Kind::GrpcPrefixes => "gRPC prefix",
            Kind::GiopHeaders => "GIOP header",
            Kind::GiopControl => "GIOP control",
            Kind::RawLengths => "length",
            Kind::TlsRecords => "TLS record head",
            Kind::TlsHandshake => "TLS handshake",
            Kind::TlsData => "TLS content",
            Kind::TlsTags => "TLS tag",
            Kind::Message => "message",
            Kind::Unknown => "unknown",
        }
    }
}

/// A kind, and what a message is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Layer {
    /// The kind.
    pub kind: Kind,
    /// Of [`Kind::Message`] what it is written in.
    pub content: Content,
}

impl Layer {
    /// The name in a ladder of packets.
    pub fn text(self) -> &'static str {
        match (self.kind, self.content) {
            (Kind::Message, Content::Json) => "JSON",
            (Kind::Message, Content::Xml) => "XML",
            (Kind::Message, Content::Protobuf) => "protobuf",
            (Kind::Message, Content::Cdr) => "CDR",
            (Kind::Message, Content::Text) => "text",
            (kind, _) => kind.text(),
        }
    }
}

impl From<Kind> for Layer {
    fn from(kind: Kind) -> Layer {
        Layer {
            kind,
            content: Content::Other,
        }
    }
}

impl From<Content> for Layer {
    fn from(content: Content) -> Layer {
        Layer {
            kind: Kind::Message,
            content,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_listed_by_discriminant() {
        for (place, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, place);
        }
    }
}
