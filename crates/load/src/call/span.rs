//! The measured window.

/// The measured window, `start` included and `end` not.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl Span {
    #[inline]
    pub(crate) fn contains(self, at: u64) -> bool {
        self.start <= at && at < self.end
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
