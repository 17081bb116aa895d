//! The items of one feed of the contract stream: what came, and how late.

use wirelab_contract::streams::Schedule;

/// How late one item was, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ItemTimes {
    /// Received - due.
    pub(crate) lateness: u64,
    /// Sent - due: the service's part.
    pub(crate) service_late: u64,
    /// Received - sent: the part of the way and of the engine.
    pub(crate) delivery: u64,
}

/// What is known of one feed so far.
#[derive(Debug)]
pub(crate) struct ItemState {
    /// The items that have not come.
    pub(crate) missing: Schedule,
    /// When the service received the request, as item 0 of a feed says; 0 before it came, and in
    /// chats.
    pub(crate) received_ns: u64,
    /// When the bytes under way were read.
    pub(crate) read_at: u64,
    /// Of the items that these bytes ended.
    pub(crate) times: Vec<ItemTimes>,
}

// What is kept of a feed does not grow with it.
const _: () = assert!(size_of::<ItemState>() <= 128);

impl ItemState {
    pub(crate) fn new(schedule: Schedule) -> ItemState {
        ItemState {
            missing: schedule,
            received_ns: 0,
            read_at: 0,
            times: Vec::new(),
        }
    }

    /// How long the next item has been due at `now`, in a feed that failed; None where it is not
    /// due yet, or nobody knows.
    pub(crate) fn overdue_ns(&self, now: u64) -> Option<u64> {
        let next = self.missing.clone().next()?;
        let due = self.received_ns + next.due_ns;
        (self.received_ns > 0)
            .then(|| now.checked_sub(due))
            .flatten()
    }
}
