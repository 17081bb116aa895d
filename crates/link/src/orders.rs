//! What a link's process is told: lines on standard input, and signals.

use std::fs::File;
use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd};

use crate::bell::{Bell, readable, wait};

/// A line is one configuration; a longer one is a mistake.
const LINE_MAX: usize = 1 << 20;

/// What was heard.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// A line on standard input, without its end.
    Line(String),
    /// Standard input has ended, or SIGTERM or SIGINT came.
    Stop,
    /// SIGUSR1: tell the counts.
    Tell,
    /// The alarm rang.
    Broken,
}

/// Standard input and the signals, heard by one thread.
#[derive(Debug)]
pub(crate) struct Orders {
    input: File,
    signals: File,
    heard: Vec<u8>,
    /// Whether the order to stop has been heard already.
    stopped: bool,
}

impl Orders {
    /// Blocks the signals in this thread and all that it starts. Call it
    /// before any other thread exists.
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: descriptor 0 is this process's standard input, and is
        // duplicated so that the file may be closed.
        let input = unsafe { libc::dup(libc::STDIN_FILENO) };
        if input == -1 {
            return Err(io::Error::last_os_error());
        }
        Ok(Orders {
            // SAFETY: the descriptor was made above and is nobody else's.
            input: unsafe { File::from_raw_fd(input) },
            signals: signals()?,
            heard: Vec::new(),
            stopped: false,
        })
    }

    /// Waits for the next order.
    pub(crate) fn next(&mut self, alarm: Option<&Bell>) -> io::Result<Order> {
        loop {
            if let Some(line) = self.line() {
                return Ok(Order::Line(line));
            }
            if self.stopped {
                return Ok(Order::Stop);
            }
            let mut polled = vec![
                readable(self.signals.as_raw_fd()),
                readable(self.input.as_raw_fd()),
            ];
            polled.extend(alarm.map(|bell| readable(bell.as_raw_fd())));
            wait(&mut polled, None)?;
            if polled[0].revents != 0 {
                return self.signal();
            }
            if polled.get(2).is_some_and(|alarm| alarm.revents != 0) {
                return Ok(Order::Broken);
            }
            if polled[1].revents != 0 && !self.hear()? {
                return Ok(Order::Stop);
            }
        }
    }

    /// Whether the order to stop has been given. Does not wait; lines are kept
    /// for later.
    pub(crate) fn stopped(&mut self) -> io::Result<bool> {
        let mut polled = [
            readable(self.signals.as_raw_fd()),
            readable(self.input.as_raw_fd()),
        ];
        if !self.stopped {
            wait(&mut polled, Some(0))?;
        }
        if polled[0].revents != 0 {
            self.stopped = self.signal()? == Order::Stop;
        }
        if polled[1].revents != 0 {
            self.stopped |= !self.hear()?;
        }
        Ok(self.stopped)
    }

    fn line(&mut self) -> Option<String> {
        let end = self.heard.iter().position(|byte| *byte == b'\n')?;
        let line: Vec<u8> = self.heard.drain(..=end).collect();
        Some(String::from_utf8_lossy(&line[..end]).into_owned())
    }

    /// False at the end of standard input.
    fn hear(&mut self) -> io::Result<bool> {
        let mut bytes = [0; 4_096];
        let length = self.input.read(&mut bytes)?;
        self.heard.extend(&bytes[..length]);
        if self.heard.len() > LINE_MAX {
            return Err(io::Error::other("a line of more than 1 MiB"));
        }
        Ok(length > 0)
    }

    fn signal(&mut self) -> io::Result<Order> {
        let mut bytes = [0; size_of::<libc::signalfd_siginfo>()];
        self.signals.read_exact(&mut bytes)?;
        // The signal's number comes first (signalfd(2)).
        let number = u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        match number == libc::SIGUSR1 as u32 {
            true => Ok(Order::Tell),
            false => Ok(Order::Stop),
        }
    }
}

/// A descriptor from which SIGTERM, SIGINT, SIGHUP and SIGUSR1 are read.
fn signals() -> io::Result<File> {
    let mut set = MaybeUninit::uninit();
    // SAFETY: sigemptyset makes the set valid, the signals exist, and the
    // descriptor that is returned is ours.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGUSR1] {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        let code = libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut());
        if code != 0 {
            return Err(io::Error::from_raw_os_error(code));
        }
        match libc::signalfd(-1, set.as_ptr(), libc::SFD_CLOEXEC) {
            -1 => Err(io::Error::last_os_error()),
            fd => Ok(File::from_raw_fd(fd)),
        }
    }
}
