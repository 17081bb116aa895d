//! Inter-arrival times of sequences of packets that look alike.

use std::collections::HashMap;

use wirelab_contract::ranks::keep_leading_bits;

use super::log::Step;
use super::rungs::flag_names;
use crate::flow::event::Direction;
use crate::output::document::timeline::{Bin, InterarrivalOf, Position, Spread, Way};
use crate::packet::Flags;

const SEQUENCES_MAX: usize = 256;
const PACKETS_MAX: usize = 64;
/// Gaps are less than 1/128 smaller than they were.
const GAP_BITS: u32 = 8;

/// Sums over the packets at one place (Welford 1962, for a stable deviation).
#[derive(Debug, Clone, Default)]
struct Sums {
    n: u64,
    mean_us: f64,
    squares: f64,
    sizes: ValueCounts,
    /// In nanoseconds, to their first [`GAP_BITS`].
    gaps: ValueCounts,
}

impl Sums {
    fn add(&mut self, gap_ns: u64, bytes: u32) {
        let gap_us = gap_ns as f64 / 1e3;
        self.n += 1;
        let from_mean = gap_us - self.mean_us;
        self.mean_us += from_mean / self.n as f64;
        self.squares += from_mean * (gap_us - self.mean_us);
        self.sizes.add(bytes.into());
        self.gaps.add(keep_leading_bits(gap_ns, GAP_BITS));
    }

    fn spread(&self) -> Spread {
        // Of the sample: n - 1 degrees of freedom.
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
pub(super) struct Sequences {
    sums: HashMap<Box<[u8]>, Vec<Sums>>,
    counted: u64,
    /// Of the sequence under way: what it looks like, times and payload sizes.
    key: Vec<u8>,
    taken: Vec<(u64, u32)>,
}

/// Bits of a flag byte that are not of interest: here PSH, which Linux sets
/// by how full its buffers are, gives way to payload, URG to the direction.
const PAYLOAD: u8 = 0x08;
const REPLY: u8 = 0x20;

fn signature(step: &Step) -> u8 {
    let flags = step.flags.0 & (Flags::FIN.0 | Flags::SYN.0 | Flags::RST.0 | Flags::ACK.0);
    let payload = if step.bytes > 0 { PAYLOAD } else { 0 };
    let reply = match step.direction {
        Direction::Request => 0,
        Direction::Reply => REPLY,
    };
    flags | payload | reply
}

impl Sequences {
    pub(super) fn count<'a>(&mut self, steps: Option<impl Iterator<Item = &'a Step>>) -> bool {
        let Some(steps) = steps else { return false };
        self.key.clear();
        self.taken.clear();
        for step in steps.take(PACKETS_MAX + 1) {
            self.key.push(signature(step));
            self.taken.push((step.at_ns, step.bytes));
        }
        // One more was taken than is allowed, to see this.
        if self.taken.len() > PACKETS_MAX {
            return false;
        }
        if let Some(sums) = self.sums.get_mut(&self.key[..]) {
            add(sums, &self.taken);
        } else if self.sums.len() < SEQUENCES_MAX {
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
    pub(super) fn most_common(&self) -> (InterarrivalOf, Vec<Position>) {
        let count = |sums: &[Sums]| sums.first().map_or(0, |sums| sums.n);
        let best = self.sums.iter();
        // Ties by the key, so that the same capture gives the same document.
        let best = best.max_by_key(|(key, sums)| (count(sums), std::cmp::Reverse((*key).clone())));
        let of = InterarrivalOf {
            exchanges: best.map_or(0, |(_, sums)| count(sums)),
            of: self.counted,
            not_followed: 0,
            shapes: self.sums.len() as u64,
        };
        let positions = best.into_iter().flat_map(|(key, sums)| {
            let signatures = key.iter().zip(sums).zip(1..);
            signatures.map(|((signature, sums), position)| Position {
                position,
                direction: if signature & REPLY == 0 {
                    Way::Request
                } else {
                    Way::Reply
                },
                flags: flag_names(Flags(signature & !(REPLY | PAYLOAD))),
                bytes_median: sums.sizes.median() as u32,
                gap_us: sums.spread(),
                gap_histogram: sums.histogram(),
            })
        });
        (of, positions.collect())
    }
}

/// Values that are distinguished; others count to the nearest.
const VALUES_MAX: usize = 128;

/// How often each of a bounded number of values came.
#[derive(Debug, Clone, Default)]
struct ValueCounts(Vec<(u64, u64)>);

impl ValueCounts {
    fn add(&mut self, value: u64) {
        let counts = &mut self.0;
        match counts.binary_search_by_key(&value, |(value, _)| *value) {
            Ok(place) => counts[place].1 += 1,
            Err(place) if counts.len() < VALUES_MAX => counts.insert(place, (value, 1)),
            Err(place) => {
                let neighbours = place.saturating_sub(1)..counts.len().min(place + 1);
                let nearest = neighbours.min_by_key(|place| counts[*place].0.abs_diff(value));
                if let Some(place) = nearest {
                    counts[place].1 += 1;
                }
            }
        }
    }

    fn counts(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.0.iter().copied()
    }

    /// The lower one of an even number; 0 of none.
    fn median(&self) -> u64 {
        let all: u64 = self.counts().map(|(_, count)| count).sum();
        let mut below = 0;
        let middle = self.counts().find(|(_, count)| {
            below += count;
            2 * below >= all
        });
        middle.map_or(0, |(value, _)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_in_their_order() {
        let mut counted = ValueCounts::default();
        [7, 3, 7, 9]
            .into_iter()
            .for_each(|value| counted.add(value));
        assert!(counted.counts().eq([(3, 1), (7, 2), (9, 1)]));
        assert_eq!(counted.median(), 7);
        assert_eq!(ValueCounts::default().median(), 0);
    }

    #[test]
    fn beyond_the_limit_a_value_counts_to_the_nearest() {
        let mut counted = ValueCounts::default();
        (0..VALUES_MAX as u64).for_each(|n| counted.add(10 * n));
        [16, 14, 99_999, 10]
            .into_iter()
            .for_each(|value| counted.add(value));
        let counts: Vec<_> = counted.counts().collect();
        assert_eq!(counts.len(), VALUES_MAX);
        assert_eq!(counts[1..3], [(10, 3), (20, 2)]);
        assert_eq!(counts.last(), Some(&(10 * (VALUES_MAX as u64 - 1), 2)));
    }
}
