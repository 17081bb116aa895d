//! One direction of the emulator: packets out of one TUN device, through the
//! shaper, into the other when their time has come.

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::Arc;

use crate::emulator::counters::Counters;
use crate::emulator::delay_queue::DelayQueue;
use crate::emulator::segment::Segment;
use crate::emulator::shaper::{Fate, Shaper};
use crate::kernel::clock::{now_ns, realtime_ns};
use crate::model::config::ScriptedDrop;
use crate::model::summary::{Dropped, TcpFields};
use crate::model::way::Way;

/// Packets that are read or sent before the other lane is served.
const BATCH: usize = 32;

/// Packets that one direction holds at most, 256 MiB of memory; more are
/// dropped as by a full queue.
const QUEUED_PACKETS_MAX: usize = 131_072;

/// Bytes of a packet's buffer: a full packet of the link and a little more, so that a
/// longer one is recognized.
const BUFFER_BYTES: usize = 2_048;

#[derive(Debug, Clone)]
struct Packet {
    // Boxed: a packet is moved through the queue and the pool as a pointer.
    buffer: Box<[u8; BUFFER_BYTES]>,
    length: usize,
}

impl Packet {
    fn bytes(&self) -> &[u8] {
        &self.buffer[..self.length]
    }
}

/// Buffers for reuse: the emulator allocates only while more packets are under way
/// than ever before.
#[derive(Debug, Default)]
struct BufferPool {
    free: Vec<Packet>,
}

impl BufferPool {
    fn take(&mut self) -> Packet {
        self.free.pop().unwrap_or_else(|| Packet {
            buffer: Box::new([0; BUFFER_BYTES]),
            length: 0,
        })
    }

    fn put_back(&mut self, packet: Packet) {
        self.free.push(packet);
    }
}

#[derive(Debug)]
pub(crate) struct Lane {
    way: Way,
    from: Arc<File>,
    to: Arc<File>,
    shaper: Shaper,
    waiting: DelayQueue<Packet>,
    buffers: BufferPool,
    counters: Counters,
    /// Packets that are read now came later than this.
    since_ns: u64,
}

impl Lane {
    pub(crate) fn new(way: Way, from: Arc<File>, to: Arc<File>, shaper: Shaper) -> Self {
        Lane {
            way,
            from,
            to,
            shaper,
            waiting: DelayQueue::new(),
            buffers: BufferPool::default(),
            counters: Counters::new(),
            // Nothing is older than the lane.
            since_ns: now_ns(),
        }
    }

    pub(crate) fn way(&self) -> Way {
        self.way
    }

    pub(crate) fn source(&self) -> Arc<File> {
        Arc::clone(&self.from)
    }

    pub(crate) fn counters(&self) -> Counters {
        Counters {
            syns: self.shaper.syns(),
            ..self.counters.clone()
        }
    }

    /// Puts another shaper in and counts from zero. Packets under way keep
    /// their times.
    pub(crate) fn begin(&mut self, shaper: Shaper) {
        self.shaper = shaper;
        self.counters = Counters::new();
    }

    pub(crate) fn next_ns(&self) -> Option<u64> {
        self.waiting.next_ns()
    }

    /// The thread slept until this time, and nothing had come when it began to.
    pub(crate) fn slept_until(&mut self, woken_ns: u64) {
        self.since_ns = self.since_ns.max(woken_ns);
    }

    /// Sends what is due and reads what has come; true when there may be more.
    pub(crate) fn forward(&mut self) -> io::Result<bool> {
        for _ in 0..BATCH {
            // Before every read: a burst that comes in must not make what is due late.
            self.send_due()?;
            if !self.read_packet()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn send_due(&mut self) -> io::Result<()> {
        if self.waiting.len() == 0 {
            return Ok(());
        }
        for _ in 0..BATCH {
            let now = now_ns();
            let Some((due, packet)) = self.waiting.pop(now) else {
                break;
            };
            // Unit: nanoseconds. Recorded before the write, whose time is not the emulator's delay.
            // `pop` gives only what is due, so that this does not underflow.
            self.counters.lateness.record(now - due);
            self.send(packet.bytes())?;
            self.buffers.put_back(packet);
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

    fn read_packet(&mut self) -> io::Result<bool> {
        let mut packet = self.buffers.take();
        match (&*self.from).read(&mut packet.buffer[..]) {
            Ok(length) => {
                packet.length = length;
                self.admit(packet);
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                // The device was empty at this time, so that the next packet comes later.
                self.since_ns = now_ns();
                self.buffers.put_back(packet);
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    fn admit(&mut self, mut packet: Packet) {
        // Counted before its fate: these are the packets that were sent into the direction.
        self.counters.packets += 1;
        self.counters.bytes += packet.length as u64;
        let now = now_ns();
        let bytes = &mut packet.buffer[..packet.length];
        let fate = match self.waiting.len() < QUEUED_PACKETS_MAX {
            true => self.shaper.admit_since(self.since_ns.min(now), now, bytes),
            false => Fate::QueueDrop,
        };
        match fate {
            Fate::Passes {
                due_ns,
                copy_ns,
                corrupted,
            } => {
                self.counters.corrupted += u64::from(corrupted);
                if let Some(copy_ns) = copy_ns {
                    // The copy is of the corrupted packet, where both happen.
                    self.counters.duplicated += 1;
                    self.hold(due_ns, packet.clone());
                    return self.hold(copy_ns, packet);
                }
                return self.hold(due_ns, packet);
            }
            Fate::Lost => self.counters.lost += 1,
            Fate::QueueDrop => self.counters.queue_drops += 1,
            // Not among `lost`: that is what chance took.
            Fate::Scripted(drop) => self.log(drop, packet.bytes()),
        }
        self.buffers.put_back(packet);
    }

    fn hold(&mut self, due_ns: u64, packet: Packet) {
        self.counters.reordered += u64::from(self.waiting.push(due_ns, packet));
    }

    fn log(&mut self, drop: ScriptedDrop, bytes: &[u8]) {
        self.counters.dropped.push(Dropped {
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
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixDatagram;
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::model::profile::Direction;

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
    fn a_late_read_loses_none_of_the_rate() {
        let ((sender, from), (receiver, to)) = (device(), device());
        let direction = Direction {
            rate_kbit: Some(8_000.0),
            ..Direction::default()
        };
        let shaper = Shaper::new(&direction, Way::Forward, 1, &[]);
        let mut lane = Lane::new(Way::Forward, from, to, shaper);
        assert!(!lane.forward().expect("nothing came"));
        for _ in 0..8 {
            sender.send(&[0x45; 1_000]).expect("sent");
        }
        thread::sleep(Duration::from_millis(50));
        let before = now_ns();
        lane.forward().expect("carried");
        lane.send_due().expect("carried");
        let took = now_ns() - before;
        let mut bytes = [0; 2_048];
        let out = std::iter::from_fn(|| receiver.recv(&mut bytes).ok()).count();
        assert_eq!(out, 8, "in {took} ns");
    }
}
