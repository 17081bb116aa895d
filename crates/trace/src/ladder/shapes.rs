//! Inter-arrival times of sequences of packets that look alike.

use std::collections::HashMap;

use super::log::Step;
use super::rungs::{flag_words, way};
use crate::dissection::{InterarrivalOf, Position, Spread};
use crate::packet::Flags;
use crate::stream::Direction;

/// Sequences that are told apart.
const SHAPES_MAX: usize = 256;
/// Packets of a sequence that is followed.
const PACKETS_MAX: usize = 64;
/// Payload sizes that are told apart per packet; others count to the nearest.
const SIZES_MAX: usize = 256;

/// Sums over the packets at one place (Welford 1962, for a stable deviation).
#[derive(Debug, Clone, Default)]
struct Sums {
    n: u64,
    mean_us: f64,
    squares: f64,
    /// How often each payload size came, by size.
    sizes: Vec<(u32, u64)>,
}

impl Sums {
    fn add(&mut self, gap_us: f64, bytes: u32) {
        self.n += 1;
        let from_mean = gap_us - self.mean_us;
        self.mean_us += from_mean / self.n as f64;
        self.squares += from_mean * (gap_us - self.mean_us);
        match self.sizes.binary_search_by_key(&bytes, |(size, _)| *size) {
            Ok(place) => self.sizes[place].1 += 1,
            Err(place) if self.sizes.len() < SIZES_MAX => self.sizes.insert(place, (bytes, 1)),
            Err(place) => {
                let below = place.checked_sub(1);
                let nearest = below.into_iter().chain([place]);
                let nearest = nearest.filter(|place| *place < SIZES_MAX);
                let nearest = nearest.min_by_key(|place| self.sizes[*place].0.abs_diff(bytes));
                if let Some(place) = nearest {
                    self.sizes[place].1 += 1;
                }
            }
        }
    }

    fn spread(&self) -> Spread {
        let freedom = self.n.saturating_sub(1).max(1) as f64;
        Spread {
            mean: self.mean_us,
            deviation: (self.squares / freedom).max(0.0).sqrt(),
            n: self.n,
        }
    }

    fn bytes_median(&self) -> u32 {
        let mut below = 0;
        let middle = self.sizes.iter().find(|(_, count)| {
            below += count;
            2 * below >= self.n
        });
        middle.map_or(0, |(size, _)| *size)
    }
}

/// Adds the packets of one sequence, each to the sums of its place.
fn add(sums: &mut [Sums], packets: &[(u64, u32)]) {
    let mut before = packets.first().map_or(0, |(at_ns, _)| *at_ns);
    for (sums, (at_ns, bytes)) in sums.iter_mut().zip(packets) {
        sums.add(at_ns.saturating_sub(before) as f64 / 1e3, *bytes);
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
                bytes_median: sums.bytes_median(),
                gap_us: sums.spread(),
            })
        });
        (of, positions.collect())
    }
}
