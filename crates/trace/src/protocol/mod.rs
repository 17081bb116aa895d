//! Cuts the bytes of both directions into layers, units and exchanges.
//!
//! [`Protocols`] listens to flows as an observer does and reports what it finds to
//! [`exchange::ExchangeObserver`]. Protocols are known by their first bytes
//! (`detect`), whichever side sends first; a connection that is seen from its
//! middle, or that the capture has holes in, is taken up again where a head or
//! a frame begins a segment. The state machines for heads, frames, HPACK,
//! chunks, prefixes and messages are those of `wirelab-wire`. TLS lies below all of
//! them: what [`tls`] decrypts goes to the same parsers.
//!
//! Memory is bounded: per connection by the protocol's limits on heads, all in
//! all by [`STATE_BYTES_MAX`]; connections above that are not cut any more.

mod body;
mod burst;
mod calls;
mod conversation;
mod cursor;
mod detect;
pub mod dns;
pub mod events;
pub mod exchange;
mod fields;
mod giop;
mod http1;
mod http2;
pub mod layer;
mod messages;
mod pairing;
mod raw;
pub mod tls;
mod turn_names;

use crate::flow::event::{Closing, Direction, FlowId, Opening, Segment};
use crate::flow::map::FlowMap;
use crate::packet::Flags;
use conversation::Conversation;
use cursor::Place;
use exchange::{ExchangeObserver, Protocol};
use tls::counts::TlsCounts;
use tls::keylog::KeyLog;

/// What the state of all connections may take, bytes.
pub const STATE_BYTES_MAX: usize = 256 << 20;

/// All connections of a capture.
#[derive(Debug, Default)]
pub struct Protocols {
    flows: FlowMap<Conversation>,
    state_bytes: usize,
    keys: KeyLog,
    tls: TlsCounts,
}

impl Protocols {
    /// An open connection is TLS.
    pub fn is_tls(&self, flow: FlowId) -> bool {
        let conversation = self.flows.get(flow);
        conversation.is_some_and(|conversation| conversation.tls_report().is_some())
    }

    /// Decrypts TLS with these secrets.
    pub fn with_keys(keys: KeyLog) -> Protocols {
        Protocols {
            keys,
            ..Protocols::default()
        }
    }

    /// As [`crate::flow::event::Observer::secrets`].
    pub fn secrets(&mut self, key_log: &[u8]) {
        self.keys.add(key_log);
    }

    /// How many secrets are known.
    pub fn secrets_known(&self) -> usize {
        self.keys.count()
    }

    /// What became of the TLS connections that are closed.
    pub fn tls(&self) -> &TlsCounts {
        &self.tls
    }

    /// The protocol of an open connection, as far as is known, and how
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
        self.flows.insert(flow, Conversation::new(flow, opening));
    }

    /// As [`crate::flow::event::Observer::segment`].
    pub fn segment(
        &mut self,
        flow: FlowId,
        segment: &Segment,
        listener: &mut impl ExchangeObserver,
    ) {
        let Some(conversation) = self.flows.get_mut(flow) else {
            return;
        };
        let place = segment.direction as usize;
        conversation.last[place] = Some(*segment);
        if segment.flags.has(Flags::FIN) && conversation.fin[place].is_none() {
            conversation.fin[place] = Some(segment.end());
            // The FIN may be captured before the last bytes: a stream is over when both
            // have come.
            conversation.end_if_reached(segment.direction, listener);
            conversation.calls.fin(segment, listener);
        }
        // After a reset no FIN can follow that would set `closed_by_server`.
        if segment.flags.has(Flags::RST) {
            conversation.calls.report_finished(listener);
        }
    }

    /// As [`crate::flow::event::Observer::bytes`].
    pub fn bytes(
        &mut self,
        flow: FlowId,
        offset: u64,
        bytes: &[u8],
        segment: &Segment,
        listener: &mut impl ExchangeObserver,
    ) {
        let Some(conversation) = self.flows.get_mut(flow) else {
            return;
        };
        let place = &Place {
            segment: *segment,
            offset,
            record: None,
        };
        conversation.bytes(place, bytes, &self.keys, listener);
        conversation.end_if_reached(segment.direction, listener);
        // The sum is kept up to date: adding up all connections per packet would be
        // quadratic.
        let state_bytes = conversation.state_bytes();
        self.state_bytes += state_bytes;
        self.state_bytes -= conversation.state_bytes;
        conversation.state_bytes = state_bytes;
        // The connection that grows is the one that is given up; the others keep their
        // parsers.
        if self.state_bytes > STATE_BYTES_MAX {
            conversation.discard_state(listener);
            self.state_bytes -= conversation.state_bytes;
            conversation.state_bytes = 0;
        }
    }

    /// As [`crate::flow::event::Observer::gap`].
    pub fn gap(
        &mut self,
        flow: FlowId,
        direction: Direction,
        offset: u64,
        bytes: u64,
        listener: &mut impl ExchangeObserver,
    ) {
        if let Some(conversation) = self.flows.get_mut(flow) {
            conversation.gap(direction, offset, bytes, &self.keys, listener);
            conversation.end_if_reached(direction, listener);
        }
    }

    /// As [`crate::flow::event::Observer::closed`].
    pub fn closed(&mut self, flow: FlowId, closing: Closing, listener: &mut impl ExchangeObserver) {
        if let Some(mut conversation) = self.flows.remove(flow) {
            self.state_bytes -= conversation.state_bytes;
            conversation.closed(closing, listener);
            if let Some(report) = conversation.tls_report() {
                self.tls.add(&report);
            }
        }
    }
}
