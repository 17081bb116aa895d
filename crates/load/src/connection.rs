//! One connection: a socket, the session that speaks over it, and the bytes
//! that the socket did not take yet.

use std::io;

use wirelab_wire::{CallId, ProtocolError, Replies, Request, Session, http1, http2};

use crate::calls::Calls;
use crate::clock::now_ns;
use crate::poll::{Interest, Poll};
use crate::socket::{Read, Socket};

/// The session of a connection, whatever it speaks.
pub(crate) enum AnySession {
    Http1(http1::Http1),
    Http2(Box<http2::Client>),
}

macro_rules! each {
    ($self:expr, $session:ident => $body:expr) => {
        match $self {
            AnySession::Http1($session) => $body,
            AnySession::Http2($session) => $body,
        }
    };
}

impl AnySession {
    #[inline]
    fn capacity(&self) -> usize {
        each!(self, session => session.capacity())
    }

    fn finished(&self) -> bool {
        each!(self, session => session.finished())
    }

    #[inline]
    fn send(&mut self, call: CallId, request: &std::sync::Arc<Request>) {
        each!(self, session => session.send(call, request));
    }

    #[inline]
    fn pump(&mut self, out: &mut Vec<u8>) -> bool {
        each!(self, session => session.pump(out))
    }

    fn begun(&self, call: CallId) -> bool {
        each!(self, session => session.begun(call))
    }

    #[inline]
    fn flushed(&self, call: CallId) -> bool {
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

    pub(crate) fn closed(&mut self, replies: &mut impl Replies) {
        each!(self, session => session.closed(replies));
    }

    pub(crate) fn cancel(&mut self, call: CallId) -> bool {
        each!(self, session => session.cancel(call))
    }
}

/// One connection.
pub(crate) struct Connection {
    pub(crate) socket: Socket,
    pub(crate) session: AnySession,
    /// When the connection was asked for.
    pub(crate) started: u64,
    /// The handshake is known to be complete.
    pub(crate) established: bool,
    /// Reads also ask for the kernel's stamp.
    pub(crate) stamped: bool,
    /// In the list of connections with room for a call.
    pub(crate) listed: bool,
    /// Calls under way on it.
    pub(crate) in_flight: u32,
    /// A call has been begun on it.
    used: bool,
    /// A reply has come whole on it.
    pub(crate) served: bool,
    interest: Interest,
    /// Bytes that the socket did not take, from `taken` on.
    rest: Vec<u8>,
    taken: usize,
    /// Calls whose last byte has not been written.
    unflushed: Vec<CallId>,
}

/// What a flush did.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Flushed {
    pub(crate) bytes: usize,
    /// When the last write began; 0: there was none.
    pub(crate) at: u64,
    /// Nanoseconds that the connection took to be established, when this
    /// flush found it so.
    pub(crate) connect_ns: Option<u64>,
}

impl Connection {
    pub(crate) fn new(
        socket: Socket,
        session: AnySession,
        started: u64,
        stamped: bool,
    ) -> Connection {
        Connection {
            socket,
            session,
            started,
            established: false,
            stamped,
            listed: false,
            in_flight: 0,
            used: false,
            served: false,
            interest: Interest::ReadWrite,
            rest: Vec::new(),
            taken: 0,
            unflushed: Vec::new(),
        }
    }

    pub(crate) fn register(&self, poll: &Poll, token: u64) -> io::Result<()> {
        poll.add(self.socket.raw(), token, self.interest)
    }

    /// Calls that may be begun on it now; without `keep` one in its life.
    #[inline]
    pub(crate) fn room(&self, keep: bool) -> usize {
        match keep || !self.used {
            true => self.session.capacity(),
            false => 0,
        }
    }

    /// Nothing is under way on it and nothing more may be.
    pub(crate) fn spent(&self, keep: bool) -> bool {
        self.in_flight == 0 && ((!keep && self.used) || self.session.finished())
    }

    #[inline]
    pub(crate) fn submit(&mut self, call: CallId, request: &std::sync::Arc<Request>) {
        self.session.send(call, request);
        self.unflushed.push(call);
        self.in_flight += 1;
        self.used = true;
    }

    /// Writes what is due, as far as the socket takes it, and stamps the
    /// calls whose first or last byte went out. What it did before an error
    /// is in `done` too.
    pub(crate) fn flush(
        &mut self,
        calls: &mut Calls,
        scratch: &mut Vec<u8>,
        done: &mut Flushed,
    ) -> io::Result<()> {
        loop {
            scratch.clear();
            let fresh = self.rest.is_empty();
            if fresh {
                self.session.pump(scratch);
                if scratch.is_empty() {
                    return Ok(());
                }
            }
            let due = if fresh {
                scratch.as_slice()
            } else {
                &self.rest[self.taken..]
            };
            let length = due.len();
            let before = now_ns();
            let written = self.socket.write(due)?;
            if written > 0 {
                done.bytes += written;
                done.at = before;
                if !self.established {
                    self.established = true;
                    done.connect_ns = Some(before - self.started);
                }
                self.keep_rest(fresh, written, length, scratch);
                self.stamp(calls, before);
            } else if fresh {
                self.rest.extend_from_slice(scratch);
            }
            if written < length {
                return Ok(());
            }
        }
    }

    fn keep_rest(&mut self, fresh: bool, written: usize, length: usize, scratch: &[u8]) {
        match (fresh, written == length) {
            (true, true) => {}
            (true, false) => self.rest.extend_from_slice(&scratch[written..]),
            (false, false) => self.taken += written,
            (false, true) => {
                self.rest = Vec::new();
                self.taken = 0;
            }
        }
    }

    /// A call's `sent` is the write of the block that its first byte is in.
    /// Calls behind a large body, or beyond the streams that the peer allows,
    /// have not been sent yet.
    fn stamp(&mut self, calls: &mut Calls, before: u64) {
        if self.unflushed.is_empty() {
            return;
        }
        let after = now_ns();
        let drained = self.rest.is_empty();
        let session = &self.session;
        self.unflushed.retain(|id| {
            let call = calls.get(*id);
            let flushed = drained && session.flushed(*id);
            if call.sent == 0 && (flushed || session.begun(*id)) {
                call.sent = before;
            }
            if flushed {
                call.flushed = after;
            }
            !flushed
        });
    }

    /// One receive, with the kernel's stamp where this connection has them.
    #[inline]
    pub(crate) fn read(&self, into: &mut [u8]) -> io::Result<(Read, Option<u64>)> {
        match self.stamped {
            true => self.socket.read_stamped(into),
            false => Ok((self.socket.read(into)?, None)),
        }
    }

    /// A call ended; it must not be stamped any more, its id may be reused.
    #[inline]
    pub(crate) fn forget(&mut self, call: CallId) {
        self.in_flight -= 1;
        if !self.unflushed.is_empty() {
            self.unflushed.retain(|id| *id != call);
        }
    }

    /// Waits for room to write exactly while there is something to write, or
    /// the handshake is under way.
    #[inline]
    pub(crate) fn update_interest(&mut self, poll: &Poll, token: u64) -> io::Result<()> {
        let wanted = match self.rest.is_empty() && self.established {
            true => Interest::Read,
            false => Interest::ReadWrite,
        };
        if wanted != self.interest {
            self.interest = wanted;
            poll.modify(self.socket.raw(), token, wanted)?;
        }
        Ok(())
    }
}
