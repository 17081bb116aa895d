//! The slowest exchanges, and what the slowest hundredth did with its time next to those around
//! the median.
//!
//! Memory is bounded: of single exchanges the slowest are kept. All are added up by how long they
//! took, in bins of [`RESOLUTION`], as in HdrHistogram; sums of ranks follow from the bins.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use super::sums::Division;
use crate::flow::event::FlowId;
use crate::flow::map::FlowMap;
use crate::protocol::exchange::{Exchange, Protocol};

/// Leading bits of a time that decide its bin.
const BITS: u32 = 7;
/// The times of one bin differ by less than this share.
pub const RESOLUTION: f64 = 1.0 / (1 << (BITS - 1)) as f64;
/// Of fewer exchanges, a hundredth is less than one.
const COMPARED_MIN: u64 = 100;
/// Calls of a connection whose exchanges may still be reported: more than can be under way.
const NUMBERS_MAX: usize = 2_048;

/// What an exchange took its caller.
#[derive(Debug)]
pub(crate) struct Lasted {
    /// Nanoseconds since the Unix epoch.
    pub(crate) from_ns: u64,
    pub(crate) elapsed_ns: u64,
    pub(crate) first_packet: u64,
    /// It begins with the opening of its connection.
    pub(crate) has_opening: bool,
    pub(crate) parts: Division,
}

/// One of the slowest exchanges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimedExchange {
    /// From 1, in the order of the requests' first bytes, over all connections.
    pub number: u64,
    /// Its connection.
    pub flow: FlowId,
    /// Its number there, from 0.
    pub ordinal: u64,
    /// Its name.
    pub name: Box<str>,
    /// What is spoken.
    pub protocol: Protocol,
    /// When it began, nanoseconds since the Unix epoch.
    pub from_ns: u64,
    /// How long it took, ns.
    pub elapsed_ns: u64,
    /// Its first packet and its last.
    pub packets: [u64; 2],
    /// It begins with the opening of its connection.
    pub has_opening: bool,
    /// The same by part.
    pub parts: Division,
}

/// Exchanges of some ranks, added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankSums {
    /// How many.
    pub count: u64,
    /// Their time.
    pub parts: Division,
}

/// Exchanges that took about the same time.
#[derive(Debug, Default)]
struct Bin {
    count: u64,
    parts: Division,
}

/// Calls of one connection whose exchanges are not reported yet.
#[derive(Debug, Default)]
struct Numbers {
    started: u64,
    /// Their numbers there and over all connections.
    open: VecDeque<(u64, u64)>,
}

/// The times of all exchanges with a whole reply.
#[derive(Debug)]
pub struct Tail {
    slowest_max: usize,
    slowest: Vec<TimedExchange>,
    bins: BTreeMap<u64, Bin>,
    count: u64,
    started: u64,
    numbers: FlowMap<Numbers>,
}

impl Tail {
    /// Keeps so many of the slowest.
    pub(crate) fn new(slowest_max: usize) -> Tail {
        Tail {
            slowest_max,
            slowest: Vec::new(),
            bins: BTreeMap::new(),
            count: 0,
            started: 0,
            numbers: FlowMap::default(),
        }
    }

    /// How many exchanges.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The slowest first.
    pub fn slowest(&self) -> &[TimedExchange] {
        &self.slowest
    }

    /// The slowest hundredth, rounded up.
    pub fn slowest_hundredth(&self) -> Option<RankSums> {
        let first = self.count - self.count.div_ceil(100);
        self.sums(first..self.count)
    }

    /// The tenth in the middle.
    pub fn around_median(&self) -> Option<RankSums> {
        let below = self.count * 9 / 20;
        self.sums(below..self.count - below)
    }

    /// None with too few exchanges. Of a bin that is only partly meant, its mean counts.
    fn sums(&self, ranks: Range<u64>) -> Option<RankSums> {
        let (mut parts, mut below) = (Division::default(), 0);
        for bin in self.bins.values() {
            let (from, to) = (ranks.start.max(below), ranks.end.min(below + bin.count));
            parts.add_share(&bin.parts, to.saturating_sub(from), bin.count);
            below += bin.count;
        }
        let count = ranks.end - ranks.start;
        (self.count >= COMPARED_MIN).then_some(RankSums { count, parts })
    }

    pub(crate) fn opened(&mut self, flow: FlowId) {
        self.numbers.insert(flow, Numbers::default());
    }

    pub(crate) fn closed(&mut self, flow: FlowId) {
        self.numbers.remove(flow);
    }

    pub(crate) fn call_started(&mut self, flow: FlowId) {
        self.started += 1;
        let Some(numbers) = self.numbers.get_mut(flow) else {
            return;
        };
        numbers.open.push_back((numbers.started, self.started));
        numbers.started += 1;
        // Calls that turned out to be none are never reported.
        if numbers.open.len() > NUMBERS_MAX {
            numbers.open.pop_front();
        }
    }

    /// An exchange is reported; `lasted` is None without a whole reply.
    pub(crate) fn exchange(&mut self, exchange: &Exchange, lasted: Option<Lasted>) {
        let number = self.take_number(exchange);
        let Some(lasted) = lasted else {
            return;
        };
        self.count += 1;
        let bin = self.bins.entry(leading_bits(lasted.elapsed_ns));
        bin.or_default().add(&lasted.parts);
        let is_longer = |other: &TimedExchange| other.elapsed_ns >= lasted.elapsed_ns;
        let place = self.slowest.partition_point(is_longer);
        if place < self.slowest_max
            && let Some(number) = number
        {
            self.slowest.truncate(self.slowest_max - 1);
            self.slowest.insert(place, timed(number, exchange, lasted));
        }
    }

    fn take_number(&mut self, exchange: &Exchange) -> Option<u64> {
        let open = &mut self.numbers.get_mut(exchange.flow)?.open;
        let place = open.binary_search_by_key(&exchange.ordinal, |(ordinal, _)| *ordinal);
        open.remove(place.ok()?).map(|(_, number)| number)
    }
}

impl Bin {
    fn add(&mut self, parts: &Division) {
        self.count += 1;
        self.parts.add_all(parts);
    }
}

fn timed(number: u64, exchange: &Exchange, lasted: Lasted) -> TimedExchange {
    let reply = exchange.reply.as_ref().unwrap_or(&exchange.request);
    TimedExchange {
        number,
        flow: exchange.flow,
        ordinal: exchange.ordinal,
        name: exchange.name.clone(),
        protocol: exchange.protocol,
        from_ns: lasted.from_ns,
        elapsed_ns: lasted.elapsed_ns,
        packets: [lasted.first_packet, reply.last_packet],
        has_opening: lasted.has_opening,
        parts: lasted.parts,
    }
}

/// A time without what lies below its first bits: the least of its bin.
fn leading_bits(ns: u64) -> u64 {
    let below = (u64::BITS - ns.leading_zeros()).saturating_sub(BITS);
    ns >> below << below
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::diagnosis::waits::Part;
    use crate::protocol::exchange::{Ending, Extent};

    fn exchange(flow: FlowId, ordinal: u64) -> Exchange {
        Exchange {
            flow,
            ordinal,
            protocol: Protocol::Http1,
            caller: crate::flow::event::Direction::Request,
            name: "GET /".into(),
            status: None,
            stream: 0,
            request: Extent::default(),
            reply: None,
            ending: Ending::Framed,
            is_stream: false,
            closed_by_server: false,
        }
    }

    fn lasted(part: Part, elapsed_ns: u64) -> Lasted {
        let mut parts = Division::default();
        parts.add(part, elapsed_ns);
        Lasted {
            from_ns: 0,
            elapsed_ns,
            first_packet: 1,
            has_opening: false,
            parts,
        }
    }

    /// Exchanges of one connection, one after the other.
    fn tail(slowest: usize, times: &[u64]) -> Tail {
        let mut tail = Tail::new(slowest);
        tail.opened(0);
        for (ordinal, ns) in (0..).zip(times) {
            tail.call_started(0);
            tail.exchange(&exchange(0, ordinal), Some(lasted(Part::Server, *ns)));
        }
        tail
    }

    #[test]
    fn numbers_count_the_calls_of_all_connections_in_the_order_in_which_they_began() {
        let mut tail = Tail::new(3);
        tail.opened(7);
        tail.opened(8);
        // Two calls on one connection, between them one on another; they end in another order.
        [7, 8, 7].into_iter().for_each(|flow| tail.call_started(flow));
        for (flow, ordinal, ns) in [(7, 1, 10), (8, 0, 30), (7, 0, 20)] {
            tail.exchange(&exchange(flow, ordinal), Some(lasted(Part::Server, ns)));
        }
        let found: Vec<_> = tail.slowest().iter().map(|one| (one.number, one.elapsed_ns)).collect();
        assert_eq!(found, [(2, 30), (1, 20), (3, 10)]);
    }

    #[test]
    fn calls_without_a_whole_reply_have_numbers_and_are_not_counted() {
        let mut tail = Tail::new(1);
        tail.opened(0);
        (0..2).for_each(|_| tail.call_started(0));
        tail.exchange(&exchange(0, 0), None);
        tail.exchange(&exchange(0, 1), Some(lasted(Part::Server, 5)));
        assert_eq!((tail.count(), tail.slowest()[0].number), (1, 2));
    }

    #[test]
    fn memory_does_not_grow_with_calls_that_are_never_reported() {
        let mut tail = Tail::new(1);
        tail.opened(0);
        (0..10 * NUMBERS_MAX).for_each(|_| tail.call_started(0));
        assert_eq!(tail.numbers.get(0).map(|numbers| numbers.open.len()), Some(NUMBERS_MAX));
        tail.closed(0);
        assert!(tail.numbers.get(0).is_none());
    }

    #[test]
    fn fewer_than_a_hundred_exchanges_have_no_slowest_hundredth() {
        assert_eq!(tail(1, &[5; 99]).slowest_hundredth(), None);
        let sums = tail(1, &[5; 100]).slowest_hundredth().expect("a hundred");
        assert_eq!((sums.count, sums.parts.total()), (1, 5));
    }

    #[test]
    fn equal_exchanges_have_the_same_mean_at_both_places() {
        let mut tail = Tail::new(1);
        tail.opened(0);
        for (ordinal, part) in (0..1_000).zip([Part::Server, Part::Path].into_iter().cycle()) {
            tail.call_started(0);
            tail.exchange(&exchange(0, ordinal), Some(lasted(part, 1_000)));
        }
        let [slowest, median] = [tail.slowest_hundredth(), tail.around_median()].map(Option::unwrap);
        assert_eq!((slowest.count, median.count), (10, 100));
        for part in [Part::Server, Part::Path] {
            assert_eq!(slowest.parts.0[part as usize], 5_000);
            assert_eq!(median.parts.0[part as usize], 50_000);
        }
    }

    proptest! {
        /// As sorting all times does, within the width of a bin.
        #[test]
        fn sums_of_ranks_are_those_of_sorted_times(
            mut times in prop::collection::vec(1_u64..1 << 40, 100..400)
        ) {
            let tail = tail(5, &times);
            times.sort_unstable();
            let count = times.len();
            let kept: Vec<u64> = tail.slowest().iter().map(|one| one.elapsed_ns).collect();
            let slowest: Vec<u64> = times.iter().rev().take(5).copied().collect();
            prop_assert_eq!(kept, slowest);
            for (sums, ranks) in [
                (tail.slowest_hundredth().unwrap(), count - count.div_ceil(100)..count),
                (tail.around_median().unwrap(), count * 9 / 20..count - count * 9 / 20),
            ] {
                prop_assert_eq!(sums.count, ranks.len() as u64);
                let exact = times[ranks].iter().sum::<u64>() as f64;
                let apart = (sums.parts.total() as f64 - exact).abs();
                prop_assert!(apart <= RESOLUTION * exact + count as f64, "{apart} of {exact}");
            }
        }

        #[test]
        fn a_bin_is_as_narrow_as_documented(ns: u64) {
            let least = leading_bits(ns);
            prop_assert!(least <= ns);
            prop_assert!((ns - least) as f64 <= RESOLUTION * least as f64);
        }
    }
}
