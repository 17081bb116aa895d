//! The packets of one exchange, as they are kept.

use std::rc::Rc;

use crate::flow::event::{Direction, FlowId, Segment, SegmentKind};
use crate::packet::Flags;
use crate::protocol::exchange::Protocol;
use crate::protocol::layer::{Content, Kind, Layer};

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
