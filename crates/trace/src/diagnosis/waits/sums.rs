//! The parts of all connections and of all exchanges, added up.

use super::part::Part;
use super::ring::Wait;
use crate::flow::event::FlowId;

/// Waits that are named, the longest.
const LONGEST: usize = 12;
/// Shorter ones are not named, ns.
const NAMED_MIN_NS: u64 = 1_000_000;

/// Time by part, nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Division(pub [u64; Part::ALL.len()]);

impl Default for Division {
    fn default() -> Self {
        Division([0; Part::ALL.len()])
    }
}

impl Division {
    /// All of it.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    pub(crate) fn add(&mut self, part: Part, ns: u64) {
        let sum = &mut self.0[part as usize];
        *sum = sum.saturating_add(ns);
    }

    fn add_all(&mut self, other: &Division) {
        for (own, more) in self.0.iter_mut().zip(other.0) {
            *own = own.saturating_add(more);
        }
    }
}

/// One of the longest waits of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LongWait {
    /// Its connection.
    pub flow: FlowId,
    /// What it was.
    pub part: Part,
    /// How long, ns.
    pub ns: u64,
    /// The packets before and behind it.
    pub packets: [u64; 2],
}

/// The time of one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowTimes {
    /// Which one.
    pub flow: FlowId,
    /// From its first packet to its last, ns.
    pub elapsed: u64,
    /// The same by part.
    pub parts: Division,
}

/// The time of all connections and exchanges.
#[derive(Debug, Default)]
pub struct WaitSums {
    /// Connections, added up.
    pub connections: Division,
    /// How many.
    pub connection_count: u64,
    /// From their first packets to their last, added up, ns.
    pub connections_ns: u64,
    /// Exchanges, added up: from the request's first byte to the reply's last.
    pub exchanges: Division,
    /// Their latencies, added up, ns.
    pub exchanges_ns: u64,
    /// How many.
    pub exchange_count: u64,
    /// The first connections, in order.
    pub flows: Vec<FlowTimes>,
    /// The longest waits, the longest first.
    pub longest: Vec<LongWait>,
    /// The longest waits that cannot be attributed.
    pub unattributed: Vec<LongWait>,
    /// Connections that are listed.
    pub(crate) flows_max: usize,
}

impl WaitSums {
    /// A connection is over.
    pub(crate) fn closed(&mut self, flow: FlowId, elapsed: u64, parts: Division) {
        self.connections.add_all(&parts);
        self.connection_count += 1;
        self.connections_ns = self.connections_ns.saturating_add(elapsed);
        self.flows.push(FlowTimes {
            flow,
            elapsed,
            parts,
        });
        // Connections close out of order; at twice the limit, so that sorting is rare.
        if self.flows.len() > 2 * self.flows_max {
            self.keep_first();
        }
    }

    /// The first connections only, in order.
    pub(crate) fn keep_first(&mut self) {
        self.flows.sort_by_key(|times| times.flow);
        self.flows.truncate(self.flows_max);
    }

    /// An exchange is over.
    pub(crate) fn exchange(&mut self, waits: impl Iterator<Item = Wait>, elapsed: u64) {
        let mut parts = Division::default();
        waits.for_each(|wait| parts.add(wait.part, wait.ns()));
        // What the ring has lost of a very long exchange.
        parts.add(
            Part::Unattributed,
            elapsed.saturating_sub(parts.total()),
        );
        self.exchanges.add_all(&parts);
        self.exchanges_ns = self.exchanges_ns.saturating_add(elapsed);
        self.exchange_count += 1;
    }

    fn name(longest: &mut Vec<LongWait>, wait: LongWait) {
        let place = longest.partition_point(|other| other.ns >= wait.ns);
        if place < LONGEST {
            longest.insert(place, wait);
            longest.truncate(LONGEST);
        }
    }
}

/// Takes the waits of one connection that nothing can change any more.
pub(crate) struct Sink<'a> {
    pub(crate) flow: FlowId,
    pub(crate) parts: &'a mut Division,
    pub(crate) sums: &'a mut WaitSums,
}

impl Sink<'_> {
    pub(crate) fn take(&mut self, wait: &Wait) {
        self.parts.add(wait.part, wait.ns());
        if wait.ns() < NAMED_MIN_NS {
            return;
        }
        let named = LongWait {
            flow: self.flow,
            part: wait.part,
            ns: wait.ns(),
            packets: wait.packets,
        };
        WaitSums::name(&mut self.sums.longest, named);
        if wait.part == Part::Unattributed {
            WaitSums::name(&mut self.sums.unattributed, named);
        }
    }
}
