//! SIGINT and SIGTERM end the window early; a second one ends the process.

use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Signal, set_parent_process_death_signal};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The flag that the first signal raises.
pub(crate) fn flag() -> &'static AtomicBool {
    // signal(2) of glibc restarts system calls (SA_RESTART); poll and epoll_wait return EINTR
    // all the same (signal(7)).
    let handler = on_signal as extern "C" fn(libc::c_int);
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: the handler only touches an atomic and calls async-signal-safe functions.
        unsafe { libc::signal(signal, handler as libc::sighandler_t) };
    }
    &INTERRUPTED
}

/// Ends this process with its parent, so that none is left behind.
pub(crate) fn die_with_parent() {
    // It fails only for a number that is not a signal.
    // PR_SET_PDEATHSIG: sent when the parent's thread ends, also after SIGKILL (prctl(2)).
    let _set = set_parent_process_death_signal(Some(Signal::TERM));
}

extern "C" fn on_signal(_signal: libc::c_int) {
    // `swap`, so that of two signals exactly one is the first.
    if INTERRUPTED.swap(true, Ordering::SeqCst) {
        // SAFETY: _exit is async-signal-safe.
        // 130 is 128 + SIGINT, as shells report it.
        unsafe { libc::_exit(130) };
    }
}
