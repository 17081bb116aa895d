//! Where each call's time went: the engine's timestamps compared with the packets'.
//!
//! The engine logs when each call was intended, sent and done; the capture shows
//! when its packets passed. [`Reconciler`] reads both at once, each in its own
//! order, as far as the other has come. A call is the exchange with its number on
//! the connection from its port; where the capture lacks requests, and numbers say
//! nothing, it is the only one on that port which can have been that exchange by
//! its times. What has no counterpart is counted.
//!
//! Memory is bounded: the number of those that wait for their counterparts has a limit.

pub(super) mod document;
mod flows;
mod log;
mod pairs;
mod phases;
mod sums;
#[cfg(test)]
mod tests;

use std::io::Read;

pub use document::*;
pub use log::{CallLog, HEAD, LogError};
pub use phases::Phase;

use crate::diagnosis::Diagnosis;
use crate::flow::event::{
    Closing, Datagram, Direction, FlowId, Fragment, Observer, Opening, Segment,
};
use crate::packet::Packet;
use crate::protocol::exchange::{
    ContinueWait, Ending, Exchange, ExchangeHalf, ExchangeObserver as Listener, Pdu,
};
use crate::protocol::layer::Layer;
use pairs::Pairs;

/// Listens to flows and exchanges on behalf of a diagnosis, and lays the calls of a
/// log next to them.
#[derive(Debug)]
pub struct Reconciler<R> {
    log: CallLog<R>,
    diagnosis: Diagnosis,
    pairs: Pairs,
    /// Until when the log has been read: the latest end of a call, ns.
    read_until: u64,
    is_read: bool,
}

impl<R: Read> Reconciler<R> {
    /// `diagnosis` finds the stalls.
    pub fn new(log: CallLog<R>, diagnosis: Diagnosis) -> Reconciler<R> {
        Reconciler {
            log,
            diagnosis,
            pairs: Pairs::default(),
            read_until: 0,
            is_read: false,
        }
    }

    /// All packets have been reported: reads the rest of the log.
    pub fn finish(mut self) -> (Reconciliation, Diagnosis) {
        self.read(u64::MAX);
        let mut document = self.pairs.document(|number| self.log.name(number));
        document.calls.damaged_lines = self.log.damaged;
        // A log that could not be read to its end is still compared as far as it goes.
        document.calls.error = self.log.error;
        (document, self.diagnosis)
    }

    /// Reads on until a call ended after `now`. Lines of threads that write seldom
    /// may come later than that.
    #[inline]
    fn read(&mut self, now: u64) {
        while self.read_until <= now && !self.is_read {
            match self.log.next() {
                Some(call) => {
                    self.read_until = self.read_until.max(call.done);
                    self.pairs.call(call);
                }
                None => self.is_read = true,
            }
        }
    }
}

impl<R: Read> Observer for Reconciler<R> {
    fn opened(&mut self, flow: FlowId, opening: &Opening) {
        self.pairs.flows.opened(flow, opening);
        self.diagnosis.opened(flow, opening);
    }

    fn clock_stepped(&mut self, packet: u64) {
        self.diagnosis.clock_stepped(packet);
    }

    fn datagram(&mut self, datagram: &Datagram<'_>) {
        self.diagnosis.datagram(datagram);
    }

    fn fragment(&mut self, fragment: &Fragment) {
        self.diagnosis.fragment(fragment);
    }

    fn packet(&mut self, flow: FlowId, direction: Direction, packet: &Packet<'_>) {
        self.diagnosis.packet(flow, direction, packet);
    }

    fn segment(&mut self, flow: FlowId, segment: &Segment) {
        // Both sources advance together, so that memory is bounded by how far they are
        // apart.
        self.read(segment.at_ns);
        self.pairs.segment(flow, segment);
        self.diagnosis.segment(flow, segment);
    }

    fn bytes(&mut self, flow: FlowId, offset: u64, bytes: &[u8], segment: &Segment) {
        self.diagnosis.bytes(flow, offset, bytes, segment);
    }

    fn gap(&mut self, flow: FlowId, direction: Direction, offset: u64, bytes: u64) {
        self.pairs.gap(flow, direction);
        self.diagnosis.gap(flow, direction, offset, bytes);
    }

    fn closed(&mut self, flow: FlowId, at_ns: u64, closing: Closing) {
        self.pairs.flows.closed(flow);
        self.diagnosis.closed(flow, at_ns, closing);
    }
}

impl<R: Read> Listener for Reconciler<R> {
    fn exchange(&mut self, exchange: &Exchange) {
        self.diagnosis.exchange(exchange);
        self.pairs.exchange(exchange, self.diagnosis.attributed());
    }

    fn call_started(&mut self, flow: FlowId, segment: &Segment) {
        self.pairs.call_started(flow);
        self.diagnosis.call_started(flow, segment);
    }

    fn continue_waited(&mut self, flow: FlowId, wait: ContinueWait) {
        self.diagnosis.continue_waited(flow, wait);
    }

    fn call_ended(&mut self, flow: FlowId, ordinal: u64, ending: Ending) {
        self.diagnosis.call_ended(flow, ordinal, ending);
    }

    fn message_unpaired(&mut self, flow: FlowId, half: ExchangeHalf) {
        self.diagnosis.message_unpaired(flow, half);
    }

    fn layer(&mut self, flow: FlowId, layer: Layer, bytes: u32, segment: &Segment) {
        self.diagnosis.layer(flow, layer, bytes, segment);
    }

    fn pdu(&mut self, flow: FlowId, pdu: Pdu, segment: &Segment) {
        if matches!(pdu, Pdu::Tls { .. }) {
            self.pairs.is_encrypted(flow);
        }
        self.diagnosis.pdu(flow, pdu, segment);
    }
}
