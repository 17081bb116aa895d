//! Which exchange is which call.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use super::document::{Calls, ClockBounds, Exchanges, Handshakes, Reconciliation, StallSums};
use super::flows::{Flows, KnownFlow};
use super::log::{Call, TIME_MAX};
use super::phases::{Interval, Parts, clip_to_call, is_stall};
use super::sums::{Signed, Sums};
use crate::diagnosis::{Attribution, Cause};
use crate::flow::event::{Direction, FlowId, Segment};
use crate::protocol::exchange::{Ending, Exchange, Extent};

/// By so much the stamps of a call and of its packets may contradict each other and
/// be of one exchange, ns: a stamp may be read late. Ports are not used again so soon.
const CONTRADICTION_MAX_NS: u64 = 100_000_000;

/// An exchange that waits for its call, as far as it matters then.
#[derive(Debug)]
struct Packets {
    flow: FlowId,
    port: u16,
    ordinal: u64,
    request: Interval,
    reply: Option<Interval>,
    /// It is over as it should be; or, where its call is well too, it was a one-way call.
    is_whole: bool,
    attributions: Box<[Attribution]>,
}

impl Packets {
    /// When the earliest and the latest packet passed, ns.
    fn span(&self) -> Interval {
        let [(first, other), reply] = [self.request, self.reply.unwrap_or(self.request)];
        let stamps = [first, other, reply.0, reply.1];
        let span = |(low, high): Interval, at: &u64| (low.min(*at), high.max(*at));
        stamps.iter().fold((first, first), span)
    }
}

/// Calls and exchanges, and what came of laying them side by side.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    pub(super) flows: Flows,
    calls: Waiting<Call>,
    exchanges: Waiting<Packets>,
    /// When the first and the last packet were captured, ns.
    seen: Option<Interval>,
    encrypted: HashSet<u16>,
    counts: (Calls, Exchanges),
    all: Sums,
    operations: BTreeMap<usize, Sums>,
    stalls: BTreeMap<Cause, (u64, u64)>,
    /// How long after its write the first packet of a call passed, and how long
    /// before its first byte was read that byte's packet, ns.
    clock: [Signed; 2],
}

impl Pairs {
    #[inline]
    pub(super) fn segment(&mut self, flow: FlowId, segment: &Segment) {
        let (first, last) = self.seen.unwrap_or((segment.at_ns, segment.at_ns));
        self.seen = Some((first.min(segment.at_ns), last.max(segment.at_ns)));
        self.flows.segment(flow, segment);
    }

    pub(super) fn gap(&mut self, flow: FlowId, direction: Direction) {
        if let Some(known) = self.flows.get_mut(flow)
            && direction == Direction::Request
        {
            known.mark_gap();
        }
    }

    #[inline]
    pub(super) fn call_started(&mut self, flow: FlowId) {
        if let Some(known) = self.flows.get_mut(flow) {
            known.call_started();
        }
    }

    pub(super) fn is_encrypted(&mut self, flow: FlowId) {
        if let Some(known) = self.flows.get(flow) {
            self.encrypted.insert(known.port(Direction::Request));
        }
    }

    pub(super) fn call(&mut self, call: Call) {
        self.counts.0.logged += 1;
        // Unix sockets have no packets to compare with.
        if call.port == 0 {
            self.counts.0.without_port += 1;
            return;
        }
        let counts = &mut self.counts.0;
        self.calls.push(call.port, call, |_| counts.given_up += 1);
        let is_of_it = |packets: &Packets, known: Option<&KnownFlow>| {
            is_numbered(packets, known) && may_match(&call, packets, known)
        };
        if let Some(packets) = self.take_waiting(call.port, is_of_it) {
            self.settle(packets);
        }
        // Calls are logged in the order of their ends, so that one which was sent
        // later says that those which could have been the exchange are known.
        let is_decided = |packets: &Packets, known: Option<&KnownFlow>| {
            !is_numbered(packets, known) && call.sent > packets.request.0
        };
        while let Some(packets) = self.take_waiting(call.port, is_decided) {
            self.settle(packets);
        }
    }

    fn take_waiting(
        &mut self,
        port: u16,
        is_it: impl Fn(&Packets, Option<&KnownFlow>) -> bool,
    ) -> Option<Packets> {
        let place = self
            .exchanges
            .of(port)
            .position(|packets| is_it(packets, self.flows.get(packets.flow)))?;
        self.exchanges.take(port, place)
    }

    fn settle(&mut self, packets: Packets) {
        match self.find_matching_call(&packets) {
            Some(place) => self.pair(packets, place),
            None => self.counts.1.unmatched += 1,
        }
    }

    pub(super) fn exchange(&mut self, exchange: &Exchange, attributions: &[Attribution]) {
        self.counts.1.seen += 1;
        let Some(known) = self.flows.get(exchange.flow) else {
            self.counts.1.unmatched += 1;
            return;
        };
        let packets = packets(exchange, known, attributions);
        if is_numbered(&packets, Some(known))
            && let Some(place) = self.find_matching_call(&packets)
        {
            return self.pair(packets, place);
        }
        let counts = &mut self.counts.1;
        self.exchanges
            .push(packets.port, packets, |_| counts.given_up += 1);
    }

    /// Compares an exchange with the call at that place among the calls of its port.
    fn pair(&mut self, packets: Packets, place: usize) {
        let Some(call) = self.calls.take(packets.port, place) else {
            return;
        };
        if let Some(known) = self.flows.get_mut(packets.flow) {
            known.learn(packets.ordinal, &call);
        }
        self.compare(&call, &packets);
    }

    /// Where among the waiting calls of its port that of an exchange is.
    fn find_matching_call(&self, packets: &Packets) -> Option<usize> {
        let known = self.flows.get(packets.flow);
        let calls = self.calls.of(packets.port).enumerate();
        let mut matching = calls.filter(|(_, call)| may_match(call, packets, known));
        if is_numbered(packets, known) {
            // The same number twice: the port was used again.
            return matching
                .min_by_key(|(_, call)| call.sent.abs_diff(packets.request.0))
                .map(|(place, _)| place);
        }
        let (place, _) = matching.next()?;
        // Of two candidates neither is guessed.
        matching.next().is_none().then_some(place)
    }

    fn compare(&mut self, call: &Call, packets: &Packets) {
        // The engine reports a one-way call as well done without a reply; a lost reply
        // is an error there.
        let is_one_way = packets.reply.is_none() && call.ok;
        if !packets.is_whole || packets.reply.is_none() && !is_one_way {
            self.counts.0.unanswered += 1;
            self.counts.1.unanswered += 1;
            return;
        }
        self.counts.0.matched += 1;
        self.counts.1.matched += 1;
        let parts = Parts::new(call, packets.request, packets.reply, &packets.attributions);
        self.all.add(&parts);
        self.operations
            .entry(call.operation)
            .or_default()
            .add(&parts);
        self.compare_clocks(call, packets);
        self.count_stalls(call, &packets.attributions);
    }

    fn compare_clocks(&mut self, call: &Call, packets: &Packets) {
        let [write, read] = &mut self.clock;
        write.add(packets.request.0 as i64 - call.sent as i64);
        if let Some(((first, _), read_at)) = packets.reply.zip(call.first_byte) {
            read.add(read_at as i64 - first as i64);
        }
    }

    fn count_stalls(&mut self, call: &Call, attributions: &[Attribution]) {
        let mut met: BTreeMap<Cause, u64> = BTreeMap::new();
        for attribution in attributions {
            if let Some((from, to)) = clip_to_call(call, attribution) {
                *met.entry(attribution.cause).or_default() += to - from;
            }
        }
        for (cause, ns) in met {
            let (calls, sum) = self.stalls.entry(cause).or_default();
            *calls += 1;
            *sum = sum.saturating_add(ns);
        }
    }

    /// What still waits has no counterpart.
    pub(super) fn document<'a>(mut self, name: impl Fn(usize) -> &'a str) -> Reconciliation {
        for packets in std::mem::take(&mut self.exchanges).rest() {
            self.settle(packets);
        }
        for call in std::mem::take(&mut self.calls).rest() {
            self.count_unmatched(&call);
        }
        let mut operations: Vec<_> = self.operations.iter().collect();
        operations.sort_by_key(|(number, sums)| (std::cmp::Reverse(sums.count()), **number));
        let documents = operations
            .iter()
            .map(|(number, sums)| sums.document(name(**number)));
        let [to_server, to_client] = self.flows.handshakes();
        Reconciliation {
            all: (self.all.count() > 0).then(|| self.all.document("")),
            operations: documents.collect(),
            handshake_us: Handshakes {
                to_server,
                to_client,
            },
            clock_us: clock_bounds(&self.clock),
            stalls: stall_sums(&self.stalls),
            calls: self.counts.0,
            exchanges: self.counts.1,
        }
    }

    fn count_unmatched(&mut self, call: &Call) {
        let is_outside = self
            .seen
            .is_none_or(|(first, last)| call.done < first || call.sent > last);
        let counts = &mut self.counts.0;
        let count = match is_outside {
            true => &mut counts.outside,
            false if self.encrypted.contains(&call.port) => &mut counts.encrypted,
            false => &mut counts.unmatched,
        };
        *count += 1;
    }
}

/// By how much stamps of a call and of packets cannot be of one exchange, ns.
fn contradiction_ns(call: &Call, packets: &Packets) -> u64 {
    let (first, last) = packets.span();
    let early = call.sent.saturating_sub(first);
    early.max(last.saturating_sub(call.done))
}

fn is_numbered(packets: &Packets, known: Option<&KnownFlow>) -> bool {
    known.is_some_and(|known| known.ordinal_offset(packets.ordinal).is_some())
}

fn may_match(call: &Call, packets: &Packets, known: Option<&KnownFlow>) -> bool {
    let key = known.and_then(|known| known.key);
    let ordinal_offset = known.and_then(|known| known.ordinal_offset(packets.ordinal));
    let allowed = match ordinal_offset {
        Some(ordinal_offset)
            if packets.ordinal.checked_add(ordinal_offset) == Some(call.ordinal) =>
        {
            CONTRADICTION_MAX_NS
        }
        Some(_) => return false,
        None => 0,
    };
    key.is_none_or(|key| key == call.key) && contradiction_ns(call, packets) <= allowed
}

fn packets(exchange: &Exchange, known: &KnownFlow, attributions: &[Attribution]) -> Packets {
    let times = |extent: &Extent| {
        let [first, last] = [extent.first_at_ns, extent.last_at_ns];
        (first.min(TIME_MAX), last.min(TIME_MAX))
    };
    let ended = matches!(exchange.ending, Ending::Framed | Ending::UntilClose);
    let is_silent = exchange.reply.is_none() && !known.is_answered;
    Packets {
        flow: exchange.flow,
        port: known.port(exchange.caller),
        ordinal: exchange.ordinal,
        request: times(&exchange.request),
        reply: exchange.reply.as_ref().map(times),
        is_whole: ended || is_silent,
        attributions: attributions
            .iter()
            .filter(|attribution| is_stall(attribution.cause))
            .copied()
            .collect(),
    }
}

fn clock_bounds([write, read]: &[Signed; 2]) -> Option<ClockBounds> {
    Some(ClockBounds {
        // A write precedes its packet, and a packet the read of its bytes: clocks that
        // violate either differ by at least that much.
        low: -(write.least_ns()? as f64) / 1e3,
        high: read.least_ns()? as f64 / 1e3,
    })
}

fn stall_sums(stalls: &BTreeMap<Cause, (u64, u64)>) -> Vec<StallSums> {
    let sums = stalls.iter().map(|(cause, (calls, ns))| StallSums {
        cause: *cause,
        calls: *calls,
        ms_total: *ns as f64 / 1e6,
    });
    let mut sums: Vec<StallSums> = sums.collect();
    sums.sort_by(|one, other| other.ms_total.total_cmp(&one.ms_total));
    sums
}

/// How many wait on one port: a connection has at most 1,024 calls under way, and
/// a thread of the engine writes its lines some hundreds at a time.
const PORT_MAX: usize = 4_096;
/// One that this number of others have followed is not waited for any more.
const ALL_MAX: usize = 1 << 17;

/// Queues in the order of arrival, in bounded memory.
#[derive(Debug)]
pub(super) struct Waiting<T> {
    queues: HashMap<u16, VecDeque<(u64, T)>>,
    /// Ports and numbers of the last that came; those of some have gone.
    order: VecDeque<(u16, u64)>,
    next: u64,
}

impl<T> Default for Waiting<T> {
    fn default() -> Self {
        Waiting {
            queues: HashMap::new(),
            order: VecDeque::new(),
            next: 0,
        }
    }
}

impl<T> Waiting<T> {
    /// Puts one more behind those of its port; `gone` gets the one that is dropped for it.
    pub(super) fn push(&mut self, port: u16, item: T, mut gone: impl FnMut(T)) {
        let queue = self.queues.entry(port).or_default();
        if queue.len() >= PORT_MAX
            && let Some((_, oldest)) = queue.pop_front()
        {
            gone(oldest);
        }
        queue.push_back((self.next, item));
        self.order.push_back((port, self.next));
        self.next += 1;
        if self.order.len() > ALL_MAX
            && let Some((port, number)) = self.order.pop_front()
            && let Some(queue) = self.queues.get_mut(&port)
            && queue.front().is_some_and(|(front, _)| *front == number)
            && let Some((_, oldest)) = queue.pop_front()
        {
            gone(oldest);
        }
    }

    pub(super) fn of(&self, port: u16) -> impl Iterator<Item = &T> {
        let queue = self.queues.get(&port);
        queue.into_iter().flatten().map(|(_, item)| item)
    }

    /// Takes the one at that place of [`Waiting::of`].
    pub(super) fn take(&mut self, port: u16, place: usize) -> Option<T> {
        let (_, item) = self.queues.get_mut(&port)?.remove(place)?;
        Some(item)
    }

    pub(super) fn rest(&mut self) -> impl Iterator<Item = T> {
        let queues = std::mem::take(&mut self.queues);
        queues.into_values().flatten().map(|(_, item)| item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_entries_are_evicted_first() {
        let (mut waiting, mut gone) = (Waiting::default(), Vec::new());
        for number in 0..ALL_MAX + 10 {
            waiting.push((number % 1_000) as u16, number, |old| gone.push(old));
        }
        assert_eq!(gone, (0..10).collect::<Vec<_>>());
        assert_eq!(waiting.of(10).next(), Some(&10));
        assert_eq!(waiting.of(9).next(), Some(&1_009));
        assert_eq!(waiting.rest().count(), ALL_MAX);
    }

    #[test]
    fn one_port_alone_is_bounded() {
        let (mut waiting, mut gone) = (Waiting::default(), 0);
        for number in 0..PORT_MAX + 5 {
            waiting.push(7, number, |_| gone += 1);
        }
        assert_eq!((gone, waiting.of(7).count()), (5, PORT_MAX));
    }

    #[test]
    fn a_taken_entry_is_not_evicted() {
        let (mut waiting, mut gone) = (Waiting::default(), Vec::new());
        waiting.push(1, 0, |old| gone.push(old));
        waiting.push(1, 1, |old| gone.push(old));
        assert_eq!(waiting.take(1, 0), Some(0));
        assert_eq!(waiting.take(1, 5), None);
        for number in 2..ALL_MAX + 1 {
            waiting.push(2 + (number % 100) as u16, number, |old| gone.push(old));
        }
        assert!(gone.is_empty(), "{gone:?}");
        assert_eq!(waiting.of(1).collect::<Vec<_>>(), [&1]);
    }
}
