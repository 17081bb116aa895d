//! One request and its reply, as the packets show them.

use crate::stream::FlowId;

/// The protocols that are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// HTTP/1.0 and 1.1 (RFC 9112).
    Http1,
    /// HTTP/2 (RFC 9113), gRPC among it.
    Http2,
    /// CORBA's GIOP over TCP.
    Giop,
    /// Length-prefixed messages (contracts/README.md, Raw).
    Raw,
    /// TLS: records are seen, messages are not.
    Tls,
    /// None of these.
    Unknown,
}

/// The packets and bytes of one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Extent {
    /// Packet that carried its first byte, and when that was captured.
    pub first_packet: u64,
    /// Nanoseconds since the Unix epoch.
    pub first_at_ns: u64,
    /// Packet that carried its last byte (the last to come, when they came out of order).
    pub last_packet: u64,
    /// Nanoseconds since the Unix epoch.
    pub last_at_ns: u64,
    /// Offset of its first byte in the stream.
    pub start: u64,
    /// Offset behind its last byte. HTTP/2 interleaves: bytes between the two
    /// may belong to other exchanges.
    pub end: u64,
    /// Bytes of the message: the body without transfer framing.
    pub message_bytes: u64,
    /// Head, chunk sizes, frame headers, length prefixes of this message.
    pub overhead_bytes: u64,
    /// Payload-carrying segments that it begins in: two for a head and a body in two sends.
    pub segments: u32,
}

/// How a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// By its length, its last chunk, END_STREAM.
    Framed,
    /// By the end of the connection, as HTTP/1.0 has it.
    UntilClose,
    /// It did not: the connection ended, or the stream was reset.
    Broken,
    /// The capture ended first, or lacks bytes.
    Unseen,
}

/// One call on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The connection.
    pub flow: FlowId,
    /// From 0 on that connection, by the first byte of the request.
    pub ordinal: u64,
    /// What is spoken.
    pub protocol: Protocol,
    /// Method and path, operation, or empty.
    pub name: Box<str>,
    /// HTTP status, grpc-status behind it where there is one; GIOP reply status.
    pub status: Option<(u16, Option<u16>)>,
    /// HTTP/2 stream or GIOP request id, or 0.
    pub stream: u32,
    /// The request.
    pub request: Extent,
    /// The reply; None when there was none.
    pub reply: Option<Extent>,
    /// How that ended.
    pub ending: Ending,
    /// One packet after it the server sent FIN (a connection per call).
    pub closed_by_server: bool,
}

/// Who listens to exchanges.
pub trait Exchanges {
    /// One is complete, or will never be. In order of completion.
    fn exchange(&mut self, exchange: &Exchange);
}
