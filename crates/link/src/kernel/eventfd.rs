//! Waking a thread that polls: eventfd(2) and ppoll(2).

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::{Errno, read, write};

/// Notified by one thread, polled by another.
#[derive(Debug)]
pub(crate) struct EventFd(OwnedFd);

impl EventFd {
    pub(crate) fn new() -> io::Result<Self> {
        // NONBLOCK: `clear` must not wait where there was no notification.
        let fd = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(EventFd(fd))
    }

    pub(crate) fn notify(&self) -> io::Result<()> {
        // Added to the counter, so that several notifications before one look are one.
        write(&self.0, &1u64.to_ne_bytes())?;
        Ok(())
    }

    /// Makes it unreadable until the next notification; there may have been none.
    pub(crate) fn clear(&self) -> io::Result<()> {
        match read(&self.0, &mut [0; 8]) {
            Err(Errno::AGAIN) | Ok(_) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

impl AsFd for EventFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

pub(crate) fn readable<Fd: AsFd>(fd: &Fd) -> PollFd<'_> {
    PollFd::new(fd, PollFlags::IN)
}

/// Whether [`wait`] found something to read, the end or an error included.
pub(crate) fn is_ready(polled: &PollFd) -> bool {
    !polled.revents().is_empty()
}

/// Waits until one of the descriptors is ready, at most that number of nanoseconds. A
/// signal handler may end it early.
pub(crate) fn wait(polled: &mut [PollFd], timeout_ns: Option<u64>) -> io::Result<()> {
    // ppoll(2) takes nanoseconds; poll(2) would round to milliseconds.
    let timeout = timeout_ns.map(|ns| Timespec {
        tv_sec: (ns / 1_000_000_000) as i64,
        tv_nsec: (ns % 1_000_000_000) as i64,
    });
    match poll(polled, timeout.as_ref()) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
