//! What the coordinator and the load threads say to each other while a plan runs.

use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};

use crate::call::clock::UNSET;
use crate::call::span::Span;
use crate::reactor::slices::Slices;
use crate::reactor::thread::run_delay_ns;
use crate::schedule::quota::Quota;

/// Decisions of the coordinator, and counters of the threads.
pub(crate) struct Shared {
    /// When the measured window opens; UNSET while warming up.
    pub(crate) window_start: AtomicU64,
    /// When it closes; UNSET until known.
    pub(crate) window_end: AtomicU64,
    /// One per group; None where time closes the window.
    pub(crate) quotas: Vec<Option<Arc<Quota>>>,
    /// Where groups take turns.
    pub(crate) slices: Option<Slices>,
    /// When threads stop whatever is still under way.
    pub(crate) drain_end: AtomicU64,
    /// One entry per thread.
    pub(crate) threads: Vec<Tally>,
    /// A thread met a failure of the lab; the others stop too.
    pub(crate) broken: AtomicBool,
}

/// Counters of one thread, on a cache line of their own.
// Two lines of 64 bytes, because Intel's prefetcher fetches them in pairs: a neighbour's
// counter in the other one would be shared falsely.
#[repr(align(128))]
#[derive(Default)]
pub(crate) struct Tally {
    /// Calls ended since the start.
    pub(crate) calls: AtomicU64,
    /// Of those, of groups whose warm-up the window waits for.
    pub(crate) warmup_calls: AtomicU64,
    /// Calls that failed.
    pub(crate) errors: AtomicU64,
    /// Calls under way.
    pub(crate) in_flight: AtomicU64,
    /// Nanoseconds spent spinning.
    pub(crate) spin_ns: AtomicU64,
    /// Nothing is left to do: every call of the window has ended.
    pub(crate) finished: AtomicBool,
    /// The kernel's number of the thread; 0 before it runs.
    pub(crate) tid: AtomicU32,
    /// What [`Tally::run_delay_ns`] was when the thread ended; UNSET before.
    run_delay_at_end_ns: AtomicU64,
}

impl Tally {
    fn new() -> Tally {
        Tally {
            run_delay_at_end_ns: AtomicU64::new(UNSET),
            ..Tally::default()
        }
    }

    /// Called by the thread as it ends: the kernel then forgets what it counted.
    pub(crate) fn keep_run_delay(&self) {
        if let Some(waited) = run_delay_ns(self.tid.load(Relaxed)) {
            self.run_delay_at_end_ns.store(waited, Relaxed);
        }
    }

    /// Nanoseconds for which the thread has waited for a core; None where the kernel does not
    /// count them.
    fn run_delay_ns(&self) -> Option<u64> {
        match self.tid.load(Relaxed) {
            0 => Some(0),
            tid => run_delay_ns(tid).or_else(|| {
                let kept = self.run_delay_at_end_ns.load(Relaxed);
                (kept != UNSET).then_some(kept)
            }),
        }
    }
}

impl Shared {
    pub(crate) fn new(
        threads: u32,
        quotas: Vec<Option<Arc<Quota>>>,
        slices: Option<Slices>,
    ) -> Shared {
        Shared {
            quotas,
            slices,
            window_start: AtomicU64::new(UNSET),
            window_end: AtomicU64::new(UNSET),
            drain_end: AtomicU64::new(UNSET),
            threads: (0..threads).map(|_| Tally::new()).collect(),
            broken: AtomicBool::new(false),
        }
    }

    pub(crate) fn calls(&self) -> u64 {
        self.threads
            .iter()
            .map(|tally| tally.calls.load(Relaxed))
            .sum()
    }

    pub(crate) fn warmup_calls(&self) -> u64 {
        self.threads
            .iter()
            .map(|tally| tally.warmup_calls.load(Relaxed))
            .sum()
    }

    pub(crate) fn errors(&self) -> u64 {
        self.threads
            .iter()
            .map(|tally| tally.errors.load(Relaxed))
            .sum()
    }

    pub(crate) fn in_flight(&self) -> u64 {
        self.threads
            .iter()
            .map(|tally| tally.in_flight.load(Relaxed))
            .sum()
    }

    pub(crate) fn spin_ns(&self) -> u64 {
        self.threads
            .iter()
            .map(|tally| tally.spin_ns.load(Relaxed))
            .sum()
    }

    /// Nanoseconds for which the threads have waited for a core; None where the kernel does not
    /// count them.
    pub(crate) fn run_delay_ns(&self) -> Option<u64> {
        self.threads.iter().map(Tally::run_delay_ns).sum()
    }

    pub(crate) fn all_finished(&self) -> bool {
        self.threads
            .iter()
            .all(|tally| tally.finished.load(Acquire))
    }

    /// When every group's window holds its calls; UNSET while that is not known.
    fn full_at(&self) -> u64 {
        let full = |quota: &Option<Arc<Quota>>| quota.as_ref().map_or(UNSET, |own| own.full_at());
        // Groups share one window: it is full when the last of them is.
        self.quotas.iter().map(full).max().unwrap_or(UNSET)
    }

    /// Opens the window; `end` is UNSET when a number of calls closes it.
    pub(crate) fn open_window(&self, start: u64, end: u64, drain_ns: u64) {
        // The end first: a thread that sees the start must not see an older end.
        self.close_window(end, drain_ns);
        self.window_start.store(start, Release);
    }

    /// Closes the window at `end` and bounds the drain.
    pub(crate) fn close_window(&self, end: u64, drain_ns: u64) {
        self.drain_end.store(end.saturating_add(drain_ns), Relaxed);
        self.window_end.store(end, Relaxed);
    }

    /// The window as far as it is known. Threads learn from each other that it is full,
    /// before the coordinator wakes.
    pub(crate) fn window(&self) -> Span {
        // Before the end, in the reverse order of `open_window`: with a start comes an
        // end not older.
        let start = self.window_start.load(Acquire);
        let end = match self.window_end.load(Relaxed) {
            UNSET => self.full_at(),
            end => end,
        };
        Span::whole(start, end)
    }
}
