//! The measured window.

/// The measured window, or one slice of it, `start` included and `end` not.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Length of earlier slices of the window, nanoseconds.
    pub(crate) before: u64,
    /// Calls and bytes from then on are what CPU time is used for: a slice also costs CPU time
    /// before and after what is measured of it.
    pub(crate) cost_start: u64,
    pub(crate) cost_end: u64,
}

impl Span {
    /// A window in one piece.
    #[inline]
    pub(crate) const fn whole(start: u64, end: u64) -> Span {
        Span {
            start,
            end,
            before: 0,
            cost_start: start,
            cost_end: end,
        }
    }

    #[inline]
    pub(crate) fn contains(self, at: u64) -> bool {
        self.start <= at && at < self.end
    }

    /// Whether CPU time was used for what happened then.
    #[inline]
    pub(crate) fn costs(self, at: u64) -> bool {
        self.cost_start <= at && at < self.cost_end
    }

    /// Nanoseconds since the window opened, without what lies between slices.
    #[inline]
    pub(crate) fn offset(self, at: u64) -> u64 {
        self.before + (at - self.start)
    }

    /// Nanoseconds of `from` to `until` that lie within.
    #[inline]
    pub(crate) fn share_of(self, from: u64, until: u64) -> u64 {
        until.min(self.end).saturating_sub(from.max(self.start))
    }

    #[inline]
    pub(crate) fn is_open_or_past(self, at: u64) -> bool {
        self.start <= at
    }
}
