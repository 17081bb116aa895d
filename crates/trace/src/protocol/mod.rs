//! Cuts the bytes of both directions into layers, units and exchanges.
//!
//! A [`Protocols`] listens to flows as an observer does and tells an
//! [`Exchanges`] what it finds. Protocols are known by their first bytes
//! (`sniff`), whichever side speaks first; a connection that is seen from its
//! middle, or that the capture has holes in, is taken up again where a head or
//! a frame begins a segment. The state machines for heads, frames, HPACK,
//! chunks, prefixes and messages are those of `wirelab-wire`.
//!
//! Memory is bounded: per connection by the protocol's limits on heads, all in
//! all by [`STATE_BYTES_MAX`]; connections above that are not cut any more.

mod calls;
mod cut;
pub mod exchange;
mod fields;
mod giop;
mod http1;
mod http2;
pub mod layer;
mod pairing;
mod raw;
mod sniff;
mod tls;
mod turns;

use crate::flow::event::{Closing, Direction, FlowId, Opening, Segment};
use crate::flow::map::FlowMap;
use crate::protocol::exchange::{Ending, Exchanges, Protocol};
use crate::protocol::layer::Kind;
use calls::{Call, Calls};
use cut::{Cut, Held};
use giop::Giop;
use http1::{Http1, Next};
use http2::Http2;
use raw::Raw;
use sniff::{ENOUGH, Role, Verdict, sniff};
use tls::Tls;
use turns::Turns;

/// What the state of all connections may take, bytes.
pub const STATE_BYTES_MAX: usize = 256 << 20;

/// Segments without a protocol that are looked at in a connection seen from its middle.
const TRIES_MAX: u32 = 64;

/// What is spoken on a connection.
#[derive(Debug)]
enum Speech {
    /// Not known yet.
    Sought(Sought),
    Http1(Box<Http1>),
    Http2(Box<Http2>),
    Giop(Box<Giop>),
    Raw(Box<Raw>),
    Tls(Box<Tls>),
    Unknown(Turns),
}

/// First bytes that were too few to tell.
#[derive(Debug, Default)]
struct Sought {
    early: Vec<(Segment, Vec<u8>)>,
    tries: u32,
}

/// One connection.
#[derive(Debug)]
struct Conversation {
    flow: FlowId,
    calls: Calls,
    speech: Speech,
    held: [Held; 2],
    /// By direction: the next byte is the first that its side sent in this protocol.
    beginning: [bool; 2],
    /// By direction: bytes handed out so far, gaps among them.
    reached: [u64; 2],
    /// By direction: where its FIN stands.
    fin: [Option<u64>; 2],
    /// By direction: the last segment.
    last: [Option<Segment>; 2],
    weight: usize,
}

/// All connections of a capture.
#[derive(Debug, Default)]
pub struct Protocols {
    flows: FlowMap<Conversation>,
    weight: usize,
}

impl Protocols {
    /// What is spoken on a connection that is open, as far as is known, and how
    /// many calls have begun.
    pub fn of(&self, flow: FlowId) -> (Protocol, u64) {
        self.flows
            .get(flow)
            .map_or((Protocol::Unknown, 0), |conversation| {
                (conversation.calls.protocol, conversation.calls.count())
            })
    }

    /// As [`crate::flow::event::Observer::opened`].
    pub fn opened(&mut self, flow: FlowId, opening: &Opening) {
        self.flows.insert(
            flow,
            Conversation {
                flow,
                calls: Calls::new(flow),
                speech: Speech::Sought(Sought::default()),
                held: Default::default(),
                beginning: [opening.from_syn; 2],
                reached: [0; 2],
                fin: [None; 2],
                last: [None; 2],
                weight: 0,
            },
        );
    }

    /// As [`crate::flow::event::Observer::segment`].
    pub fn segment(&mut self, flow: FlowId, segment: &Segment, listener: &mut impl Exchanges) {
        use crate::packet::Flags;
        let Some(conversation) = self.flows.get_mut(flow) else {
            return;
        };
        let place = segment.direction as usize;
        conversation.last[place] = Some(*segment);
        if segment.flags.has(Flags::FIN) && conversation.fin[place].is_none() {
            conversation.fin[place] = Some(segment.end());
            conversation.end_if_reached(segment.direction, listener);
            conversation.calls.fin(segment, listener);
        }
        if segment.flags.has(Flags::RST) {
            conversation.calls.tell_finished(listener);
        }
    }

    /// As [`crate::flow::event::Observer::bytes`].
    pub fn bytes(
        &mut self,
        flow: FlowId,
        offset: u64,
        bytes: &[u8],
        carrier: &Segment,
        listener: &mut impl Exchanges,
    ) {
        let Some(conversation) = self.flows.get_mut(flow) else {
            return;
        };
        conversation.bytes(offset, bytes, carrier, listener);
        conversation.end_if_reached(carrier.direction, listener);
        let weight = conversation.weigh();
        self.weight += weight;
        self.weight -= conversation.weight;
        conversation.weight = weight;
        if self.weight > STATE_BYTES_MAX {
            conversation.give_up(listener);
            self.weight -= conversation.weight;
            conversation.weight = 0;
        }
    }

    /// As [`crate::flow::event::Observer::gap`].
    pub fn gap(
        &mut self,
        flow: FlowId,
        direction: Direction,
        offset: u64,
        bytes: u64,
        listener: &mut impl Exchanges,
    ) {
        if let Some(conversation) = self.flows.get_mut(flow) {
            conversation.gap(direction, offset, bytes, listener);
            conversation.end_if_reached(direction, listener);
        }
    }

    /// As [`crate::flow::event::Observer::closed`].
    pub fn closed(&mut self, flow: FlowId, closing: Closing, listener: &mut impl Exchanges) {
        if let Some(mut conversation) = self.flows.remove(flow) {
            self.weight -= conversation.weight;
            conversation.closed(closing, listener);
        }
    }
}

impl Conversation {
    fn side(&self, direction: Direction) -> usize {
        usize::from(direction != self.calls.caller)
    }

    fn weigh(&self) -> usize {
        let speech = match &self.speech {
            Speech::Sought(sought) => {
                sought.early.capacity() * size_of::<(Segment, Vec<u8>)>() + ENOUGH
            }
            Speech::Http1(http1) => http1.weight(),
            Speech::Http2(http2) => http2.weight(),
            Speech::Giop(giop) => giop.weight(),
            _ => 0,
        };
        let held: usize = self.held.iter().map(Held::weight).sum();
        speech + held + self.calls.weight()
    }

    fn bytes(
        &mut self,
        offset: u64,
        bytes: &[u8],
        carrier: &Segment,
        listener: &mut impl Exchanges,
    ) {
        self.reached[carrier.direction as usize] = offset + bytes.len() as u64;
        if matches!(self.speech, Speech::Sought(_)) {
            self.seek(offset, bytes, carrier, listener);
        } else {
            self.speak(offset, bytes, carrier, listener);
        }
    }

    /// Messages are missing: a call without a reply may have had one.
    fn is_in_doubt(&self) -> bool {
        match &self.speech {
            Speech::Http1(http1) => http1.pairing.is_in_doubt(),
            Speech::Raw(raw) => raw.pairing.is_in_doubt(),
            Speech::Http2(http2) => http2.is_in_doubt,
            Speech::Giop(giop) => giop.is_in_doubt,
            _ => false,
        }
    }

    /// Hands bytes to the protocol.
    fn speak(
        &mut self,
        offset: u64,
        bytes: &[u8],
        carrier: &Segment,
        listener: &mut impl Exchanges,
    ) {
        let side = self.side(carrier.direction);
        self.beginning[carrier.direction as usize] = false;
        let calls = &mut self.calls;
        let cut = &mut Cut {
            flow: self.flow,
            carrier,
            offset,
            held: &mut self.held[carrier.direction as usize],
            listener,
        };
        match &mut self.speech {
            Speech::Sought(_) => cut.label(Kind::Unknown, bytes.len()),
            Speech::Http1(http1) => {
                if let Next::Switched(used) = http1.take(side, bytes, calls, cut) {
                    // What comes next is the first of another protocol.
                    self.speech = Speech::Sought(Sought::default());
                    self.beginning = [true; 2];
                    if used < bytes.len() {
                        let offset = offset + used as u64;
                        self.seek(offset, &bytes[used..], carrier, listener);
                    }
                }
            }
            Speech::Http2(http2) => http2.take(side, bytes, calls, cut),
            Speech::Giop(giop) => giop.take(side, bytes, calls, cut),
            Speech::Raw(raw) => raw.take(side, bytes, calls, cut),
            Speech::Tls(tls) => tls.take(carrier.direction as usize, bytes, cut),
            Speech::Unknown(turns) => turns.take(side, bytes, calls, cut),
        }
    }

    /// Looks for a protocol in the first bytes of either side.
    fn seek(
        &mut self,
        offset: u64,
        bytes: &[u8],
        carrier: &Segment,
        listener: &mut impl Exchanges,
    ) {
        let Speech::Sought(sought) = &mut self.speech else {
            return;
        };
        let beginning = self.beginning[carrier.direction as usize];
        let own = |piece: &&(Segment, Vec<u8>)| piece.0.direction == carrier.direction;
        let mut first: Vec<u8> = Vec::new();
        let early = sought.early.iter().filter(own);
        early.for_each(|(_, bytes)| first.extend_from_slice(bytes));
        let verdict = if first.is_empty() {
            sniff(bytes, beginning)
        } else {
            first.extend_from_slice(&bytes[..bytes.len().min(ENOUGH)]);
            sniff(&first, beginning)
        };
        match verdict {
            Verdict::More => {
                sought.early.push((*carrier, bytes.to_vec()));
                return;
            }
            Verdict::None if !beginning && sought.tries < TRIES_MAX => {
                // In the middle of something: perhaps the next segment begins with a head.
                sought.tries += 1;
                let early = std::mem::take(&mut sought.early);
                for (carrier, bytes) in &early {
                    let bytes = bytes.len() as u32;
                    listener.layer(self.flow, Kind::Unknown.into(), bytes, carrier);
                }
                let bytes = bytes.len() as u32;
                listener.layer(self.flow, Kind::Unknown.into(), bytes, carrier);
                return;
            }
            _ => {}
        }
        let early = std::mem::take(&mut sought.early);
        self.decide(verdict, carrier.direction);
        for (carrier, bytes) in &early {
            self.speak(carrier.offset, bytes, carrier, listener);
        }
        self.speak(offset, bytes, carrier, listener);
    }

    fn decide(&mut self, verdict: Verdict, speaker: Direction) {
        let Verdict::Is(protocol, role) = verdict else {
            self.speech = Speech::Unknown(Turns::default());
            return;
        };
        self.calls.protocol = protocol;
        self.calls.caller = match role {
            Role::Asks => speaker,
            Role::Answers => speaker.opposite(),
            Role::Either => Direction::Request,
        };
        let caller = self.calls.caller;
        let beginning = [caller, caller.opposite()].map(|side| self.beginning[side as usize]);
        self.speech = match protocol {
            Protocol::Http1 => Speech::Http1(Box::new(Http1::new(beginning))),
            Protocol::Http2 => Speech::Http2(Box::new(Http2::new(beginning))),
            Protocol::Giop => Speech::Giop(Box::new(Giop::new(beginning))),
            Protocol::Raw => Speech::Raw(Box::new(Raw::new(beginning))),
            Protocol::Tls => Speech::Tls(Box::default()),
            Protocol::Unknown => Speech::Unknown(Turns::default()),
        };
    }

    fn gap(
        &mut self,
        direction: Direction,
        offset: u64,
        bytes: u64,
        listener: &mut impl Exchanges,
    ) {
        let place = direction as usize;
        self.reached[place] = offset.saturating_add(bytes);
        self.beginning[place] = false;
        // Whatever follows a gap, or ends before it, was told after a segment.
        let [request, reply] = self.last;
        let Some(last) = request.or(reply) else {
            return;
        };
        let side = self.side(direction);
        let calls = &mut self.calls;
        let held = &mut self.held[place];
        let cut = &mut Cut {
            flow: self.flow,
            carrier: &last,
            offset,
            held,
            listener,
        };
        match &mut self.speech {
            Speech::Sought(sought) => {
                for (carrier, bytes) in sought.early.drain(..) {
                    let bytes = bytes.len() as u32;
                    cut.listener
                        .layer(self.flow, Kind::Unknown.into(), bytes, &carrier);
                }
            }
            Speech::Http1(http1) => http1.gap(side, bytes, calls, cut.listener),
            Speech::Http2(http2) => http2.gap(side, bytes, calls, cut),
            Speech::Giop(giop) => giop.gap(side, bytes, calls, cut),
            Speech::Raw(raw) => raw.gap(side, bytes, calls, cut.listener),
            Speech::Tls(tls) => tls.gap(place, bytes, cut),
            Speech::Unknown(turns) => turns.gap(calls, cut.listener),
        }
    }

    /// A stream is over when its FIN and all before it have come.
    fn end_if_reached(&mut self, direction: Direction, listener: &mut impl Exchanges) {
        let place = direction as usize;
        if self.fin[place].is_none_or(|fin| fin > self.reached[place]) {
            return;
        }
        let side = self.side(direction);
        if let Speech::Http1(http1) = &mut self.speech {
            http1.end_of_stream(side, &mut self.calls, listener);
        }
    }

    fn closed(&mut self, closing: Closing, listener: &mut impl Exchanges) {
        self.drop_waiting(listener);
        let heard = self.last.iter().all(Option::is_some);
        let one_way = heard && matches!(&self.speech, Speech::Raw(raw) if raw.is_one_way());
        let turns = matches!(self.speech, Speech::Unknown(_));
        if !one_way && self.is_in_doubt() {
            self.calls.abandon_unanswered(listener);
        }
        let ending = |call: &Call| match closing {
            _ if one_way && call.request_done => Ending::Framed,
            _ if turns && call.exchange.reply.is_some() => Ending::UntilClose,
            Closing::Orderly | Closing::Reset(_) if heard => Ending::Broken,
            _ => Ending::Unseen,
        };
        self.calls.conclude_all(ending, listener);
        self.calls.tell_finished(listener);
    }

    /// Bytes that wait for others will wait for ever.
    fn drop_waiting(&mut self, listener: &mut impl Exchanges) {
        let kind = match &self.speech {
            Speech::Http2(_) => Kind::H2Other,
            Speech::Giop(_) => Kind::GiopHeaders,
            _ => Kind::Unknown,
        };
        for held in &mut self.held {
            held.drop_as(self.flow, kind, listener);
        }
        if let Speech::Sought(sought) = &mut self.speech {
            for (carrier, bytes) in sought.early.drain(..) {
                let bytes = bytes.len() as u32;
                listener.layer(self.flow, Kind::Unknown.into(), bytes, &carrier);
            }
        }
    }

    /// There is no room for this connection's state.
    fn give_up(&mut self, listener: &mut impl Exchanges) {
        self.drop_waiting(listener);
        self.calls.conclude_all(|_| Ending::Unseen, listener);
        self.calls = Calls::new(self.flow);
        self.held = Default::default();
        self.speech = Speech::Unknown(Turns::default());
    }
}
