//! Waiting for packets, and for the order to stop.

use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What ends a capture; a signal always does.
pub(super) enum Stop {
    /// The end of standard input.
    AtEndOfInput,
    /// A time.
    At(Instant),
    /// Nothing else.
    AtSignal,
}

/// A signal may come just before the wait begins: it is seen after so long.
const WAIT_MAX: Duration = Duration::from_millis(100);

/// Waits until there is something to read, at most for a moment. True when it
/// is time to stop.
pub(super) fn wait(source: &impl AsFd, stop: &Stop, interrupted: &AtomicBool) -> io::Result<bool> {
    if interrupted.load(Ordering::SeqCst) {
        return Ok(true);
    }
    let wait = match stop {
        Stop::At(end) => end.saturating_duration_since(Instant::now()).min(WAIT_MAX),
        Stop::AtEndOfInput | Stop::AtSignal => WAIT_MAX,
    };
    if wait.is_zero() {
        return Ok(true);
    }
    let watched = |fd| libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    };
    let mut both = [
        watched(source.as_fd().as_raw_fd()),
        watched(libc::STDIN_FILENO),
    ];
    let count = match stop {
        Stop::AtEndOfInput => 2,
        Stop::At(_) | Stop::AtSignal => 1,
    };
    // SAFETY: the kernel reads and writes the first `count` of two structs.
    let ready = unsafe { libc::poll(both.as_mut_ptr(), count, wait.as_millis().max(1) as i32) };
    if ready < 0 {
        let error = io::Error::last_os_error();
        return match error.kind() {
            io::ErrorKind::Interrupted => Ok(false),
            _ => Err(error),
        };
    }
    let [packets, input] = both;
    if packets.revents & (libc::POLLERR | libc::POLLNVAL) != 0 {
        return Err(io::Error::other("the interface went away or down"));
    }
    Ok(input.revents != 0 && input_ended()?)
}

/// What more comes on standard input has no meaning.
fn input_ended() -> io::Result<bool> {
    let mut unread = [0u8; 256];
    // SAFETY: the kernel writes at most the buffer's length to it.
    let read = unsafe { libc::read(libc::STDIN_FILENO, unread.as_mut_ptr().cast(), unread.len()) };
    match read {
        0 => Ok(true),
        1.. => Ok(false),
        _ => {
            let error = io::Error::last_os_error();
            match error.kind() {
                io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock => Ok(false),
                _ => Err(error),
            }
        }
    }
}

/// Runs on these cores only; on all when there are none.
pub(super) fn pin(cores: &[usize]) -> io::Result<()> {
    if cores.is_empty() {
        return Ok(());
    }
    // SAFETY: a set of bits, for which zeros are a value.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for core in cores {
        if *core >= libc::CPU_SETSIZE as usize {
            return Err(io::Error::other(format!("there is no core {core}")));
        }
        // SAFETY: the bit is within the set.
        unsafe { libc::CPU_SET(*core, &mut set) };
    }
    // SAFETY: the kernel reads a set of the size given.
    match unsafe { libc::sched_setaffinity(0, size_of_val(&set), &raw const set) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
