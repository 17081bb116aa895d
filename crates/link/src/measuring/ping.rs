//! Echoes over the link.

use std::io;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

use crate::bell::{readable, wait};
use crate::clock::{ms_to_ns, now_ns};
use crate::namespace::Pair;
use crate::scheduling;

use super::Stop;
use super::echo::{Echo, number};
use super::sockets::{Ends, HEADER_BYTES, PROBE_BYTES};

/// Echoes to be sent, one after the other without waiting for answers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pings {
    pub(super) count: usize,
    /// Time between two of them, milliseconds.
    pub(super) every_ms: f64,
    /// Time after which the last one is given up, milliseconds.
    pub(super) wait_ms: f64,
}

/// What came back.
#[derive(Debug)]
pub(super) struct Echoes {
    /// Round trip of each, milliseconds; nothing where none came back.
    pub(super) rtt_ms: Vec<Option<f64>>,
    /// How many reached the server.
    pub(super) arrived: usize,
}

impl Pings {
    pub(super) fn send(&self, pair: &Pair, stop: Stop) -> io::Result<Echoes> {
        let Ends { client, server } = Ends::open(pair)?;
        let echo = Echo::start(server)?;
        let rtt_ms = self.exchange(&client, stop);
        let arrived = echo.stop()?;
        Ok(Echoes {
            rtt_ms: rtt_ms?,
            arrived,
        })
    }

    fn exchange(&self, socket: &UdpSocket, stop: Stop) -> io::Result<Vec<Option<f64>>> {
        scheduling::sharpen_timers();
        socket.set_nonblocking(true)?;
        let mut flights = Flights::new(self.count);
        let (every, patience) = (ms_to_ns(self.every_ms), ms_to_ns(self.wait_ms));
        let start = now_ns();
        loop {
            let sent = flights.sent_ns.len();
            let next = match sent < self.count {
                true => start + sent as u64 * every,
                false => flights.sent_ns.last().unwrap_or(&start) + patience,
            };
            stop.check()?;
            let now = now_ns();
            if now >= next && sent == self.count || flights.all_back() {
                return Ok(flights.rtt_ms);
            }
            if now >= next {
                flights.launch(socket)?;
            } else {
                let at_most = (next - now).min(Stop::EVERY_NS);
                wait(&mut [readable(socket.as_raw_fd())], Some(at_most))?;
            }
            flights.land(socket)?;
        }
    }
}

/// Probes under way and back.
struct Flights {
    sent_ns: Vec<u64>,
    rtt_ms: Vec<Option<f64>>,
    back: usize,
}

impl Flights {
    fn new(count: usize) -> Self {
        Flights {
            sent_ns: Vec::with_capacity(count),
            rtt_ms: vec![None; count],
            back: 0,
        }
    }

    fn all_back(&self) -> bool {
        self.back == self.rtt_ms.len()
    }

    fn launch(&mut self, socket: &UdpSocket) -> io::Result<()> {
        let mut probe = [0; PROBE_BYTES - HEADER_BYTES];
        probe[..8].copy_from_slice(&(self.sent_ns.len() as u64).to_be_bytes());
        self.sent_ns.push(now_ns());
        socket.send(&probe).map(drop)
    }

    fn land(&mut self, socket: &UdpSocket) -> io::Result<()> {
        let mut probe = [0; PROBE_BYTES];
        loop {
            match socket.recv(&mut probe) {
                Ok(length) => self.back_at(now_ns(), number(&probe[..length])),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    fn back_at(&mut self, now_ns: u64, number: Option<u64>) {
        let number = number.map_or(usize::MAX, |number| number as usize);
        if let (Some(sent), Some(rtt @ None)) =
            (self.sent_ns.get(number), self.rtt_ms.get_mut(number))
        {
            *rtt = Some((now_ns - sent) as f64 / 1e6);
            self.back += 1;
        }
    }
}
