//! Where all of the time went, as the document has it.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::diagnosis::names::NameSums;
use crate::diagnosis::waits::{Division, LongWait, Part, WaitSums};
use crate::host::{HostDivision, HostPart, HostSums};

/// Where all of the time went. The parts of each sum add up to its `elapsed_ms`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Waits {
    /// All connections, each from its first packet to its last, added up.
    pub connections: Elapsed,
    /// Lookups of names that no connection waited for, each moment once per host, milliseconds.
    #[serde(default)]
    pub lookups_ms: f64,
    /// All exchanges with a whole reply, each from the request's first byte to the reply's
    /// last, added up; the first of a connection with the opening of it.
    pub exchanges: Elapsed,
    /// The longest waits, the longest first.
    pub longest: Vec<Wait>,
    /// The longest waits that cannot be attributed.
    pub unattributed: Vec<Wait>,
    /// What the server's processes did meanwhile; left out without a record of their host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostWaits>,
}

/// What the server's processes did while a reply was waited for.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct HostWaits {
    /// The part `server` of all exchanges.
    pub server: HostElapsed,
    /// The times of the finding `server-think-time`.
    pub think_time: HostElapsed,
    /// Times of the server that the memory had no room for, so that they are not divided.
    pub left_out: u64,
    /// Records that the kernel had no room for; null where the record has no end.
    pub drops: Option<u64>,
}

/// A time of the server, divided. The parts add up to it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct HostElapsed {
    /// All of it, milliseconds.
    pub elapsed_ms: f64,
    /// The same by part, milliseconds; parts without any are left out.
    pub parts_ms: BTreeMap<HostPart, f64>,
}

/// A time, divided.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Elapsed {
    /// Of how many.
    pub count: u64,
    /// All of it, milliseconds.
    pub elapsed_ms: f64,
    /// The same by part, milliseconds; parts without any are left out.
    pub parts_ms: BTreeMap<Part, f64>,
}

/// One wait.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Wait {
    /// Its connection.
    pub flow: u32,
    /// What it was.
    pub part: Part,
    /// Its length, milliseconds.
    pub ms: f64,
    /// The packets before and behind it.
    pub packets: [u64; 2],
}

const NS_PER_MS: f64 = 1e6;

impl From<&HostDivision> for HostElapsed {
    fn from(division: &HostDivision) -> HostElapsed {
        HostElapsed {
            elapsed_ms: division.total() as f64 / NS_PER_MS,
            parts_ms: division
                .parts()
                .map(|(part, ns)| (part, ns as f64 / NS_PER_MS))
                .collect(),
        }
    }
}

impl HostWaits {
    /// `drops`: of the record, as far as it says.
    pub fn new(sums: &HostSums, drops: Option<u64>) -> HostWaits {
        HostWaits {
            server: HostElapsed::from(&sums.account),
            think_time: HostElapsed::from(&sums.think_time),
            left_out: sums.left_out,
            drops,
        }
    }
}

impl HostElapsed {
    /// `running 61 %, blocked by a timer 30 %, …`: the parts with at least 1 %, the longest
    /// first; None without any time.
    pub fn text(&self) -> Option<String> {
        let share = |ms: f64| 100.0 * ms / self.elapsed_ms;
        let mut parts: Vec<(HostPart, f64)> = self
            .parts_ms
            .iter()
            .map(|(part, ms)| (*part, share(*ms)))
            .filter(|(_, share)| *share >= 1.0)
            .collect();
        parts.sort_by(|one, other| other.1.total_cmp(&one.1));
        let texts = parts
            .iter()
            .map(|(part, share)| format!("{} {share:.0} %", part.text()));
        let text = texts.collect::<Vec<_>>().join(", ");
        (!text.is_empty()).then_some(text)
    }
}

impl Elapsed {
    /// Of `count` connections or exchanges.
    pub fn new(count: u64, elapsed_ns: u64, division: &Division) -> Elapsed {
        let parts = Part::ALL.into_iter().zip(division.0);
        Elapsed {
            count,
            elapsed_ms: elapsed_ns as f64 / NS_PER_MS,
            parts_ms: parts
                .filter(|(_, ns)| *ns > 0)
                .map(|(part, ns)| (part, ns as f64 / NS_PER_MS))
                .collect(),
        }
    }
}

pub(super) fn spans(waits: &[(Part, u64, u64)], first_at_ns: u64) -> Vec<Span> {
    let ms = |at: u64| at.saturating_sub(first_at_ns) as f64 / NS_PER_MS;
    let span = |&(part, from, to): &(Part, u64, u64)| Span {
        from_ms: ms(from),
        to_ms: ms(to),
        part,
    };
    waits.iter().map(span).collect()
}

impl From<&LongWait> for Wait {
    fn from(wait: &LongWait) -> Wait {
        Wait {
            flow: wait.flow,
            part: wait.part,
            ms: wait.ns as f64 / NS_PER_MS,
            packets: wait.packets,
        }
    }
}

impl From<&WaitSums> for Waits {
    fn from(sums: &WaitSums) -> Waits {
        Waits {
            connections: Elapsed::new(
                sums.connection_count,
                sums.connections_ns,
                &sums.connections,
            ),
            lookups_ms: 0.0,
            exchanges: Elapsed::new(sums.exchange_count, sums.exchanges_ns, &sums.exchanges),
            longest: sums.longest.iter().map(Wait::from).collect(),
            unattributed: sums.unattributed.iter().map(Wait::from).collect(),
            host: None,
        }
    }
}

/// Bytes and offered windows over time, of all connections together.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Series {
    /// The width of a bin, milliseconds; the first begins with the first TCP packet.
    pub bin_ms: f64,
    /// Payload bytes from clients to servers.
    pub request_bytes: Vec<u64>,
    /// Payload bytes from servers to clients.
    pub reply_bytes: Vec<u64>,
    /// The smallest window that a client offered, bytes; null where none sent a packet.
    pub client_window: Vec<Option<u64>>,
    /// The smallest window that a server offered, bytes.
    pub server_window: Vec<Option<u64>>,
}

/// One wait of a connection.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Span {
    /// Since the capture's first packet, milliseconds.
    pub from_ms: f64,
    /// Since the capture's first packet, milliseconds.
    pub to_ms: f64,
    /// What it was.
    pub part: Part,
}

/// Lookups of names.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Names {
    /// Queries, repeated ones too.
    pub queries: u64,
    /// Of those, sent again before an answer came.
    pub repeated: u64,
    /// Answers to queries that were seen.
    pub answered: u64,
    /// Of those, that name an error.
    pub failed: u64,
    /// Median of the times from query to answer, milliseconds; null without answers.
    pub median_ms: Option<f64>,
    /// The slowest lookups.
    pub slowest: Vec<Lookup>,
}

/// One lookup.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Lookup {
    /// The name.
    pub name: String,
    /// From the first query to the answer, milliseconds.
    pub ms: f64,
    /// The packets of query and answer.
    pub packets: [u64; 2],
}

impl From<NameSums> for Names {
    fn from(mut sums: NameSums) -> Names {
        sums.times.sort_unstable();
        let slowest = sums.slowest.iter().map(|lookup| Lookup {
            name: lookup.name.clone(),
            ms: lookup.ns() as f64 / NS_PER_MS,
            packets: [lookup.asked.1, lookup.answered.1],
        });
        Names {
            queries: sums.queries,
            repeated: sums.repeated,
            answered: sums.answered,
            failed: sums.failed,
            median_ms: sums
                .times
                .get(sums.times.len() / 2)
                .map(|ns| *ns as f64 / NS_PER_MS),
            slowest: slowest.collect(),
        }
    }
}
