//! The connections of one group in one thread: which are open, which have
//! room for a call, and when to try again after failures.

use std::collections::VecDeque;

use crate::call::clock::UNSET;
use crate::call::clock::now_ns;
use crate::connection::session_io::Connection;

/// Connections that may be in their handshake at one time.
// More SYNs than the server's accept queue holds are dropped, and each costs its connection a
// second (initial RTO, RFC 6298 section 2.1).
const HANDSHAKES_MAX: usize = 256;

/// The pause after the second failure in a row; each further one is twice as long, up to the
/// plan's longest.
const FIRST_PAUSE_NS: u64 = 1_000_000;

/// A slab of connections; a slot is free for reuse once its connection is removed.
pub(crate) struct Connections {
    slots: Vec<Option<Connection>>,
    vacant: Vec<u32>,
    /// Slots with room for a call, each once, longest idle first.
    // A queue and not a stack: calls then go round all connections. A stack would use a few and
    // leave the others idle until the server ends them.
    with_room: VecDeque<u32>,
    handshakes: usize,
    /// No attempt before this time; 0: at once.
    retry_at: u64,
    /// Pause after the last failure; 0: the last connection answered.
    retry_ns: u64,
    /// The longest pause; 0: none.
    retry_ns_max: u64,
    /// Attempts and connections that ended without an answer.
    pub(crate) failed: u64,
    /// Of all pauses so far.
    pub(crate) paused_ns: u64,
}

impl Connections {
    /// None yet; pauses after failures in a row are at most that long.
    pub(crate) fn new(retry_ns_max: u64) -> Connections {
        Connections {
            slots: Vec::new(),
            vacant: Vec::new(),
            with_room: VecDeque::new(),
            handshakes: 0,
            retry_at: 0,
            retry_ns: 0,
            retry_ns_max,
            failed: 0,
            paused_ns: 0,
        }
    }

    /// Drops all of them, and with them their sockets; what was counted stays.
    pub(crate) fn clear(&mut self) {
        self.slots.clear();
        self.vacant.clear();
        self.with_room.clear();
        self.handshakes = 0;
    }

    #[inline]
    pub(crate) fn get(&mut self, slot: u32) -> Option<&mut Connection> {
        self.slots[slot as usize].as_mut()
    }

    /// How many there are.
    pub(crate) fn open(&self) -> usize {
        self.slots.len() - self.vacant.len()
    }

    /// The slot of the next connection.
    pub(crate) fn vacancy(&mut self) -> u32 {
        self.vacant.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() as u32 - 1
        })
    }

    /// Takes a connection in its handshake.
    pub(crate) fn insert(&mut self, slot: u32, connection: Connection) {
        self.slots[slot as usize] = Some(connection);
        self.handshakes += 1;
    }

    /// A handshake is over.
    pub(crate) fn established(&mut self) {
        self.handshakes = self.handshakes.saturating_sub(1);
    }

    /// Drops a connection, and with it its socket.
    pub(crate) fn remove(&mut self, slot: u32) {
        let Some(connection) = self.slots[slot as usize].take() else {
            return;
        };
        // It ended within its handshake, so it still counts as one.
        if !connection.established {
            self.established();
        }
        if connection.served {
            self.retry_ns = 0;
        } else {
            self.failed += 1;
            self.back_off();
        }
        if connection.listed {
            // Linear, but connections end seldom. A slot that stayed listed would be listed a
            // second time by the next connection in it.
            self.with_room.retain(|listed| *listed != slot);
        }
        self.vacant.push(slot);
    }

    /// Lists a connection with room for a call.
    #[inline]
    pub(crate) fn list(&mut self, slot: u32) {
        if let Some(connection) = &mut self.slots[slot as usize]
            && !connection.listed
        {
            connection.listed = true;
            self.with_room.push_back(slot);
        }
    }

    /// Takes the first of the list.
    #[inline]
    pub(crate) fn next_with_room(&mut self) -> Option<u32> {
        let slot = self.with_room.pop_front()?;
        if let Some(connection) = &mut self.slots[slot as usize] {
            connection.listed = false;
        }
        Some(slot)
    }

    /// The next attempt to connect waits a little longer than the last. One
    /// failure is not an outage: only a second one in a row makes calls wait that
    /// had no part in it.
    pub(crate) fn back_off(&mut self) {
        let in_a_row = self.retry_ns > 0;
        // The longest pause is how late a service that has come back is noticed.
        let doubled = match in_a_row {
            true => (self.retry_ns * 2).max(FIRST_PAUSE_NS),
            false => 0,
        };
        // Above 0 also without a pause: it states that the last connection failed.
        self.retry_ns = doubled.min(self.retry_ns_max).max(1);
        if in_a_row && self.retry_ns_max > 0 {
            let now = now_ns();
            let end = now + self.retry_ns;
            // Connections may fail within a pause, which then lasts longer.
            self.paused_ns += end.saturating_sub(self.retry_at.max(now));
            self.retry_at = end;
        }
    }

    /// True when another attempt may be made now.
    pub(crate) fn may_connect(&self) -> bool {
        // A flag and not a comparison with the clock: this is asked on every turn.
        self.retry_at == 0 && self.handshakes < HANDSHAKES_MAX
    }

    /// True when the next attempt, which no pause delays, must wait for a call: a port that
    /// refuses would otherwise be tried all the time.
    pub(crate) fn awaits_call(&self) -> bool {
        self.retry_ns_max == 0 && self.retry_ns > 0
    }

    /// The next attempt is made in the next turn of the thread, or a port that refuses at once
    /// would keep it in this one.
    pub(crate) fn rest(&mut self) {
        self.retry_at = self.retry_at.max(1);
    }

    /// Ends a pause that is over at `now`.
    pub(crate) fn end_pause(&mut self, now: u64) {
        if now >= self.retry_at {
            self.retry_at = 0;
        }
    }

    /// When the pause ends.
    pub(crate) fn next_due(&self) -> u64 {
        match self.retry_at {
            0 => UNSET,
            at => at,
        }
    }

    /// Every connection.
    pub(crate) fn slots(&self) -> Vec<u32> {
        let slots = self.slots.iter().enumerate();
        slots
            .filter(|(_, connection)| connection.is_some())
            .map(|(slot, _)| slot as u32)
            .collect()
    }

    /// Nothing more is begun on any of them; returns those on which nothing is
    /// under way.
    pub(crate) fn retire(&mut self) -> Vec<u32> {
        let mut idle = Vec::new();
        for (slot, connection) in self.slots.iter_mut().enumerate() {
            let Some(connection) = connection else {
                continue;
            };
            connection.retired = true;
            if connection.in_flight == 0 {
                idle.push(slot as u32);
            }
        }
        idle
    }

    /// Slots whose handshake has taken longer than `limit_ns`, or whose peer has sent nothing for
    /// that time without which no call may begin.
    pub(crate) fn list_stuck(&self, now: u64, limit_ns: u64) -> Vec<u32> {
        let stuck = |c: &Connection| !c.is_usable() && now.saturating_sub(c.started) > limit_ns;
        let slots = self.slots.iter().enumerate();
        slots
            .filter(|(_, c)| c.as_ref().is_some_and(stuck))
            .map(|(slot, _)| slot as u32)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use wirelab_wire::http1::{Http1, Options};

    use super::*;
    use crate::connection::any_session::AnySession;
    use crate::connection::socket::{Socket, SocketOptions};
    use crate::plan::target::Target;

    fn connection(listener: &TcpListener, started: u64) -> Connection {
        let target = Target::Tcp(listener.local_addr().unwrap());
        let socket = Socket::connect(&target, SocketOptions::default()).unwrap();
        let session = AnySession::Http1(Http1::new(Options::default()).unwrap());
        Connection::new(socket, None, session, started, false)
    }

    fn of(count: u64) -> (TcpListener, Connections) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut connections = Connections::new(4_000_000);
        for started in 0..count {
            let slot = connections.vacancy();
            connections.insert(slot, connection(&listener, started));
        }
        (listener, connections)
    }

    #[test]
    fn a_connection_is_listed_once_and_not_after_it_is_gone() {
        let (_listener, mut connections) = of(3);
        for slot in [0, 1, 1, 2, 0] {
            connections.list(slot);
        }
        connections.remove(1);
        assert_eq!(connections.next_with_room(), Some(0));
        connections.list(0);
        assert_eq!(connections.next_with_room(), Some(2));
        assert_eq!(connections.next_with_room(), Some(0));
        assert_eq!(connections.next_with_room(), None);
    }

    #[test]
    fn slots_are_used_again() {
        let (listener, mut connections) = of(3);
        connections.remove(1);
        assert_eq!(connections.open(), 2);
        let slot = connections.vacancy();
        connections.insert(slot, connection(&listener, 0));
        assert_eq!((slot, connections.open()), (1, 3));
    }

    #[test]
    fn only_failures_in_a_row_make_the_next_attempt_wait() {
        let (_listener, mut connections) = of(4);
        connections.remove(0);
        assert!(connections.may_connect());
        // A connection that answered ends the row of failures.
        connections.get(1).unwrap().served = true;
        connections.remove(1);
        connections.remove(2);
        assert!(connections.may_connect());
        connections.remove(3);
        assert!(!connections.may_connect());
        let due = connections.next_due();
        connections.end_pause(due - 1);
        assert!(!connections.may_connect());
        connections.end_pause(due);
        assert!(connections.may_connect());
    }

    #[test]
    fn pauses_double_up_to_the_longest_and_are_added_up() {
        let mut connections = Connections::new(4_000_000);
        let mut pauses = Vec::new();
        for _ in 0..5 {
            let before = connections.paused_ns;
            connections.back_off();
            pauses.push((connections.paused_ns - before) / 1_000_000);
            connections.end_pause(UNSET);
        }
        assert_eq!(pauses, [0, 1, 2, 4, 4]);
        let mut at_once = Connections::new(0);
        for _ in 0..5 {
            at_once.back_off();
        }
        assert!(at_once.may_connect() && at_once.awaits_call());
        assert_eq!(at_once.paused_ns, 0);
    }

    #[test]
    fn handshakes_are_bounded_and_those_that_take_too_long_are_found() {
        let (_listener, mut connections) = of(HANDSHAKES_MAX as u64);
        assert!(!connections.may_connect());
        connections.get(0).unwrap().established = true;
        connections.established();
        assert!(connections.may_connect());
        assert_eq!(connections.list_stuck(103, 100), [1, 2]);
    }
}
