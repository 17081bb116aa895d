//! Replies that begin or end late: server-think-time and read-until-close.

use std::collections::VecDeque;

use crate::diagnosis::cause::Cause;
use crate::diagnosis::causes::connection_setup::At;
use crate::diagnosis::finding::Occurrence;
use crate::diagnosis::path::Path;
use crate::diagnosis::stall::Stall;
use crate::protocol::exchange::{ContinueWait, Ending, Exchange, Protocol};

/// Less cannot be distinguished from a busy machine, ns.
const THINK_TIME_MIN_NS: u64 = 3_500_000;
/// From here on the way between capture and server is a link, whose delay may vary, ns.
const LINK_NS: u64 = 1_000_000;
/// Replies of which it is remembered how long they took to begin.
const SAMPLES_MAX: usize = 32;
/// Fewer show no pattern.
const SAMPLES_MIN: usize = 8;
/// One in this number of replies may be faster than the link's others: of a server that did not
/// think for once.
const FAST_DIVISOR: usize = 8;
/// This many times as far above the way as the median of replies lies above the fast ones,
/// none begins by chance. A normal distribution has the two 1.15 standard deviations
/// apart, and the shortest of 32 lies 2.1 below the mean: 4.8 above it.
const VARIATION_FACTOR: u64 = 6;

/// How long the last replies of one flow took to begin. A server that thinks is late, and
/// so is a link; but only a link is as often early.
#[derive(Debug, Default)]
pub(crate) struct ReplyDelays {
    ring: VecDeque<u64>,
}

impl ReplyDelays {
    fn take(&mut self, ns: u64) {
        if self.ring.len() == SAMPLES_MAX {
            self.ring.pop_front();
        }
        self.ring.push_back(ns);
    }

    /// How far above the way a reply may begin by the chance that shows in the faster
    /// half of them, ns; None where they are few.
    fn variation_bound(&self) -> Option<u64> {
        if self.ring.len() < SAMPLES_MIN {
            return None;
        }
        let mut sorted: Vec<u64> = self.ring.iter().copied().collect();
        sorted.sort_unstable();
        let above = sorted[sorted.len() / 2] - sorted[sorted.len() / FAST_DIVISOR];
        Some(above.saturating_mul(VARIATION_FACTOR))
    }

    /// What a wait must last to be one, ns: on a link longer than its delay varies, by the
    /// round trips that were seen and by the replies; until there are some of these, half
    /// of the way. Twice the way, with its variation, is never chance.
    fn think_time_min_ns(&self, sender_rtt: u64, spread: u64) -> u64 {
        if sender_rtt < LINK_NS {
            return THINK_TIME_MIN_NS;
        }
        let chance = self.variation_bound().unwrap_or(sender_rtt / 2).max(spread);
        chance
            .min(sender_rtt.saturating_add(spread))
            .max(sender_rtt / 4)
            .max(THINK_TIME_MIN_NS)
    }
}

/// From `asked` on to the first byte of the reply, less the way to the server and back.
/// None where it is too short to distinguish from the delay of the link.
pub(crate) fn think_time(
    exchange: &Exchange,
    requested: u64,
    delays: &mut ReplyDelays,
    path: &Path,
) -> Option<Stall> {
    let reply = exchange.reply.as_ref()?;
    let direction = exchange.caller.opposite();
    let sender_rtt = path.sender_rtt(direction);
    // A reply that begins before the request is whole was not waited for.
    let taken = reply.first_at_ns.checked_sub(requested)?;
    let least = delays.think_time_min_ns(sender_rtt, path.spread(direction));
    // After the bound was computed: no sample may raise the bar by which it is judged.
    delays.take(taken);
    let ns = taken.checked_sub(sender_rtt).filter(|ns| *ns >= least)?;
    Some(Stall {
        cause: Cause::ServerThinkTime,
        direction,
        from: requested + sender_rtt,
        released: reply.first_at_ns,
        to: reply.first_at_ns,
        ns,
        late: (reply.start, reply.end),
        stream: None,
        packets: [exchange.request.last_packet, 0, reply.first_packet],
    })
}

/// From the request's head to its body, which waited for the server's 100 (RFC 9110 section
/// 10.1.1), or for the client's own patience.
pub(crate) fn continue_wait(exchange: &Exchange, wait: Option<ContinueWait>) -> Option<Stall> {
    let wait = wait?;
    Some(Stall {
        cause: Cause::ExpectContinue,
        direction: exchange.caller,
        from: wait.from_ns,
        released: wait.to_ns,
        to: wait.to_ns,
        ns: wait.to_ns.saturating_sub(wait.from_ns),
        late: (exchange.request.start, exchange.request.end),
        stream: None,
        packets: [wait.packets[0], 0, wait.packets[1]],
    })
}

/// Of HTTP/1, from the last byte of the reply to the FIN behind it (RFC 9112 section 6.3).
pub(crate) fn find_wait_for_close(exchange: &Exchange, end: Option<At>) -> Option<Stall> {
    let reply = exchange.reply.as_ref()?;
    // Other protocols state where a reply ends, whether or not it is parsed here.
    let has_no_end = exchange.ending == Ending::UntilClose && exchange.protocol == Protocol::Http1;
    let (at, packet) = end.filter(|_| has_no_end)?;
    Some(Stall {
        cause: Cause::ReadUntilClose,
        direction: exchange.caller.opposite(),
        from: reply.last_at_ns.min(at),
        released: at,
        to: at,
        ns: at.saturating_sub(reply.last_at_ns),
        late: (reply.start, reply.end),
        stream: None,
        packets: [reply.last_packet, 0, packet],
    })
}

/// A reply that sends the client elsewhere (RFC 9110 section 15.4): the whole exchange.
pub(crate) fn redirect(exchange: &Exchange) -> Option<Occurrence> {
    let is_redirect = matches!(exchange.status, Some((301 | 302 | 303 | 307 | 308, _)))
        && matches!(exchange.protocol, Protocol::Http1 | Protocol::Http2);
    let reply = exchange.reply.as_ref().filter(|_| is_redirect)?;
    Some(Occurrence {
        cause: Cause::Redirect,
        flow: exchange.flow,
        exchange: Some(exchange.ordinal),
        direction: exchange.caller.opposite(),
        packets: vec![exchange.request.first_packet, reply.last_packet],
        ns: exchange.latency_ns()?,
    })
}
