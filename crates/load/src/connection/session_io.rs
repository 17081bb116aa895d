//! One connection: a socket, the session on it, and the bytes
//! that the socket did not take yet.

use std::io;

use wirelab_wire::{CallId, Replies, Request};

use crate::call::calls::CallOrigin;
use crate::call::calls::Calls;
use crate::call::clock::now_ns;
use crate::call::error::ErrorCode;
use crate::connection::any_session::AnySession;
use crate::connection::socket::{Read, Socket};
use crate::connection::tls::{Opened, Tls, unexpected_record};
use crate::connection::tokens::Tokens;
use crate::reactor::poll::{Interest, Poll};

/// One connection.
pub(crate) struct Connection {
    pub(crate) socket: Socket,
    /// Between the socket and the session, with security.
    tls: Option<Box<Tls>>,
    pub(crate) session: AnySession,
    /// Its caches, with token-xml.
    pub(crate) tokens: Option<Box<Tokens>>,
    /// When the connection was asked for.
    pub(crate) started: u64,
    /// The socket is known to be connected.
    pub(crate) open: bool,
    /// So it is, and TLS has shaken hands where there is TLS.
    pub(crate) established: bool,
    /// Reads also ask for the kernel's stamp.
    pub(crate) stamped: bool,
    /// In the list of connections with room for a call.
    pub(crate) listed: bool,
    /// Calls under way on it.
    pub(crate) in_flight: u32,
    /// Calls begun on it so far.
    begun: u64,
    /// Where it is, for a log of calls.
    pub(crate) origin: CallOrigin,
    /// A reply has come whole on it.
    pub(crate) served: bool,
    /// The peer has sent something.
    received_any: bool,
    /// No call may be begun on it any more: they go elsewhere now.
    pub(crate) retired: bool,
    interest: Interest,
    /// Bytes that the socket did not take, from `taken` on.
    rest: Vec<u8>,
    taken: usize,
    /// What the session wrote last, on its way into records.
    plain: Vec<u8>,
    /// Calls whose last byte has not been written.
    unflushed: Vec<CallId>,
}

/// Hears what comes on a connection.
pub(crate) trait Listener: Replies {
    /// Takes the protocol that the peer's first bytes show, where it is not the session's.
    fn note_protocol(&mut self, other: Option<ErrorCode>);
}

/// What a receive came to.
#[derive(Debug)]
pub(crate) enum Received {
    /// The session goes on.
    Fine,
    /// The peer broke the protocol of the session.
    Broken,
    /// The peer ended the TLS connection as it should.
    Ended,
    /// The peer is not who it should be, or broke TLS.
    Insecure(io::Error),
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
        tls: Option<Box<Tls>>,
        session: AnySession,
        started: u64,
        stamped: bool,
    ) -> Connection {
        Connection {
            socket,
            tls,
            session,
            tokens: None,
            started,
            open: false,
            established: false,
            stamped,
            listed: false,
            in_flight: 0,
            begun: 0,
            origin: CallOrigin::default(),
            served: false,
            received_any: false,
            retired: false,
            interest: Interest::ReadWrite,
            rest: Vec::new(),
            taken: 0,
            plain: Vec::new(),
            unflushed: Vec::new(),
        }
    }

    pub(crate) fn register(&self, poll: &Poll, token: u64) -> io::Result<()> {
        poll.add(&self.socket, token, self.interest)
    }

    /// Calls that may be begun on it now; without `keep` one in its life.
    #[inline]
    pub(crate) fn room(&self, keep: bool) -> usize {
        match (keep || self.begun == 0) && !self.retired {
            true => self.session.capacity(),
            false => 0,
        }
    }

    /// Its handshake is over, and it may have calls, or had some. Before that, HTTP/2 may wait
    /// for the SETTINGS of the peer.
    pub(crate) fn is_usable(&self) -> bool {
        let is_silent = !self.received_any && self.in_flight == 0 && self.begun == 0;
        self.established && !(is_silent && !self.retired && self.session.capacity() == 0)
    }

    /// Nothing is under way on it and nothing more may be.
    pub(crate) fn is_spent(&self, keep: bool) -> bool {
        let used_up = (!keep && self.begun > 0) || self.retired;
        self.in_flight == 0 && (used_up || self.session.finished())
    }

    /// A flush would write nothing, and ask the poller for nothing new.
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        self.tls.is_none()
            && self.rest.is_empty()
            && self.interest == Interest::Read
            && self.session.is_drained()
    }

    /// How many calls were begun on it before the next.
    #[inline]
    pub(crate) fn next_ordinal(&self) -> u64 {
        self.begun
    }

    #[inline]
    pub(crate) fn submit(&mut self, call: CallId, request: &std::sync::Arc<Request>) {
        self.session.send(call, request);
        self.unflushed.push(call);
        self.in_flight += 1;
        self.begun += 1;
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
            // What the socket left goes first and keeps its order. The session is asked
            // for more only when all of it is out, so that `rest` is bounded by one
            // block of the session.
            let fresh = self.rest.is_empty();
            if fresh {
                self.produce(scratch)?;
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
            // Before the system call: on loopback send(2) also runs the receiver's half of TCP,
            // and that time belongs to the call.
            let before = now_ns();
            let written = self.socket.write(due)?;
            if written > 0 {
                done.bytes += written;
                done.at = before;
                done.connect_ns = done.connect_ns.or(self.opened(before));
                self.keep_rest(fresh, written, length, scratch);
                self.stamp(calls, before);
            // Nothing was taken, and the session gives each block once.
            } else if fresh {
                self.rest.extend_from_slice(scratch);
            }
            // The socket's buffer is full, and epoll will tell when there is room. Otherwise
            // there may be another block: with split writes, each block is a write of its own.
            if written < length {
                return Ok(());
            }
        }
    }

    /// The next bytes for the socket: what the session says, in records where
    /// there is TLS. Until hands are shaken the session keeps silent.
    #[inline]
    fn produce(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        let Some(tls) = &mut self.tls else {
            self.session.pump(out);
            return Ok(());
        };
        if !tls.ready() {
            // No plain text, but the records of the handshake.
            return tls.seal(&[], out);
        }
        self.plain.clear();
        self.session.pump(&mut self.plain);
        tls.seal(&self.plain, out)
    }

    /// The socket is connected; how long that took, where nothing else is
    /// needed to establish the connection and it had not been known.
    #[inline]
    pub(crate) fn opened(&mut self, now: u64) -> Option<u64> {
        self.open = true;
        match &self.tls {
            None => self.establish(now),
            Some(_) => None,
        }
    }

    /// How long the handshake of TLS took, when it has just ended.
    #[inline]
    pub(crate) fn handshake_done(&mut self, now: u64) -> Option<u64> {
        match &self.tls {
            Some(tls) if tls.ready() => self.establish(now),
            _ => None,
        }
    }

    /// Its handshake of TLS resumed an earlier session.
    pub(crate) fn is_resumed(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.is_resumed())
    }

    fn establish(&mut self, now: u64) -> Option<u64> {
        let first = !self.established;
        self.established = true;
        first.then(|| now.saturating_sub(self.started))
    }

    /// Gives the session what arrived, out of its records where there is TLS.
    #[inline]
    pub(crate) fn receive(&mut self, input: &[u8], listener: &mut impl Listener) -> Received {
        let session = &mut self.session;
        let first = !std::mem::replace(&mut self.received_any, true);
        let Some(tls) = &mut self.tls else {
            if first && let Some(error) = unexpected_record(input) {
                return Received::Insecure(error);
            }
            if first {
                // Only the first bytes prove another protocol; later ones may look like
                // it by chance.
                listener.note_protocol(session.other_protocol(input));
            }
            return match session.receive(input, listener) {
                Ok(()) => Received::Fine,
                Err(_) => Received::Broken,
            };
        };
        let mut whole = true;
        let opened = tls.open(input, |plain| {
            if first {
                listener.note_protocol(session.other_protocol(plain));
            }
            whole = session.receive(plain, listener).is_ok();
            whole
        });
        match opened {
            // First, because the session refused bytes that TLS had already accepted.
            _ if !whole => Received::Broken,
            Ok(Opened::Open) => Received::Fine,
            Ok(Opened::Ended) => Received::Ended,
            Err(error) => Received::Insecure(error),
        }
    }

    /// Its caches are not the peer's any more: nothing can be read on it.
    #[inline]
    pub(crate) fn out_of_sync(&self) -> bool {
        self.tokens
            .as_ref()
            .is_some_and(|tokens| tokens.decoder.out_of_sync())
    }

    /// The stream of bytes has ended. With TLS that alone says nothing: anyone
    /// on the way can end it (RFC 8446 section 6.1).
    pub(crate) fn truncation_error(&self) -> Option<io::Error> {
        self.tls.as_ref()?;
        Some(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "the TLS connection ended without close_notify",
        ))
    }

    /// The close_notify of TLS, where the socket took all that came before it.
    pub(crate) fn close_notify(&mut self) {
        let Some(tls) = &mut self.tls else { return };
        let mut word = Vec::new();
        // Behind half a record the alert could not be read.
        if self.open && self.rest.is_empty() && tls.close_notify(&mut word).is_ok() {
            // The connection is over: nobody waits for what this write says.
            let _ = self.socket.write(&word);
        }
    }

    fn keep_rest(&mut self, fresh: bool, written: usize, length: usize, scratch: &[u8]) {
        match (fresh, written == length) {
            (true, true) => {}
            (true, false) => self.rest.extend_from_slice(&scratch[written..]),
            (false, false) => self.taken += written,
            (false, true) => {
                // Gives the memory back instead of clearing it: a large body on each of many
                // connections would else stay allocated for the whole run.
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
            // The session counts a byte as flushed when it handed it out; the socket may not
            // have taken it.
            let flushed = drained && session.flushed(*id);
            if call.sent == 0 && (flushed || session.started(*id)) {
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
    /// the socket is being connected.
    #[inline]
    pub(crate) fn update_interest(&mut self, poll: &Poll, token: u64) -> io::Result<()> {
        // Level-triggered epoll reports room to write at every wait if it is always asked for.
        let interest = match self.rest.is_empty() && self.open {
            true => Interest::Read,
            false => Interest::ReadWrite,
        };
        if interest != self.interest {
            self.interest = interest;
            poll.modify(&self.socket, token, interest)?;
        }
        Ok(())
    }
}
