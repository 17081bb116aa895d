//! Lookups of names: how long they took, and which connection waited for them.

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

use crate::flow::event::Datagram;
use crate::protocol::dns;

/// Queries without an answer yet, and answers that no connection used yet, at most.
const LOOKUPS_MAX: usize = 4096;
/// A connection that opens later after an answer did not wait for it, ns.
const USED_WITHIN_NS: u64 = 1_000_000_000;
/// Times that are kept for the median.
const TIMES_MAX: usize = 1 << 16;
const SLOWEST: usize = 5;

/// A name that was looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lookup {
    /// The name.
    pub name: String,
    /// When it was asked for first, and the packet of the query: nanoseconds since the epoch.
    pub asked: (u64, u64),
    /// When the answer came, and its packet.
    pub answered: (u64, u64),
}

impl Lookup {
    /// From the first query to the answer, ns.
    pub fn ns(&self) -> u64 {
        self.answered.0.saturating_sub(self.asked.0)
    }
}

/// Lookups of a capture.
#[derive(Debug, Default)]
pub struct NameSums {
    /// Queries, repeated ones too.
    pub queries: u64,
    /// Of those, sent again before an answer came.
    pub repeated: u64,
    /// Answers to queries that were seen.
    pub answered: u64,
    /// Of those, that the name does not exist, or that the server failed.
    pub failed: u64,
    /// Of the first ones, ns.
    pub times: Vec<u64>,
    /// The slowest, the slowest first.
    pub slowest: Vec<Lookup>,
}

type QueryKey = (SocketAddr, u16, String, u16);

/// Follows queries to their answers.
#[derive(Debug, Default)]
pub(crate) struct Names {
    open: HashMap<QueryKey, (u64, u64)>,
    /// In the order of their first query: the oldest is forgotten first.
    order: VecDeque<QueryKey>,
    answers: VecDeque<(IpAddr, Vec<IpAddr>, Lookup)>,
    sums: NameSums,
}

impl Names {
    pub(crate) fn take(&mut self, datagram: &Datagram<'_>) {
        let Some(message) = dns::parse(datagram.payload) else {
            return;
        };
        let at = (datagram.at_ns, datagram.packet);
        if message.is_answer {
            self.answer(datagram.destination, message, at);
        } else {
            self.query(
                (datagram.source, message.id, message.name, message.kind),
                at,
            );
        }
    }

    fn query(&mut self, key: QueryKey, at: (u64, u64)) {
        self.sums.queries += 1;
        if self.open.contains_key(&key) {
            self.sums.repeated += 1;
            return;
        }
        if self.open.len() >= LOOKUPS_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.open.remove(&oldest);
        }
        self.order.push_back(key.clone());
        self.open.insert(key, at);
    }

    fn answer(&mut self, client: SocketAddr, message: dns::Message, at: (u64, u64)) {
        let key = (client, message.id, message.name, message.kind);
        let Some(asked) = self.open.remove(&key) else {
            return;
        };
        self.order.retain(|open| *open != key);
        let lookup = Lookup {
            name: key.2,
            asked,
            answered: at,
        };
        self.sums.add(&lookup, message.code != 0);
        if self.answers.len() >= LOOKUPS_MAX {
            self.answers.pop_front();
        }
        self.answers
            .push_back((client.ip(), message.addresses, lookup));
    }

    /// The lookup that a connection waited for, which opens at `at_ns`; for the first one alone.
    pub(crate) fn used_by(&mut self, client: IpAddr, server: IpAddr, at_ns: u64) -> Option<Lookup> {
        let place = self
            .answers
            .iter()
            .rposition(|(asker, addresses, lookup)| {
                // Resolvers on the same host ask for others.
                (*asker == client || asker.is_loopback() || client.is_loopback())
                    && addresses.contains(&server)
                    && lookup.answered.0 <= at_ns
                    && at_ns - lookup.answered.0 <= USED_WITHIN_NS
            })?;
        self.answers.remove(place).map(|(_, _, lookup)| lookup)
    }

    pub(crate) fn sums(self) -> NameSums {
        self.sums
    }
}

impl NameSums {
    fn add(&mut self, lookup: &Lookup, failed: bool) {
        self.answered += 1;
        self.failed += u64::from(failed);
        if self.times.len() < TIMES_MAX {
            self.times.push(lookup.ns());
        }
        let place = self
            .slowest
            .partition_point(|other| other.ns() >= lookup.ns());
        if place < SLOWEST {
            self.slowest.insert(place, lookup.clone());
            self.slowest.truncate(SLOWEST);
        }
    }
}
