//! Calls under way in one group of one thread.

use wirelab_wire::CallId;

use crate::call::reply::ReplyState;
use crate::call::waiting::Waiting;

/// One call and its stamps, nanoseconds of the one clock; 0: not yet.
#[derive(Debug, Default)]
pub(crate) struct Call {
    pub(crate) connection: u32,
    /// Who calls, since when, and in which sequence.
    pub(crate) waiting: Waiting,
    /// Which kind of call of the group it is.
    pub(crate) step: usize,
    /// Its row, where requests have the values of rows.
    pub(crate) row: usize,
    /// Which call of its connection it is, from 0.
    pub(crate) ordinal: u64,
    pub(crate) sent: u64,
    pub(crate) flushed: u64,
    pub(crate) first_byte: u64,
    pub(crate) done: u64,
    pub(crate) live: bool,
    /// It ended here, and must be made again, mostly elsewhere.
    pub(crate) again: bool,
    /// It ended, and not well.
    pub(crate) failed: bool,
    /// When it was first found begun and not sent.
    held_since: u64,
    pub(crate) reply: ReplyState,
}

/// Where a call was made.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CallOrigin {
    /// Which connection of the group's thread, from 0.
    pub(crate) connection: u64,
    /// Its local TCP port; 0 on a Unix socket.
    pub(crate) port: u16,
}

/// A slab of calls.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    calls: Vec<Call>,
    free: Vec<CallId>,
}

impl Calls {
    pub(crate) fn begin(&mut self, connection: u32, waiting: Waiting) -> CallId {
        let id = self.free.pop().unwrap_or_else(|| {
            self.calls.push(Call::default());
            self.calls.len() as CallId - 1
        });
        let call = &mut self.calls[id as usize];
        // Field by field, since `reply` keeps the memory of the call before.
        call.connection = connection;
        call.waiting = waiting;
        call.step = 0;
        call.ordinal = 0;
        call.sent = 0;
        call.flushed = 0;
        call.first_byte = 0;
        call.held_since = 0;
        call.live = true;
        call.again = false;
        call.failed = false;
        call.reply.reset();
        id
    }

    #[inline]
    pub(crate) fn get(&mut self, id: CallId) -> &mut Call {
        &mut self.calls[id as usize]
    }

    pub(crate) fn release(&mut self, id: CallId) {
        self.calls[id as usize].live = false;
        self.free.push(id);
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.calls.len() - self.free.len()
    }

    /// The live calls.
    pub(crate) fn all(&self) -> Vec<CallId> {
        let live = self.calls.iter().enumerate().filter(|(_, call)| call.live);
        live.map(|(id, _)| id as CallId).collect()
    }

    /// The live calls that were sent at least `limit_ns` of their step ago, and their connections.
    pub(crate) fn list_sent_before(
        &self,
        now: u64,
        limit_ns: impl Fn(usize) -> u64,
    ) -> Vec<(CallId, u32)> {
        let calls = self.calls.iter().enumerate();
        let sent = calls.filter(|(_, call)| call.live && call.sent > 0);
        let over = sent.filter(|(_, call)| now.saturating_sub(call.sent) >= limit_ns(call.step));
        over.map(|(id, call)| (id as CallId, call.connection))
            .collect()
    }

    /// The live calls that were sent more than `limit_ns` ago, or have been
    /// held back for that time. Time in the queue does not count.
    pub(crate) fn overdue(&mut self, now: u64, limit_ns: u64) -> Vec<CallId> {
        let live = self
            .calls
            .iter_mut()
            .enumerate()
            .filter(|(_, call)| call.live);
        let overdue = live.filter_map(|(id, call)| {
            // The peer may hold a call back (streams, flow control). Its timeout counts from
            // the first look, which is a worker's EXPIRE_NS late at most.
            if call.sent == 0 && call.held_since == 0 {
                call.held_since = now;
            }
            call.is_overdue(now, limit_ns).then_some(id as CallId)
        });
        overdue.collect()
    }
}

impl Call {
    pub(crate) fn is_overdue(&self, now: u64, limit_ns: u64) -> bool {
        // A call that was held back and then sent has both: the later one counts. A call that
        // was sent again has one timeout for all attempts.
        let since = self.waiting.first_sent();
        let since = since.unwrap_or(self.sent.max(self.held_since));
        self.live && since > 0 && now.saturating_sub(since) > limit_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make_waiting(intended: u64) -> Waiting {
        Waiting::arrival(0, intended)
    }

    #[test]
    fn a_call_is_overdue_by_when_it_was_sent_not_by_how_long_it_waited_before() {
        let mut calls = Calls::default();
        let (sent, held) = (
            calls.begin(0, make_waiting(1)),
            calls.begin(0, make_waiting(1)),
        );
        calls.get(sent).sent = 1_000;
        assert!(calls.overdue(1_100, 100).is_empty());
        assert_eq!(calls.overdue(1_101, 100), [sent]);
        assert_eq!(calls.overdue(1_201, 100), [sent, held]);
    }

    #[test]
    fn a_new_call_in_an_overdue_place_is_not_overdue() {
        let mut calls = Calls::default();
        let old = calls.begin(0, make_waiting(1));
        calls.get(old).sent = 1;
        assert_eq!(calls.overdue(1_000, 100), [old]);
        calls.release(old);
        let new = calls.begin(0, make_waiting(999));
        assert_eq!(new, old);
        assert!(!calls.get(new).is_overdue(1_000, 100));
    }
}
