//! A thread whose deadlines are kept.

use std::io;
use std::num::NonZeroU64;

use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity, set_current_timer_slack};
use wirelab_contract::refusal::Refusal;

/// Lowest real-time priority: above every ordinary thread, below the kernel's.
const PRIORITY: libc::c_int = 1;

/// Lets the calling thread's timers fire as exactly as the kernel can
/// (PR_SET_TIMERSLACK of 1 ns instead of 50 us).
pub(crate) fn set_timer_slack() {
    // Sandboxes may refuse it; deadlines are then kept less exactly, and measured so.
    let _ = set_current_timer_slack(Some(NonZeroU64::MIN));
}

/// Gives the calling thread SCHED_FIFO; false where the machine does not.
pub(crate) fn set_fifo() -> bool {
    let parameters = libc::sched_param {
        sched_priority: PRIORITY,
    };
    // SAFETY: the parameters live; 0 is the calling thread.
    // Needs CAP_SYS_NICE or an RLIMIT_RTPRIO above 0 (sched(7)).
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &parameters) == 0 }
}

pub(crate) fn check_cores(cores: &[usize]) -> Result<(), Refusal> {
    let allowed = read_allowed_cores();
    // Before anything is made. The error of sched_setaffinity(2) does not name the
    // allowed cores.
    match cores.iter().find(|core| !allowed.contains(core)) {
        None => Ok(()),
        Some(core) => Err(Refusal::new(
            "cores",
            format!("this process may not run on core {core}"),
            format!("use of {allowed:?}, or none"),
        )),
    }
}

fn read_allowed_cores() -> Vec<usize> {
    let allowed = sched_getaffinity(None).unwrap_or_default();
    (0..CpuSet::MAX_CPU)
        .filter(|core| allowed.is_set(*core))
        .collect()
}

pub(crate) fn pin(core: usize) -> io::Result<()> {
    // `CpuSet::set` does not return an error for it.
    if core >= CpuSet::MAX_CPU {
        return Err(Errno::INVAL.into());
    }
    let mut cores = CpuSet::new();
    cores.set(core);
    Ok(sched_setaffinity(None, &cores)?)
}
