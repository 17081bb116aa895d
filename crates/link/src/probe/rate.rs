//! The rate of each direction, measured by a train of packets.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use std::{io, thread};

use crate::kernel::clock::{ms_to_ns, now_ns};
use crate::kernel::eventfd::wait;
use crate::kernel::namespace::Pair;
use crate::kernel::scheduling;
use crate::model::profile::{Direction, MTU, PROBE_BYTES, Profile};
use crate::model::way::Ways;
use crate::probe::sockets::{HEADER_BYTES, UdpEnds};
use crate::probe::stop::StopCheck;

/// How long a train of packets is, milliseconds: with a rate, and without.
const TRAIN_MS: f64 = 1_000.0;
const UNLIMITED_TRAIN_MS: f64 = 300.0;

/// Fewest packets of a train, so that a single one matters little.
const PACKETS_MIN: f64 = 60.0;

/// How much faster than the rate packets are sent.
// Keeps the bottleneck busy. What is too much is dropped at its queue, and changes nothing in
// the rate behind it.
const OVERLOAD: f64 = 1.15;

/// Shortest sleep of a sender, nanoseconds: at ten thousand packets a second
/// and more it sends several at once, because a wakeup for each would cost more
/// than sending it.
const SLEEP_NS_MIN: u64 = 100_000;

const STOP_CHECK: Duration = Duration::from_millis(20);

/// Silence that ends a train, in addition to the direction's own delay.
const SILENCE_MS: f64 = 400.0;

pub(super) fn both(pair: &Pair, profile: &Profile, stop: StopCheck) -> io::Result<Ways<f64>> {
    let UdpEnds { client, server } = UdpEnds::open(pair)?;
    Ok(Ways {
        forward: one(&client, &server, &profile.forward, stop)?,
        backward: one(&server, &client, &profile.backward, stop)?,
    })
}

fn one(
    from: &UdpSocket,
    to: &UdpSocket,
    direction: &Direction,
    stop: StopCheck,
) -> io::Result<f64> {
    let train = Train::of(direction);
    let stopped = AtomicBool::new(false);
    thread::scope(|scope| {
        let sender = scope.spawn(|| {
            raise_priority();
            train.send(from, &stopped)
        });
        let (running, ended) = mpsc::channel::<()>();
        let (silence, flag) = (train.silence, &stopped);
        let receiver = scope.spawn(move || {
            // Dropped when the thread ends, which wakes the loop below.
            let _running = running;
            raise_priority();
            receive(to, silence, flag)
        });
        while ended.recv_timeout(STOP_CHECK) == Err(RecvTimeoutError::Timeout) {
            let checked = stop.check();
            stopped.fetch_or(checked.is_err(), Ordering::Relaxed);
            checked?;
        }
        let panicked = || io::Error::other("a thread that measures panicked");
        let kbit = receiver.join().map_err(|_| panicked())?;
        stopped.fetch_or(kbit.is_err(), Ordering::Relaxed);
        sender.join().map_err(|_| panicked())??;
        kbit
    })
}

/// A thread that sends or counts late measures the machine's other work and not the
/// link. Without the right to a real-time priority it runs without.
fn raise_priority() {
    scheduling::set_timer_slack();
    scheduling::set_fifo();
}

/// Packets of one size at one pace.
#[derive(Debug, PartialEq)]
struct Train {
    /// Of an IP packet.
    bytes: usize,
    every_ns: u64,
    /// Shortest sleep: a quarter of the queue holds what comes due meanwhile.
    sleep_ns_min: u64,
    for_ns: u64,
    silence: Duration,
}

impl Train {
    fn of(direction: &Direction) -> Self {
        let (bytes, every_ms, for_ms) = match direction.rate_kbit {
            None => (MTU as usize, 0.0, UNLIMITED_TRAIN_MS),
            Some(kbit) => {
                // Smaller packets on a slow link, so that a train of them still ends in
                // about a second.
                let fitting = (kbit * TRAIN_MS / 8.0 / PACKETS_MIN) as usize;
                let bytes = fitting.clamp(PROBE_BYTES, MTU as usize);
                let transmission_ms = direction.transmission_ms(bytes);
                let for_ms = TRAIN_MS.max(PACKETS_MIN * transmission_ms);
                (bytes, transmission_ms / OVERLOAD, for_ms)
            }
        };
        let silence_ms = SILENCE_MS
            + direction.delay_ms
            + 8.0 * direction.jitter_ms
            + 2.0 * direction.transmission_ms(bytes);
        Train {
            bytes,
            every_ns: ms_to_ns(every_ms),
            sleep_ns_min: sleep_ns_min(direction),
            for_ns: ms_to_ns(for_ms),
            silence: Duration::from_nanos(ms_to_ns(silence_ms)),
        }
    }

    fn send(&self, socket: &UdpSocket, stopped: &AtomicBool) -> io::Result<()> {
        let packet = vec![0; self.bytes - HEADER_BYTES];
        let start = now_ns();
        let mut number = 0;
        while now_ns() < start + self.for_ns && !stopped.load(Ordering::Relaxed) {
            let due = start + number * self.every_ns;
            let early = due.saturating_sub(now_ns());
            if early > 0 {
                let sleep_ns = early.max(self.sleep_ns_min).min(StopCheck::EVERY_NS);
                wait(&mut [], Some(sleep_ns))?;
                continue;
            }
            match socket.send(&packet) {
                // The device's queue is full: lost like any other.
                Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => {}
                sent => drop(sent?),
            }
            // Counted though it was lost: the pace must not depend on the queue.
            number += 1;
        }
        Ok(())
    }
}

fn sleep_ns_min(direction: &Direction) -> u64 {
    let queue = direction.queue_bytes.unwrap_or(u64::MAX).min(1 << 40) as usize;
    let drained_ms = direction.transmission_ms(queue);
    SLEEP_NS_MIN.min(ms_to_ns(drained_ms / 4.0))
}

/// Bits after the first packet over the time since it, until silence.
fn receive(socket: &UdpSocket, silence: Duration, stopped: &AtomicBool) -> io::Result<f64> {
    socket.set_read_timeout(Some(Duration::from_nanos(StopCheck::EVERY_NS)))?;
    let mut packet = [0; MTU as usize];
    let (mut first_ns, mut last_ns, mut bytes) = (None, now_ns(), 0);
    while now_ns() - last_ns < silence.as_nanos() as u64 && !stopped.load(Ordering::Relaxed) {
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
        // Bytes per nanosecond are 8 Gbit/s, or 8e6 kbit/s. The first packet only starts the
        // clock: how long it was under way is not known.
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
            assert_eq!(train.sleep_ns_min, SLEEP_NS_MIN);
            assert!(
                train.for_ns as f64 >= 59.9 * train.every_ns as f64,
                "{train:?}"
            );
        }
    }

    #[test]
    fn what_comes_due_in_a_sleep_fits_the_queue() {
        let direction = Direction {
            rate_kbit: Some(1_000_000.0),
            queue_bytes: Some(6_000),
            ..Direction::default()
        };
        // 48 us to drain; 1.15 packets of 12 us each come due in a quarter.
        assert_eq!(Train::of(&direction).sleep_ns_min, 12_000);
    }
}
