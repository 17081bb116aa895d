//! What a load thread asks of the kernel for itself: a core, exact timers, open files of its own.

use std::fs;
use std::io;
use std::num::NonZeroU64;

use rustix::io::Errno;
use rustix::thread::{
    CpuSet, UnshareFlags, sched_setaffinity, set_current_timer_slack, unshare_unsafe,
};

/// Pins the calling thread to one core.
pub(crate) fn pin(core: usize) -> io::Result<()> {
    // `CpuSet::set` does not return an error for it.
    if core >= CpuSet::MAX_CPU {
        return Err(Errno::INVAL.into());
    }
    let mut set = CpuSet::new();
    set.set(core);
    // None is the calling thread.
    Ok(sched_setaffinity(None, &set)?)
}

/// Lets the calling thread's timers fire as exactly as the kernel can
/// (PR_SET_TIMERSLACK of 1 ns instead of 50 us).
pub(crate) fn sharpen_timers() {
    // Where it is refused, timers are up to 50 us late, which the schedule lag shows.
    let _sharp = set_current_timer_slack(NonZeroU64::new(1));
}

/// Gives the calling thread a table of open files of its own, with what is open now.
/// From now on files that it opens are its own: it must close them too.
pub(crate) fn own_table() -> io::Result<()> {
    // SAFETY: a load thread hands no descriptor that it opened to another thread (its groups
    // disconnect before they are handed back), and gets one only from before this call: the
    // file of the log of calls, which has the same number in both tables.
    Ok(unsafe { unshare_unsafe(UnshareFlags::FILES) }?)
}

/// Nanoseconds for which the thread `tid` of this process was ready to run and waited for a core:
/// `run_delay` of /proc/self/task/TID/schedstat ("time spent waiting on a runqueue", Linux,
/// Documentation/scheduler/sched-stats.rst). None where the kernel does not count it, or the thread has ended.
pub(crate) fn run_delay_ns(tid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/self/task/{tid}/schedstat")).ok()?;
    text.split_whitespace().nth(1)?.parse().ok()
}
