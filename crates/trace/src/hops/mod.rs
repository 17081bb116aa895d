//! A proxy seen from both of its sides: the calls of a capture in front of it, laid next to
//! those of a capture behind it.
//!
//! [`HopCollector`] keeps the times of every exchange of one capture; [`compare`] pairs those
//! of two. Both captures have one clock: they were made on one machine.

mod document;
mod pairs;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

pub use document::{HELD_MIN_MS, Held, HeldPlace, HopSide, HopTime, Hops};
pub use pairs::compare;

use crate::flow::event::{Closing, Direction, FlowId, Observer, Opening, Segment};
use crate::protocol::exchange::{Burst, Exchange, ExchangeObserver, Extent};

/// Exchanges of one capture that are kept, about 100 bytes each.
pub const EXCHANGES_MAX: usize = 4_000_000;
/// Bursts of streams that are kept, about 70 bytes each.
const BURSTS_MAX: usize = 1 << 20;
/// Names that distinguish exchanges; those of further ones are taken for the same.
const NAMES_MAX: usize = 4096;

/// Begin and end of a message, nanoseconds since the Unix epoch, and its packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Passage {
    first_ns: u64,
    last_ns: u64,
    first_packet: u64,
    bytes: u64,
}

impl From<&Extent> for Passage {
    fn from(extent: &Extent) -> Self {
        Passage {
            first_ns: extent.first_at_ns,
            last_ns: extent.last_at_ns,
            first_packet: extent.first_packet,
            bytes: extent.message_bytes,
        }
    }
}

/// One call with a whole reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Call {
    name: u32,
    request: Passage,
    reply: Passage,
    /// The place of its bursts, if it is a stream of events.
    stream: Option<usize>,
}

impl Call {
    fn latency_ns(&self) -> u64 {
        self.reply.last_ns.saturating_sub(self.request.first_ns)
    }
}

/// Names of exchanges as numbers, the same in both captures.
#[derive(Debug, Default)]
pub struct Names(HashMap<Box<str>, u32>);

impl Names {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.0.get(name) {
            return *number;
        }
        let number = self.0.len() as u32;
        if self.0.len() < NAMES_MAX {
            self.0.insert(name.into(), number);
        }
        number
    }
}

/// Keeps the exchanges of one side of a proxy.
#[derive(Debug, Default)]
pub struct HopCollector {
    names: Names,
    calls: Vec<Call>,
    /// Of replies that are streams of events, how they came.
    streams: Vec<Vec<Burst>>,
    bursts: usize,
    exchanges: u64,
    connections: u64,
}

impl HopCollector {
    /// Has seen nothing yet. `names` are those of the other side.
    #[must_use]
    pub fn new(names: Names) -> HopCollector {
        HopCollector {
            names,
            ..HopCollector::default()
        }
    }

    fn keep_bursts(&mut self, bursts: &[Burst]) -> Option<usize> {
        self.bursts += bursts.len();
        if bursts.is_empty() || self.bursts > BURSTS_MAX {
            return None;
        }
        self.streams.push(bursts.to_vec());
        Some(self.streams.len() - 1)
    }

    /// Takes the names for the other side.
    pub fn take_names(&mut self) -> Names {
        std::mem::take(&mut self.names)
    }
}

impl Observer for HopCollector {
    fn opened(&mut self, _: FlowId, _: &Opening) {
        self.connections += 1;
    }

    fn segment(&mut self, _: FlowId, _: &Segment) {}
    fn bytes(&mut self, _: FlowId, _: u64, _: &[u8], _: &Segment) {}
    fn gap(&mut self, _: FlowId, _: Direction, _: u64, _: u64) {}
    fn closed(&mut self, _: FlowId, _: u64, _: Closing) {}
}

impl ExchangeObserver for HopCollector {
    fn exchange(&mut self, exchange: &Exchange) {
        self.exchanges += 1;
        let Some(reply) = &exchange.reply else { return };
        if exchange.latency_ns().is_none() || self.calls.len() >= EXCHANGES_MAX {
            return;
        }
        let stream = self.keep_bursts(&exchange.bursts);
        self.calls.push(Call {
            stream,
            name: self.names.number(&exchange.name),
            request: (&exchange.request).into(),
            reply: reply.into(),
        });
    }
}
