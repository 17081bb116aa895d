//! Messages inside streams: what each waited for before it came, and what that shows.
//!
//! A message is divided when the packet that completed it is judged: the time since the message
//! before it in its stream, by the parts of its connection ([`WaitRing`]). Memory is bounded: the
//! slowest are kept, all are added up, and of each connection the last ones are remembered, for
//! losses that show only later.

mod blocked;
mod clumps;
mod proxies;
mod sums;

use std::collections::VecDeque;

pub use sums::{MessageGroup, MessageSums, TimedMessage};

use blocked::BlockingLosses;
use clumps::Clumps;
use proxies::{Arrival, Forwarded, Proxies};

use crate::diagnosis::finding::Occurrence;
use crate::diagnosis::stall::Stall;
use crate::diagnosis::waits::{Division, Part, Turns};
use crate::flow::event::{Direction, FlowId, Opening, Segment};
use crate::protocol::exchange::{MessageFraming, StreamBytes, StreamMessage};

/// Messages of one connection that wait to be divided: more than one packet has.
const WAITING_MAX: usize = 4_096;

/// A message that waits to be divided, and its arrival at the proxy that passed it on.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    message: StreamMessage,
    arrival: Option<Arrival>,
}

/// The messages of one connection.
#[derive(Debug, Default)]
pub(crate) struct FlowMessages {
    waiting: VecDeque<Waiting>,
    is_websocket: bool,
    losses: BlockingLosses,
    clumps: Clumps,
    forwarded: Forwarded,
}

impl FlowMessages {
    /// They are of WebSocket.
    pub(crate) fn is_websocket(&self) -> bool {
        self.is_websocket
    }

    /// A frame of HTTP/2 has begun.
    pub(crate) fn note_bytes(&mut self, bytes: StreamBytes) {
        self.losses.note_bytes(bytes);
    }

    /// Bytes were lost, as `segment` shows.
    pub(crate) fn note_loss(&mut self, stall: &Stall, segment: &Segment) {
        self.losses.note_loss(stall, segment);
    }

    /// Something waits to be divided.
    #[inline]
    pub(crate) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty() || self.losses.is_waiting()
    }

    /// The next whose packet came before `packet`.
    fn take_before(&mut self, packet: u64) -> Option<Waiting> {
        let first = self.waiting.front()?;
        if first.message.readable.0 >= packet {
            return None;
        }
        self.waiting.pop_front()
    }
}

/// A connection that messages came on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Carrier<'a> {
    pub(crate) flow: FlowId,
    pub(crate) opening: &'a Opening,
    pub(crate) turns: &'a Turns,
}

/// The messages of all connections.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    pub(crate) sums: MessageSums,
    proxies: Proxies,
    found: Vec<Occurrence>,
}

impl Messages {
    /// Divides the messages of a connection whose packets are judged.
    pub(crate) fn settle(&mut self, carrier: Carrier<'_>, own: &mut FlowMessages) {
        let packet = carrier.turns.unjudged().unwrap_or(u64::MAX);
        while let Some(waiting) = own.take_before(packet) {
            self.divide(carrier, &waiting, own);
        }
        own.losses.settle(carrier.flow, packet, &mut self.found);
    }

    /// A message is complete.
    pub(crate) fn take(
        &mut self,
        carrier: Carrier<'_>,
        message: &StreamMessage,
        own: &mut FlowMessages,
    ) {
        own.is_websocket |= message.framing == MessageFraming::Websocket;
        own.waiting.push_back(Waiting {
            message: *message,
            arrival: self.proxies.take(carrier.flow, message, carrier.opening),
        });
        if own.waiting.len() > WAITING_MAX
            && let Some(oldest) = own.waiting.pop_front()
        {
            self.divide(carrier, &oldest, own);
        }
    }

    /// The connection is over.
    pub(crate) fn finish(&mut self, carrier: Carrier<'_>, mut own: FlowMessages) {
        self.settle(carrier, &mut own);
        own.clumps.finish(carrier.flow, &mut self.found);
        own.forwarded
            .finish(carrier.flow, &self.proxies, &mut self.found);
    }

    /// What was found since the last time.
    pub(crate) fn take_found(&mut self) -> Vec<Occurrence> {
        std::mem::take(&mut self.found)
    }

    fn divide(&mut self, carrier: Carrier<'_>, waiting: &Waiting, own: &mut FlowMessages) {
        let message = &waiting.message;
        own.losses.note_message(message);
        own.clumps.take(message);
        let proxy_ns = waiting
            .arrival
            .map(|arrival| note_forwarded(carrier, message, arrival, own));
        let (from, to) = (message.since_ns.unwrap_or(u64::MAX), message.readable.1);
        let times = (from <= to).then(|| {
            let waits = carrier.turns.ring.waits_between(from, to);
            (to - from, Division::of(waits, to - from))
        });
        self.sums.add(message, times, proxy_ns);
    }
}

/// Notes a message that a proxy passed on. Returns for how long the proxy had it and nothing but
/// itself kept it from passing it on, ns.
fn note_forwarded(
    carrier: Carrier<'_>,
    message: &StreamMessage,
    arrival: Arrival,
    own: &mut FlowMessages,
) -> u64 {
    let ring = &carrier.turns.ring;
    let waits = ring.waits_between(arrival.readable.1, message.readable.1);
    let held = waits.filter(|wait| is_of_sender(wait.part, message.direction));
    let ns = held.map(|wait| wait.ns()).sum();
    own.forwarded.take(message, arrival, ns);
    ns
}

/// Nothing but the sender of a direction kept the connection from going on.
fn is_of_sender(part: Part, direction: Direction) -> bool {
    match direction {
        Direction::Request => matches!(
            part,
            Part::ClientStall | Part::ClientBeforeRequest | Part::ClientBetweenRequests
        ),
        Direction::Reply => matches!(part, Part::Server | Part::ServerStall | Part::ServerUnasked),
    }
}
