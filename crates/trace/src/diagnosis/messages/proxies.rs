//! stream-buffered: a proxy had a message and passed it on only with the next one. The capture has
//! both connections of the proxy: one message has the same content on both, the host that received
//! it on one is the host that sent it on the other.
//!
//! Content that a connection carried twice, such as a heartbeat, belongs to no message for certain,
//! and is left out. Two servers that send the same to their own clients look like a proxy where
//! both are on one host: then each is first at times, which no proxy is.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::net::{IpAddr, SocketAddr};

use crate::diagnosis::cause::Cause;
use crate::diagnosis::finding::Occurrence;
use crate::flow::event::{Direction, FlowId, Opening};
use crate::protocol::exchange::{MessageFraming, StreamMessage};

/// Messages whose content is remembered, the last, about 100 bytes each.
const ARRIVALS_MAX: usize = 1 << 16;
/// Pairs of connections that are remembered.
const PAIRS_MAX: usize = 1 << 14;
/// Later than that a message is another one, ns.
const FORWARDED_WITHIN_NS: u64 = 60_000_000_000;
/// The least time in a proxy that counts as held, ns; as in [`crate::hops::HELD_MIN_MS`].
const HELD_MIN_NS: u64 = 5_000_000;
/// Messages that are passed on within this time are passed on together, ns.
const TOGETHER_NS: u64 = 1_000_000;
/// Fewer held messages show no buffer, but a pause.
const HELD_MIN: usize = 3;
/// Occurrences of a connection that are remembered, the first.
const OCCURRENCES_MAX: usize = 4_096;

type Key = (MessageFraming, u64, Direction, IpAddr);

/// A message that has reached a host.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrival {
    flow: FlowId,
    stream: u32,
    /// The end that was connected to: of two clients of one server neither is behind the other.
    server: SocketAddr,
    pub(super) readable: (u64, u64),
    /// The same content came again.
    is_ambiguous: bool,
}

/// What has reached the hosts of a capture.
#[derive(Debug, Default)]
pub(super) struct Proxies {
    arrivals: HashMap<Key, Arrival>,
    order: VecDeque<Key>,
    /// Connections of which the second passed on what came on the first.
    pairs: HashSet<(FlowId, FlowId)>,
}

impl Proxies {
    /// A message: the same on the other side of a proxy, if the capture has that.
    pub(super) fn take(
        &mut self,
        flow: FlowId,
        message: &StreamMessage,
        opening: &Opening,
    ) -> Option<Arrival> {
        let content = message.content?;
        let Opening { client, server, .. } = *opening;
        let (sender, receiver) = match message.direction {
            Direction::Request => (client, server),
            Direction::Reply => (server, client),
        };
        let key = |host: SocketAddr| (message.framing, content, message.direction, host.ip());
        let known = self.arrivals.get(&key(sender)).copied();
        let forwarded = known.filter(|arrival| arrival.is_of(flow, message, server));
        if let Some(arrival) = forwarded {
            if self.pairs.len() < PAIRS_MAX {
                self.pairs.insert((arrival.flow, flow));
            }
            return (!arrival.is_ambiguous).then_some(arrival);
        }
        self.remember(key(receiver), flow, message, server);
        None
    }

    fn remember(&mut self, key: Key, flow: FlowId, message: &StreamMessage, server: SocketAddr) {
        if let Some(known) = self.arrivals.get_mut(&key) {
            known.is_ambiguous |= (known.flow, known.stream) == (flow, message.stream);
            return;
        }
        if self.order.len() == ARRIVALS_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.arrivals.remove(&oldest);
        }
        self.order.push_back(key);
        let arrival = Arrival {
            flow,
            stream: message.stream,
            server,
            readable: message.readable,
            is_ambiguous: false,
        };
        self.arrivals.insert(key, arrival);
    }

    /// Each of both has passed on what came on the other: neither is behind a proxy of the other.
    fn is_mutual(&self, front: FlowId, back: FlowId) -> bool {
        self.pairs.contains(&(front, back))
    }
}

impl Arrival {
    fn is_of(&self, flow: FlowId, message: &StreamMessage, server: SocketAddr) -> bool {
        let passed_at = message.readable.1;
        self.flow != flow
            && self.server != server
            && self.readable.1 <= passed_at
            && passed_at - self.readable.1 <= FORWARDED_WITHIN_NS
    }
}

/// The last message of a stream that a proxy passed on.
#[derive(Debug, Clone, Copy)]
struct Last {
    arrival: Arrival,
    readable: (u64, u64),
    held_ns: u64,
    direction: Direction,
}

/// What one connection has carried of another one.
#[derive(Debug, Default)]
pub(super) struct Forwarded {
    last: BTreeMap<(u32, Direction), Last>,
    /// By the connection that it came on.
    held: BTreeMap<FlowId, Vec<Occurrence>>,
    count: usize,
}

impl Forwarded {
    /// A message that a proxy passed on. `held_ns`: for how long nothing but the proxy held it.
    pub(super) fn take(&mut self, message: &StreamMessage, arrival: Arrival, held_ns: u64) {
        let own = Last {
            arrival,
            readable: message.readable,
            held_ns,
            direction: message.direction,
        };
        let key = (message.stream, message.direction);
        let Some(before) = self.last.insert(key, own) else {
            return;
        };
        let is_next =
            before.arrival.flow == arrival.flow && before.arrival.stream == arrival.stream;
        // The next had come when the first was passed on, and they were passed on together.
        let has_waited = arrival.readable.1 <= before.readable.1
            && message.extent.first_at_ns <= before.readable.1.saturating_add(TOGETHER_NS);
        let is_later = arrival.readable.1.saturating_sub(before.arrival.readable.1) >= HELD_MIN_NS;
        if is_next && has_waited && is_later && before.held_ns >= HELD_MIN_NS {
            self.find(&before, arrival);
        }
    }

    fn find(&mut self, held: &Last, next: Arrival) {
        if self.count == OCCURRENCES_MAX {
            return;
        }
        self.count += 1;
        let packets = vec![held.arrival.readable.0, next.readable.0, held.readable.0];
        let occurrence = Occurrence {
            cause: Cause::StreamBuffered,
            flow: 0,
            exchange: None,
            direction: held.direction,
            packets,
            ns: held.held_ns,
        };
        self.held.entry(next.flow).or_default().push(occurrence);
    }

    /// The connection is over.
    pub(super) fn finish(self, flow: FlowId, proxies: &Proxies, found: &mut Vec<Occurrence>) {
        for (back, held) in self.held {
            if held.len() < HELD_MIN || proxies.is_mutual(flow, back) {
                continue;
            }
            found.extend(held.into_iter().map(|one| Occurrence { flow, ..one }));
        }
    }
}
