//! How a link's process is controlled: lines on standard input, and signals.

use std::fs::File;
use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, FromRawFd};

use crate::kernel::eventfd::{EventFd, is_ready, readable, wait};

/// A line is one configuration; a longer one is a mistake.
const LINE_MAX: usize = 1 << 20;

/// A request to the process, or the end of its link.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A line on standard input, without its end.
    Line(String),
    /// Standard input has ended, or SIGTERM or SIGINT came.
    Stop,
    /// SIGUSR1: print the counts.
    Report,
    /// The link has failed.
    Broken,
}

#[derive(Debug)]
pub(crate) struct Control {
    input: File,
    signals: File,
    /// Lines that are not complete yet, or not taken yet.
    buffer: Vec<u8>,
    /// Whether the request to stop was read already.
    stopped: bool,
}

impl Control {
    /// Blocks the signals in this thread and all that it starts. Call it
    /// before any other thread exists.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Control {
            // A duplicate: closing it leaves standard input open.
            input: io::stdin().as_fd().try_clone_to_owned()?.into(),
            signals: signals()?,
            buffer: Vec::new(),
            stopped: false,
        })
    }

    pub(crate) fn next(&mut self, failure: Option<&EventFd>) -> io::Result<Event> {
        loop {
            if let Some(line) = self.line() {
                return Ok(Event::Line(line));
            }
            if self.stopped {
                return Ok(Event::Stop);
            }
            let mut polled = vec![readable(&self.signals), readable(&self.input)];
            polled.extend(failure.map(readable));
            wait(&mut polled, None)?;
            let ready: Vec<bool> = polled.iter().map(is_ready).collect();
            // Signals first: a request to stop must not wait behind lines.
            if ready[0] {
                return self.signal();
            }
            // The third is polled only where the driver can fail by itself.
            if ready.get(2) == Some(&true) {
                return Ok(Event::Broken);
            }
            if ready[1] && !self.read_input()? {
                return Ok(Event::Stop);
            }
        }
    }

    /// Whether to stop. Does not wait; lines are kept for later.
    pub(crate) fn stopped(&mut self) -> io::Result<bool> {
        let mut polled = [readable(&self.signals), readable(&self.input)];
        if !self.stopped {
            wait(&mut polled, Some(0))?;
        }
        let [signalled, readable] = [is_ready(&polled[0]), is_ready(&polled[1])];
        if signalled {
            self.stopped = self.signal()? == Event::Stop;
        }
        if readable {
            self.stopped |= !self.read_input()?;
        }
        Ok(self.stopped)
    }

    fn line(&mut self) -> Option<String> {
        let end = self.buffer.iter().position(|byte| *byte == b'\n')?;
        let line: Vec<u8> = self.buffer.drain(..=end).collect();
        Some(String::from_utf8_lossy(&line[..end]).into_owned())
    }

    /// False at the end of standard input.
    fn read_input(&mut self) -> io::Result<bool> {
        let mut bytes = [0; 4_096];
        // One read and no more: the descriptor blocks, and poll(2) promises that a
        // single read will not.
        let length = self.input.read(&mut bytes)?;
        self.buffer.extend(&bytes[..length]);
        if self.buffer.len() > LINE_MAX {
            return Err(io::Error::other("a line of more than 1 MiB"));
        }
        Ok(length > 0)
    }

    fn signal(&mut self) -> io::Result<Event> {
        let mut bytes = [0; size_of::<libc::signalfd_siginfo>()];
        // A signalfd gives whole structures only, so that no rest stays behind.
        self.signals.read_exact(&mut bytes)?;
        // The signal's number comes first (signalfd(2)).
        let number = u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        match number == libc::SIGUSR1 as u32 {
            true => Ok(Event::Report),
            false => Ok(Event::Stop),
        }
    }
}

/// A signalfd(2) from which SIGTERM, SIGINT, SIGHUP and SIGUSR1 are read.
fn signals() -> io::Result<File> {
    let mut set = MaybeUninit::uninit();
    // SAFETY: sigemptyset makes the set valid, the signals exist, and the
    // descriptor that is returned is ours.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        // SIGHUP too: a terminal that closes must not leave namespaces behind.
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
