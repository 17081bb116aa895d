//! What happens to a packet, without I/O and without a clock.

use crate::emulator::bottleneck::Bottleneck;
use crate::emulator::delay::Delay;
use crate::emulator::loss::Loss;
use crate::emulator::rng::Rng;
use crate::emulator::scripted_drops::ScriptedDrops;
use crate::emulator::segment::Segment;
use crate::model::config::ScriptedDrop;
use crate::model::profile::Direction;
use crate::model::summary::Syns;
use crate::model::way::Way;

/// Streams of random numbers, one per fault and direction.
// More than are used: a fault that is added must not renumber those of the other direction.
const STREAMS: u64 = 8;

/// What becomes of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It comes out at this time, nanoseconds; and a copy at `copy_ns`.
    Passes {
        /// When it is due.
        due_ns: u64,
        /// When its copy is due, if it was duplicated.
        copy_ns: Option<u64>,
        /// Whether a bit of it was flipped.
        corrupted: bool,
    },
    /// Lost by chance.
    Lost,
    /// The queue was full.
    QueueDrop,
    /// Dropped by the script.
    Scripted(ScriptedDrop),
}

/// One direction of a link: a packet in at a time, its fate out. No socket, no
/// clock; every random number comes from the seed.
#[derive(Debug)]
pub struct Shaper {
    drops: ScriptedDrops,
    syn_loss: f64,
    syns: Syns,
    duplicate: f64,
    corrupt: f64,
    reorder: f64,
    loss: Loss,
    bottleneck: Option<Bottleneck>,
    delay: Delay,
    rng: Streams,
    last_due_ns: u64,
}

/// The random numbers of faults without a state of their own.
#[derive(Debug)]
struct Streams {
    syn: Rng,
    duplicate: Rng,
    corrupt: Rng,
    reorder: Rng,
}

impl Shaper {
    /// A direction at its beginning: an empty queue, the first of the seed's
    /// random numbers, none of the script's packets counted.
    #[must_use]
    pub fn new(direction: &Direction, way: Way, seed: u64, drops: &[ScriptedDrop]) -> Self {
        let stream = |number| Rng::new(seed, way as u64 * STREAMS + number);
        Shaper {
            drops: ScriptedDrops::new(drops, way),
            syn_loss: direction.syn_loss_percent / 100.0,
            syns: Syns::default(),
            duplicate: direction.duplicate_percent / 100.0,
            corrupt: direction.corrupt_percent / 100.0,
            reorder: direction.reorder_percent / 100.0,
            loss: Loss::new(direction.loss, stream(0)),
            bottleneck: direction
                .rate_kbit
                .map(|kbit| Bottleneck::new(kbit, direction.queue_bytes)),
            delay: Delay::new(direction, stream(1)),
            rng: Streams {
                syn: stream(2),
                duplicate: stream(3),
                corrupt: stream(4),
                reorder: stream(5),
            },
            last_due_ns: 0,
        }
    }

    /// SYNs that `syn_loss_percent` applied to, and those that it dropped.
    #[must_use]
    pub fn syns(&self) -> Syns {
        self.syns
    }

    /// Decides on a packet that begins with its IP header and came in at
    /// `now_ns`, which never goes back. Flips a bit of it when it is to be
    /// corrupted.
    pub fn admit(&mut self, now_ns: u64, packet: &mut [u8]) -> Fate {
        self.admit_since(now_ns, now_ns, packet)
    }

    /// The same for a packet that may have waited to be seen since `since_ns`,
    /// which is no later than `now_ns`.
    pub fn admit_since(&mut self, since_ns: u64, now_ns: u64, packet: &mut [u8]) -> Fate {
        if let Some(fate) = self.drop_fate(packet) {
            return fate;
        }
        let twice = self.rng.duplicate.happens(self.duplicate);
        let corrupted = self.rng.corrupt.happens(self.corrupt);
        if corrupted {
            flip_bit(packet, &mut self.rng.corrupt);
        }
        let Some(due_ns) = self.due_ns(since_ns, now_ns, packet.len()) else {
            return Fate::QueueDrop;
        };
        // A copy that finds the queue full is gone, and the packet passes.
        let copy_ns = twice
            .then(|| self.due_ns(since_ns, now_ns, packet.len()))
            .flatten();
        Fate::Passes {
            due_ns,
            copy_ns,
            corrupted,
        }
    }

    fn drop_fate(&mut self, packet: &[u8]) -> Option<Fate> {
        // Only then does anything depend on what is in the packet.
        if !self.drops.is_empty() || self.syn_loss > 0.0 {
            let segment = Segment::parse(packet);
            if let Some(drop) = self.drops.next(segment.as_ref()) {
                return Some(Fate::Scripted(drop));
            }
            let syn = segment.is_some_and(|segment| segment.syn);
            if syn && self.loses_syn() {
                return Some(Fate::Lost);
            }
        }
        self.loss.next().then_some(Fate::Lost)
    }

    fn loses_syn(&mut self) -> bool {
        let is_lost = self.rng.syn.happens(self.syn_loss);
        self.syns.offered += u64::from(self.syn_loss > 0.0);
        self.syns.lost += u64::from(is_lost);
        is_lost
    }

    /// Through the bottleneck and the delay. Order is kept: a packet waits for
    /// the one before it, unless it was chosen to overtake.
    fn due_ns(&mut self, since_ns: u64, now_ns: u64, bytes: usize) -> Option<u64> {
        let left_ns = match &mut self.bottleneck {
            Some(bottleneck) => bottleneck.leaves_ns(since_ns, now_ns, bytes)?,
            None => now_ns,
        };
        if self.rng.reorder.happens(self.reorder) {
            // As netem reorders: the chosen packet skips the delay (tc-netem(8)). `last_due_ns`
            // stays, so that those behind it keep their order.
            return Some(left_ns);
        }
        // netem without a rate lets jitter reorder; on one path packets seldom overtake.
        self.last_due_ns = self.last_due_ns.max(left_ns + self.delay.next_ns());
        Some(self.last_due_ns)
    }
}

fn flip_bit(packet: &mut [u8], rng: &mut Rng) {
    let bit = rng.next_below(packet.len() as u64 * 8) as usize;
    if let Some(byte) = packet.get_mut(bit / 8) {
        *byte ^= 1 << (bit % 8);
    }
}

#[cfg(test)]
#[path = "shaper_tests.rs"]
mod tests;
