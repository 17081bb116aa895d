//! connection-per-call: connections that carried one exchange each, one after the other.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

use crate::diagnosis::occurrence::Occurrence;

/// Pairs of hosts that are followed.
const PAIRS: usize = 1024;
/// Connections of a pair that wait for a second one.
const WAITING: usize = 64;

/// A connection that was closed after one exchange.
#[derive(Debug)]
pub(crate) struct Spent {
    pub(crate) opened_at: u64,
    pub(crate) closed_at: u64,
    pub(crate) occurrence: Occurrence,
}

#[derive(Debug)]
struct Pair {
    first_closed_at: u64,
    last_opened_at: u64,
    waiting: Vec<Occurrence>,
}

/// By client host and server.
#[derive(Debug, Default)]
pub(crate) struct Reuse {
    pairs: HashMap<(IpAddr, SocketAddr), Pair>,
}

impl Reuse {
    /// One more. Returns those that are now known to follow the pattern: one was
    /// opened when another had been closed, and could have been used again. Pools
    /// open their connections side by side.
    pub(crate) fn spent(&mut self, pair: (IpAddr, SocketAddr), spent: Spent) -> Vec<Occurrence> {
        if self.pairs.len() >= PAIRS && !self.pairs.contains_key(&pair) {
            return Vec::new();
        }
        let known = self.pairs.entry(pair).or_insert(Pair {
            first_closed_at: u64::MAX,
            last_opened_at: 0,
            waiting: Vec::new(),
        });
        known.first_closed_at = known.first_closed_at.min(spent.closed_at);
        known.last_opened_at = known.last_opened_at.max(spent.opened_at);
        if known.waiting.len() < WAITING {
            known.waiting.push(spent.occurrence);
        }
        if known.first_closed_at > known.last_opened_at {
            return Vec::new();
        }
        std::mem::take(&mut known.waiting)
    }
}
