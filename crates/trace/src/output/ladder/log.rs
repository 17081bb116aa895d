//! The last packets of one connection.

use std::collections::VecDeque;
use std::ops::RangeInclusive;

use super::steps::{Followed, Ladder, Step};
use crate::packet::Flags;
use crate::protocol::layer::Layer;

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
    begun: u64,
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
    pub(super) fn begun(&self) -> u64 {
        self.begun
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
        let is_first = self.begun == 0;
        let is_alone = self.in_flight == 0;
        self.begun += 1;
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
        let room = (END_PACKETS_MAX - self.head.len()).min(self.tail.len());
        self.head.extend(self.tail.drain(..room));
        self.omitted = 0;
        before - self.head.len() - self.tail.len()
    }

    pub(super) fn conclude(&mut self) {
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
            begun: self.begun,
            ..Log::default()
        };
        kept
    }
}
