//! Echoes over the link: round trips, and which probes arrived.

use std::collections::HashSet;
use std::io;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::kernel::clock::{ms_to_ns, now_ns};
use crate::kernel::eventfd::{readable, wait};
use crate::kernel::namespace::Pair;
use crate::kernel::scheduling;
use crate::model::profile::PROBE_BYTES;
use crate::probe::sockets::{HEADER_BYTES, UdpEnds};
use crate::probe::stop::StopCheck;

/// Echoes to be sent, one after the other without waiting for answers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pings {
    pub(super) count: usize,
    /// Time between two of them, milliseconds.
    pub(super) every_ms: f64,
    /// Time after which the last one is given up, milliseconds.
    pub(super) wait_ms: f64,
}

#[derive(Debug)]
pub(super) struct Echoes {
    /// Round trip of each, milliseconds; nothing where none came back.
    pub(super) rtt_ms: Vec<Option<f64>>,
    /// How many reached the server.
    pub(super) arrived: usize,
}

impl Pings {
    pub(super) fn send(&self, pair: &Pair, stop: StopCheck) -> io::Result<Echoes> {
        let UdpEnds { client, server } = UdpEnds::open(pair)?;
        let echo = Echo::start(server)?;
        let rtt_ms = self.exchange(&client, stop);
        let arrived = echo.stop()?;
        Ok(Echoes {
            rtt_ms: rtt_ms?,
            arrived,
        })
    }

    fn exchange(&self, socket: &UdpSocket, stop: StopCheck) -> io::Result<Vec<Option<f64>>> {
        // Stays with the caller's thread, whose sleeps only get more exact by it.
        scheduling::set_timer_slack();
        socket.set_nonblocking(true)?;
        let mut in_flight = InFlight::new(self.count);
        let (every, timeout) = (ms_to_ns(self.every_ms), ms_to_ns(self.wait_ms));
        let start = now_ns();
        loop {
            let sent = in_flight.sent_ns.len();
            let next = match sent < self.count {
                true => start + sent as u64 * every,
                false => in_flight.sent_ns.last().unwrap_or(&start) + timeout,
            };
            stop.check()?;
            let now = now_ns();
            if now >= next && sent == self.count || in_flight.all_back() {
                return Ok(in_flight.rtt_ms);
            }
            if now >= next {
                in_flight.send(socket)?;
            } else {
                // Not longer, or a request to stop would wait for the next ping.
                let at_most = (next - now).min(StopCheck::EVERY_NS);
                wait(&mut [readable(socket)], Some(at_most))?;
            }
            in_flight.receive(socket)?;
        }
    }
}

struct InFlight {
    sent_ns: Vec<u64>,
    rtt_ms: Vec<Option<f64>>,
    back: usize,
}

impl InFlight {
    fn new(count: usize) -> Self {
        InFlight {
            sent_ns: Vec::with_capacity(count),
            rtt_ms: vec![None; count],
            back: 0,
        }
    }

    fn all_back(&self) -> bool {
        self.back == self.rtt_ms.len()
    }

    fn send(&mut self, socket: &UdpSocket) -> io::Result<()> {
        let mut probe = [0; PROBE_BYTES - HEADER_BYTES];
        probe[..8].copy_from_slice(&(self.sent_ns.len() as u64).to_be_bytes());
        // Before the system call, which on a veth also runs the receiving side.
        self.sent_ns.push(now_ns());
        socket.send(&probe).map(drop)
    }

    fn receive(&mut self, socket: &UdpSocket) -> io::Result<()> {
        let mut probe = [0; PROBE_BYTES];
        loop {
            match socket.recv(&mut probe) {
                Ok(length) => self.record(now_ns(), number(&probe[..length])),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    fn record(&mut self, now_ns: u64, number: Option<u64>) {
        let number = number.map_or(usize::MAX, |number| number as usize);
        // Only the first of two: the link may duplicate.
        if let (Some(sent), Some(rtt @ None)) =
            (self.sent_ns.get(number), self.rtt_ms.get_mut(number))
        {
            *rtt = Some((now_ns - sent) as f64 / 1e6);
            self.back += 1;
        }
    }
}

/// Longest time between two looks at the flag that stops the server's end.
const STOP_CHECK: Duration = Duration::from_millis(10);

/// The server's end: a thread that sends every probe back and remembers which it saw.
#[derive(Debug)]
struct Echo {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<io::Result<usize>>,
}

impl Echo {
    fn start(socket: UdpSocket) -> io::Result<Self> {
        // Else a server that nothing reaches would never look at the flag.
        socket.set_read_timeout(Some(STOP_CHECK))?;
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let thread = thread::Builder::new()
            .name("echo".into())
            .spawn(move || echo(&socket, &seen))?;
        Ok(Echo { stop, thread })
    }

    /// Stops it: how many different probes arrived.
    fn stop(self) -> io::Result<usize> {
        // Relaxed: nothing but the flag is read before the thread is joined.
        self.stop.store(true, Ordering::Relaxed);
        let panicked = |_| Err(io::Error::other("the echo panicked"));
        self.thread.join().unwrap_or_else(panicked)
    }
}

fn echo(socket: &UdpSocket, stop: &AtomicBool) -> io::Result<usize> {
    // A set, since a duplicate is not another arrival.
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

fn number(probe: &[u8]) -> Option<u64> {
    probe.first_chunk().map(|bytes| u64::from_be_bytes(*bytes))
}
