//! A thread whose deadlines are kept.

use std::io;
use std::mem;

use crate::refusal::Refusal;

/// Lowest real-time priority: above every ordinary thread, below the kernel's.
const PRIORITY: libc::c_int = 1;

/// Lets the calling thread's timers fire as exactly as the kernel can
/// (PR_SET_TIMERSLACK of 1 ns instead of 50 us).
pub(crate) fn sharpen_timers() {
    // SAFETY: this prctl takes one number.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1usize, 0usize, 0usize, 0usize) };
}

/// Gives the calling thread SCHED_FIFO; false where the machine does not.
pub(crate) fn go_first() -> bool {
    let parameters = libc::sched_param {
        sched_priority: PRIORITY,
    };
    // SAFETY: the parameters live; 0 is the calling thread.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &parameters) == 0 }
}

/// Refuses cores on which this process may not run.
pub(crate) fn check(cores: &[usize]) -> Result<(), Refusal> {
    let allowed = allowed();
    match cores.iter().find(|core| !allowed.contains(core)) {
        None => Ok(()),
        Some(core) => Err(Refusal::new(
            "cores",
            format!("this process may not run on core {core}"),
            format!("use of {allowed:?}, or none"),
        )),
    }
}

fn allowed() -> Vec<usize> {
    // SAFETY: an all-zero cpu_set_t is valid, and the call fills it.
    unsafe {
        let mut set: libc::cpu_set_t = mem::zeroed();
        libc::sched_getaffinity(0, mem::size_of::<libc::cpu_set_t>(), &mut set);
        (0..libc::CPU_SETSIZE as usize)
            .filter(|core| libc::CPU_ISSET(*core, &set))
            .collect()
    }
}

/// Binds the calling thread to one core.
pub(crate) fn pin(core: usize) -> io::Result<()> {
    if core >= libc::CPU_SETSIZE as usize {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    // SAFETY: an all-zero cpu_set_t is the empty set; `core` lies within it.
    let done = unsafe {
        let mut set: libc::cpu_set_t = mem::zeroed();
        libc::CPU_SET(core, &mut set);
        libc::sched_setaffinity(0, mem::size_of::<libc::cpu_set_t>(), &set)
    };
    match done {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
