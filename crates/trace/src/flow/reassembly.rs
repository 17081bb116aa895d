//! The bytes of one direction in order, each once.
//!
//! Payload that comes in order is delivered as it is. What comes ahead is
//! copied and waits. A hole is given up, and reported as a gap, when the other
//! side has acknowledged what was in it and it has not come within the next
//! few packets; when too much waits; and at the end.

use std::collections::BTreeMap;

use super::event::{Direction, FlowId, Observer, Segment};

/// Captures of several queues or cards swap neighbours: an acknowledgment may
/// come before the bytes. A hole waits for this number of further packets.
const REORDERING_PACKETS: u8 = 3;

pub(super) struct Memory<'a> {
    pub(super) flow_bytes: usize,
    pub(super) bytes: usize,
    pub(super) held: &'a mut usize,
}

pub(super) struct Output<'a, O> {
    pub(super) flow: FlowId,
    pub(super) direction: Direction,
    pub(super) observer: &'a mut O,
    pub(super) stream_bytes: &'a mut u64,
    pub(super) gap_bytes: &'a mut u64,
}

impl<O: Observer> Output<'_, O> {
    fn gap(&mut self, offset: u64, bytes: u64) {
        if bytes > 0 {
            *self.gap_bytes += bytes;
            self.observer.gap(self.flow, self.direction, offset, bytes);
        }
    }

    #[inline]
    fn bytes(&mut self, offset: u64, bytes: &[u8], segment: &Segment) {
        if !bytes.is_empty() {
            *self.stream_bytes += bytes.len() as u64;
            self.observer.bytes(self.flow, offset, bytes, segment);
        }
    }
}

#[derive(Debug, Clone)]
struct Waiting {
    segment: Segment,
    end: u64,
    data: Box<[u8]>,
}

impl Waiting {
    /// What it costs to keep, with its share of the map.
    fn cost(&self) -> usize {
        self.data.len() + 2 * size_of::<(u64, Waiting)>()
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct Reassembly {
    /// All below was delivered.
    next: u64,
    /// All below was acknowledged by the other side.
    acknowledged: u64,
    /// Packets since something acknowledged is missing.
    packets_since_missing: u8,
    /// By offset. They may overlap; what was delivered first holds.
    waiting: BTreeMap<u64, Waiting>,
    held: usize,
}

impl Reassembly {
    pub(super) fn is_untouched(&self) -> bool {
        self.next == 0 && self.waiting.is_empty()
    }

    pub(super) fn acknowledge(&mut self, bytes_below: u64) {
        self.acknowledged = self.acknowledged.max(bytes_below);
    }

    /// Takes the payload of a segment: `payload` begins at `offset`, of which
    /// what is negative is from before the first byte, and goes to `end` on
    /// the wire, however little of it was captured.
    #[inline]
    pub(super) fn take<O: Observer>(
        &mut self,
        offset: i64,
        payload: &[u8],
        segment: &Segment,
        memory: &mut Memory<'_>,
        out: &mut Output<'_, O>,
    ) {
        // The length on the wire: what the snap length cut off becomes a gap at once.
        let end = offset.saturating_add(i64::from(segment.bytes)).max(0) as u64;
        // Nothing new: sent again, or a keep-alive.
        if end <= self.next {
            return;
        }
        if offset <= self.next as i64 {
            // The first copy of a byte counts. Receivers differ in this (Ptacek and
            // Newsham 1998), and honest senders repeat the same bytes.
            let known = (self.next as i64 - offset) as usize;
            self.deliver(end, payload.get(known..).unwrap_or(&[]), segment, out);
            if !self.waiting.is_empty() {
                self.deliver_waiting(memory.held, out);
            }
        } else {
            self.wait(offset as u64, end, payload, segment, memory, out);
        }
    }

    /// After every packet of the connection: gives up what was acknowledged
    /// and does not come.
    #[inline]
    pub(super) fn check<O: Observer>(&mut self, held: &mut usize, out: &mut Output<'_, O>) {
        if self.acknowledged <= self.next {
            self.packets_since_missing = 0;
            return;
        }
        // A FIN that was not captured looks like one byte.
        if self.waiting.is_empty() && self.acknowledged - self.next == 1 {
            return;
        }
        // Acknowledged bytes reached the receiver: if they do not appear soon, the capture
        // lost them, not the network.
        self.packets_since_missing += 1;
        if self.packets_since_missing > REORDERING_PACKETS {
            self.packets_since_missing = 0;
            self.skip_missing_below(self.acknowledged, held, out);
        }
    }

    /// Nothing more comes: delivers everything, with the gaps in it.
    pub(super) fn finish<O: Observer>(&mut self, held: &mut usize, out: &mut Output<'_, O>) {
        while let Some(offset) = self.first_waiting() {
            self.skip_missing_below(offset, held, out);
        }
        // The one is for a FIN, which occupies a number and is not a byte.
        if self.acknowledged > self.next + 1 {
            self.skip_to(self.acknowledged, out);
        }
    }

    fn first_waiting(&self) -> Option<u64> {
        self.waiting.first_key_value().map(|(offset, _)| *offset)
    }

    fn skip_missing_below<O: Observer>(
        &mut self,
        offset: u64,
        held: &mut usize,
        out: &mut Output<'_, O>,
    ) {
        while self.next < offset {
            let to = self
                .first_waiting()
                .map_or(offset, |first| first.min(offset));
            self.skip_to(to, out);
            self.deliver_waiting(held, out);
        }
        self.deliver_waiting(held, out);
    }

    fn skip_to<O: Observer>(&mut self, offset: u64, out: &mut Output<'_, O>) {
        if offset > self.next {
            out.gap(self.next, offset - self.next);
            self.next = offset;
        }
    }

    /// The next bytes, up to `end` on the wire; what was not captured of them
    /// will not come.
    #[inline]
    fn deliver<O: Observer>(
        &mut self,
        end: u64,
        bytes: &[u8],
        segment: &Segment,
        out: &mut Output<'_, O>,
    ) {
        out.bytes(self.next, bytes, segment);
        let captured_end = self.next + bytes.len() as u64;
        out.gap(captured_end, end - captured_end);
        self.next = end;
    }

    fn deliver_waiting<O: Observer>(&mut self, held: &mut usize, out: &mut Output<'_, O>) {
        // Ordered by offset, so the first entry is always the next candidate.
        while let Some(entry) = self.waiting.first_entry() {
            let offset = *entry.key();
            if offset > self.next {
                break;
            }
            let waiting = entry.remove();
            self.held -= waiting.cost();
            *held -= waiting.cost();
            if waiting.end > self.next {
                let known = (self.next - offset) as usize;
                let bytes = waiting.data.get(known..).unwrap_or(&[]);
                self.deliver(waiting.end, bytes, &waiting.segment, out);
            }
        }
    }

    #[cold]
    fn wait<O: Observer>(
        &mut self,
        offset: u64,
        end: u64,
        payload: &[u8],
        segment: &Segment,
        memory: &mut Memory<'_>,
        out: &mut Output<'_, O>,
    ) {
        let waiting = Waiting {
            segment: *segment,
            end,
            data: payload.into(),
        };
        let cost = waiting.cost();
        // Two bounds: one connection must not starve the others, and all together must
        // not exhaust the machine.
        let is_too_much =
            self.held + cost > memory.flow_bytes || *memory.held + cost > memory.bytes;
        if is_too_much {
            // The older ones first, then this one.
            while let Some(first) = self.first_waiting().filter(|first| *first < offset) {
                self.skip_missing_below(first, memory.held, out);
            }
            self.skip_to(offset, out);
            if end > self.next {
                let known = (self.next - offset) as usize;
                self.deliver(end, payload.get(known..).unwrap_or(&[]), segment, out);
            }
            self.deliver_waiting(memory.held, out);
            return;
        }
        if self
            .waiting
            .get(&offset)
            .is_some_and(|there| there.end >= end)
        {
            return;
        }
        // Where two segments begin at the same offset, the longer one is kept.
        self.held += cost;
        *memory.held += cost;
        if let Some(shorter) = self.waiting.insert(offset, waiting) {
            self.held -= shorter.cost();
            *memory.held -= shorter.cost();
        }
    }
}
