//! The slowest exchanges, as the document has them.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wirelab_contract::ranks::RESOLUTION;

use super::Elapsed;
use crate::diagnosis::waits::{Division, ExchangeSum, Tail, TimedExchange};
use crate::protocol::exchange::Protocol;

/// The slowest exchanges, and how they differ from others.
///
/// An exchange lasts from its request's first byte to its reply's last one. That of a connection
/// which the client opened for it begins with the opening: it asked sooner after that than the
/// opening had taken. Exchanges without a whole reply are left out.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Slowest {
    /// Of how many these are.
    pub of: u64,
    /// At most the number that was asked for, the slowest first.
    pub list: Vec<SlowExchange>,
    /// The slowest hundredth next to those around the median; null with fewer than 100.
    pub compared: Option<TailComparison>,
}

/// One of the slowest exchanges.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SlowExchange {
    /// Its number over all connections, from 1 in the order of first bytes, which the option
    /// `--timeline` takes.
    pub number: u64,
    /// Its connection.
    pub flow: u32,
    /// Its number there, from 0.
    pub exchange: u64,
    /// Its name.
    pub name: String,
    /// What is spoken.
    pub protocol: Protocol,
    /// When it began, since the capture's first packet, milliseconds.
    pub at_ms: f64,
    /// It begins with the opening of its connection.
    pub has_opening: bool,
    /// Its first packet and its last; between them may be packets of other connections.
    pub packets: [u64; 2],
    /// How long it took, divided.
    pub time: Elapsed,
}

/// Where the time of slow exchanges went, and that of usual ones.
///
/// Exchanges are added up in bins by how long they took. Where only a part of a bin is meant, its
/// mean counts.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TailComparison {
    /// The slowest hundredth, rounded up.
    pub slowest: Elapsed,
    /// The tenth in the middle.
    pub median: Elapsed,
    /// The times of one bin differ by less than this share.
    pub resolution: f64,
}

impl Slowest {
    /// `first_at_ns`: when the first packet was captured.
    pub(super) fn new(tail: &Tail, first_at_ns: u64) -> Slowest {
        let list = tail.slowest().iter();
        Slowest {
            of: tail.count(),
            list: list.map(|one| slow_exchange(one, first_at_ns)).collect(),
            compared: tail.comparison().map(|(slowest, median)| TailComparison {
                slowest: Elapsed::from(&slowest),
                median: Elapsed::from(&median),
                resolution: RESOLUTION,
            }),
        }
    }
}

impl From<&ExchangeSum> for Elapsed {
    fn from(sum: &ExchangeSum) -> Elapsed {
        Elapsed::new(sum.count, sum.total(), &Division(sum.parts))
    }
}

fn slow_exchange(one: &TimedExchange, first_at_ns: u64) -> SlowExchange {
    SlowExchange {
        number: one.number,
        flow: one.flow,
        exchange: one.ordinal,
        name: one.name.to_string(),
        protocol: one.protocol,
        at_ms: one.from_ns.saturating_sub(first_at_ns) as f64 / 1e6,
        has_opening: one.has_opening,
        packets: one.packets,
        time: Elapsed::new(1, one.elapsed_ns, &one.parts),
    }
}
