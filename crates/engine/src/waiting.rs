//! Waiting for what a process records, and for the request to stop.

use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_setaffinity};

/// What ends a recording; a signal always does.
pub(crate) enum Stop {
    /// The end of standard input.
    AtEndOfInput,
    /// A time.
    At(Instant),
    /// Nothing else.
    AtSignal,
}

/// A signal may come just before the wait begins: it is seen after this time.
const WAIT_MAX: Duration = Duration::from_millis(100);

/// Waits until there is something to read, at most for a moment. True when it
/// is time to stop.
pub(crate) fn wait(source: &impl AsFd, stop: &Stop, interrupted: &AtomicBool) -> io::Result<bool> {
    // The handler only raises the flag; poll(2) returns EINTR if it was waiting.
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
    let input = io::stdin();
    let mut both = [
        PollFd::new(source, PollFlags::IN),
        PollFd::new(&input, PollFlags::IN),
    ];
    // By hand standard input may be closed or a terminal: its end means nothing then.
    let count = match stop {
        Stop::AtEndOfInput => 2,
        Stop::At(_) | Stop::AtSignal => 1,
    };
    // WAIT_MAX bounds it: the conversion cannot fail.
    // At least 1 ms, or the last moments would be polled without a pause.
    let timeout = Timespec::try_from(wait.max(Duration::from_millis(1))).ok();
    match poll(&mut both[..count], timeout.as_ref()) {
        // The next turn looks at the flag.
        Err(Errno::INTR) => return Ok(false),
        Err(error) => return Err(error.into()),
        Ok(_) => {}
    }
    let [packets, input] = both;
    if packets
        .revents()
        .intersects(PollFlags::ERR | PollFlags::NVAL)
    {
        return Err(io::Error::other("what is recorded went away or down"));
    }
    Ok(!input.revents().is_empty() && input_ended()?)
}

/// What more comes on standard input has no meaning.
fn input_ended() -> io::Result<bool> {
    let mut unread = [0u8; 256];
    // Not by std, which buffers: bytes that it took would hide the end from poll(2).
    match rustix::io::read(io::stdin(), &mut unread) {
        Ok(0) => Ok(true),
        Ok(_) | Err(Errno::INTR | Errno::AGAIN) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Runs on these cores only; on all when there are none.
pub(crate) fn pin(cores: &[usize]) -> io::Result<()> {
    if cores.is_empty() {
        return Ok(());
    }
    let mut set = CpuSet::new();
    for core in cores {
        if *core >= CpuSet::MAX_CPU {
            return Err(io::Error::other(format!("there is no core {core}")));
        }
        set.set(*core);
    }
    Ok(sched_setaffinity(None, &set)?)
}
