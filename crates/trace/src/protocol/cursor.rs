//! The position in the bytes of one direction, and the bytes that wait for their layer.

use crate::flow::event::{FlowId, Segment};
use crate::protocol::exchange::{ExchangeObserver, Extent, Pdu};
use crate::protocol::layer::{Kind, Layer};

/// Runs of bytes that wait for their layer at most. A head that arrives in more
/// pieces is given up.
const PENDING_MAX: usize = 64;

/// Bytes that have come but are not understood yet, by what carried them.
#[derive(Debug, Default)]
pub(super) struct Pending(Vec<(Segment, u32)>);

impl Pending {
    pub(super) fn state_bytes(&self) -> usize {
        self.0.capacity() * size_of::<(Segment, u32)>()
    }

    pub(super) fn discard_as(
        &mut self,
        flow: FlowId,
        layer: impl Into<Layer>,
        listener: &mut impl ExchangeObserver,
    ) {
        let layer = layer.into();
        for (segment, bytes) in self.0.drain(..) {
            listener.layer(flow, layer, bytes, &segment);
        }
    }
}

/// What a parser sees of the bytes that it is given.
pub(super) struct Cursor<'a, E> {
    pub(super) flow: FlowId,
    pub(super) segment: &'a Segment,
    /// Offset of the next byte in its stream.
    pub(super) offset: u64,
    pub(super) pending: &'a mut Pending,
    pub(super) listener: &'a mut E,
}

impl<E: ExchangeObserver> Cursor<'_, E> {
    #[inline]
    pub(super) fn label(&mut self, layer: impl Into<Layer>, bytes: usize) {
        if bytes > 0 {
            let layer = layer.into();
            self.listener
                .layer(self.flow, layer, bytes as u32, self.segment);
            self.offset += bytes as u64;
        }
    }

    /// The next bytes are of that layer and belong to a message.
    #[inline]
    pub(super) fn assign(&mut self, layer: impl Into<Layer>, bytes: usize, extent: &mut Extent) {
        let layer = layer.into();
        extent.take(self.segment, self.offset, bytes as u32, layer.kind);
        self.label(layer, bytes);
    }

    /// As [`Cursor::assign`] where there is a message.
    #[inline]
    pub(super) fn assign_to(
        &mut self,
        layer: impl Into<Layer>,
        bytes: usize,
        extent: Option<&mut Extent>,
    ) {
        match extent {
            Some(extent) => self.assign(layer, bytes, extent),
            None => self.label(layer, bytes),
        }
    }

    /// The next bytes wait for those behind them; false when too many runs wait.
    pub(super) fn hold(&mut self, bytes: usize) -> bool {
        if bytes == 0 {
            return true;
        }
        self.offset += bytes as u64;
        // One entry per segment, not per byte: a frame head of 9 bytes (HTTP/2) or 12
        // (GIOP) fits even when each byte comes in a segment of its own.
        self.pending.0.push((*self.segment, bytes as u32));
        self.pending.0.len() < PENDING_MAX
    }

    /// The segment of the first byte that waits, or of the next one.
    pub(super) fn first_segment(&self) -> Segment {
        self.pending
            .0
            .first()
            .map_or(*self.segment, |(segment, _)| *segment)
    }

    /// The first `bytes` that wait are of that layer and belong to a message.
    pub(super) fn release(
        &mut self,
        layer: impl Into<Layer>,
        bytes: usize,
        mut extent: Option<&mut Extent>,
    ) {
        let layer = layer.into();
        // `offset` is behind the bytes that wait; the extent needs where they began.
        let waiting: u64 = self.pending.0.iter().map(|(_, n)| u64::from(*n)).sum();
        let mut offset = self.offset - waiting.min(self.offset);
        let mut left = bytes as u64;
        let mut used = 0;
        for (segment, waiting) in &mut self.pending.0 {
            let taken = left.min(u64::from(*waiting)) as u32;
            if taken > 0 {
                if let Some(extent) = extent.as_deref_mut() {
                    extent.take(segment, offset, taken, layer.kind);
                }
                self.listener.layer(self.flow, layer, taken, segment);
            }
            offset += u64::from(taken);
            left -= u64::from(taken);
            *waiting -= taken;
            if *waiting > 0 {
                break;
            }
            used += 1;
        }
        self.pending.0.drain(..used);
    }

    /// All that wait are of that layer and belong to a message.
    #[inline]
    pub(super) fn release_all(&mut self, layer: impl Into<Layer>, extent: Option<&mut Extent>) {
        if !self.pending.0.is_empty() {
            self.release(layer, usize::MAX, extent);
        }
    }

    #[inline]
    pub(super) fn pdu(&mut self, pdu: Pdu) {
        self.listener.pdu(self.flow, pdu, self.segment);
    }
}

impl Extent {
    /// Makes `bytes` at `offset` a part of the message.
    #[inline]
    fn take(&mut self, segment: &Segment, offset: u64, bytes: u32, kind: Kind) {
        if bytes == 0 {
            return;
        }
        // An empty extent is known by its segments: offset 0 is a valid beginning.
        if self.segments == 0 {
            *self = Extent {
                first_packet: segment.packet,
                first_at_ns: segment.at_ns,
                last_packet: segment.packet,
                last_at_ns: segment.at_ns,
                start: offset,
                end: offset,
                segments: 1,
                ..*self
            };
        // Segments count until the body begins. Two of them mean that head and body
        // were written separately.
        } else if segment.packet != self.last_packet && self.message_bytes == 0 {
            self.segments += 1;
        }
        // Out of order, the last packet to come completes the message, not the one with
        // the last byte.
        if segment.packet > self.last_packet {
            self.last_packet = segment.packet;
            self.last_at_ns = segment.at_ns;
        }
        self.end = offset + u64::from(bytes);
        if kind.is_overhead() {
            self.overhead_bytes += u64::from(bytes);
        } else {
            self.message_bytes += u64::from(bytes);
        }
    }

    /// Content that the capture lacks: its length is known from its framing.
    pub(super) fn miss(&mut self, bytes: u64) {
        // A message of which no byte was seen has no place in the stream.
        if self.segments > 0 {
            self.message_bytes += bytes;
            self.end += bytes;
        }
    }
}
