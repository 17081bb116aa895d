//! The verdict, once a reply is complete as far as the protocol goes.

use std::sync::atomic::Ordering::Relaxed;

use wirelab_wire::End;
use wirelab_wire::codec::Mismatch;
use wirelab_wire::giop::SystemException;

use super::content::plain;
use super::{Expectation, UNKNOWN, Validator};
use crate::call::error::{ErrorCode, ErrorKind};
use crate::call::rejection::Rejection;
use crate::call::rejection::printable;
use crate::call::reply::ReplyState;
use crate::connection::tokens::Tokens;

/// Head status of a GIOP system exception ([`wirelab_wire::Head::status`]).
pub(super) const SYSTEM_EXCEPTION: u16 = 503;

impl Validator {
    /// The reply is complete as far as the protocol goes.
    #[inline]
    pub(crate) fn end(
        &self,
        state: &mut ReplyState,
        end: End,
        tokens: Option<&mut Tokens>,
    ) -> Result<(), Rejection> {
        if let Some(frames) = self.frames {
            match frames.has_end_message() {
                true => self.end_message_came(state),
                false => self.grpc_ended(state, end),
            }
        } else if self.stream.is_some() {
            // Its messages were judged one by one.
        } else if state.bad.is_none() && self.decodes(state) && !state.checked {
            let kept = std::mem::take(&mut state.kept);
            self.check(state, 0, &kept, true, tokens);
            state.checked = true;
            state.kept = kept;
        } else if let (None, Expectation::Declared(declared)) = (&state.bad, &self.expectation)
            && !state.checked
            && let Err(reason) = declared.check_streamed(state)
        {
            state.fail(ErrorKind::Wrong, reason);
        }
        if state.bad.is_none() {
            self.length(state);
        }
        if let (None, Some(rule)) = (&state.bad, &self.stream)
            && let Err(rejection) = self.check_ended(rule, state)
        {
            state.reject(rejection);
        }
        match state.bad.take() {
            None => Ok(()),
            Some(rejection) => Err(self.explain(*rejection, state)),
        }
    }

    /// An application error with its text, or with the start of the body.
    #[cold]
    fn explain(&self, rejection: Rejection, state: &ReplyState) -> Rejection {
        if rejection.kind == ErrorKind::Wrong
            && let (Expectation::Declared(_), None) = (&self.expectation, self.frames)
            // Where the whole body was compared it is in the reason already.
            && !state.checked
        {
            return rejection.with_body(&state.kept);
        }
        if rejection.kind != ErrorKind::Application || state.kept.is_empty() {
            return rejection;
        }
        let rejection = match wants_tls(state) {
            true => rejection.coded(ErrorCode::PeerWantsTls),
            false => rejection,
        };
        match self.text_of_error(state) {
            Some(text) => Rejection {
                reason: format!("{}: {}", rejection.reason, printable(&text)),
                ..rejection
            },
            None => rejection.with_body(&state.kept),
        }
    }

    /// What the service says of its refusal, in the form of the contracts.
    fn text_of_error(&self, state: &ReplyState) -> Option<String> {
        let (format, operation) = self.errors?;
        let body = plain(&state.kept, state.head.encoding).ok()?;
        let order = state.head.byte_order.unwrap_or(format.order);
        if state.head.byte_order.is_some() && state.head.status == SYSTEM_EXCEPTION {
            let exception = SystemException::parse(order, &body).ok()?;
            let (name, minor) = (exception.name(), exception.minor);
            return Some(format!("{name}, minor code {minor:#x}"));
        }
        match format.in_order(order).read_error(operation, &body) {
            Ok(text) | Err(Mismatch::Fault { text, .. }) => Some(text),
            Err(_) => None,
        }
    }

    /// Status first: without a message, a status other than 0 is the answer.
    fn grpc_ended(&self, state: &mut ReplyState, end: End) {
        let expected = match &self.expectation {
            Expectation::Declared(declared) => declared.grpc_status,
            _ => 0,
        };
        match end.grpc_status {
            Some(0) if expected != 0 => {
                state.bad = None;
                return state.fail(
                    ErrorKind::Wrong,
                    format!("grpc-status 0, expected {expected}"),
                );
            }
            Some(0) => {}
            Some(status) if status == expected => {
                state.bad = None;
                return self.check_trailers(state);
            }
            Some(status) => {
                let message = end.grpc_message.as_deref().unwrap_or("");
                // An error may come before or after messages; it outranks their content.
                state.bad = None;
                state.kept.clear();
                return state.fail(
                    ErrorKind::Application,
                    format!("grpc-status {status}: {message}"),
                );
            }
            None => {
                return state.fail(
                    ErrorKind::Protocol,
                    "trailers without grpc-status (gRPC over HTTP/2, Responses)",
                );
            }
        }
        self.messages_ended(state);
    }

    /// The outcome is in the last message, which was judged when it came.
    fn end_message_came(&self, state: &mut ReplyState) {
        if state.bad.is_none() {
            self.messages_ended(state);
        }
    }

    /// The last message was whole, and there were as many as the contract says.
    fn messages_ended(&self, state: &mut ReplyState) {
        if let Err(error) = state.deframer.finish() {
            return state.fail(ErrorKind::Protocol, error.to_string());
        }
        let expected = match &self.expectation {
            // Numbers of items are checked where the stream ends.
            Expectation::Anything | Expectation::Counted | Expectation::Items(_) => return,
            Expectation::Declared(declared) => {
                if declared.reads_body() && state.messages == 0 {
                    state.fail(ErrorKind::Wrong, "no message came");
                }
                return self.check_trailers(state);
            }
            Expectation::Same(expected) => expected.messages(),
            Expectation::EachCall { .. } => 1,
        };
        if expected != state.messages as usize {
            let reason = format!("{} messages, the contract says {expected}", state.messages);
            state.fail(ErrorKind::Wrong, reason);
        }
    }

    /// Head and trailers of gRPC have come.
    fn check_trailers(&self, state: &mut ReplyState) {
        if let Expectation::Declared(declared) = &self.expectation {
            self.check_headers(declared, state);
        }
    }

    /// The length, learned from a reply that was right, where the contract says what that is.
    #[inline]
    fn length(&self, state: &mut ReplyState) {
        // Threads share the validator and may learn at the same time: any right reply's
        // length will do.
        let expected = match self.learned.load(Relaxed) {
            UNKNOWN => {
                self.learned.store(state.length, Relaxed);
                return;
            }
            learned => learned,
        };
        // A full decode has validated more than the length, and another length
        // may be right (other white space); frame work has only the length.
        // Of replies that differ from call to call no length can be learned.
        let validated = match self.expectation {
            Expectation::Anything | Expectation::Counted | Expectation::Declared(_) => true,
            Expectation::Same(_) => self.decode,
            Expectation::EachCall { .. } | Expectation::Items(_) => true,
        };
        if state.length != expected && !validated {
            state.fail(
                ErrorKind::Wrong,
                format!("{} bytes instead of {expected}", state.length),
            );
        }
    }
}

/// HTTP has no status for a plain request to a port of TLS. Servers answer with 400 and
/// a text that names HTTPS, among them Go's net/http ("Client sent an HTTP request to an
/// HTTPS server.") and nginx ("The plain HTTP request was sent to HTTPS port").
fn wants_tls(state: &ReplyState) -> bool {
    state.head.status == 400 && state.kept.windows(5).any(|word| word == b"HTTPS")
}
