//! Lookups of names: how long they took, and which connection waited for them.

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

use crate::flow::event::Datagram;
use crate::protocol::dns;

/// Queries without an answer yet that are kept.
const QUERIES_MAX: usize = 4096;
/// Answers that a connection may still use; each new connection looks through them.
const ANSWERS_MAX: usize = 256;
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
    /// In the order of their first query, answered ones among them: the oldest is
    /// forgotten first.
    order: VecDeque<(QueryKey, (u64, u64))>,
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
        if self.order.len() >= QUERIES_MAX
            && let Some((oldest, asked)) = self.order.pop_front()
            && self.open.get(&oldest) == Some(&asked)
        {
            self.open.remove(&oldest);
        }
        self.order.push_back((key.clone(), at));
        self.open.insert(key, at);
    }

    fn answer(&mut self, client: SocketAddr, message: dns::Message, at: (u64, u64)) {
        let key = (client, message.id, message.name, message.kind);
        let Some(asked) = self.open.remove(&key) else {
            return;
        };
        let lookup = Lookup {
            name: key.2,
            asked,
            answered: at,
        };
        self.sums.add(&lookup, message.code != 0);
        if self.answers.len() >= ANSWERS_MAX {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A message for `name`, type A, with the address in it where it answers.
    fn message(id: u16, name: &str, answers: bool) -> Vec<u8> {
        let [high, low] = id.to_be_bytes();
        let flags = if answers { 0x81 } else { 0x01 };
        let mut bytes = vec![high, low, flags, 0, 0, 1, 0, u8::from(answers), 0, 0, 0, 0];
        bytes.push(name.len() as u8);
        bytes.extend(name.as_bytes());
        bytes.extend(b"\x00\x00\x01\x00\x01");
        if answers {
            bytes.extend(b"\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04\x0a\x00\x00\x07");
        }
        bytes
    }

    fn send(names: &mut Names, at_ms: u64, payload: &[u8], answers: bool) {
        let ends = ["10.0.0.1:40000", "10.0.0.2:53"].map(|end| end.parse().expect("an address"));
        let [source, destination] = if answers { [ends[1], ends[0]] } else { ends };
        names.take(&Datagram {
            packet: at_ms + 1,
            at_ns: at_ms * 1_000_000,
            source,
            destination,
            payload,
        });
    }

    #[test]
    fn a_lookup_belongs_to_the_first_connection_to_its_address() {
        let mut names = Names::default();
        let (query, answer) = (message(7, "shop", false), message(7, "shop", true));
        send(&mut names, 0, &query, false);
        send(&mut names, 100, &query, false);
        send(&mut names, 420, &answer, true);
        let [client, server] = ["10.0.0.1", "10.0.0.7"].map(|ip| ip.parse().expect("an address"));
        assert_eq!(names.used_by(client, client, 430_000_000), None);
        assert_eq!(
            names.used_by(client, server, 1_500_000_000),
            None,
            "too late"
        );
        let used = names
            .used_by(client, server, 430_000_000)
            .expect("the lookup");
        assert_eq!(
            (used.ns(), used.asked.1, used.answered.1),
            (420_000_000, 1, 421)
        );
        assert_eq!(names.used_by(client, server, 430_000_000), None, "used");
        let sums = names.sums();
        assert_eq!((sums.queries, sums.repeated, sums.answered), (2, 1, 1));
    }

    #[test]
    fn queries_without_an_answer_take_bounded_memory() {
        let mut names = Names::default();
        for number in 0..3 * QUERIES_MAX as u64 {
            let query = message(number as u16, &format!("n{number}"), false);
            send(&mut names, number, &query, false);
        }
        assert!(names.open.len() <= QUERIES_MAX && names.order.len() <= QUERIES_MAX);
    }
}
