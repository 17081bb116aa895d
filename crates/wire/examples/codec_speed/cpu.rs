//! CPU time, which other people's work on the core does not lengthen.

use std::time::Duration;

/// CPU time that this thread has used so far.
pub fn of_this_thread() -> Duration {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is to a timespec of ours that outlives the call.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut now) };
    assert_eq!(result, 0, "Linux has the clock CLOCK_THREAD_CPUTIME_ID");
    let seconds = u64::try_from(now.tv_sec).expect("CPU time is not negative");
    let nanoseconds = u32::try_from(now.tv_nsec).expect("less than a second");
    Duration::new(seconds, nanoseconds)
}
