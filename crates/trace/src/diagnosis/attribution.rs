//! Which stalls an exchange met, and which of its time is attributed to which cause.

use crate::diagnosis::cause::Cause;
use crate::diagnosis::causes::{events_in_bursts, reply, small_segments};
use crate::diagnosis::finding::Occurrence;
use crate::diagnosis::flow::Flow;
use crate::diagnosis::path::Path;
use crate::diagnosis::stall::Stall;
use crate::diagnosis::waits::{LONG_PATH_MIN_NS, Part, Wait};
use crate::flow::event::{Direction, FlowId};
use crate::protocol::exchange::{Exchange, Extent, Protocol};

const PACKETS: usize = 8;
/// From here on, and [`SHARE_DIVISOR`] of the exchange, a wait matters, ns.
const SIGNIFICANT_NS: u64 = 3_000_000;
/// The part of an exchange, as its divisor.
const SHARE_DIVISOR: u64 = 10;
/// The same for a server, which has no network to blame.
const THINK_SHARE_DIVISOR: u64 = 20;
/// A shorter wait matters where it is a large part of the exchange, ns.
const SIGNIFICANT_IF_LARGE_NS: u64 = 100_000;
/// The part of the exchange, as its divisor.
const LARGE_SHARE_DIVISOR: u64 = 3;

/// A server that sends unasked so much later did not think, where messages are not known, ns.
const THINK_MIN_NS: u64 = 3_500_000;
/// A pause inside a message that lasts longer is a finding: not a busy machine, ns.
const PAUSE_MIN_NS: u64 = 5_000_000;

/// A time that is attributed to one cause. The times of one exchange do not overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attribution {
    /// Why.
    pub cause: Cause,
    /// Nanoseconds since the Unix epoch.
    pub from_ns: u64,
    /// Nanoseconds since the Unix epoch.
    pub to_ns: u64,
}

/// The occurrences of one exchange, one per cause, and when their times were.
pub(crate) fn occurrences(
    id: FlowId,
    flow: &mut Flow,
    exchange: &Exchange,
    attributions: &mut Vec<Attribution>,
) -> Vec<Occurrence> {
    let length = latency_ns(flow, exchange);
    attribute(stalls_of(flow, exchange))
        .into_iter()
        .filter(|share| is_significant(share, length))
        .inspect(|share| attributions.extend(share.attributions()))
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
pub(crate) fn latency_ns(flow: &Flow, exchange: &Exchange) -> u64 {
    let last = exchange
        .reply
        .as_ref()
        .unwrap_or(&exchange.request)
        .last_at_ns;
    let end = flow.ends[exchange.caller.opposite() as usize];
    // The caller of a reply without a length waits for the FIN.
    let until = reply::find_wait_for_close(exchange, end).map_or(last, |stall| last.max(stall.to));
    // Whoever makes the first call waits for the handshake, too.
    let opening = if exchange.ordinal == 0 {
        flow.handshake.duration_ns()
    } else {
        0
    };
    until
        .saturating_sub(exchange.request.first_at_ns)
        .saturating_add(opening)
}

/// All stalls that held up bytes of the exchange, and those of the exchange as such.
fn stalls_of(flow: &mut Flow, exchange: &Exchange) -> Vec<Stall> {
    let mut stalls: Vec<Stall> = flow
        .stalls()
        .filter(|stall| is_confirmed(flow, stall) && affects(stall, exchange, &flow.path))
        // Of WebSocket they are counted one by one.
        .filter(|stall| !(flow.is_websocket() && stall.cause.needs_no_message()))
        .map(|stall| clip_to_request(*stall, exchange))
        .collect();
    if exchange.ordinal == 0 {
        stalls.extend(flow.handshake.retransmission());
    }
    // A reply that only the connection's end completes is late until the FIN
    // (RFC 9112 section 6.3), not until its last byte.
    let reply_way = exchange.caller.opposite();
    stalls.extend(reply::find_wait_for_close(
        exchange,
        flow.ends[reply_way as usize],
    ));
    let requested = request_complete_at(flow, exchange, &stalls);
    if is_of_server(flow, exchange, requested) {
        stalls.extend(reply::think_time(
            exchange,
            requested,
            &mut flow.reply_delays,
            &flow.path,
        ));
    }
    stalls.extend(reply::continue_wait(exchange, flow.continue_wait(exchange)));
    stalls.extend(split_writes(flow, exchange));
    stalls.extend(events_in_bursts::find_held_events(
        exchange,
        &flow.turns.ring,
    ));
    stalls.extend(waits_of(flow, exchange));
    stalls.extend(find_head_of_line_wait(flow, exchange));
    // Invariant of `attribute`: the more specific cause comes first and takes the time.
    stalls.sort_by_key(|stall| (stall.cause, stall.from));
    stalls
}

/// When the server could begin to think: the request was whole, sent again where it
/// had to be, and the reply before it was over where they come one after the other, ns.
fn request_complete_at(flow: &Flow, exchange: &Exchange, stalls: &[Stall]) -> u64 {
    let again = stalls
        .iter()
        .filter(|stall| stall.cause.is_loss())
        .filter(|stall| stall.direction == exchange.caller)
        .map(|stall| stall.to)
        .max();
    let before = flow.previous_reply_end(exchange);
    exchange
        .request
        .last_at_ns
        .max(again.unwrap_or(0))
        .max(before.unwrap_or(0))
}

/// The reply was waited for. Where nothing shows what messages are, the turns decide.
fn is_of_server(flow: &Flow, exchange: &Exchange, requested: u64) -> bool {
    let Some(reply) = exchange
        .reply
        .as_ref()
        .filter(|_| exchange.protocol == Protocol::Unknown)
    else {
        return true;
    };
    let mut waits = flow.turns.ring.waits_between(requested, reply.first_at_ns);
    !waits.any(|wait| wait.part == Part::ServerUnasked && wait.ns() >= THINK_MIN_NS)
}

/// The time in which the connection was busy with earlier replies.
fn find_head_of_line_wait(flow: &Flow, exchange: &Exchange) -> Option<Stall> {
    let reply = exchange.reply.as_ref()?;
    let (from, to) = (
        exchange.request.last_at_ns,
        flow.previous_reply_end(exchange)?.min(reply.first_at_ns),
    );
    (to > from).then(|| Stall {
        cause: Cause::HeadOfLine,
        direction: exchange.caller.opposite(),
        from,
        released: to,
        to,
        ns: to - from,
        late: (reply.start, reply.end),
        stream: None,
        packets: [exchange.request.last_packet, 0, reply.first_packet],
    })
}

/// A message of at least this number of pieces with pauses between them is dribbled.
const DRIBBLED_MIN: usize = 3;
/// Fewer pauses do not show which one is usual.
const STREAM_PAUSES_MIN: usize = 4;
/// A pause as long as this number of usual ones is uneven.
const UNEVEN_FACTOR: u64 = 3;

/// Pauses of the senders inside messages, and the network path, by the account of time.
fn waits_of(flow: &Flow, exchange: &Exchange) -> Vec<Stall> {
    let Some(latency) = exchange.latency_ns() else {
        return Vec::new();
    };
    let from = exchange.request.first_at_ns;
    let all = || {
        flow.turns
            .ring
            .waits_between(from, from.saturating_add(latency))
    };
    // Too short together for a finding: most exchanges end here, without an allocation.
    let [paths, pauses] = all().fold([0, 0], |[paths, pauses], wait| match wait.part {
        Part::Path => [paths + wait.ns(), pauses],
        Part::ClientStall | Part::ServerStall => [paths, pauses + wait.ns()],
        _ => [paths, pauses],
    });
    if paths < LONG_PATH_MIN_NS && pauses < PAUSE_MIN_NS {
        return Vec::new();
    }
    let waits: Vec<Wait> = all().collect();
    let pauses = |part: Part| waits.iter().filter(move |wait| wait.part == part).count();
    let pieces = [Part::ClientStall, Part::ServerStall].map(pauses);
    let usual = usual_pause(exchange, &waits).unwrap_or(u64::MAX);
    let is_uneven =
        |wait: &Wait| wait.part == Part::ServerStall && wait.ns() / UNEVEN_FACTOR > usual;
    let cause_of = |wait: &Wait| match wait.part {
        Part::Path => Some(Cause::LongPath),
        Part::ClientStall if pieces[0] >= DRIBBLED_MIN => Some(Cause::DribbledWrites),
        Part::ServerStall if pieces[1] >= DRIBBLED_MIN => Some(Cause::DribbledWrites),
        Part::ClientStall | Part::ServerStall => Some(Cause::SenderStalled),
        _ => None,
    };
    // Of an interval that is longer than the others, what is more than usual.
    let excess = waits
        .iter()
        .filter(|wait| is_uneven(wait))
        .map(|wait| Wait {
            from: wait.from + usual,
            ..*wait
        });
    let uneven = excess.map(|wait| stall_of(Cause::UnevenStream, &wait));
    let whole = waits
        .iter()
        .filter_map(|wait| Some(stall_of(cause_of(wait)?, wait)));
    uneven.chain(whole).collect()
}

fn stall_of(cause: Cause, wait: &Wait) -> Stall {
    Stall {
        cause,
        direction: match wait.part {
            Part::ClientStall => Direction::Request,
            _ => Direction::Reply,
        },
        from: wait.from,
        released: wait.to,
        to: wait.to,
        ns: wait.ns(),
        late: (0, 0),
        stream: None,
        packets: [wait.packets[0], 0, wait.packets[1]],
    }
}

/// The median pause between the messages of a stream, if it has enough of them, ns.
fn usual_pause(exchange: &Exchange, waits: &[Wait]) -> Option<u64> {
    let pauses = waits.iter().filter(|wait| wait.part == Part::ServerStall);
    let mut pauses: Vec<u64> = pauses.map(Wait::ns).collect();
    pauses.sort_unstable();
    let usual = *pauses.get(pauses.len() / 2)?;
    (exchange.is_stream && pauses.len() >= STREAM_PAUSES_MIN).then_some(usual)
}

fn is_confirmed(flow: &Flow, stall: &Stall) -> bool {
    stall.cause != Cause::NagleDelayedAck || small_segments::is_delayed(stall, &flow.path)
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
fn affects(stall: &Stall, exchange: &Exchange, path: &Path) -> bool {
    let Some(extent) = extent(exchange, stall.direction) else {
        return false;
    };
    let begins = stall.late.0 <= extent.start;
    let is_of_it = match stall.cause {
        Cause::SlowStart | Cause::IdleRestart => !begins,
        Cause::NagleDelayedAck => !begins || small_segments::is_immediate(stall, path),
        _ => true,
    };
    is_of_it
        && stall.late.0 < extent.end
        && stall.late.1 > extent.start
        && stall.stream.is_none_or(|stream| stream == exchange.stream)
}

/// On a connection with many calls at a time, only from the request on.
fn clip_to_request(stall: Stall, exchange: &Exchange) -> Stall {
    if exchange.protocol != Protocol::Http2 || stall.direction == exchange.caller {
        return stall;
    }
    // A window that was full before the request was sent did not delay this call.
    let from = stall.from.max(exchange.request.last_at_ns).min(stall.to);
    Stall {
        from,
        ns: stall.ns.min(stall.to - from),
        ..stall
    }
}

fn split_writes(flow: &Flow, exchange: &Exchange) -> impl Iterator<Item = Stall> {
    [exchange.caller, exchange.caller.opposite()]
        .into_iter()
        // A turn may hold several messages.
        .filter(|_| exchange.protocol.has_frames())
        // A body that waits for a permission cannot come with its head.
        .filter(|way| *way != exchange.caller || flow.continue_wait(exchange).is_none())
        .filter_map(|direction| {
            let extent = extent(exchange, direction)?;
            let state = &flow.directions[direction as usize];
            let full = state.sender.full_segment();
            let boundary = state
                .boundaries
                .split(direction, extent, full, &flow.path)?;
            // A sender that may not send does not split.
            // With a full window, or after a loss, the kernel cuts where the
            // application did not.
            let has_to = flow.stalls().any(|stall| {
                stall.direction == direction
                    && stall.late.0 == boundary.end
                    && stall.cause != Cause::NagleDelayedAck
            });
            if has_to {
                return None;
            }
            Some(Stall {
                cause: Cause::SplitWrites,
                direction,
                from: boundary.from,
                released: boundary.to,
                to: boundary.to,
                ns: boundary.to - boundary.from,
                late: (extent.start, extent.end),
                stream: None,
                packets: [boundary.packets[0], 0, boundary.packets[1]],
            })
        })
}

/// What one cause is attributed of one exchange.
#[derive(Debug, PartialEq, Eq)]
struct Share {
    cause: Cause,
    direction: Direction,
    ns: u64,
    times: Vec<(u64, u64)>,
    packets: Vec<u64>,
}

impl Share {
    fn attributions(&self) -> impl Iterator<Item = Attribution> {
        let times = self.times.iter().filter(|(from, to)| from < to);
        times.map(|&(from_ns, to_ns)| Attribution {
            cause: self.cause,
            from_ns,
            to_ns,
        })
    }
}

/// Attributes every moment once: to the first cause in order whose stall covers it.
fn attribute(stalls: Vec<Stall>) -> Vec<Share> {
    let mut covered: Vec<(u64, u64)> = Vec::new();
    let mut shares: Vec<Share> = Vec::new();
    for stall in stalls {
        let times = latest(find_uncovered(&covered, stall.from, stall.to), stall.ns);
        let ns = length(&times);
        // The whole of it, not only what was attributed: the rest is not evidence for a
        // weaker cause.
        cover(&mut covered, stall.from, stall.to);
        let packets = stall.named_packets();
        match shares.last_mut().filter(|share| share.cause == stall.cause) {
            Some(share) => {
                share.ns += ns;
                share.times.extend(times);
                share.packets.extend(packets);
            }
            None => shares.push(Share {
                cause: stall.cause,
                direction: stall.direction,
                ns,
                times,
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

/// What of a time is in none of the times that do not overlap each other.
fn find_uncovered(covered: &[(u64, u64)], from: u64, to: u64) -> Vec<(u64, u64)> {
    // A handful of times per exchange: sorting a copy is cheaper than keeping a tree.
    let mut covered = covered.to_vec();
    covered.sort_unstable();
    let mut free = Vec::new();
    let mut since = from;
    for (start, end) in covered {
        if start.min(to) > since {
            free.push((since, start.min(to)));
        }
        since = since.max(end);
    }
    if to > since {
        free.push((since, to));
    }
    free
}

/// The last `ns` nanoseconds of some times: what came late came at their end.
fn latest(mut times: Vec<(u64, u64)>, ns: u64) -> Vec<(u64, u64)> {
    let mut over = length(&times).saturating_sub(ns);
    for (from, to) in &mut times {
        let cut = over.min(*to - *from);
        *from += cut;
        over -= cut;
    }
    times
}

/// Of times that do not overlap each other, ns.
fn length(times: &[(u64, u64)]) -> u64 {
    times.iter().map(|(from, to)| to - from).sum()
}

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
fn is_significant(share: &Share, length: u64) -> bool {
    match share.cause {
        cause if cause.is_pattern() => true,
        // A loss is a fact however short; a wait is one only by its length.
        Cause::SynRetransmission | Cause::TailLoss | Cause::DataRetransmission => share.ns > 0,
        Cause::LongPath => share.ns >= LONG_PATH_MIN_NS && share.ns >= length / LARGE_SHARE_DIVISOR,
        Cause::EventsInBursts
        | Cause::UnevenStream
        | Cause::DribbledWrites
        | Cause::SenderStalled => share.ns >= PAUSE_MIN_NS && share.ns >= length / SHARE_DIVISOR,
        Cause::ServerThinkTime => {
            share.ns >= SIGNIFICANT_NS && share.ns >= length / THINK_SHARE_DIVISOR
        }
        _ => {
            share.ns >= SIGNIFICANT_NS && share.ns >= length / SHARE_DIVISOR
                || share.ns >= SIGNIFICANT_IF_LARGE_NS && share.ns >= length / LARGE_SHARE_DIVISOR
        }
    }
}

/// The same without an exchange to compare with.
fn is_significant_alone(stall: &Stall) -> bool {
    match stall.cause {
        Cause::SynRetransmission | Cause::TailLoss | Cause::DataRetransmission => stall.ns > 0,
        _ => stall.ns >= SIGNIFICANT_NS,
    }
}

/// What segments alone show, where messages cannot be read: they are encrypted, of an
/// unknown protocol, or cut off by the capture. Each stall is one occurrence, without an exchange.
pub(crate) fn unreadable_occurrences<'a>(
    flow: FlowId,
    stalls: impl Iterator<Item = &'a Stall>,
    path: &Path,
) -> Vec<Occurrence> {
    let is_shown = |stall: &&Stall| {
        stall.cause.needs_no_message()
            && (stall.cause != Cause::NagleDelayedAck || small_segments::is_delayed(stall, path))
    };
    let mut stalls: Vec<Stall> = stalls.filter(is_shown).copied().collect();
    // As in `attribute`: every moment is of one cause, and counts once.
    stalls.sort_by_key(|stall| (stall.cause, stall.from));
    let mut covered: Vec<(u64, u64)> = Vec::new();
    let charge = |stall: &mut Stall| {
        let times = latest(find_uncovered(&covered, stall.from, stall.to), stall.ns);
        cover(&mut covered, stall.from, stall.to);
        stall.ns = length(&times);
    };
    stalls.iter_mut().for_each(charge);
    stalls.retain(is_significant_alone);
    // In the order of the capture, as they were found.
    stalls.sort_by_key(|stall| stall.to);
    stalls
        .iter()
        .map(|stall| Occurrence {
            cause: stall.cause,
            flow,
            exchange: None,
            direction: stall.direction,
            packets: stall.named_packets().collect(),
            ns: stall.ns,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributed_time_is_not_attributed_again() {
        let covered = [(20, 30), (0, 5), (90, 200)];
        let free = find_uncovered(&covered, 3, 100);
        assert_eq!(free, [(5, 20), (30, 90)]);
        assert_eq!(length(&free), 75);
        assert_eq!(find_uncovered(&covered, 91, 95), []);
        assert_eq!(find_uncovered(&covered, 40, 40), []);
    }

    #[test]
    fn of_a_longer_time_the_end_is_attributed() {
        let times = vec![(5, 20), (30, 90)];
        assert_eq!(latest(times.clone(), 70), [(10, 20), (30, 90)]);
        assert_eq!(latest(times.clone(), 10), [(20, 20), (80, 90)]);
        assert_eq!(latest(times.clone(), 75), times);
        assert_eq!(latest(times.clone(), 1_000), times);
    }
}
