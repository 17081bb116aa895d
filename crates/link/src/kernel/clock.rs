//! The clocks: CLOCK_MONOTONIC for deadlines, CLOCK_REALTIME for logs.

use rustix::time::{ClockId, clock_gettime};

#[inline]
pub(crate) fn now_ns() -> u64 {
    read(ClockId::Monotonic)
}

/// Nanoseconds of CLOCK_REALTIME, in which captures are stamped.
pub(crate) fn realtime_ns() -> u64 {
    read(ClockId::Realtime)
}

/// Nanoseconds of CPU that the calling thread has used.
pub(crate) fn thread_cpu_ns() -> u64 {
    read(ClockId::ThreadCPUTime)
}

pub(crate) fn ms_to_ns(ms: f64) -> u64 {
    // Rounded, since 6.9 ms is not exact in binary.
    (ms * 1e6).round() as u64
}

fn read(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
