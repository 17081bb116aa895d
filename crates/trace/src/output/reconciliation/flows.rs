//! What is known of the capture's connections.

use std::collections::VecDeque;

use super::log::{Call, ConnectionKey};
use super::sums::Durations;
use crate::flow::event::{Direction, FlowId, Opening, Segment};
use crate::flow::map::FlowMap;
use crate::output::quantiles::Quantiles;
use crate::packet::Flags;

const CLOSED_MAX: usize = 1 << 14;

#[derive(Debug, Clone, Copy)]
pub(super) struct KnownFlow {
    /// By the sender: the port that asks where requests go that way.
    ports: [u16; 2],
    /// Now, and before the capture lacked requests: exchanges are reported late.
    numbering: [Numbering; 2],
    started: u64,
    /// The connection of the engine, once a call is known to be on it.
    pub(super) key: Option<ConnectionKey>,
    pub(super) is_answered: bool,
    handshake: HandshakeState,
}

/// From which exchange on numbers count, and what they lack of those of calls; None
/// while it is not known which is which.
#[derive(Debug, Clone, Copy, Default)]
struct Numbering {
    from: u64,
    ordinal_offset: Option<u64>,
}

/// How far the handshake has come; when its last packet passed, ns.
#[derive(Debug, Clone, Copy)]
enum HandshakeState {
    Nothing,
    Asked(u64),
    Answered(u64),
    Over,
}

impl KnownFlow {
    pub(super) fn port(&self, caller: Direction) -> u16 {
        self.ports[caller as usize]
    }

    /// What the number of an exchange lacks of its call's.
    pub(super) fn ordinal_offset(&self, ordinal: u64) -> Option<u64> {
        let of_it = self.numbering.iter().find(|known| ordinal >= known.from)?;
        of_it.ordinal_offset
    }

    pub(super) fn learn(&mut self, ordinal: u64, call: &Call) {
        self.key = Some(call.key);
        let mut numberings = self.numbering.iter_mut();
        if let Some(of_it) = numberings.find(|known| ordinal >= known.from) {
            // Never negative: a capture lacks calls, it does not add any.
            of_it.ordinal_offset = call.ordinal.checked_sub(ordinal);
        }
    }

    pub(super) fn call_started(&mut self) {
        self.started += 1;
    }

    pub(super) fn mark_gap(&mut self) {
        if self.numbering[0].ordinal_offset.is_some() {
            self.numbering[1] = self.numbering[0];
        }
        self.numbering[0] = Numbering {
            from: self.started,
            ordinal_offset: None,
        };
    }
}

#[derive(Debug, Default)]
pub(super) struct Flows {
    flows: FlowMap<KnownFlow>,
    closed: VecDeque<FlowId>,
    to_server: Durations,
    to_client: Durations,
}

impl Flows {
    pub(super) fn opened(&mut self, flow: FlowId, opening: &Opening) {
        let known = KnownFlow {
            ports: [opening.client.port(), opening.server.port()],
            numbering: [Numbering {
                from: 0,
                ordinal_offset: opening.from_syn.then_some(0),
            }; 2],
            started: 0,
            key: None,
            is_answered: false,
            handshake: HandshakeState::Nothing,
        };
        self.flows.insert(flow, known);
    }

    pub(super) fn get(&self, flow: FlowId) -> Option<&KnownFlow> {
        self.flows.get(flow)
    }

    pub(super) fn get_mut(&mut self, flow: FlowId) -> Option<&mut KnownFlow> {
        self.flows.get_mut(flow)
    }

    pub(super) fn segment(&mut self, flow: FlowId, segment: &Segment) {
        let Some(known) = self.flows.get_mut(flow) else {
            return;
        };
        let is_syn = segment.flags.has(Flags::SYN);
        let asks = segment.direction == Direction::Request;
        // Payload of the server, not acknowledgments: those come from its kernel.
        known.is_answered |= !asks && segment.bytes > 0;
        let at = segment.at_ns;
        known.handshake = match (known.handshake, is_syn, asks) {
            (HandshakeState::Over, ..) => return,
            (HandshakeState::Nothing, true, true) => HandshakeState::Asked(at),
            (HandshakeState::Asked(since), true, false) => {
                self.to_server.add(interval_ns(since, at));
                HandshakeState::Answered(at)
            }
            (HandshakeState::Answered(since), false, true) => {
                self.to_client.add(interval_ns(since, at));
                HandshakeState::Over
            }
            // It is not known which of the repeated ones it answers.
            _ => HandshakeState::Over,
        };
    }

    pub(super) fn closed(&mut self, flow: FlowId) {
        self.closed.push_back(flow);
        if self.closed.len() > CLOSED_MAX
            && let Some(oldest) = self.closed.pop_front()
        {
            self.flows.remove(oldest);
        }
    }

    pub(super) fn handshakes(&self) -> [Option<Quantiles>; 2] {
        [&self.to_server, &self.to_client].map(Durations::quantiles)
    }
}

fn interval_ns(since: u64, at: u64) -> i64 {
    at.saturating_sub(since).min(i64::MAX as u64) as i64
}
