//! Which stalls an exchange met, and what is charged to which cause.

use crate::diagnosis::cause::Cause;
use crate::diagnosis::flow::Flow;
use crate::diagnosis::occurrence::Occurrence;
use crate::diagnosis::path::Path;
use crate::diagnosis::stall::Stall;
use crate::diagnosis::{nagle, split, think, until_close};
use crate::exchange::{Exchange, Extent, Protocol};
use crate::stream::{Direction, FlowId};

/// Packets named per occurrence.
const PACKETS: usize = 8;
/// From here on, and [`SHARE`] of the exchange, a wait matters, ns.
const MATTERS_NS: u64 = 3_000_000;
/// One in so many parts of an exchange.
const SHARE: u64 = 10;
/// The same for a server, which has no network to blame.
const THINK_SHARE: u64 = 20;
/// A shorter wait matters where it is a large part of the exchange, ns.
const MATTERS_RELATIVELY_NS: u64 = 100_000;
/// One in so many parts.
const LARGE_SHARE: u64 = 3;

/// The occurrences of one exchange, one per cause.
pub(crate) fn occurrences(id: FlowId, flow: &mut Flow, exchange: &Exchange) -> Vec<Occurrence> {
    let length = taken_ns(flow, exchange);
    share_out(met(flow, exchange))
        .into_iter()
        .filter(|share| matters(share, length))
        .map(|share| Occurrence {
            cause: share.cause,
            flow: id,
            exchange: Some(exchange.ordinal),
            direction: share.direction,
            packets: share.packets,
            ns: share.ns,
        })
        .collect()
}

/// From the request's first byte to the reply's last, or to the end of the connection
/// where nothing else ends it; of the first exchange with the opening, ns.
pub(crate) fn taken_ns(flow: &Flow, exchange: &Exchange) -> u64 {
    let last = exchange
        .reply
        .as_ref()
        .unwrap_or(&exchange.request)
        .last_at_ns;
    let end = flow.ends[exchange.caller.opposite() as usize];
    let until = until_close::stall(exchange, end).map_or(last, |stall| last.max(stall.to));
    let opening = if exchange.ordinal == 0 {
        flow.handshake.taken_ns()
    } else {
        0
    };
    until
        .saturating_sub(exchange.request.first_at_ns)
        .saturating_add(opening)
}

/// All stalls that held up bytes of the exchange, and those of the exchange as such.
fn met(flow: &mut Flow, exchange: &Exchange) -> Vec<Stall> {
    let mut stalls: Vec<Stall> = flow
        .stalls()
        .filter(|stall| is_judged(flow, stall) && concerns(stall, exchange, &flow.path))
        .map(|stall| clipped(*stall, exchange))
        .collect();
    if exchange.ordinal == 0 {
        stalls.extend(flow.handshake.repeated());
    }
    let reply_way = exchange.caller.opposite();
    stalls.extend(until_close::stall(exchange, flow.ends[reply_way as usize]));
    let asked = asked_at(flow, exchange, &stalls);
    let path = flow.path;
    stalls.extend(think::stall(exchange, asked, &mut flow.beginnings, &path));
    stalls.extend(splits(flow, exchange));
    stalls.sort_by_key(|stall| (stall.cause, stall.from));
    stalls
}

/// When the server could begin to think: the request was whole, sent again where it
/// had to be, and the reply before it was over where they come one after the other, ns.
fn asked_at(flow: &Flow, exchange: &Exchange, stalls: &[Stall]) -> u64 {
    let again = stalls
        .iter()
        .filter(|stall| stall.cause == Cause::DataRetransmission)
        .filter(|stall| stall.direction == exchange.caller)
        .map(|stall| stall.to)
        .max();
    let before = flow.reply_before(exchange);
    exchange
        .request
        .last_at_ns
        .max(again.unwrap_or(0))
        .max(before.unwrap_or(0))
}

fn is_judged(flow: &Flow, stall: &Stall) -> bool {
    stall.cause != Cause::NagleDelayedAck || nagle::is_delayed(stall, &flow.path)
}

fn extent(exchange: &Exchange, direction: Direction) -> Option<&Extent> {
    if direction == exchange.caller {
        Some(&exchange.request)
    } else {
        exchange.reply.as_ref()
    }
}

/// Bytes of the exchange came late. A congestion window holds back the rest of a
/// message, not its beginning, which may have come whenever its sender had it.
fn concerns(stall: &Stall, exchange: &Exchange, path: &Path) -> bool {
    let Some(extent) = extent(exchange, stall.direction) else {
        return false;
    };
    let begins = stall.late.0 <= extent.start;
    let is_of_it = match stall.cause {
        Cause::SlowStart | Cause::IdleRestart => !begins,
        Cause::NagleDelayedAck => !begins || nagle::is_at_once(stall, path),
        _ => true,
    };
    is_of_it
        && stall.late.0 < extent.end
        && stall.late.1 > extent.start
        && stall.stream.is_none_or(|stream| stream == exchange.stream)
}

/// On a connection with many calls at a time, only from the request on.
fn clipped(stall: Stall, exchange: &Exchange) -> Stall {
    if exchange.protocol != Protocol::Http2 || stall.direction == exchange.caller {
        return stall;
    }
    let from = stall.from.max(exchange.request.last_at_ns).min(stall.to);
    Stall {
        from,
        ns: stall.ns.min(stall.to - from),
        ..stall
    }
}

fn splits(flow: &Flow, exchange: &Exchange) -> impl Iterator<Item = Stall> {
    [exchange.caller, exchange.caller.opposite()]
        .into_iter()
        .filter_map(|direction| {
            let half = &flow.halves[direction as usize];
            let extent = extent(exchange, direction)?;
            let joint = split::joint(half, extent, &flow.path)?;
            // A sender that may not send does not split.
            let has_to = flow.stalls().any(|stall| {
                stall.direction == direction
                    && stall.late.0 == joint.end
                    && stall.cause != Cause::NagleDelayedAck
            });
            if has_to {
                return None;
            }
            Some(Stall {
                cause: Cause::SplitWrites,
                direction,
                from: joint.from,
                released: joint.to,
                to: joint.to,
                ns: joint.to - joint.from,
                late: (extent.start, extent.end),
                stream: None,
                packets: [joint.packets[0], 0, joint.packets[1]],
            })
        })
}

/// What one cause is charged for one exchange.
#[derive(Debug, PartialEq, Eq)]
struct Share {
    cause: Cause,
    direction: Direction,
    ns: u64,
    packets: Vec<u64>,
}

/// Charges every moment once: to the first cause in order whose stall covers it.
fn share_out(stalls: Vec<Stall>) -> Vec<Share> {
    let mut covered: Vec<(u64, u64)> = Vec::new();
    let mut shares: Vec<Share> = Vec::new();
    for stall in stalls {
        let free = (stall.to - stall.from) - overlap(&covered, stall.from, stall.to);
        let ns = stall.ns.min(free);
        cover(&mut covered, stall.from, stall.to);
        let packets = stall.named_packets();
        match shares.last_mut().filter(|share| share.cause == stall.cause) {
            Some(share) => {
                share.ns += ns;
                share.packets.extend(packets);
            }
            None => shares.push(Share {
                cause: stall.cause,
                direction: stall.direction,
                ns,
                packets: packets.collect(),
            }),
        }
    }
    for share in &mut shares {
        share.packets.sort_unstable();
        share.packets.dedup();
        share.packets.truncate(PACKETS);
    }
    shares
}

/// How much of a time is in times that do not overlap each other.
fn overlap(covered: &[(u64, u64)], from: u64, to: u64) -> u64 {
    covered
        .iter()
        .map(|(start, end)| (*end).min(to).saturating_sub((*start).max(from)))
        .sum()
}

/// Adds a time, and keeps the times apart from each other.
fn cover(covered: &mut Vec<(u64, u64)>, from: u64, to: u64) {
    let (mut from, mut to) = (from, to);
    covered.retain(|&(start, end)| {
        let is_apart = end < from || start > to;
        if !is_apart {
            from = from.min(start);
            to = to.max(end);
        }
        is_apart
    });
    covered.push((from, to));
}

/// Of waits whose length depends on the network, those that matter for the exchange.
fn matters(share: &Share, length: u64) -> bool {
    match share.cause {
        cause if cause.is_pattern() => true,
        Cause::SynRetransmission | Cause::DataRetransmission => share.ns > 0,
        Cause::ServerThinkTime => share.ns >= MATTERS_NS && share.ns >= length / THINK_SHARE,
        _ => {
            share.ns >= MATTERS_NS && share.ns >= length / SHARE
                || share.ns >= MATTERS_RELATIVELY_NS && share.ns >= length / LARGE_SHARE
        }
    }
}

/// The same without an exchange to compare with.
pub(crate) fn matters_alone(stall: &Stall) -> bool {
    match stall.cause {
        Cause::SynRetransmission | Cause::DataRetransmission => stall.ns > 0,
        _ => stall.ns >= MATTERS_NS,
    }
}
