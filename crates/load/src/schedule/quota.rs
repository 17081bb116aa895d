//! How many calls a window is to hold, and when it holds them.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicI64, AtomicU64};

use crate::call::clock::UNSET;

/// What one group's window may still admit, by whichever thread a call arrives.
pub(crate) struct Quota {
    // Relaxed throughout: each decision depends on one of the two values alone, and neither
    // publishes other data. Signed, since racing threads take it below 0.
    left: AtomicI64,
    /// When the first arrival came, or will come, that is one too many.
    full_at: AtomicU64,
    /// That arrival closes the window; else the window lasts until its last call has ended.
    closes: bool,
}

impl Quota {
    pub(crate) fn new(calls: u64, closes: bool) -> Quota {
        Quota {
            left: AtomicI64::new(i64::try_from(calls).unwrap_or(i64::MAX)),
            full_at: AtomicU64::new(UNSET),
            closes,
        }
    }

    /// Admits an arrival of the window; false where it is one too many.
    #[inline]
    pub(crate) fn admit(&self, at: u64) -> bool {
        // The load first, or refusals without end would count down without end.
        if self.left.load(Relaxed) > 0 && self.left.fetch_sub(1, Relaxed) > 0 {
            return true;
        }
        self.one_too_many(at);
        false
    }

    /// True once no arrival of the window is admitted any more.
    #[inline]
    pub(crate) fn exhausted(&self) -> bool {
        self.left.load(Relaxed) <= 0
    }

    /// The next arrival of a thread, now that none is admitted.
    pub(crate) fn one_too_many(&self, at: u64) {
        if self.closes {
            self.full_at.fetch_min(at, Relaxed);
        }
    }

    /// When the window closes; UNSET where that is not known, or where it lasts longer.
    #[inline]
    pub(crate) fn full_at(&self) -> u64 {
        self.full_at.load(Relaxed)
    }
}
