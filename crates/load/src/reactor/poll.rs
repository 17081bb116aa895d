//! epoll, level-triggered, with nanosecond timeouts where the kernel has them.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};

use crate::call::clock::now_ns;

/// What is waited for on one descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interest {
    /// Bytes to read, or the end.
    Read,
    /// Also room to write, or the connection's completion.
    ReadWrite,
}

impl Interest {
    fn flags(self) -> EventFlags {
        let read = EventFlags::IN | EventFlags::RDHUP;
        match self {
            Interest::Read => read,
            Interest::ReadWrite => read | EventFlags::OUT,
        }
    }
}

/// One descriptor that is ready.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ready {
    /// The word given at registration.
    pub(crate) token: u64,
    /// Writable, or in error.
    pub(crate) write: bool,
    /// Readable, ended, or in error.
    pub(crate) read: bool,
}

/// A poll that takes longer was preempted by another thread on this core: the
/// rest is not this thread's time. A poll takes 0.3 us.
const POLL_NS_MAX: u64 = 5_000;

/// The result of a spin.
pub(crate) struct SpinResult {
    /// How many are ready.
    pub(crate) found: usize,
    /// When it was last seen that nothing was.
    pub(crate) seen: u64,
    /// How much of this thread's time passed until then.
    pub(crate) spin_ns: u64,
}

/// An epoll instance and its event buffer.
pub(crate) struct Poll {
    fd: OwnedFd,
    events: Vec<libc::epoll_event>,
    precise: bool,
}

impl Poll {
    pub(crate) fn new() -> io::Result<Poll> {
        Ok(Poll {
            fd: epoll::create(CreateFlags::CLOEXEC)?,
            // More than this are reported by the next wait, since epoll is level-triggered.
            events: vec![libc::epoll_event { events: 0, u64: 0 }; 512],
            precise: true,
        })
    }

    pub(crate) fn add(&self, fd: impl AsFd, token: u64, interest: Interest) -> io::Result<()> {
        let data = EventData::new_u64(token);
        Ok(epoll::add(&self.fd, fd, data, interest.flags())?)
    }

    pub(crate) fn modify(&self, fd: impl AsFd, token: u64, interest: Interest) -> io::Result<()> {
        let data = EventData::new_u64(token);
        Ok(epoll::modify(&self.fd, fd, data, interest.flags())?)
    }

    /// Waits until something is ready or `timeout_ns` has passed, and returns
    /// how many are ready. A signal counts as nothing ready.
    pub(crate) fn wait(&mut self, timeout_ns: u64) -> io::Result<usize> {
        let found = if self.precise {
            self.wait_precise(timeout_ns)
        } else {
            self.wait_ms(timeout_ns)
        };
        if found >= 0 {
            return Ok(found as usize);
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EINTR) => Ok(0),
            // Sandboxes of before Linux 5.11 refuse what they do not know.
            Some(libc::ENOSYS | libc::EPERM) if self.precise => {
                self.precise = false;
                self.wait(timeout_ns)
            }
            _ => Err(error),
        }
    }

    /// Polls from `now` until something is ready or it is `until`.
    pub(crate) fn spin(&mut self, now: u64, until: u64) -> io::Result<SpinResult> {
        let (mut seen, mut spin_ns) = (now, 0);
        loop {
            let found = self.wait(0)?;
            if found == 0 {
                let at = now_ns();
                // Only polls that found nothing count: the one that found something was of use.
                spin_ns += (at - seen).min(POLL_NS_MAX);
                seen = at;
            }
            if found > 0 || seen >= until {
                return Ok(SpinResult {
                    found,
                    seen,
                    spin_ns,
                });
            }
        }
    }

    // Not by rustix: without its feature linux_5_11 it rounds timeouts up to milliseconds, and
    // with it, nothing of the workspace runs on older kernels.
    fn wait_precise(&mut self, timeout_ns: u64) -> i32 {
        let timeout = libc::timespec {
            tv_sec: (timeout_ns / 1_000_000_000) as libc::time_t,
            tv_nsec: (timeout_ns % 1_000_000_000) as libc::c_long,
        };
        // SAFETY: the buffer holds `len` events; timespec and the absent mask are valid.
        unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.fd.as_raw_fd(),
                self.events.as_mut_ptr(),
                self.events.len() as i32,
                &raw const timeout,
                std::ptr::null::<libc::sigset_t>(),
                // The size of the kernel's sigset_t, though there is no mask.
                8usize,
            ) as i32
        }
    }

    fn wait_ms(&mut self, timeout_ns: u64) -> i32 {
        // Rounded up: less than a millisecond would else be 0, and the thread would
        // spin unasked.
        let ms = timeout_ns.div_ceil(1_000_000).min(i32::MAX as u64) as i32;
        // SAFETY: the buffer holds `len` events.
        unsafe {
            libc::epoll_wait(
                self.fd.as_raw_fd(),
                self.events.as_mut_ptr(),
                self.events.len() as i32,
                ms,
            )
        }
    }

    /// The `index`-th of those that the last [`Poll::wait`] found.
    pub(crate) fn ready(&self, index: usize) -> Ready {
        let event = self.events[index];
        // Both are reported unasked (epoll_ctl(2)). Taken for readable and writable, they lead
        // to the system call that returns the error.
        let broken = event.events & (libc::EPOLLERR | libc::EPOLLHUP) as u32 != 0;
        Ready {
            token: event.u64,
            write: broken || event.events & libc::EPOLLOUT as u32 != 0,
            read: broken || event.events & (libc::EPOLLIN | libc::EPOLLRDHUP) as u32 != 0,
        }
    }
}
