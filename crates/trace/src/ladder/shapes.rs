//! Inter-arrival times of sequences of packets that look alike.

use std::collections::HashMap;

use super::log::Step;
use super::rungs::{flag_words, way};
use super::tally::Tally;
use crate::dissection::{Bin, InterarrivalOf, Position, Spread};
use crate::flow::event::Direction;
use crate::packet::Flags;

/// Sequences that are told apart.
const SHAPES_MAX: usize = 256;
/// Packets of a sequence that is followed.
const PACKETS_MAX: usize = 64;

/// Sums over the packets at one place (Welford 1962, for a stable deviation).
#[derive(Debug, Clone, Default)]
struct Sums {
    n: u64,
    mean_us: f64,
    squares: f64,
    sizes: Tally,
    /// In nanoseconds, to their first bits.
    gaps: Tally,
}

/// A number without what lies below its first eight bits: less than 1/128 smaller.
fn first_bits(value: u64) -> u64 {
    let below = (u64::BITS - value.leading_zeros()).saturating_sub(8);
    value >> below << below
}

impl Sums {
    fn add(&mut self, gap_ns: u64, bytes: u32) {
        let gap_us = gap_ns as f64 / 1e3;
        self.n += 1;
        let from_mean = gap_us - self.mean_us;
        self.mean_us += from_mean / self.n as f64;
        self.squares += from_mean * (gap_us - self.mean_us);
        self.sizes.add(bytes.into());
        self.gaps.add(first_bits(gap_ns));
    }

    fn spread(&self) -> Spread {
        let freedom = self.n.saturating_sub(1).max(1) as f64;
        Spread {
            mean: self.mean_us,
            deviation: (self.squares / freedom).max(0.0).sqrt(),
            n: self.n,
        }
    }

    fn histogram(&self) -> Vec<Bin> {
        let bin = |(from_ns, n)| Bin {
            from_us: from_ns as f64 / 1e3,
            n,
        };
        self.gaps.counts().map(bin).collect()
    }
}

/// Adds the packets of one sequence, each to the sums of its place.
fn add(sums: &mut [Sums], packets: &[(u64, u32)]) {
    let mut before = packets.first().map_or(0, |(at_ns, _)| *at_ns);
    for (sums, (at_ns, bytes)) in sums.iter_mut().zip(packets) {
        sums.add(at_ns.saturating_sub(before), *bytes);
        before = *at_ns;
    }
}

/// All sequences, by what they look like: a byte per packet.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    sums: HashMap<Box<[u8]>, Vec<Sums>>,
    counted: u64,
    /// Of the sequence under way: what it looks like, times and payload sizes.
    key: Vec<u8>,
    taken: Vec<(u64, u32)>,
}

/// Bits of a flag byte that are no flags of interest: here PSH, which Linux sets
/// by how full its buffers are, gives way to payload, URG to the direction.
const PAYLOAD: u8 = 0x08;
const REPLY: u8 = 0x20;

fn look(step: &Step) -> u8 {
    let told = step.flags.0 & (Flags::FIN.0 | Flags::SYN.0 | Flags::RST.0 | Flags::ACK.0);
    let payload = if step.bytes > 0 { PAYLOAD } else { 0 };
    let reply = match step.direction {
        Direction::Request => 0,
        Direction::Reply => REPLY,
    };
    told | payload | reply
}

impl Shapes {
    /// Adds a sequence; false when it is not followed.
    pub(super) fn count<'a>(&mut self, steps: Option<impl Iterator<Item = &'a Step>>) -> bool {
        let Some(steps) = steps else { return false };
        self.key.clear();
        self.taken.clear();
        for step in steps.take(PACKETS_MAX + 1) {
            self.key.push(look(step));
            self.taken.push((step.at_ns, step.bytes));
        }
        if self.taken.len() > PACKETS_MAX {
            return false;
        }
        if let Some(sums) = self.sums.get_mut(&self.key[..]) {
            add(sums, &self.taken);
        } else if self.sums.len() < SHAPES_MAX {
            let mut sums = vec![Sums::default(); self.taken.len()];
            add(&mut sums, &self.taken);
            self.sums.insert(self.key[..].into(), sums);
        } else {
            return false;
        }
        self.counted += 1;
        true
    }

    /// The commonest sequence; of several the one that comes first in the order
    /// of bytes.
    pub(super) fn commonest(&self) -> (InterarrivalOf, Vec<Position>) {
        let count = |sums: &[Sums]| sums.first().map_or(0, |sums| sums.n);
        let best = self.sums.iter();
        let best = best.max_by_key(|(key, sums)| (count(sums), std::cmp::Reverse((*key).clone())));
        let of = InterarrivalOf {
            exchanges: best.map_or(0, |(_, sums)| count(sums)),
            of: self.counted,
            not_followed: 0,
            shapes: self.sums.len() as u64,
        };
        let positions = best.into_iter().flat_map(|(key, sums)| {
            let looks = key.iter().zip(sums).zip(1..);
            looks.map(|((look, sums), position)| Position {
                position,
                direction: way(if look & REPLY == 0 {
                    Direction::Request
                } else {
                    Direction::Reply
                }),
                flags: flag_words(Flags(look & !(REPLY | PAYLOAD))),
                bytes_median: sums.sizes.median() as u32,
                gap_us: sums.spread(),
                gap_histogram: sums.histogram(),
            })
        });
        (of, positions.collect())
    }
}
