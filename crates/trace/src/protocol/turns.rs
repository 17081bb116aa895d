//! Protocols that nobody knows: a request is what one side says until the other
//! begins.

use super::calls::Calls;
use super::cut::Cut;
use crate::protocol::exchange::{Ending, Exchanges};
use crate::protocol::layer::Kind;

/// Whose turn it is; the client asks.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// The server is answering.
    answering: bool,
}

impl Turns {
    pub(super) fn take<E: Exchanges>(
        &mut self,
        side: usize,
        input: &[u8],
        calls: &mut Calls,
        cut: &mut Cut<'_, E>,
    ) {
        if side == 0 && (self.answering || calls.is_empty()) {
            self.end(calls, cut.listener);
            calls.begin(0, cut);
        }
        self.answering |= side == 1;
        let call = calls.get(0);
        let extent = call.map(|call| {
            call.request_done |= side == 1;
            call.extent(side)
        });
        cut.assign_to(Kind::Unknown, input.len(), extent);
    }

    /// Bytes are missing, perhaps whole turns.
    pub(super) fn gap(&mut self, calls: &mut Calls, listener: &mut impl Exchanges) {
        self.answering = false;
        calls.conclude_all(|_| Ending::Unseen, listener);
    }

    /// It is the client's turn again.
    fn end(&mut self, calls: &mut Calls, listener: &mut impl Exchanges) {
        self.answering = false;
        if !calls.is_empty() {
            calls.conclude(0, Ending::Framed, listener);
        }
    }
}
