//! The one clock: CLOCK_MONOTONIC in nanoseconds.

/// A time that is not yet decided.
pub(crate) const UNSET: u64 = u64::MAX;
/// Nanoseconds of CLOCK_MONOTONIC.
#[inline]
#[must_use]
pub fn now_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// CPU time of this process, nanoseconds.
#[must_use]
pub(crate) fn cpu_ns() -> u64 {
    read(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// How far CLOCK_REALTIME, in which the kernel stamps packets, is ahead of
/// CLOCK_MONOTONIC, in nanoseconds. Read again for every use: it may be slewed.
#[must_use]
pub(crate) fn realtime_offset_ns() -> i64 {
    read(libc::CLOCK_REALTIME) as i64 - now_ns() as i64
}

// By the vDSO (vdso(7)): some 20 ns and no system call, so that every stamp can be read again.
// CLOCK_MONOTONIC is slewed by NTP but never set back.
fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid timespec for the duration of the call.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Seconds to whole nanoseconds; negative and absurd values saturate.
#[must_use]
pub(crate) fn ns(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

/// Nanoseconds to seconds.
#[must_use]
pub(crate) fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}
