//! How many bits per second a direction really lets through.

use std::io;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::bell::wait;
use crate::clock::{ms_to_ns, now_ns};
use crate::ended::Ways;
use crate::interface::MTU;
use crate::namespace::Pair;
use crate::profile::{Direction, Profile};
use crate::scheduling;

use super::Stop;
use super::sockets::{Ends, HEADER_BYTES, PROBE_BYTES};

/// How long a train of packets is, milliseconds: with a rate, and without.
const TRAIN_MS: f64 = 1_000.0;
const BLAST_MS: f64 = 300.0;

/// Packets that a train has at least, so that one of them matters little.
const PACKETS_MIN: f64 = 60.0;

/// How much faster than the rate packets are sent.
const PRESSURE: f64 = 1.15;

/// Shortest sleep of a sender, nanoseconds: at ten thousand packets a second
/// and more it sends several at once, for waking up for each would cost more
/// than sending it.
const REST_NS: u64 = 100_000;

/// How often somebody looks whether measuring is to be given up.
const LOOK: Duration = Duration::from_millis(20);

/// Silence that ends a train, beside the direction's own delay.
const SILENCE_MS: f64 = 400.0;

/// Measures both directions, one after the other, kbit/s of IP packets.
pub(super) fn both(pair: &Pair, profile: &Profile, stop: Stop) -> io::Result<Ways<f64>> {
    let Ends { client, server } = Ends::open(pair)?;
    Ok(Ways {
        forward: one(&client, &server, &profile.forward, stop)?,
        backward: one(&server, &client, &profile.backward, stop)?,
    })
}

fn one(from: &UdpSocket, to: &UdpSocket, direction: &Direction, stop: Stop) -> io::Result<f64> {
    let train = Train::of(direction);
    let given_up = AtomicBool::new(false);
    thread::scope(|scope| {
        let sender = scope.spawn(|| {
            unhindered();
            train.send(from, &given_up)
        });
        let receiver = scope.spawn(|| {
            unhindered();
            receive(to, train.silence, &given_up)
        });
        while !receiver.is_finished() {
            let stopped = stop.check();
            given_up.fetch_or(stopped.is_err(), Ordering::Relaxed);
            stopped?;
            thread::sleep(LOOK);
        }
        let panicked = || io::Error::other("a thread that measures panicked");
        let kbit = receiver.join().map_err(|_| panicked())?;
        given_up.fetch_or(kbit.is_err(), Ordering::Relaxed);
        sender.join().map_err(|_| panicked())??;
        kbit
    })
}

/// Whoever sends or counts late measures the machine's other work and not the
/// link. Where the machine gives no real-time priority it has to do without.
fn unhindered() {
    scheduling::sharpen_timers();
    scheduling::go_first();
}

/// Packets of one size at one pace.
#[derive(Debug, PartialEq)]
struct Train {
    /// Of an IP packet.
    bytes: usize,
    every_ns: u64,
    /// Shortest sleep in between: what comes due meanwhile, a quarter of the
    /// queue holds.
    rest_ns: u64,
    for_ns: u64,
    silence: Duration,
}

impl Train {
    fn of(direction: &Direction) -> Self {
        let (bytes, every_ms, for_ms) = match direction.rate_kbit {
            None => (MTU as usize, 0.0, BLAST_MS),
            Some(kbit) => {
                let fitting = (kbit * TRAIN_MS / 8.0 / PACKETS_MIN) as usize;
                let bytes = fitting.clamp(PROBE_BYTES, MTU as usize);
                let transmission_ms = direction.transmission_ms(bytes);
                let for_ms = TRAIN_MS.max(PACKETS_MIN * transmission_ms);
                (bytes, transmission_ms / PRESSURE, for_ms)
            }
        };
        let silence_ms = SILENCE_MS
            + direction.delay_ms
            + 8.0 * direction.jitter_ms
            + 2.0 * direction.transmission_ms(bytes);
        Train {
            bytes,
            every_ns: ms_to_ns(every_ms),
            rest_ns: rest_ns(direction),
            for_ns: ms_to_ns(for_ms),
            silence: Duration::from_nanos(ms_to_ns(silence_ms)),
        }
    }

    fn send(&self, socket: &UdpSocket, given_up: &AtomicBool) -> io::Result<()> {
        let packet = vec![0; self.bytes - HEADER_BYTES];
        let start = now_ns();
        let mut number = 0;
        while now_ns() < start + self.for_ns && !given_up.load(Ordering::Relaxed) {
            let due = start + number * self.every_ns;
            let early = due.saturating_sub(now_ns());
            if early > 0 {
                let rest = early.max(self.rest_ns).min(Stop::EVERY_NS);
                wait(&mut [], Some(rest))?;
                continue;
            }
            match socket.send(&packet) {
                // The device's queue is full: lost like any other.
                Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => {}
                sent => drop(sent?),
            }
            number += 1;
        }
        Ok(())
    }
}

fn rest_ns(direction: &Direction) -> u64 {
    let queue = direction.queue_bytes.unwrap_or(u64::MAX).min(1 << 40) as usize;
    let drained_ms = direction.transmission_ms(queue);
    REST_NS.min(ms_to_ns(drained_ms / 4.0))
}

/// Bits after the first packet over the time since it, until silence.
fn receive(socket: &UdpSocket, silence: Duration, given_up: &AtomicBool) -> io::Result<f64> {
    socket.set_read_timeout(Some(Duration::from_nanos(Stop::EVERY_NS)))?;
    let mut packet = [0; MTU as usize];
    let (mut first_ns, mut last_ns, mut bytes) = (None, now_ns(), 0);
    while now_ns() - last_ns < silence.as_nanos() as u64 && !given_up.load(Ordering::Relaxed) {
        match socket.recv(&mut packet) {
            Ok(length) => {
                last_ns = now_ns();
                match first_ns {
                    None => first_ns = Some(last_ns),
                    Some(_) => bytes += length + HEADER_BYTES,
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    match first_ns {
        Some(first) if last_ns > first => Ok(bytes as f64 * 8e6 / (last_ns - first) as f64),
        _ => Err(io::Error::other(
            "no train of packets arrived to measure the rate by",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trains_are_long_enough_and_fit_the_link() {
        for kbit in [1.0, 26.8, 1_000.0, 1_000_000.0] {
            let direction = Direction {
                rate_kbit: Some(kbit),
                ..Direction::default()
            };
            let train = Train::of(&direction);
            assert!(train.bytes <= MTU as usize && train.bytes >= PROBE_BYTES);
            assert_eq!(train.rest_ns, REST_NS);
            assert!(
                train.for_ns as f64 >= 59.9 * train.every_ns as f64,
                "{train:?}"
            );
        }
    }

    #[test]
    fn what_comes_due_in_a_rest_fits_the_queue() {
        let direction = Direction {
            rate_kbit: Some(1_000_000.0),
            queue_bytes: Some(6_000),
            ..Direction::default()
        };
        // 48 us to drain; 1.15 packets of 12 us each come due in a quarter.
        assert_eq!(Train::of(&direction).rest_ns, 12_000);
    }
}
