//! Connections are made.

use std::io;

use super::Group;
use crate::call::calls::CallOrigin;
use crate::call::clock::now_ns;
use crate::call::error::{ErrorKind, code_of};
use crate::call::span::Span;
use crate::connection::session_io::Connection;
use crate::connection::socket::Socket;
use crate::plan::target::Target;
use crate::reactor::turn::TurnContext;

/// Every how many connections one shows the kernel's arrival stamps.
// A sample: recvmsg(2) with control data costs more than recv(2).
const STAMPED_EVERY: u32 = 16;

impl Group {
    /// Opens as many connections as the policy wants now: kept ones all and
    /// at once, others for calls that wait. Past the window only the latter.
    pub(super) fn open_more(&mut self, now: u64, turn: &mut TurnContext) -> io::Result<()> {
        let ahead = self.spec.keep && now < turn.span.end && !self.demand.exhausted();
        if !self.reports(now, turn) {
            return Ok(());
        }
        while self.connections.may_connect()
            && self.connections.open() < self.spec.connections_max
            && ((ahead && !self.connections.awaits_call()) || self.lacks_a_connection())
        {
            let failed = self.connections.failed;
            self.open_one(turn)?;
            if self.connections.failed > failed {
                self.connections.rest();
            }
        }
        Ok(())
    }

    /// A call waits that the plan lets begin.
    fn lacks_a_connection(&self) -> bool {
        self.demand.waiting() && self.calls.in_flight() < self.spec.in_flight_max
    }

    fn open_one(&mut self, turn: &mut TurnContext) -> io::Result<()> {
        let started = now_ns();
        let socket = match Socket::connect(&self.spec.target, self.spec.socket) {
            Ok(socket) => socket,
            Err(error) if is_limit(&error) => return Err(error),
            // A Unix socket without a listener fails here; TCP fails later, by SO_ERROR.
            Err(error) => {
                self.connections.failed += 1;
                self.refuse_waiting(ErrorKind::Refused, turn.span, &error);
                self.return_to_origin(turn.span);
                return Ok(());
            }
        };
        let slot = self.connections.vacancy();
        let stamped =
            slot.is_multiple_of(STAMPED_EVERY) && matches!(self.spec.target, Target::Tcp(_));
        if stamped {
            socket.show_stamps()?;
            self.stamps.need()?;
        }
        let secure = self.spec.secure.as_ref();
        let tls = secure.map(|secure| secure.connect().map(Box::new));
        let tls = tls.transpose().map_err(io::Error::other)?;
        let session = self.spec.sessions.session();
        let mut connection = Connection::new(socket, tls, session, started, stamped);
        connection.tokens = self.spec.script.tokens();
        if self.lines.is_some() || self.slow_calls.is_some() {
            connection.origin = self.origin_of(&connection)?;
        }
        connection.register(turn.poll, self.token(slot))?;
        if let Some(report) = &mut self.report {
            // Before the first call: reports name a connection by the client's port.
            report.expect(connection.socket.local_port()?, slot);
        }
        self.connections.insert(slot, connection);
        self.totals.opened += 1;
        self.totals.peak = self.totals.peak.max(self.connections.open());
        // At once: on loopback the connection may be established already, and the first
        // write shows it.
        self.serve(slot, turn)
    }

    #[cold]
    fn origin_of(&self, connection: &Connection) -> io::Result<CallOrigin> {
        let port = match self.spec.target {
            Target::Tcp(_) => connection.socket.local_port()?,
            Target::Unix(_) => 0,
        };
        Ok(CallOrigin {
            connection: self.totals.opened,
            port,
        })
    }

    /// A connection could not be made: one waiting call fails with it.
    pub(super) fn refuse_waiting(&mut self, kind: ErrorKind, span: Span, error: &io::Error) {
        self.connections.back_off();
        self.fail_waiting(kind, span, error);
    }

    /// One waiting call fails.
    pub(super) fn fail_waiting(&mut self, kind: ErrorKind, span: Span, error: &io::Error) {
        if let Some(waiting) = self.demand.next(span) {
            let now = self.fail_unsent(waiting, (kind, code_of(kind, error)), span, || {
                error.to_string()
            });
            self.demand.call_ended(waiting.user, now, span);
        }
    }
}

/// EMFILE and its kin are failures of the lab, not of what it measures.
fn is_limit(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM | libc::EADDRNOTAVAIL)
    )
}
