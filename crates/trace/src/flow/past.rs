//! Connections that were reported as closed: what comes of them later opens no other one.
//!
//! A FIN without an answer is sent again for minutes (RFC 9293 section 3.8.1 leaves the last
//! pause to its sender: 64 s and 120 s are usual), and a host that has forgotten a connection
//! answers whatever comes with RST.

use std::collections::{HashMap, VecDeque};

use super::connection::Connection;
use super::key::{BuildKeyHasher, Key, Side};
use crate::packet::Packet;

/// Connections that are remembered, the last ones; about 10 MB.
const PLACES: usize = 1 << 14;

/// The last connections that were reported as closed, by their ends.
#[derive(Default)]
pub(super) struct Past {
    by_key: HashMap<Key, Box<Connection>, BuildKeyHasher>,
    /// In the order of their reports; some are forgotten already.
    order: VecDeque<(Key, u32)>,
}

impl Past {
    /// A connection was reported as closed.
    pub(super) fn add(&mut self, connection: Connection) {
        let key = connection.key();
        self.order.push_back((key, connection.id()));
        self.by_key.insert(key, Box::new(connection));
        if self.order.len() > PLACES
            && let Some((key, id)) = self.order.pop_front()
            && self.by_key.get(&key).is_some_and(|known| known.id() == id)
        {
            self.by_key.remove(&key);
        }
    }

    /// The connection that a late packet belongs to. A packet of another one with the same ends
    /// ends the memory of it.
    #[inline]
    pub(super) fn find(
        &mut self,
        key: Key,
        side: Side,
        packet: &Packet<'_>,
    ) -> Option<&mut Connection> {
        if self.by_key.is_empty() {
            return None;
        }
        let is_late = self.by_key.get(&key)?.has_sent(packet, side);
        if !is_late {
            self.by_key.remove(&key);
        }
        self.by_key.get_mut(&key).map(|known| &mut **known)
    }
}
