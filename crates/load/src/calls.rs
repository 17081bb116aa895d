//! Calls under way in one group of one thread.

use wirelab_wire::CallId;

use crate::judge::ReplyState;

/// One call and its stamps, nanoseconds of the one clock; 0: not yet.
#[derive(Debug, Default)]
pub(crate) struct Call {
    pub(crate) connection: u32,
    pub(crate) user: u32,
    pub(crate) intended: u64,
    pub(crate) sent: u64,
    pub(crate) flushed: u64,
    pub(crate) first_byte: u64,
    pub(crate) done: u64,
    pub(crate) live: bool,
    pub(crate) reply: ReplyState,
}

/// A slab of calls.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    calls: Vec<Call>,
    free: Vec<CallId>,
}

impl Calls {
    pub(crate) fn begin(&mut self, connection: u32, user: u32, intended: u64) -> CallId {
        let id = self.free.pop().unwrap_or_else(|| {
            self.calls.push(Call::default());
            self.calls.len() as CallId - 1
        });
        let call = &mut self.calls[id as usize];
        call.connection = connection;
        call.user = user;
        call.intended = intended;
        call.sent = 0;
        call.flushed = 0;
        call.first_byte = 0;
        call.live = true;
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

    /// The live calls that `wanted` picks.
    pub(crate) fn select(&self, wanted: impl Fn(&Call) -> bool) -> Vec<CallId> {
        let picked = self
            .calls
            .iter()
            .enumerate()
            .filter(|(_, call)| call.live && wanted(call));
        picked.map(|(id, _)| id as CallId).collect()
    }
}
