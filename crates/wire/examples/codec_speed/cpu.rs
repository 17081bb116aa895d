//! CPU time, which other people's work on the core does not lengthen.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// CPU time that this thread has used so far.
pub fn of_this_thread() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(now).expect("CPU time is not negative")
}
