//! The server's end: sends every probe back, and remembers which it saw.

use std::collections::HashSet;
use std::io;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::sockets::PROBE_BYTES;

/// How long it may take to see the order to stop.
const LOOK: Duration = Duration::from_millis(10);

/// A thread that echoes.
#[derive(Debug)]
pub(super) struct Echo {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<io::Result<usize>>,
}

impl Echo {
    pub(super) fn start(socket: UdpSocket) -> io::Result<Self> {
        socket.set_read_timeout(Some(LOOK))?;
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let thread = thread::Builder::new()
            .name("echo".into())
            .spawn(move || echo(&socket, &seen))?;
        Ok(Echo { stop, thread })
    }

    /// Stops it: how many different probes arrived.
    pub(super) fn stop(self) -> io::Result<usize> {
        self.stop.store(true, Ordering::Relaxed);
        let panicked = |_| Err(io::Error::other("the echo panicked"));
        self.thread.join().unwrap_or_else(panicked)
    }
}

fn echo(socket: &UdpSocket, stop: &AtomicBool) -> io::Result<usize> {
    let mut seen = HashSet::new();
    let mut probe = [0; PROBE_BYTES];
    while !stop.load(Ordering::Relaxed) {
        match socket.recv(&mut probe) {
            Ok(length) => {
                seen.extend(number(&probe[..length]));
                socket.send(&probe[..length])?;
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(seen.len())
}

/// The number that a probe begins with.
pub(super) fn number(probe: &[u8]) -> Option<u64> {
    probe.first_chunk().map(|bytes| u64::from_be_bytes(*bytes))
}
