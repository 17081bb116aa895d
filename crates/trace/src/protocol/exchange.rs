//! One request and its reply, as the packets show them.

use crate::flow::event::{Direction, FlowId, Segment};
pub use crate::protocol::burst::Burst;
use crate::protocol::layer::Layer;

/// The protocols that are distinguished.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// TLS that is not decrypted: records are seen, messages are not.
    Tls,
    /// PostgreSQL's, by turns.
    Postgresql,
    /// MySQL's and MariaDB's, by turns.
    Mysql,
    /// MongoDB's, by turns.
    Mongodb,
    /// Redis, by turns.
    Redis,
    /// MQTT, by turns.
    Mqtt,
    /// WebSocket (RFC 6455), by turns; its messages are followed.
    Websocket,
    /// Thrift's binary protocol, by turns.
    Thrift,
    /// None of these, by turns.
    Unknown,
}

impl Protocol {
    /// Its messages are parsed: where they begin and end is known.
    pub fn has_frames(self) -> bool {
        use Protocol::{Giop, Http1, Http2, Raw};
        matches!(self, Http1 | Http2 | Giop | Raw)
    }
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
    /// Payload-carrying segments that it begins in: those up to the one that holds
    /// the first byte of its body (or its last byte, where it has no body). One for
    /// a message that begins in one send, two for a head and a body in two sends.
    pub segments: u32,
    /// HTTP/2: bytes of control frames between its frames.
    pub between_bytes: u32,
    /// Packet that carried its last byte in the order of the stream; of a record of TLS
    /// over several packets, where `last_packet` is the one that completed the record.
    pub carrier: u64,
}

impl Extent {
    /// Bytes of the message and what frames it.
    pub fn bytes(&self) -> u64 {
        self.message_bytes + self.overhead_bytes
    }
}

/// From the last byte of a request's head to the first of its body, which waited for a
/// permission (`Expect: 100-continue`, RFC 9110 section 10.1.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContinueWait {
    /// The request's number on its connection.
    pub ordinal: u64,
    /// The head was complete, nanoseconds since the Unix epoch.
    pub from_ns: u64,
    /// The body began.
    pub to_ns: u64,
    /// The packets of both.
    pub packets: [u64; 2],
}

/// How a reply ended.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// The protocol.
    pub protocol: Protocol,
    /// The way of the request. [`Direction::Request`], except in a capture that
    /// began after the connection, where only the protocol shows which side asked.
    pub caller: Direction,
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
    /// The reply is a stream of messages: server-sent events, or several messages of gRPC.
    pub is_stream: bool,
    /// Of server-sent events: how they came, the first bursts.
    pub bursts: Vec<Burst>,
    /// One packet after it the server sent FIN (a connection per call).
    pub closed_by_server: bool,
}

impl Exchange {
    /// From the request's first byte to the reply's last, nanoseconds; None without
    /// a whole reply.
    pub fn latency_ns(&self) -> Option<u64> {
        // The time of a part of a reply would be taken for a fast call.
        let whole = matches!(self.ending, Ending::Framed | Ending::UntilClose);
        let reply = self.reply.as_ref().filter(|_| whole)?;
        Some(reply.last_at_ns.saturating_sub(self.request.first_at_ns))
    }
}

/// A protocol data unit whose first bytes have been read: a head of HTTP/1, a frame of
/// HTTP/2, a message, a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pdu {
    /// The head of a request of HTTP/1.
    HttpRequest,
    /// The head of a reply of HTTP/1, interim ones too; its status.
    HttpReply(u16),
    /// A frame of HTTP/2.
    Http2 {
        /// Its type (RFC 9113 section 6).
        kind: u8,
        /// Its stream, 0 for the connection.
        stream: u32,
        /// Its payload, bytes: of DATA what flow control counts.
        length: u32,
        /// WINDOW_UPDATE: the increment. SETTINGS: the new window of streams,
        /// where it announces one. Bytes.
        window: Option<u32>,
        /// As in its head (RFC 9113 section 4.1).
        flags: u8,
        /// SETTINGS: the streams that its sender allows the other side (RFC 9113 section
        /// 6.5.2), where it announces that.
        streams_max: Option<u32>,
    },
    /// A message of GIOP.
    Giop(wirelab_wire::giop::Kind),
    /// A message with its length in front.
    Raw,
    /// A record of TLS (RFC 8446 section 5.1).
    Tls {
        /// Its content type.
        kind: u8,
        /// Its payload, bytes.
        length: u16,
        /// The content type within, where it was decrypted (RFC 8446 section 5.4).
        content: Option<u8>,
    },
}

/// How the messages of a stream are framed.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum MessageFraming {
    /// Server-sent events (WHATWG HTML, section 9.2).
    Sse,
    /// Messages of WebSocket, in one frame or several (RFC 6455).
    Websocket,
    /// Length-prefixed messages of gRPC, of a stream of two or more.
    Grpc,
    /// Enveloped messages of Connect.
    Connect,
    /// Lines of JSON.
    Ndjson,
}

/// A message that is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamMessage {
    /// The connection.
    pub flow: FlowId,
    /// Its way.
    pub direction: Direction,
    /// How it is framed.
    pub framing: MessageFraming,
    /// The exchange that it belongs to; None in WebSocket.
    pub exchange: Option<u64>,
    /// The stream of HTTP/2; 0 in other protocols.
    pub stream: u32,
    /// Its number in its stream and direction, from 0.
    pub number: u64,
    /// Its packets and bytes. The times are those of its own packets.
    pub extent: Extent,
    /// The packet from which on its receiver could read it, and when that came, nanoseconds since
    /// the Unix epoch: later than its own packets where bytes before it came later.
    pub readable: (u64, u64),
    /// When the message before it could be read, or where there is none, when the stream was asked
    /// for, ns; None where that is not known.
    pub since_ns: Option<u64>,
    /// It is compressed by itself, as its framing shows; its bytes are those on the wire.
    pub is_compressed: bool,
    /// A hash of its content's beginning and length; None where that was not read.
    pub content: Option<u64>,
    /// The first time that its content states, nanoseconds of its maker's clock.
    pub made_ns: Option<u64>,
}

/// Where the bytes of a stream of HTTP/2 are in a TCP stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamBytes {
    /// Their way.
    pub direction: Direction,
    /// Which stream of HTTP/2.
    pub stream: u32,
    /// The packet in which they begin.
    pub packet: u64,
    /// Offset of the first.
    pub start: u64,
    /// Offset behind the last, as far as the length of their frame shows.
    pub end: u64,
}

/// A half of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExchangeHalf {
    /// What the client asks.
    Request,
    /// What the server answers.
    Reply,
}

/// A listener to exchanges.
pub trait ExchangeObserver {
    /// One is complete, or will never be. In order of completion, on each
    /// connection; reported when it is known whether the server closed after it.
    fn exchange(&mut self, exchange: &Exchange);

    /// A request has begun: its first byte came in `segment`.
    fn call_started(&mut self, _flow: FlowId, _segment: &Segment) {}

    /// The body of a request has begun, which had waited; its exchange follows, later.
    fn continue_waited(&mut self, _flow: FlowId, _wait: ContinueWait) {}

    /// The exchange of that number is over; [`ExchangeObserver::exchange`] follows, later.
    fn call_ended(&mut self, _flow: FlowId, _ordinal: u64, _ending: Ending) {}

    /// A side announces that the connection ends (RFC 9112 section 9.6, RFC 9113 section 6.8).
    fn end_announced(&mut self, _flow: FlowId, _by: Direction) {}

    /// The answering side has sent all, up to its FIN: what is unanswered stays so. May be
    /// reported several times.
    fn replies_over(&mut self, _flow: FlowId) {}

    /// A message has no counterpart: the capture lacks it, or does not show which it
    /// is. The exchange of a request is also reported, with [`Ending::Unseen`].
    fn message_unpaired(&mut self, _flow: FlowId, _half: ExchangeHalf) {}

    /// Bytes are missing, and it is not known where the next message begins.
    fn track_lost(&mut self, _flow: FlowId) {}

    /// The next bytes of a direction belong to `layer`. Every byte that a flow
    /// hands out is reported once; bytes of one packet may be reported late, when later
    /// ones have shown what they are.
    fn layer(&mut self, _flow: FlowId, _layer: Layer, _bytes: u32, _segment: &Segment) {}

    /// A frame of HTTP/2 that carries a part of a message has begun.
    fn stream_bytes(&mut self, _flow: FlowId, _bytes: StreamBytes) {}

    /// A message inside a stream is complete.
    fn message(&mut self, _message: &StreamMessage) {}

    /// A unit of the protocol, at the end of its head (for WINDOW_UPDATE and
    /// SETTINGS of HTTP/2: of its payload).
    fn pdu(&mut self, _flow: FlowId, _unit: Pdu, _segment: &Segment) {}
}
