//! Which exchange behind a proxy is which in front.
//!
//! Nothing in the packets names a call on both sides. An exchange behind lies within the one
//! in front that caused it, has its name, and a reply of the same length. Where several calls
//! under way fulfil that, the one whose reply ends soonest is taken: as exchanges behind are
//! read in the order of their begins, this choice leaves the fewest of them alone. A wrong
//! choice among calls at the same time moves single times, not their mean.

use std::collections::VecDeque;

use super::document::{HELD_MIN_MS, Held, HeldPlace, HopSide, HopTime, Hops};
use super::{Call, HopCollector};
use crate::protocol::exchange::Burst;

/// Calls in front that wait for their exchange behind; of more, the first are given up.
const OPEN_MAX: usize = 1 << 16;
/// Held replies that are named.
const PLACES: usize = 8;
/// A reply's first byte is held where that is at least this part of the call's latency, too.
const HELD_SHARE_DIVISOR: u64 = 20;
const NS_PER_MS: f64 = 1e6;
const NS_PER_US: f64 = 1e3;

/// One call on both sides.
#[derive(Debug, Clone, Copy)]
struct Pair {
    front: Call,
    back: Call,
}

/// Pairs the exchanges of both sides, and says what lies between them.
#[must_use]
pub fn compare(front: HopCollector, back: HopCollector) -> Hops {
    let sides = [&front, &back].map(side);
    let pairs = pairs(front.calls, back.calls);
    Hops {
        hops: 1,
        front: sides[0],
        back: sides[1],
        matched: pairs.len() as u64,
        added: time(&pairs, |pair| {
            difference(pair.front.latency_ns(), pair.back.latency_ns())
        }),
        request: time(&pairs, |pair| {
            difference(pair.back.request.first_ns, pair.front.request.first_ns)
        }),
        reply: time(&pairs, |pair| {
            difference(pair.front.reply.last_ns, pair.back.reply.last_ns)
        }),
        first_byte: time(&pairs, |pair| {
            difference(pair.front.reply.first_ns, pair.back.reply.first_ns)
        }),
        held: sum(find_held_replies(&pairs)),
        held_parts: sum(find_held_parts(&pairs, [&front.streams, &back.streams])),
    }
}

fn side(collector: &HopCollector) -> HopSide {
    let (connections, exchanges) = (collector.connections, collector.exchanges);
    HopSide {
        connections,
        exchanges,
        connections_per_call: (exchanges > 0).then(|| connections as f64 / exchanges as f64),
    }
}

fn pairs(mut front: Vec<Call>, mut back: Vec<Call>) -> Vec<Pair> {
    front.sort_by_key(|call| call.request.first_ns);
    back.sort_by_key(|call| call.request.first_ns);
    let mut found = Vec::with_capacity(front.len().min(back.len()));
    let mut arrivals = front.into_iter().peekable();
    // Calls in front that have begun, and have no exchange behind yet.
    let mut open: VecDeque<Call> = VecDeque::new();
    for behind in back {
        while let Some(call) =
            arrivals.next_if(|call| call.request.first_ns <= behind.request.first_ns)
        {
            if open.len() == OPEN_MAX {
                open.pop_front();
            }
            open.push_back(call);
        }
        // Those that were answered before this one was asked have none.
        open.retain(|call| call.reply.last_ns >= behind.request.first_ns);
        let chosen = open
            .iter()
            .enumerate()
            .filter(|(_, call)| may_be(call, &behind))
            .min_by_key(|(_, call)| call.reply.last_ns)
            .map(|(place, _)| place);
        if let Some(front) = chosen.and_then(|place| open.remove(place)) {
            found.push(Pair {
                front,
                back: behind,
            });
        }
    }
    found
}

/// Whether the exchange behind can be of the call in front. Its request is complete in front
/// before it is behind, and its reply begins behind before it does in front.
fn may_be(front: &Call, back: &Call) -> bool {
    front.name == back.name
        && front.reply.bytes == back.reply.bytes
        && front.request.bytes == back.request.bytes
        && front.request.last_ns <= back.request.last_ns
        && back.reply.first_ns <= front.reply.first_ns
        && back.reply.last_ns <= front.reply.last_ns
}

fn difference(later: u64, earlier: u64) -> i64 {
    later as i64 - earlier as i64
}

fn time(pairs: &[Pair], of: impl Fn(&Pair) -> i64) -> Option<HopTime> {
    let mut all: Vec<i64> = pairs.iter().map(of).collect();
    if all.is_empty() {
        return None;
    }
    all.sort_unstable();
    let us = |ns: i64| ns as f64 / NS_PER_US;
    let sum: i128 = all.iter().map(|ns| i128::from(*ns)).sum();
    Some(HopTime {
        mean_us: sum as f64 / all.len() as f64 / NS_PER_US,
        p50_us: us(quantile(&all, 0.5)),
        p99_us: us(quantile(&all, 0.99)),
    })
}

/// The smallest value that at least that share of the values do not exceed.
fn quantile<T: Copy>(sorted: &[T], share: f64) -> T {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}

/// The time of a reply's first byte in the proxy while the service still sent the rest.
fn hold_ns(pair: &Pair) -> u64 {
    let until = pair.front.reply.first_ns.min(pair.back.reply.last_ns);
    until.saturating_sub(pair.back.reply.first_ns)
}

fn find_held_replies(pairs: &[Pair]) -> Vec<HeldPlace> {
    pairs
        .iter()
        .filter_map(|pair| {
            let ns = hold_ns(pair);
            let ms = ns as f64 / NS_PER_MS;
            let is_much = ns >= pair.front.latency_ns() / HELD_SHARE_DIVISOR;
            (ms >= HELD_MIN_MS && is_much).then_some(HeldPlace {
                front_packet: pair.front.reply.first_packet,
                back_packet: pair.back.reply.first_packet,
                ms,
            })
        })
        .collect()
}

/// `streams`: in front and behind.
fn find_held_parts(pairs: &[Pair], streams: [&[Vec<Burst>]; 2]) -> Vec<HeldPlace> {
    let both = pairs.iter().filter_map(|pair| {
        let front = streams[0].get(pair.front.stream?)?;
        Some((front, streams[1].get(pair.back.stream?)?))
    });
    both.flat_map(|(front, back)| find_held_bursts(front, back))
        .collect()
}

/// Bursts behind that the proxy forwarded only when the next one had come.
fn find_held_bursts<'a>(
    front: &'a [Burst],
    back: &'a [Burst],
) -> impl Iterator<Item = HeldPlace> + 'a {
    back.windows(2).filter_map(|bursts| {
        // Its last byte was in that burst in front, at its beginning at the earliest.
        let forwarded = front.iter().find(|burst| burst.end >= bursts[0].end)?;
        let ns = forwarded.at_ns[0].saturating_sub(bursts[0].at_ns[1]);
        let ms = ns as f64 / NS_PER_MS;
        let is_late = bursts[1].at_ns[0] <= forwarded.at_ns[0] && ms >= HELD_MIN_MS;
        is_late.then_some(HeldPlace {
            front_packet: forwarded.packets[0],
            back_packet: bursts[0].packets[0],
            ms,
        })
    })
}

fn sum(mut places: Vec<HeldPlace>) -> Held {
    places.sort_by(|a, b| a.ms.total_cmp(&b.ms));
    let times: Vec<f64> = places.iter().map(|place| place.ms).collect();
    Held {
        occurrences: places.len() as u64,
        // A sum of nothing is -0.0.
        ms_total: times.iter().fold(0.0, |sum, ms| sum + ms),
        ms_median: (!times.is_empty()).then(|| quantile(&times, 0.5)),
        places: places.into_iter().rev().take(PLACES).collect(),
    }
}
