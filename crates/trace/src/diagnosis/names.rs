//! Lookups of names: how long they took, and which connection waited for them.
//!
//! A resolver asks for both kinds of addresses (A and AAAA), tries the names of its search
//! list one after the other, asks again over TCP where an answer was cut, and asks both again
//! where one of them was not answered. All of these together are one lookup to the
//! connection that waited for them.

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
/// A resolver gives up a query so long after it was sent the last time, ns (resolv.conf(5):
/// 5 s, and what a busy machine adds).
const GIVEN_UP_WITHIN_NS: u64 = 6_000_000_000;
/// A resolver asks the next question within this after the last answer, ns.
const NEXT_WITHIN_NS: u64 = 20_000_000;
/// No name server is further away, ns.
const ROUND_TRIP_MAX_NS: u64 = 100_000_000;
/// Times that are kept for the median.
const TIMES_MAX: usize = 1 << 16;
/// Hosts whose lookups are added up.
const ASKERS_MAX: usize = 4096;
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
    /// Time of lookups that no connection waited for, each moment once per host, ns.
    pub unused_ns: u64,
}

type QueryKey = (SocketAddr, u16, String, u16);

/// A query without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Open {
    asked: (u64, u64),
    /// When it was sent again, the last time, and the packet.
    repeated: Option<(u64, u64)>,
}

/// An answer that a connection may use.
#[derive(Debug)]
struct Answer {
    asker: IpAddr,
    addresses: Vec<IpAddr>,
    lookup: Lookup,
}

impl Answer {
    /// The resolver asked this together with `lookup`, before or behind it.
    fn belongs_to(&self, asker: IpAddr, lookup: &Lookup) -> bool {
        let own = &self.lookup;
        // Of another name only where this one had no address: the next of a search list.
        let is_related = own.name == lookup.name
            || self.addresses.is_empty() && have_common_base(&own.name, &lookup.name);
        self.asker == asker
            && is_related
            && own.asked.0 <= next_until(lookup)
            && lookup.asked.0 <= next_until(own)
    }
}

/// When the next question of the same lookup must have been asked, ns: over TCP it comes a round
/// trip later, which the answer took, too.
fn next_until(lookup: &Lookup) -> u64 {
    let within = NEXT_WITHIN_NS + lookup.ns().min(ROUND_TRIP_MAX_NS);
    lookup.answered.0.saturating_add(within)
}

/// Two names of one search list begin with the same label.
fn have_common_base(one: &str, other: &str) -> bool {
    one.split('.').next() == other.split('.').next()
}

/// Follows queries to their answers.
#[derive(Debug, Default)]
pub(crate) struct Names {
    open: HashMap<QueryKey, Open>,
    /// In the order of their first query, answered ones among them: the oldest is
    /// forgotten first.
    order: VecDeque<(QueryKey, (u64, u64))>,
    answers: VecDeque<Answer>,
    /// Until when the lookups of a host are added up, ns.
    added_until: HashMap<IpAddr, u64>,
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
        if let Some(open) = self.open.get_mut(&key) {
            open.repeated = Some(at);
            self.sums.repeated += 1;
            return;
        }
        if self.order.len() >= QUERIES_MAX
            && let Some((oldest, asked)) = self.order.pop_front()
            && self.open.get(&oldest).map(|open| open.asked) == Some(asked)
        {
            self.open.remove(&oldest);
        }
        self.order.push_back((key.clone(), at));
        let open = Open {
            asked: at,
            repeated: None,
        };
        self.open.insert(key, open);
    }

    fn answer(&mut self, client: SocketAddr, message: dns::Message, at: (u64, u64)) {
        let key = (client, message.id, message.name, message.kind);
        let Some(open) = self.open.remove(&key) else {
            return;
        };
        let lookup = Lookup {
            name: key.2,
            asked: open.asked,
            answered: at,
        };
        self.sums.add(&lookup, message.code != 0);
        if self.answers.len() >= ANSWERS_MAX
            && let Some(unused) = self.answers.pop_front()
        {
            self.add_unused(&unused);
        }
        self.answers.push_back(Answer {
            asker: client.ip(),
            addresses: message.addresses,
            lookup,
        });
    }

    /// The lookup that a connection waited for, which opens at `at_ns`; for the first one alone.
    pub(crate) fn take_lookup(
        &mut self,
        client: IpAddr,
        server: IpAddr,
        at_ns: u64,
    ) -> Option<Lookup> {
        let place = self.answers.iter().rposition(|answer| {
            // Resolvers on the same host ask for others.
            (answer.asker == client || answer.asker.is_loopback() || client.is_loopback())
                && answer.addresses.contains(&server)
                && answer.lookup.answered.0 <= at_ns
        })?;
        let found = &self.answers[place];
        let (asker, mut lookup) = (found.asker, found.lookup.clone());
        let mut used = vec![place];
        // Each round may join some that reach the next ones; a search list has six names.
        while self.join(asker, &mut lookup, &mut used, at_ns) {}
        self.join_open(asker, &mut lookup, at_ns);
        if at_ns - lookup.answered.0 > USED_WITHIN_NS {
            return None;
        }
        used.sort_unstable();
        for place in used.into_iter().rev() {
            self.answers.remove(place);
        }
        let until = self.added_until.entry(asker).or_default();
        *until = lookup.answered.0.max(*until);
        Some(lookup)
    }

    /// Adds answers that belong to a lookup; false where there is none.
    fn join(&self, asker: IpAddr, whole: &mut Lookup, used: &mut Vec<usize>, at_ns: u64) -> bool {
        let before = used.len();
        for (place, answer) in self.answers.iter().enumerate().rev() {
            let is_new = answer.lookup.answered.0 <= at_ns && !used.contains(&place);
            if is_new && answer.belongs_to(asker, whole) {
                whole.asked = whole.asked.min(answer.lookup.asked);
                whole.answered = whole.answered.max(answer.lookup.answered);
                used.push(place);
            }
        }
        used.len() > before
    }

    /// A query of the other kind was sent again and given up: the lookup lasted until then.
    fn join_open(&self, asker: IpAddr, whole: &mut Lookup, at_ns: u64) {
        if at_ns - whole.answered.0 <= NEXT_WITHIN_NS {
            return;
        }
        let given_up = self.open.iter().filter(|((source, _, name, _), open)| {
            let is_near = open.asked.0 <= whole.answered.0.saturating_add(NEXT_WITHIN_NS)
                && whole.asked.0 <= open.asked.0.saturating_add(NEXT_WITHIN_NS);
            source.ip() == asker && *name == whole.name && is_near
        });
        let repeated = given_up.filter_map(|(_, open)| open.repeated).max();
        let last = repeated.filter(|last| at_ns.saturating_sub(last.0) <= GIVEN_UP_WITHIN_NS);
        if let Some((_, packet)) = last {
            whole.answered = (at_ns, packet);
        }
    }

    fn add_unused(&mut self, answer: &Answer) {
        self.add_time(
            answer.asker,
            answer.lookup.asked.0,
            answer.lookup.answered.0,
        );
    }

    fn add_time(&mut self, asker: IpAddr, from: u64, to: u64) {
        if self.added_until.len() >= ASKERS_MAX && !self.added_until.contains_key(&asker) {
            return;
        }
        let until = self.added_until.entry(asker).or_default();
        self.sums.unused_ns += to.saturating_sub(from.max(*until));
        *until = to.max(*until);
    }

    /// All lookups; those without an answer lasted until they were asked for the last time.
    pub(crate) fn sums(mut self) -> NameSums {
        for answer in std::mem::take(&mut self.answers) {
            self.add_unused(&answer);
        }
        let open: Vec<_> = std::mem::take(&mut self.open).into_iter().collect();
        let mut given_up: Vec<_> = open
            .into_iter()
            .filter_map(|(key, open)| Some((open.repeated?.0, open.asked.0, key.0.ip())))
            .collect();
        given_up.sort_unstable();
        for (to, from, asker) in given_up {
            self.add_time(asker, from, to);
        }
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
        assert_eq!(names.take_lookup(client, client, 430_000_000), None);
        assert_eq!(
            names.take_lookup(client, server, 1_500_000_000),
            None,
            "too late"
        );
        let used = names
            .take_lookup(client, server, 430_000_000)
            .expect("the lookup");
        assert_eq!(
            (used.ns(), used.asked.1, used.answered.1),
            (420_000_000, 1, 421)
        );
        assert_eq!(names.take_lookup(client, server, 430_000_000), None, "used");
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
