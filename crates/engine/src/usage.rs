//! What this process used.

/// CPU time of this process so far, seconds.
pub(crate) fn cpu_s() -> f64 {
    // SAFETY: all fields are numbers, for which zeros are a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one rusage.
    // Its own CPU, so that a reader can tell what the capture took from the trial.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}
