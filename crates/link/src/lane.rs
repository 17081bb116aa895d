//! One direction of the emulator: packets out of one TUN device, through the
//! shaper, into the other when their time has come.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;

use crate::clock::{now_ns, realtime_ns};
use crate::deadlines::Deadlines;
use crate::ended::{Dropped, Syns, TcpFields};
use crate::lateness::Latenesses;
use crate::profile::Way;
use crate::script::ScriptedDrop;
use crate::segment::Segment;
use crate::shaper::{Fate, Shaper};
use crate::slots::{Packet, Slots};

/// Packets that are taken in or let out before the other lane has its turn.
const BATCH: usize = 32;

/// Packets that one direction holds at most, 256 MiB of memory; more are
/// dropped as by a full queue.
const HELD_MAX: usize = 131_072;

/// What a direction did.
#[derive(Debug, Clone)]
pub(crate) struct Tally {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    pub(crate) lost: u64,
    pub(crate) syns: Syns,
    pub(crate) queue_drops: u64,
    pub(crate) duplicated: u64,
    pub(crate) corrupted: u64,
    pub(crate) reordered: u64,
    pub(crate) lateness: Latenesses,
    pub(crate) dropped: Vec<Dropped>,
}

impl Tally {
    fn new() -> Self {
        Tally {
            packets: 0,
            bytes: 0,
            lost: 0,
            syns: Syns::default(),
            queue_drops: 0,
            duplicated: 0,
            corrupted: 0,
            reordered: 0,
            lateness: Latenesses::new(),
            dropped: Vec::new(),
        }
    }
}

/// One direction at work.
#[derive(Debug)]
pub(crate) struct Lane {
    way: Way,
    from: Arc<File>,
    to: Arc<File>,
    shaper: Shaper,
    line: Deadlines<Packet>,
    slots: Slots,
    tally: Tally,
    /// Packets that are taken in now came later than this.
    since_ns: u64,
}

impl Lane {
    pub(crate) fn new(way: Way, from: Arc<File>, to: Arc<File>, shaper: Shaper) -> Self {
        Lane {
            way,
            from,
            to,
            shaper,
            line: Deadlines::new(),
            slots: Slots::default(),
            tally: Tally::new(),
            since_ns: now_ns(),
        }
    }

    pub(crate) fn way(&self) -> Way {
        self.way
    }

    pub(crate) fn source(&self) -> RawFd {
        self.from.as_raw_fd()
    }

    pub(crate) fn tally(&self) -> Tally {
        Tally {
            syns: self.shaper.syns(),
            ..self.tally.clone()
        }
    }

    /// Puts another shaper in and counts from zero. Packets under way keep
    /// their times.
    pub(crate) fn begin(&mut self, shaper: Shaper) {
        self.shaper = shaper;
        self.tally = Tally::new();
    }

    /// The time at which the next packet is due.
    pub(crate) fn next_ns(&self) -> Option<u64> {
        self.line.next_ns()
    }

    /// Nobody could look before this time, at which nothing had come yet.
    pub(crate) fn rested_until(&mut self, woken_ns: u64) {
        self.since_ns = self.since_ns.max(woken_ns);
    }

    /// Lets out what is due and takes in what has come; true when there may
    /// be more of it.
    pub(crate) fn turn(&mut self) -> io::Result<bool> {
        for _ in 0..BATCH {
            self.release()?;
            if !self.take()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn release(&mut self) -> io::Result<()> {
        if self.line.len() == 0 {
            return Ok(());
        }
        for _ in 0..BATCH {
            let now = now_ns();
            let Some((due, packet)) = self.line.pop(now) else {
                break;
            };
            self.tally.lateness.record(now - due);
            self.send(packet.bytes())?;
            self.slots.give(packet);
        }
        Ok(())
    }

    /// A packet that the device does not take is gone, as on any network; the
    /// device counts it (`device_drops`; a corrupted one as a frame error).
    fn send(&self, bytes: &[u8]) -> io::Result<()> {
        match (&*self.to).write_all(bytes) {
            Ok(()) => Ok(()),
            Err(error) => match error.raw_os_error() {
                Some(libc::EINVAL | libc::EIO | libc::ENOBUFS | libc::ENOMEM | libc::EAGAIN) => {
                    Ok(())
                }
                _ => Err(error),
            },
        }
    }

    fn take(&mut self) -> io::Result<bool> {
        let mut packet = self.slots.take();
        match (&*self.from).read(&mut packet.memory[..]) {
            Ok(length) => {
                packet.length = length;
                self.admit(packet);
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.since_ns = now_ns();
                self.slots.give(packet);
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    fn admit(&mut self, mut packet: Packet) {
        self.tally.packets += 1;
        self.tally.bytes += packet.length as u64;
        let now = now_ns();
        let bytes = &mut packet.memory[..packet.length];
        let fate = match self.line.len() < HELD_MAX {
            true => self.shaper.admit_since(self.since_ns.min(now), now, bytes),
            false => Fate::QueueDrop,
        };
        match fate {
            Fate::Passes {
                due_ns,
                copy_ns,
                corrupted,
            } => {
                self.tally.corrupted += u64::from(corrupted);
                if let Some(copy_ns) = copy_ns {
                    self.tally.duplicated += 1;
                    self.hold(due_ns, packet.clone());
                    return self.hold(copy_ns, packet);
                }
                return self.hold(due_ns, packet);
            }
            Fate::Lost => self.tally.lost += 1,
            Fate::QueueDrop => self.tally.queue_drops += 1,
            Fate::Scripted(drop) => self.log(drop, packet.bytes()),
        }
        self.slots.give(packet);
    }

    fn hold(&mut self, due_ns: u64, packet: Packet) {
        self.tally.reordered += u64::from(self.line.push(due_ns, packet));
    }

    fn log(&mut self, drop: ScriptedDrop, bytes: &[u8]) {
        self.tally.dropped.push(Dropped {
            direction: drop.direction,
            kind: drop.kind,
            nth: drop.nth,
            at_unix_ns: realtime_ns(),
            bytes: bytes.len(),
            tcp: Segment::parse(bytes).map(|segment| TcpFields {
                source_port: segment.source_port,
                destination_port: segment.destination_port,
                sequence: segment.sequence,
                data: segment.data,
            }),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Direction;
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixDatagram;
    use std::thread;
    use std::time::Duration;

    /// Sockets in place of TUN devices: they keep packets apart, too.
    fn device() -> (UnixDatagram, Arc<File>) {
        let (outside, inside) = UnixDatagram::pair().expect("a pair of sockets");
        inside.set_nonblocking(true).expect("set");
        outside.set_nonblocking(true).expect("set");
        (outside, Arc::new(File::from(OwnedFd::from(inside))))
    }

    /// Eight packets of a millisecond each wait unseen for 50 ms: all have left
    /// by then. Counted from when they were seen, the last would need 8 ms.
    #[test]
    fn a_late_look_loses_none_of_the_rate() {
        let ((sender, from), (receiver, to)) = (device(), device());
        let direction = Direction {
            rate_kbit: Some(8_000.0),
            ..Direction::default()
        };
        let shaper = Shaper::new(&direction, Way::Forward, 1, &[]);
        let mut lane = Lane::new(Way::Forward, from, to, shaper);
        assert!(!lane.turn().expect("nothing came"));
        for _ in 0..8 {
            sender.send(&[0x45; 1_000]).expect("sent");
        }
        thread::sleep(Duration::from_millis(50));
        let before = now_ns();
        lane.turn().expect("carried");
        lane.release().expect("carried");
        let took = now_ns() - before;
        let mut bytes = [0; 2_048];
        let out = std::iter::from_fn(|| receiver.recv(&mut bytes).ok()).count();
        assert_eq!(out, 8, "in {took} ns");
    }
}
