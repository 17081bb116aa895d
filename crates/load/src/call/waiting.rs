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
    /// How often it was sent again, since a peer had not processed it.
    pub(crate) resent: u8,
    /// Which part of a mix its arrival is.
    pub(crate) part: u16,
    /// From `intended` until it was first sent, milliseconds; where it was sent again.
    pub(crate) first_sent_ms: u32,
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
            resent: 0,
            part: NO_PART,
            first_sent_ms: 0,
            intended,
            arrival: intended,
        }
    }

    /// The same call, to be sent again; `sent` is when it was sent last.
    pub(crate) fn again(self, sent: u64) -> Waiting {
        let since_intended_ms = sent.saturating_sub(self.intended) / MS_NS;
        Waiting {
            resent: self.resent + 1,
            first_sent_ms: match self.resent {
                0 => u32::try_from(since_intended_ms).unwrap_or(u32::MAX),
                _ => self.first_sent_ms,
            },
            ..self
        }
    }

    /// When it was first sent, to the millisecond; None where it was not sent again.
    pub(crate) fn first_sent(&self) -> Option<u64> {
        let since_intended = u64::from(self.first_sent_ms) * MS_NS;
        (self.resent > 0).then_some(self.intended + since_intended)
    }
}

const MS_NS: u64 = 1_000_000;

/// Numbers of this thread's users or arrivals: the first, and the step to the next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numbers {
    pub(crate) first: u32,
    pub(crate) step: u32,
}
