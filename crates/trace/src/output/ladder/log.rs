//! The packets that are kept of one connection, and of one exchange.

use std::collections::VecDeque;
use std::ops::RangeInclusive;
use std::rc::Rc;

use crate::flow::event::{Direction, FlowId, Segment, SegmentKind};
use crate::packet::Flags;
use crate::protocol::exchange::Protocol;
use crate::protocol::layer::{Content, Kind, Layer};

/// Packets that are kept from the beginning and from the end of an exchange.
const END_PACKETS_MAX: usize = 128;
const SET_UP_MAX: usize = 32;

/// Packets of a connection since its last exchange began, or the last ones of these.
#[derive(Debug, Default)]
pub(super) struct Log {
    set_up: Vec<Step>,
    head: Vec<Step>,
    tail: VecDeque<Step>,
    omitted: u64,
    started: u64,
    in_flight: u64,
    overlapped: bool,
    /// Complete, waits for the packets up to the next one.
    pub(super) finished: Option<Followed>,
    fins: [bool; 2],
    /// All has been seen that can be of interest, now, or earlier.
    ends: bool,
    over: bool,
}

impl Log {
    pub(super) fn started(&self) -> u64 {
        self.started
    }

    pub(super) fn is_busy(&self) -> bool {
        self.in_flight > 0
    }

    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    pub(super) fn ended_without_overlap(&self) -> bool {
        !self.overlapped && self.in_flight == 0
    }

    pub(super) fn has_just_ended(&self) -> bool {
        self.ends && !self.over
    }

    /// Adds a packet; returns how many more are kept.
    pub(super) fn push(&mut self, step: Step) -> usize {
        if self.over {
            return 0;
        }
        // The acknowledgment of the second FIN, or a RST, is the end.
        self.ends = self.fins == [true; 2] || step.flags.has(Flags::RST);
        self.fins[step.direction as usize] |= step.flags.has(Flags::FIN);
        if self.head.len() < END_PACKETS_MAX {
            self.head.push(step);
            return 1;
        }
        self.tail.push_back(step);
        if self.tail.len() <= END_PACKETS_MAX {
            return 1;
        }
        self.tail.pop_front();
        self.omitted += 1;
        0
    }

    fn steps(&self) -> impl Iterator<Item = &Step> {
        self.head.iter().chain(&self.tail)
    }

    pub(super) fn layer(&mut self, layer: Layer, bytes: u32, packet: u64) {
        // From the end: layers are reported of the newest packets.
        let found = if self.tail.front().is_some_and(|step| step.packet <= packet) {
            self.tail.iter_mut().rfind(|step| step.packet == packet)
        } else {
            self.head.iter_mut().rfind(|step| step.packet == packet)
        };
        if let Some(step) = found {
            step.add(layer, bytes);
        }
    }

    /// An exchange begins with `packet`: what came before it is of no interest
    /// any more where no other is under way. Returns how many were dropped.
    pub(super) fn begin(&mut self, packet: u64) -> usize {
        let is_first = self.started == 0;
        let is_alone = self.in_flight == 0;
        self.started += 1;
        self.in_flight += 1;
        self.overlapped = !is_alone;
        if !is_alone {
            return 0;
        }
        let before = self.head.len() + self.tail.len();
        if is_first {
            let earlier = self.head.iter().filter(|step| step.packet < packet);
            self.set_up = earlier.take(SET_UP_MAX).copied().collect();
        }
        self.head.retain(|step| step.packet >= packet);
        self.tail.retain(|step| step.packet >= packet);
        // `push` uses the tail only when the head is full.
        let room = (END_PACKETS_MAX - self.head.len()).min(self.tail.len());
        self.head.extend(self.tail.drain(..room));
        self.omitted = 0;
        before - self.head.len() - self.tail.len()
    }

    pub(super) fn call_ended(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// The packets of an exchange that was alone, before `packet`; None where
    /// there were too many to keep.
    pub(super) fn sequence(
        &self,
        ordinal: u64,
        packet: u64,
    ) -> Option<impl Iterator<Item = &Step>> {
        let set_up = if ordinal == 0 { &self.set_up[..] } else { &[] };
        let own = self.steps().take_while(move |step| step.packet < packet);
        (self.omitted == 0).then(|| set_up.iter().chain(own))
    }

    /// The packets of an exchange; None where its first ones were dropped.
    pub(super) fn ladder(&self, of: Followed, packets: RangeInclusive<u64>) -> Option<Ladder> {
        let steps = self.steps().filter(|step| packets.contains(&step.packet));
        let steps: Vec<Step> = steps.copied().collect();
        steps.first()?;
        // From the first FIN on, later data included: it belongs to the closing.
        let end = steps.iter().position(Step::is_end);
        let (exchange, tear_down) = steps.split_at(end.unwrap_or(steps.len()));
        Some(Ladder {
            of,
            set_up: self.set_up.clone(),
            exchange: exchange.to_vec(),
            tear_down: tear_down.to_vec(),
            omitted: self.omitted,
        })
    }

    pub(super) fn tear_down(&self) -> Vec<Step> {
        let end = self.steps().skip_while(|step| !step.is_end());
        end.copied().collect()
    }

    /// Nothing of it is of interest any more. Returns how many were dropped.
    pub(super) fn abandon(&mut self) -> usize {
        let kept = self.head.len() + self.tail.len();
        *self = Log {
            over: true,
            started: self.started,
            ..Log::default()
        };
        kept
    }
}

/// Layers of one packet that are distinguished; what is behind them counts to the last.
pub(super) const LAYERS_MAX: usize = 10;

#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) packet: u64,
    pub(super) at_ns: u64,
    pub(super) bytes: u32,
    pub(super) header_bytes: u32,
    pub(super) direction: Direction,
    pub(super) flags: Flags,
    pub(super) kind: SegmentKind,
    pub(super) is_closed_window: bool,
    layers: [(Layer, u32); LAYERS_MAX],
}

impl Step {
    pub(super) fn of(segment: &Segment) -> Step {
        let none = Layer {
            kind: Kind::Unknown,
            content: Content::Other,
        };
        Step {
            packet: segment.packet,
            at_ns: segment.at_ns,
            bytes: segment.bytes,
            header_bytes: segment.header_bytes,
            direction: segment.direction,
            flags: segment.flags,
            kind: segment.kind,
            is_closed_window: segment.window == 0 && !segment.flags.has(Flags::RST),
            layers: [(none, 0); LAYERS_MAX],
        }
    }

    pub(super) fn layers(&self) -> impl Iterator<Item = (Layer, u32)> {
        self.layers.into_iter().filter(|(_, bytes)| *bytes > 0)
    }

    /// Goes on with the last layer, or with another one.
    pub(super) fn add(&mut self, layer: Layer, bytes: u32) {
        let last = self.layers.iter().rposition(|(_, bytes)| *bytes > 0);
        let place = match last {
            Some(last) if self.layers[last].0 == layer => last,
            Some(last) => {
                // What interleaves, like frames of many streams, is added up.
                let known = self.layers[..=last].iter().position(|(l, _)| *l == layer);
                known.unwrap_or((last + 1).min(LAYERS_MAX - 1))
            }
            None => 0,
        };
        let (known, sum) = &mut self.layers[place];
        if *sum == 0 {
            *known = layer;
        }
        *sum += bytes;
    }

    /// It ends, or tries to, what goes its way.
    pub(super) fn is_end(&self) -> bool {
        self.flags.has(Flags::FIN) || self.flags.has(Flags::RST)
    }
}

#[derive(Debug, Clone)]
pub(super) struct Followed {
    pub(super) flow: FlowId,
    pub(super) ordinal: u64,
    pub(super) name: Rc<str>,
    pub(super) protocol: Protocol,
    pub(super) latency_ns: Option<u64>,
    pub(super) is_requested: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Ladder {
    pub(super) of: Followed,
    /// Before the connection's first exchange.
    pub(super) set_up: Vec<Step>,
    pub(super) exchange: Vec<Step>,
    /// From the connection's first FIN or RST on.
    pub(super) tear_down: Vec<Step>,
    /// Packets left out of `exchange`, after its first 128.
    pub(super) omitted: u64,
}

impl Ladder {
    pub(super) fn end_with(&mut self, tear_down: &[Step]) {
        if self.tear_down.is_empty() {
            let last = self.exchange.last().map_or(0, |step| step.packet);
            let later = tear_down.iter().filter(|step| step.packet > last);
            self.tear_down = later.copied().collect();
        }
    }
}
