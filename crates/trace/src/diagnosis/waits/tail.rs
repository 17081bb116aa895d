//! The slowest exchanges, and what the slowest hundredth did with its time next to those around
//! the median.
//!
//! Memory is bounded: of single exchanges the slowest are kept, and all are added up by how long
//! they took ([`RankedTimes`]).

use std::collections::VecDeque;

use wirelab_contract::ranks::{RankSum, RankedTimes};

use super::part::Part;
use super::sums::Division;
use crate::flow::event::FlowId;
use crate::flow::map::FlowMap;
use crate::protocol::exchange::{Exchange, Protocol};

/// Calls of a connection whose exchanges may still be reported: more than can be under way.
const NUMBERS_MAX: usize = 2_048;

/// Exchanges of some ranks, added up by part.
pub type ExchangeSum = RankSum<{ Part::ALL.len() }>;

/// What an exchange took its caller.
#[derive(Debug)]
pub(crate) struct ExchangeTime {
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
    times: RankedTimes<{ Part::ALL.len() }>,
    started: u64,
    numbers: FlowMap<Numbers>,
}

impl Tail {
    /// Keeps that number of the slowest.
    pub(crate) fn new(slowest_max: usize) -> Tail {
        Tail {
            slowest_max,
            slowest: Vec::new(),
            times: RankedTimes::default(),
            started: 0,
            numbers: FlowMap::default(),
        }
    }

    /// How many exchanges.
    pub fn count(&self) -> u64 {
        self.times.count()
    }

    /// The slowest first.
    pub fn slowest(&self) -> &[TimedExchange] {
        &self.slowest
    }

    /// The slowest hundredth, and the tenth around the median; None with too few exchanges.
    pub fn comparison(&self) -> Option<(ExchangeSum, ExchangeSum)> {
        let slowest = self.times.slowest_hundredth();
        slowest.zip(self.times.around_median())
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
        // Some calls are never reported, such as bytes that turned out not to be a call.
        if numbers.open.len() > NUMBERS_MAX {
            numbers.open.pop_front();
        }
    }

    /// An exchange is reported; `time` is None without a whole reply.
    pub(crate) fn exchange(&mut self, exchange: &Exchange, time: Option<ExchangeTime>) {
        let number = self.take_number(exchange);
        let Some(time) = time else {
            return;
        };
        self.times.add(time.elapsed_ns, time.parts.0);
        let is_longer = |other: &TimedExchange| other.elapsed_ns >= time.elapsed_ns;
        let place = self.slowest.partition_point(is_longer);
        if place < self.slowest_max
            && let Some(number) = number
        {
            self.slowest.truncate(self.slowest_max - 1);
            self.slowest
                .insert(place, TimedExchange::new(number, exchange, time));
        }
    }

    fn take_number(&mut self, exchange: &Exchange) -> Option<u64> {
        let open = &mut self.numbers.get_mut(exchange.flow)?.open;
        let place = open.binary_search_by_key(&exchange.ordinal, |(ordinal, _)| *ordinal);
        open.remove(place.ok()?).map(|(_, number)| number)
    }
}

impl TimedExchange {
    fn new(number: u64, exchange: &Exchange, time: ExchangeTime) -> TimedExchange {
        let reply = exchange.reply.as_ref().unwrap_or(&exchange.request);
        TimedExchange {
            number,
            flow: exchange.flow,
            ordinal: exchange.ordinal,
            name: exchange.name.clone(),
            protocol: exchange.protocol,
            from_ns: time.from_ns,
            elapsed_ns: time.elapsed_ns,
            packets: [time.first_packet, reply.last_packet],
            has_opening: time.has_opening,
            parts: time.parts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
            bursts: Vec::new(),
            closed_by_server: false,
        }
    }

    fn time(part: Part, elapsed_ns: u64) -> ExchangeTime {
        let mut parts = Division::default();
        parts.add(part, elapsed_ns);
        ExchangeTime {
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
            tail.exchange(&exchange(0, ordinal), Some(time(Part::Server, *ns)));
        }
        tail
    }

    #[test]
    fn numbers_count_the_calls_of_all_connections_in_the_order_in_which_they_began() {
        let mut tail = Tail::new(3);
        tail.opened(7);
        tail.opened(8);
        // Two calls on one connection, between them one on another; they end in another order.
        [7, 8, 7]
            .into_iter()
            .for_each(|flow| tail.call_started(flow));
        for (flow, ordinal, ns) in [(7, 1, 10), (8, 0, 30), (7, 0, 20)] {
            tail.exchange(&exchange(flow, ordinal), Some(time(Part::Server, ns)));
        }
        let found: Vec<_> = tail
            .slowest()
            .iter()
            .map(|one| (one.number, one.elapsed_ns))
            .collect();
        assert_eq!(found, [(2, 30), (1, 20), (3, 10)]);
    }

    #[test]
    fn calls_without_a_whole_reply_have_numbers_and_are_not_counted() {
        let mut tail = Tail::new(1);
        tail.opened(0);
        (0..2).for_each(|_| tail.call_started(0));
        tail.exchange(&exchange(0, 0), None);
        tail.exchange(&exchange(0, 1), Some(time(Part::Server, 5)));
        assert_eq!((tail.count(), tail.slowest()[0].number), (1, 2));
    }

    #[test]
    fn memory_does_not_grow_with_calls_that_are_never_reported() {
        let mut tail = Tail::new(1);
        tail.opened(0);
        (0..10 * NUMBERS_MAX).for_each(|_| tail.call_started(0));
        assert_eq!(
            tail.numbers.get(0).map(|numbers| numbers.open.len()),
            Some(NUMBERS_MAX)
        );
        tail.closed(0);
        assert!(tail.numbers.get(0).is_none());
    }

    #[test]
    fn only_the_slowest_are_kept_and_the_earlier_of_equal_ones() {
        let found: Vec<_> = tail(3, &[4, 9, 1, 9, 4, 2])
            .slowest()
            .iter()
            .map(|one| (one.number, one.elapsed_ns))
            .collect();
        assert_eq!(found, [(2, 9), (4, 9), (1, 4)]);
    }
}
