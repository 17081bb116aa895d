//! The parts of all connections and of all exchanges, added up.

use super::part::Part;
use super::ring::Wait;
use crate::diagnosis::cause::Cause;
use crate::diagnosis::finding::Occurrence;
use crate::diagnosis::stall::Stall;
use crate::flow::event::FlowId;

/// Waits that are named, the longest.
const LONGEST: usize = 12;
/// Shorter ones are not named, ns.
const NAMED_MIN_NS: u64 = 1_000_000;

/// A client that does not use its new connection for longer idles, ns.
const UNUSED_MIN_NS: u64 = 100_000_000;
/// A client that makes no call for longer idles; shorter pauses are the rhythm of a load, ns.
const IDLE_MIN_NS: u64 = 1_000_000_000;
/// A window that is closed for longer is a finding, ns.
const CLOSED_MIN_NS: u64 = 10_000_000;

/// A network path that takes longer is a finding, ns: more than a continent.
pub(crate) const LONG_PATH_MIN_NS: u64 = 50_000_000;
/// Where messages cannot be read, a turn that takes longer is a finding, ns.
const TURN_MIN_NS: u64 = 10_000_000;

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

    pub(crate) fn add_all(&mut self, other: &Division) {
        for (own, more) in self.0.iter_mut().zip(other.0) {
            *own = own.saturating_add(more);
        }
    }

    /// Of an exchange that took `elapsed` ns. What the ring has lost of a very long one is
    /// unattributed.
    pub(crate) fn of(waits: impl Iterator<Item = Wait>, elapsed: u64) -> Division {
        let mut parts = Division::default();
        waits.for_each(|wait| parts.add(wait.part, wait.ns()));
        parts.add(Part::Unattributed, elapsed.saturating_sub(parts.total()));
        parts
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowTimes {
    /// Which one.
    pub flow: FlowId,
    /// From its first packet to its last, ns.
    pub elapsed: u64,
    /// The same by part.
    pub parts: Division,
    line: Line,
}

impl FlowTimes {
    /// The longer waits in order: what it was, from when to when, nanoseconds since the epoch.
    pub fn waits(&self) -> &[(Part, u64, u64)] {
        &self.line.waits
    }
}

/// Waits of a connection that are drawn.
/// With the one that is over, a power of two: what a vector allocates.
const LINE_MAX: usize = 255;

/// The waits of one connection, in order; of many those that are long enough.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Line {
    waits: Vec<(Part, u64, u64)>,
    least_ns: u64,
}

impl Line {
    fn add(&mut self, wait: &Wait) {
        match self.waits.last_mut() {
            Some((part, _, to)) if *part == wait.part && *to == wait.from => *to = wait.to,
            _ if wait.ns() < self.least_ns => {}
            _ => self.waits.push((wait.part, wait.from, wait.to)),
        }
        while self.waits.len() > LINE_MAX {
            self.least_ns = (2 * self.least_ns).max(1_000);
            let least_ns = self.least_ns;
            self.waits.retain(|(_, from, to)| to - from >= least_ns);
        }
    }
}

/// The time of one connection that is still open, as far as nothing can change it.
#[derive(Debug, Default)]
pub(crate) struct FlowAccount {
    parts: Division,
    line: Line,
}

/// The time of all connections and exchanges.
#[derive(Debug, Clone, Default)]
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
    /// What was found since the last look.
    pub(crate) found: Vec<Occurrence>,
    /// Connections that are listed.
    pub(crate) flows_max: usize,
}

impl WaitSums {
    /// A connection is over.
    pub(crate) fn closed(&mut self, flow: FlowId, elapsed: u64, account: FlowAccount) {
        self.connections.add_all(&account.parts);
        self.connection_count += 1;
        self.connections_ns = self.connections_ns.saturating_add(elapsed);
        self.flows.push(FlowTimes {
            flow,
            elapsed,
            parts: account.parts,
            line: account.line,
        });
        // Connections close out of order; at twice the limit, so that sorting is rare.
        if self.flows.len() > 2 * self.flows_max {
            self.keep_first();
        }
    }

    /// A connection that is still open.
    pub(crate) fn open(&mut self, account: &FlowAccount, waits: impl Iterator<Item = Wait>) {
        let mut parts = account.parts;
        waits.for_each(|wait| parts.add(wait.part, wait.ns()));
        self.connections.add_all(&parts);
        self.connections_ns = self.connections_ns.saturating_add(parts.total());
        self.connection_count += 1;
    }

    /// The first connections only, in order.
    pub(crate) fn keep_first(&mut self) {
        self.flows.sort_by_key(|times| times.flow);
        self.flows.truncate(self.flows_max);
    }

    /// An exchange is over.
    pub(crate) fn exchange(&mut self, waits: impl Iterator<Item = Wait>, elapsed: u64) {
        self.exchanges.add_all(&Division::of(waits, elapsed));
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
    /// Its messages are read: its exchanges have what delays them.
    pub(crate) is_read: bool,
    pub(crate) account: &'a mut FlowAccount,
    pub(crate) sums: &'a mut WaitSums,
}

impl Sink<'_> {
    /// Something that costs a connection time, not one of its exchanges.
    pub(crate) fn find(&mut self, occurrence: Occurrence) {
        self.sums.found.push(occurrence);
    }

    /// As [`Self::find`], of a stall.
    pub(crate) fn find_stall(&mut self, stall: &Stall) {
        self.find(Occurrence {
            cause: stall.cause,
            flow: self.flow,
            exchange: None,
            direction: stall.direction,
            packets: stall.named_packets().collect(),
            ns: stall.ns,
        });
    }

    fn find_wait(&mut self, wait: &Wait) {
        let (cause, least) = match wait.part {
            Part::ClientBeforeRequest => (Cause::ClientIdle, UNUSED_MIN_NS),
            Part::ClientBetweenRequests | Part::BeforeClosing => (Cause::ClientIdle, IDLE_MIN_NS),
            Part::WindowClosed => (Cause::ZeroWindow, CLOSED_MIN_NS),
            Part::Server if !self.is_read && wait.ends_with_payload => {
                (Cause::ServerThinkTime, TURN_MIN_NS)
            }
            Part::ClientStall | Part::ServerStall if !self.is_read => {
                (Cause::SenderStalled, TURN_MIN_NS)
            }
            Part::Path if !self.is_read => (Cause::LongPath, LONG_PATH_MIN_NS),
            _ => return,
        };
        if wait.ns() >= least && !wait.is_found {
            self.find(Occurrence {
                cause,
                flow: self.flow,
                exchange: None,
                direction: wait.direction,
                packets: wait.packets.to_vec(),
                ns: wait.ns(),
            });
        }
    }

    pub(crate) fn take(&mut self, wait: &Wait) {
        self.account.parts.add(wait.part, wait.ns());
        self.account.line.add(wait);
        self.find_wait(wait);
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
