//! A descriptor that becomes readable when it is rung: eventfd(2).

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};

/// Rung by one thread, heard by another that polls.
#[derive(Debug)]
pub(crate) struct Bell(File);

impl Bell {
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: no memory is passed; a descriptor that is returned is ours.
        unsafe {
            match libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) {
                -1 => Err(io::Error::last_os_error()),
                fd => Ok(Bell(File::from_raw_fd(fd))),
            }
        }
    }

    pub(crate) fn ring(&self) -> io::Result<()> {
        (&self.0).write_all(&1u64.to_ne_bytes())
    }

    /// Silences it; it may not have rung at all.
    pub(crate) fn silence(&self) -> io::Result<()> {
        match (&self.0).read(&mut [0; 8]) {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
            _ => Ok(()),
        }
    }
}

impl AsRawFd for Bell {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// Waits until one of the descriptors can be read, at most so many
/// nanoseconds. Those that can have `revents` set.
pub(crate) fn wait(polled: &mut [libc::pollfd], timeout_ns: Option<u64>) -> io::Result<()> {
    let timeout = timeout_ns.map(|ns| libc::timespec {
        tv_sec: (ns / 1_000_000_000) as libc::time_t,
        tv_nsec: (ns % 1_000_000_000) as libc::c_long,
    });
    let timeout = timeout
        .as_ref()
        .map_or(std::ptr::null(), std::ptr::from_ref);
    let count = polled.len() as libc::nfds_t;
    // SAFETY: the descriptors and the time live; the signal mask is not changed.
    let done = unsafe { libc::ppoll(polled.as_mut_ptr(), count, timeout, std::ptr::null()) };
    match done {
        -1 => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            error => Err(error),
        },
        _ => Ok(()),
    }
}

/// What [`wait`] takes for a descriptor.
pub(crate) fn readable(fd: RawFd) -> libc::pollfd {
    libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    }
}
