//! What every protocol's client side looks like to the one who owns the socket.
//!
//! A [`Session`] is one connection's state machine without the connection:
//! calls go in, bytes for the socket come out; bytes from the socket go in,
//! [`Replies`] come out. It never blocks, reads no clock and owns no thread.

use std::fmt;
use std::sync::Arc;

use wirelab_stack::Codec;

use crate::cdr::ByteOrder;

/// Names one call on one session; chosen by the user of the session and
/// handed back in every event. Free for reuse once the call has ended.
// Not the number on the wire: GIOP request ids and HTTP/2 stream ids are the session's
// own.
pub type CallId = u32;

/// One request as any binding needs it, prepared once and sent many times.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Request {
    /// Distinguishes requests on one session, so that encoders can memoise.
    pub id: u64,
    /// `GET`, `POST`, …; HTTP only.
    pub method: String,
    /// Path and query, starting with `/`. In GIOP the operation's name.
    pub path: String,
    /// Host and port, as in `Host` and `:authority`; HTTP only.
    pub authority: String,
    /// Further fields in lower case, without `host`, `content-length`, `connection`;
    /// HTTP only.
    pub fields: Vec<(String, String)>,
    /// The body as it goes on the wire (encoded, compressed, gRPC-framed; in
    /// GIOP the arguments in the session's byte order).
    pub body: Arc<[u8]>,
}

/// `content-encoding`, `grpc-encoding` or `connect-content-encoding` of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoding {
    /// Absent or `identity`.
    #[default]
    Identity,
    /// `gzip`.
    Gzip,
    /// `zstd`.
    Zstd,
    /// Anything else.
    Other,
}

impl Encoding {
    /// Whether a field of that name has it.
    #[must_use]
    pub fn is_named_by(field: &[u8]) -> bool {
        const FIELDS: [&[u8]; 3] = [
            b"content-encoding",
            b"grpc-encoding",
            b"connect-content-encoding",
        ];
        FIELDS.iter().any(|own| own.eq_ignore_ascii_case(field))
    }
}

/// `content-type`, as far as validation must distinguish types; parameters do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ContentType {
    /// No such field.
    #[default]
    Absent,
    /// The media type of a REST codec ([`Codec::media_type`]). `text/xml` is that of XML too:
    /// the one is REST's, the other SOAP 1.1's, and many services mix them up.
    Body(Codec),
    /// `application/soap+xml`: SOAP 1.2.
    SoapXml,
    /// `application/grpc`, also with `+proto`.
    Grpc,
    /// `application/proto`: a message of Connect.
    Proto,
    /// `application/connect+proto`: a stream of Connect.
    ConnectProto,
    /// `application/connect+json`: the same in JSON.
    ConnectJson,
    /// `text/event-stream`: server-sent events.
    EventStream,
    /// Anything else.
    Other,
}

impl ContentType {
    /// The type of that name, which must come without parameters.
    #[must_use]
    pub fn named(name: &[u8]) -> ContentType {
        // Media types are compared without regard to case (RFC 9110 section 8.3.1).
        const OTHERS: [(&[u8], ContentType); 8] = [
            (b"application/grpc", ContentType::Grpc),
            (b"application/grpc+proto", ContentType::Grpc),
            (b"text/xml", ContentType::Body(Codec::Xml)),
            (b"application/soap+xml", ContentType::SoapXml),
            (b"text/event-stream", ContentType::EventStream),
            (b"application/proto", ContentType::Proto),
            (b"application/connect+proto", ContentType::ConnectProto),
            (b"application/connect+json", ContentType::ConnectJson),
        ];
        if let Some(codec) = Codec::of_media_type(name) {
            return ContentType::Body(codec);
        }
        let found = OTHERS
            .iter()
            .find(|(own, _)| name.eq_ignore_ascii_case(own));
        found.map_or(ContentType::Other, |(_, of)| *of)
    }
}

impl fmt::Display for ContentType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ContentType::Absent => "absent",
            ContentType::Body(codec) => codec.media_type(),
            ContentType::SoapXml => "application/soap+xml",
            ContentType::Grpc => "application/grpc",
            ContentType::Proto => "application/proto",
            ContentType::ConnectProto => "application/connect+proto",
            ContentType::ConnectJson => "application/connect+json",
            ContentType::EventStream => "text/event-stream",
            ContentType::Other => "unknown",
        })
    }
}

/// Status and fields of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Head {
    /// HTTP status code. WebSocket: 101, or 400 where an error of the contracts is the first
    /// message. GIOP: 200 for `NO_EXCEPTION`, 500 for
    /// `USER_EXCEPTION`, 503 for `SYSTEM_EXCEPTION`.
    pub status: u16,
    /// `content-length`, where given.
    // As announced by the peer; the bytes of `body` may differ where an encoding
    // applies.
    pub content_length: Option<u64>,
    /// `content-encoding` (HTTP), `grpc-encoding` (gRPC) or `connect-content-encoding` (streams of
    /// Connect).
    pub encoding: Encoding,
    /// `content-type`.
    pub content_type: ContentType,
    /// Whether there is a field `errors`, by which Spring PetClinic reports an invalid body.
    pub errors: bool,
    /// GIOP: the byte order of the body, which is CDR aligned from its first byte on.
    pub byte_order: Option<ByteOrder>,
}

/// How a reply ended that the protocol calls complete.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct End {
    /// `grpc-status` from the trailers, or from a trailers-only reply.
    pub grpc_status: Option<u32>,
    /// `grpc-message`, percent-decoded; kept only when the status is not 0.
    pub grpc_message: Option<Box<str>>,
}

/// Why a call ended without a complete reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The peer reset this call (`RST_STREAM`) with that error code.
    #[error("stream reset by peer, HTTP/2 error code {0}")]
    Reset(u32),
    /// The peer went away and reported that it did not process this call.
    #[error("not processed by a peer that went away")]
    // HTTP/2 GOAWAY (RFC 9113 section 6.8) and GIOP CloseConnection (CORBA 3.3-2, 9.4.7).
    Unprocessed,
    /// The connection ended in the middle of the reply.
    #[error("connection closed in mid-reply")]
    Truncated,
    /// The connection ended before the first byte of the reply.
    #[error("connection closed before the reply")]
    Closed,
    /// WebSocket: the peer closed the connection with a status (RFC 6455 section 7.4).
    #[error("connection closed by peer, WebSocket status {status}: {reason}")]
    ClosedWith {
        /// The status.
        status: u16,
        /// Its reason, printable.
        reason: Box<str>,
    },
    /// GIOP: the object is elsewhere; the call may be made again there.
    #[error("the object is at {ior}")]
    Forwarded {
        /// Where, as `IOR:` and hexadecimal digits.
        ior: Box<str>,
        /// Later calls should go there at once (`LOCATION_FORWARD_PERM`).
        permanent: bool,
    },
    /// GIOP: the peer demands another addressing mode for the object
    /// (`NEEDS_ADDRESSING_MODE`): 1 a profile, 2 an IOR.
    #[error("the peer demands GIOP addressing mode {0}; this client names objects by their key")]
    AddressingMode(u16),
    /// The peer broke the protocol.
    #[error("protocol error: {0}")]
    Protocol(ProtocolError),
}

/// The error code `REFUSED_STREAM` (RFC 9113 section 7).
const REFUSED_STREAM: u32 = 0x7;

impl Failure {
    /// True when the peer has stated that it did not process the call: then any request may be
    /// sent again (HTTP/2: RFC 9113 section 8.7; GIOP: CORBA 3.3-2, 9.4.7).
    #[must_use]
    pub fn is_unprocessed(&self) -> bool {
        matches!(self, Failure::Unprocessed | Failure::Reset(REFUSED_STREAM))
    }
}

/// The peer broke the protocol. As an error of [`Session::receive`] it means that
/// the connection must be closed; within [`Failure::Protocol`] it may concern
/// one call only (HTTP/2: a malformed reply, RFC 9113 section 8.1.1).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{rule}: {found}")]
pub struct ProtocolError {
    /// The rule that was broken, with its source (`RFC 9113 section 6.5`).
    pub rule: &'static str,
    /// What was found instead.
    pub found: String,
}

/// Receives the events of a session, in the order of the bytes.
///
/// For one call: `first`, `head`, any number of `body`, then `end`; or
/// `failed` at any point, after which nothing more comes for that call.
// Callbacks instead of returned events: a chunk is a slice of the receive buffer, and
// is not copied unless the receiver keeps it.
pub trait Replies {
    /// The first byte of the reply has been seen.
    // Separate from `head`, because time to first byte is measured by it.
    fn first(&mut self, call: CallId);
    /// A field whose name the session was asked to watch: those of the head come before
    /// `head`, those of trailers before `end`. Names are in lower case.
    fn field(&mut self, call: CallId, name: &str, value: &[u8]) {
        let _ = (call, name, value);
    }
    /// The head of this reply gives its length twice, by transfer-encoding, which counts, and
    /// by content-length (RFC 9112 section 6.3). Comes before `head`.
    fn framing_conflict(&mut self, call: CallId) {
        let _ = call;
    }
    /// Status and fields are complete (informational 1xx are passed over).
    fn head(&mut self, call: CallId, head: &Head);
    /// The next bytes of the body, without transfer framing.
    fn body(&mut self, call: CallId, chunk: &[u8]);
    /// The reply is complete.
    fn end(&mut self, call: CallId, end: End);
    /// The reply will never be complete.
    fn failed(&mut self, call: CallId, failure: Failure);
}

/// One connection's client side.
pub trait Session {
    /// How many more calls this session takes now; 0 once it must not be used
    /// any more or while the peer's limit is reached.
    fn capacity(&self) -> usize;

    /// True when the connection must be closed once the calls in flight ended.
    // Not the same as `capacity() == 0`, which is also true while calls are merely in
    // flight.
    fn finished(&self) -> bool;

    /// Starts a call; its bytes come out of [`Session::pump`].
    /// Must not be called with `capacity() == 0`.
    fn send(&mut self, call: CallId, request: &Arc<Request>);

    /// Appends the bytes of the next send to `out` (at most about 256 KiB a
    /// time) and returns true while more are ready now. With split writes a
    /// head and its body come from two calls, so that they are two sends.
    fn pump(&mut self, out: &mut Vec<u8>) -> bool;

    /// True when [`Session::pump`] would append nothing. False where only pumping shows it.
    fn is_drained(&self) -> bool {
        false
    }

    /// True when the first byte of `call`'s request has come out of `pump`.
    fn started(&self, call: CallId) -> bool;

    /// True when every byte of `call`'s request has come out of `pump`.
    fn flushed(&self, call: CallId) -> bool;

    /// Takes bytes that arrived. After an error the connection must be closed;
    /// calls in flight have then been reported by [`Replies::failed`].
    ///
    /// # Errors
    /// When the peer broke the protocol.
    fn receive(&mut self, input: &[u8], replies: &mut impl Replies) -> Result<(), ProtocolError>;

    /// The peer closed its side, or the connection broke.
    fn closed(&mut self, replies: &mut impl Replies);

    /// Gives a call up. Returns false when the connection cannot go on
    /// without it (HTTP/1.x) and must be closed.
    fn cancel(&mut self, call: CallId) -> bool;
}
