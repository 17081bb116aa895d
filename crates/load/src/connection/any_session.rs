//! The session of a connection, whatever its protocol, without dynamic calls.

use std::sync::Arc;

use wirelab_wire::{
    CallId, ProtocolError, Replies, Request, Session, giop, http1, http2, raw, websocket,
};

use crate::call::error::ErrorCode;

/// The session of a connection, whatever its protocol.
pub(crate) enum AnySession {
    Http1(http1::Http1),
    // Boxed where the state is large: an enum is as big as its biggest variant, and a plan may
    // hold many thousands of connections of HTTP/1.1.
    Http2(Box<http2::Client>),
    Giop(Box<giop::Giop>),
    Raw(Box<raw::Raw>),
    Websocket(Box<websocket::WebSocket>),
}

// `Session::receive` is generic over its listener, so there is no `dyn Session`. A match is
// also what lets the compiler inline the sessions' methods.
macro_rules! each {
    ($self:expr, $session:ident => $body:expr) => {
        match $self {
            AnySession::Http1($session) => $body,
            AnySession::Http2($session) => $body,
            AnySession::Giop($session) => $body,
            AnySession::Raw($session) => $body,
            AnySession::Websocket($session) => $body,
        }
    };
}

impl AnySession {
    #[inline]
    pub(crate) fn capacity(&self) -> usize {
        each!(self, session => session.capacity())
    }

    pub(crate) fn finished(&self) -> bool {
        each!(self, session => session.finished())
    }

    #[inline]
    pub(crate) fn send(&mut self, call: CallId, request: &Arc<Request>) {
        each!(self, session => session.send(call, request));
    }

    #[inline]
    pub(crate) fn pump(&mut self, out: &mut Vec<u8>) -> bool {
        each!(self, session => session.pump(out))
    }

    #[inline]
    pub(crate) fn is_drained(&self) -> bool {
        each!(self, session => session.is_drained())
    }

    pub(crate) fn started(&self, call: CallId) -> bool {
        each!(self, session => session.started(call))
    }

    #[inline]
    pub(crate) fn flushed(&self, call: CallId) -> bool {
        each!(self, session => session.flushed(call))
    }

    #[inline]
    pub(crate) fn receive(
        &mut self,
        input: &[u8],
        replies: &mut impl Replies,
    ) -> Result<(), ProtocolError> {
        each!(self, session => session.receive(input, replies))
    }

    /// How the peer answered the offer of an extension of WebSocket, once after the handshake.
    pub(crate) fn take_negotiated(&mut self) -> Option<websocket::Negotiated> {
        match self {
            AnySession::Websocket(session) => session.take_negotiated(),
            _ => None,
        }
    }

    /// The protocol that the peer uses instead, by the first bytes that it sent.
    pub(crate) fn other_protocol(&self, input: &[u8]) -> Option<ErrorCode> {
        match (self, input) {
            // A SETTINGS frame: three bytes of length, then type 4 (RFC 9113 sections 4.1, 6.5).
            // A server of HTTP/2 begins with it (section 3.4), and it is short: the first two
            // bytes are 0.
            (AnySession::Http1(_), [0, 0, _, 4, ..]) => Some(ErrorCode::PeerSpeaksHttp2),
            // A status line, or the page of a server of HTTP/0.9.
            (AnySession::Http2(_), [b'H', b'T', b'T', b'P', ..] | [b'<', ..]) => {
                Some(ErrorCode::PeerSpeaksHttp1)
            }
            _ => None,
        }
    }

    pub(crate) fn closed(&mut self, replies: &mut impl Replies) {
        each!(self, session => session.closed(replies));
    }

    pub(crate) fn cancel(&mut self, call: CallId) -> bool {
        each!(self, session => session.cancel(call))
    }
}
