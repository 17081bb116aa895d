//! A call that waits to be sent, and how users and arrivals are numbered.

/// In no sequence, or in one that has not begun.
pub(crate) const NO_SEQUENCE: u32 = u32::MAX;

/// Of no part of a mix yet: chosen when it begins.
pub(crate) const NO_PART: u16 = u16::MAX;

/// A call that waits for room on a connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// Users of closed loads are numbered, and so are arrivals of open ones,
    /// each over all threads.
    pub(crate) user: u32,
    pub(crate) sequence: u32,
    pub(crate) intended: u64,
    /// How often it was sent elsewhere.
    pub(crate) hops: u8,
    /// Which part of a mix its arrival is.
    pub(crate) part: u16,
    /// When its arrival was intended: of the first call, where it is a later
    /// one of a sequence. By it a call belongs to the window.
    pub(crate) arrival: u64,
}

impl Waiting {
    /// A call that is an arrival itself.
    #[inline]
    pub(crate) fn arrival(user: u32, intended: u64) -> Waiting {
        Waiting {
            user,
            sequence: NO_SEQUENCE,
            hops: 0,
            part: NO_PART,
            intended,
            arrival: intended,
        }
    }
}

/// Numbers of this thread's users or arrivals: the first, and the step to the next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numbers {
    pub(crate) first: u32,
    pub(crate) step: u32,
}
