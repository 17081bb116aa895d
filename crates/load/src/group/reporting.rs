//! One-way calls end when the service reports that it has processed them.

use std::io;

use wirelab_wire::raw::report::Record;

use super::{Group, events};
use crate::call::clock::now_ns;
use crate::call::error::ErrorKind;
use crate::call::span::Span;
use crate::connection::any_session::AnySession;
use crate::connection::report::REPORT_SLOT;
use crate::reactor::poll::Ready;
use crate::reactor::turn::TurnContext;

impl Group {
    /// True when calls may be sent: nothing is to be reported, or will be.
    /// Connects to the reports where that is due.
    pub(super) fn reports(&mut self, now: u64, turn: &mut TurnContext) -> bool {
        let token = self.token(REPORT_SLOT);
        let Some(report) = &mut self.report else {
            return true;
        };
        // A lost report connection shares the pause after failures with the others.
        let due = !report.is_open() && !report.is_opening() && self.connections.may_connect();
        if due && let Err(error) = report.connect(turn.poll, token, now) {
            self.refuse_waiting(ErrorKind::Refused, turn.span, &unreported(&error));
            return false;
        }
        self.report.as_ref().is_some_and(|report| report.is_open())
    }

    /// The report connection is ready.
    pub(super) fn on_report(&mut self, ready: Ready, turn: &mut TurnContext) -> io::Result<()> {
        let token = self.token(REPORT_SLOT);
        let Some(report) = &mut self.report else {
            return Ok(());
        };
        let opened = match ready.write {
            true => report.opened(turn.poll, token),
            false => Ok(()),
        };
        let records = opened.and_then(|()| match ready.read {
            true => report.read(turn.input),
            false => Ok(Vec::new()),
        });
        match records {
            Ok(records) => self.end_processed(&records, turn).map(|()| {
                if let Some(report) = &mut self.report {
                    report.give_back(records);
                }
            }),
            Err(error) => {
                self.lose_report(&error, turn.span);
                Ok(())
            }
        }
    }

    fn end_processed(&mut self, records: &[Record], turn: &mut TurnContext) -> io::Result<()> {
        let at = now_ns();
        for record in records {
            let slot = self.report.as_ref().and_then(|r| r.slot_of(record.port));
            let connection = slot.and_then(|slot| self.connections.get(slot));
            let (Some(slot), Some(connection)) = (slot, connection) else {
                continue;
            };
            let AnySession::Raw(session) = &mut connection.session else {
                continue;
            };
            let mut events = events!(self, turn.span, at, ErrorKind::Closed, None);
            let counted = session.processed(record.count, &mut events);
            // A report is the only answer that a one-way connection gets.
            connection.served |= counted.is_ok() && events.answered;
            self.settle(turn.span);
            match counted {
                Ok(()) => self.serve(slot, turn)?,
                Err(_) => self.close(slot, ErrorKind::Closed, None, turn.span),
            }
        }
        Ok(())
    }

    /// Nobody knows any more what becomes of the calls under way.
    fn lose_report(&mut self, error: &io::Error, span: Span) {
        let error = unreported(error);
        let was_open = self.report.as_ref().is_some_and(|report| report.is_open());
        if let Some(report) = &mut self.report {
            report.lose();
        }
        for slot in self.connections.slots() {
            self.close(slot, ErrorKind::Closed, Some(&error), span);
        }
        match was_open {
            true => self.connections.back_off(),
            false => self.refuse_waiting(ErrorKind::Refused, span, &error),
        }
    }

    /// A report connection that takes too long to be made.
    pub(super) fn expire_report(&mut self, now: u64, span: Span) {
        let since = self
            .report
            .as_ref()
            .and_then(|report| report.connecting_since());
        if since.is_some_and(|since| now.saturating_sub(since) > self.spec.timeout_ns) {
            self.lose_report(&io::ErrorKind::TimedOut.into(), span);
        }
    }
}

fn unreported(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("the report connection: {error}"))
}
