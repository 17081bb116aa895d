//! All connections of a capture, in bounded memory.

use std::collections::HashMap;

use super::analysis::Counts;
use super::connection::{Connection, is_opening};
use super::copies::Copies;
use super::event::{Closing, Direction, FlowId, Observer, Opening};
use super::key::{BuildKeyHasher, Key, Side};
use super::past::Past;
use super::reassembly;
use crate::packet::tcp::SynOptions;
use crate::packet::{Flags, Packet};

/// How much is kept in memory at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Connections; beyond, those that ended first are forgotten, then the
    /// longest idle ones.
    pub flows: usize,
    /// Bytes of one direction that came before those they follow.
    pub flow_bytes: usize,
    /// The same of all connections.
    pub bytes: usize,
}

impl Default for Limits {
    /// About 60 MB of connections when all are there, 8 MiB and 64 MiB of waiting bytes.
    fn default() -> Limits {
        Limits {
            flows: 1 << 17,
            flow_bytes: 8 << 20,
            bytes: 64 << 20,
        }
    }
}

/// A connection that ended is kept for late packets as long as its ends keep
/// it in TIME-WAIT (RFC 9293 section 3.6.1; Linux takes 60 s). Then it is reported, and
/// packets that are still later are only counted.
const TIME_WAIT_NS: u64 = 60_000_000_000;

struct Slot {
    connection: Connection,
    links: Links,
    /// Of its first packet ([`Packet::network`]).
    network: u64,
    /// Another connection with the same ends, in another network.
    sibling: u32,
}

/// Networks in which the same ends are distinguished; what is in a further one counts to the first.
const SIBLINGS_MAX: usize = 64;

/// All connections of a capture.
pub struct Flows {
    limits: Limits,
    index: HashMap<Key, u32, BuildKeyHasher>,
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Those in use and those that ended, the longest idle first.
    live: Queue,
    ended: Queue,
    held_bytes: usize,
    next_id: FlowId,
    counts: Counts,
    copies: Copies,
    past: Past,
}

impl Flows {
    /// None yet.
    pub fn new(limits: Limits) -> Flows {
        Flows {
            limits: Limits {
                // Slots have numbers of 32 bits, and u32::MAX ends a list.
                flows: limits.flows.clamp(1, u32::MAX as usize / 2),
                ..limits
            },
            index: HashMap::with_hasher(BuildKeyHasher::default()),
            slots: Vec::new(),
            free: Vec::new(),
            live: Queue::default(),
            ended: Queue::default(),
            held_bytes: 0,
            next_id: 0,
            counts: Counts::default(),
            copies: Copies::default(),
            past: Past::default(),
        }
    }

    /// What was counted so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Takes the next packet of the capture.
    #[inline]
    pub fn packet(&mut self, packet: &Packet<'_>, observer: &mut impl Observer) {
        // By the time of the capture: a file is read faster than it was recorded.
        self.forget_ended(packet.at_ns, observer);
        let (key, side) = Key::of(packet);
        let found = match self.index.get(&key).copied() {
            Some(first) if self.slots[first as usize].network != packet.network => {
                self.find_in_network(first, packet, side)
            }
            found => found,
        };
        let slot = match found {
            Some(slot) if is_opening(packet) && self.is_replaced(slot, packet, side) => {
                self.close(slot, Closing::Replaced, observer);
                self.open(key, side, packet, observer)
            }
            Some(slot) => slot,
            None if self.is_late(key, side, packet, observer) => return,
            // Any other packet opens a connection, because captures begin in the middle of
            // some.
            None => self.open(key, side, packet, observer),
        };
        self.touch(slot);
        let connection = &mut self.slots[slot as usize].connection;
        let sender = connection.sender(side);
        if self.copies.is_copy(packet, sender) {
            connection.note_copy();
            self.counts.copies += 1;
            return;
        }
        let mut memory = reassembly::Memory {
            flow_bytes: self.limits.flow_bytes,
            bytes: self.limits.bytes,
            held: &mut self.held_bytes,
        };
        let was_ended = connection.ended();
        connection.packet(packet, side, &mut memory, &mut self.counts, observer);
        // Only at its end, and where its client tries again: a late packet must not move it back
        // among the live ones.
        if was_ended != connection.ended() {
            let (from, to) = match was_ended {
                true => (&mut self.ended, &mut self.live),
                false => (&mut self.live, &mut self.ended),
            };
            from.remove(&mut self.slots, slot);
            to.push(&mut self.slots, slot);
        }
    }

    /// A SYN begins another connection than the one in this slot, which has the same ends.
    #[cold]
    fn is_replaced(&self, slot: u32, packet: &Packet<'_>, side: Side) -> bool {
        let connection = &self.slots[slot as usize].connection;
        // A copy of its own SYN may come behind a RST.
        connection.is_replaced_by(packet, side) && !self.copies.has(packet, connection.sender(side))
    }

    /// A packet of a connection that was reported as closed. It is counted.
    #[cold]
    fn is_late(
        &mut self,
        key: Key,
        side: Side,
        packet: &Packet<'_>,
        observer: &mut impl Observer,
    ) -> bool {
        let Some(connection) = self.past.find(key, side, packet) else {
            return false;
        };
        if self.copies.is_copy(packet, connection.sender(side)) {
            self.counts.copies += 1;
        } else {
            let segment = connection.take_late(packet, side, &mut self.counts);
            observer.count_late(&segment);
        }
        true
    }

    /// The capture is over: reports the rest of every connection, the oldest first.
    pub fn finish(mut self, observer: &mut impl Observer) -> Counts {
        let slots = self.index.values().flat_map(|first| self.siblings(*first));
        let mut left: Vec<(FlowId, u32)> = slots
            .map(|slot| (self.slots[slot as usize].connection.id(), slot))
            .collect();
        // By number: the order of the index changes from run to run, documents must
        // not.
        left.sort_unstable();
        for (_, slot) in left {
            self.close(slot, Closing::Unseen, observer);
        }
        self.counts
    }

    fn open(
        &mut self,
        key: Key,
        side: Side,
        packet: &Packet<'_>,
        observer: &mut impl Observer,
    ) -> u32 {
        if self.slots.len() - self.free.len() >= self.limits.flows {
            self.make_room(observer);
        }
        // Ids are never reused within 2^32 connections: observers key their state by them.
        let id = self.next_id;
        self.next_id = self.next_id.wrapping_add(1);
        let client = client_of(packet, side);
        let connection = Connection::new(id, key, client, packet, side);
        self.counts.flows += 1;
        self.counts.opened += u64::from(packet.flags.has(Flags::SYN));
        let direction = connection.direction(side);
        observer.opened(id, &describe_opening(packet, direction));
        let entry = Slot {
            connection,
            links: Links::default(),
            network: packet.network,
            sibling: NONE,
        };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = entry;
                slot
            }
            None => {
                self.slots.push(entry);
                (self.slots.len() - 1) as u32
            }
        };
        if let Some(sibling) = self.index.insert(key, slot) {
            self.slots[slot as usize].sibling = sibling;
        }
        self.live.push(&mut self.slots, slot);
        slot
    }

    /// The connections with the ends of one, the newest first.
    fn siblings(&self, first: u32) -> impl Iterator<Item = u32> {
        let behind =
            |slot: &u32| Some(self.slots[*slot as usize].sibling).filter(|slot| *slot != NONE);
        std::iter::successors(Some(first), behind)
    }

    /// The connection of a packet whose ends have one in another network. A gateway takes packets
    /// from one network to another, and some have one network for each direction: there the numbers
    /// go on. Otherwise these are other hosts with the same addresses.
    #[cold]
    fn find_in_network(&self, first: u32, packet: &Packet<'_>, side: Side) -> Option<u32> {
        let slot = |place: u32| &self.slots[place as usize];
        let continues = |place: &u32| slot(*place).connection.continues(packet, side);
        let own = self
            .siblings(first)
            .find(|place| slot(*place).network == packet.network);
        let other = || self.siblings(first).find(continues);
        let found = own.filter(continues).or_else(other).or(own);
        let is_full = || self.siblings(first).count() >= SIBLINGS_MAX;
        found.or_else(|| is_full().then_some(first))
    }

    /// Takes a connection out of the index.
    fn unlink(&mut self, key: Key, slot: u32) {
        let sibling = std::mem::replace(&mut self.slots[slot as usize].sibling, NONE);
        let Some(first) = self.index.remove(&key) else {
            return;
        };
        if first != slot {
            self.index.insert(key, first);
            let before = self
                .siblings(first)
                .find(|place| self.slots[*place as usize].sibling == slot);
            if let Some(before) = before {
                self.slots[before as usize].sibling = sibling;
            }
        } else if sibling != NONE {
            self.index.insert(key, sibling);
        }
    }

    #[inline]
    fn touch(&mut self, slot: u32) {
        let queue = if self.slots[slot as usize].connection.ended() {
            &mut self.ended
        } else {
            &mut self.live
        };
        if !queue.is_last(slot) {
            queue.remove(&mut self.slots, slot);
            queue.push(&mut self.slots, slot);
        }
    }

    #[inline]
    fn forget_ended(&mut self, now_ns: u64, observer: &mut impl Observer) {
        while let Some(slot) = self.ended.first() {
            let last_ns = self.slots[slot as usize].connection.last_at_ns();
            if last_ns.saturating_add(TIME_WAIT_NS) > now_ns {
                break;
            }
            self.forget(slot, observer);
        }
    }

    /// Reports a connection that ended. Late packets are still known as its own.
    fn forget(&mut self, slot: u32, observer: &mut impl Observer) {
        self.close(slot, Closing::Unseen, observer);
        self.past.add(self.slots[slot as usize].connection.clone());
    }

    #[cold]
    fn make_room(&mut self, observer: &mut impl Observer) {
        // Ended connections first: nothing but late duplicates can be lost with them.
        if let Some(slot) = self.ended.first() {
            self.forget(slot, observer);
        } else if let Some(slot) = self.live.first() {
            self.counts.forgotten += 1;
            self.close(slot, Closing::Unseen, observer);
        }
    }

    /// Reports the rest of a connection; `otherwise` is how it ended unless its
    /// packets show how.
    fn close(&mut self, slot: u32, otherwise: Closing, observer: &mut impl Observer) {
        let connection = &mut self.slots[slot as usize].connection;
        let ended = connection.ended();
        connection.finish(&mut self.held_bytes, &mut self.counts, observer);
        let closing = connection.closing().unwrap_or(otherwise);
        match closing {
            Closing::Orderly => self.counts.orderly += 1,
            Closing::Reset(_) => self.counts.reset += 1,
            Closing::Replaced => self.counts.replaced += 1,
            Closing::Unseen => {}
        }
        observer.closed(connection.id(), connection.ended_at_ns(), closing);
        let key = connection.key();
        self.unlink(key, slot);
        let queue = if ended {
            &mut self.ended
        } else {
            &mut self.live
        };
        queue.remove(&mut self.slots, slot);
        self.free.push(slot);
    }
}

/// The side of the client: the sender of the SYN, the receiver of the SYN with ACK, or
/// the side with the higher port.
fn client_of(packet: &Packet<'_>, side: Side) -> Side {
    let flags = packet.flags;
    let from_client = if flags.has(Flags::SYN) {
        !flags.has(Flags::ACK)
    } else {
        // Servers listen on registered ports; ephemeral ones begin at 32768 on Linux
        // and at 49152 by RFC 6335 section 6.
        packet.source.port() >= packet.destination.port()
    };
    if from_client { side } else { side.opposite() }
}

fn describe_opening(packet: &Packet<'_>, direction: Direction) -> Opening {
    let (client, server) = match direction {
        Direction::Request => (packet.source, packet.destination),
        Direction::Reply => (packet.destination, packet.source),
    };
    let from_syn = packet.flags.has(Flags::SYN);
    let mss = from_syn
        .then(|| SynOptions::parse(packet.options).mss)
        .flatten();
    Opening {
        client,
        server,
        at_ns: packet.at_ns,
        from_syn,
        mss: match direction {
            Direction::Request => [mss, None],
            Direction::Reply => [None, mss],
        },
    }
}

const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Links {
    previous: u32,
    next: u32,
}

impl Default for Links {
    fn default() -> Links {
        Links {
            previous: NONE,
            next: NONE,
        }
    }
}

/// Connections in the order of their last packet: a list whose links are in the slots.
#[derive(Debug)]
struct Queue {
    first: u32,
    last: u32,
}

impl Default for Queue {
    fn default() -> Queue {
        Queue {
            first: NONE,
            last: NONE,
        }
    }
}

impl Queue {
    #[inline]
    fn first(&self) -> Option<u32> {
        (self.first != NONE).then_some(self.first)
    }

    #[inline]
    fn is_last(&self, slot: u32) -> bool {
        self.last == slot
    }

    #[inline]
    fn push(&mut self, slots: &mut [Slot], slot: u32) {
        // The links are in the slots: moving a connection to the end of the list
        // allocates nothing, and that happens for every packet.
        slots[slot as usize].links = Links {
            previous: self.last,
            next: NONE,
        };
        match self.last {
            NONE => self.first = slot,
            last => slots[last as usize].links.next = slot,
        }
        self.last = slot;
    }

    #[inline]
    fn remove(&mut self, slots: &mut [Slot], slot: u32) {
        let Links { previous, next } = std::mem::take(&mut slots[slot as usize].links);
        match previous {
            NONE => self.first = next,
            previous => slots[previous as usize].links.next = next,
        }
        match next {
            NONE => self.last = previous,
            next => slots[next as usize].links.previous = previous,
        }
    }
}
