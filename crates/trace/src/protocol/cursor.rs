//! The position in the bytes of one direction, and the bytes that wait for their layer.

use crate::flow::event::{FlowId, Segment};
use crate::protocol::exchange::{ExchangeObserver, Extent, Pdu};
use crate::protocol::layer::{Kind, Layer};

/// Runs of bytes that wait for their layer at most. A head that arrives in more
/// pieces is given up.
const PENDING_MAX: usize = 64;

/// Of plain bytes that are missing: how many is not known. More than any message has.
pub(super) const UNKNOWN_BYTES: u64 = 1 << 48;

/// A place in the TCP stream, such as one end of a record of TLS, and the packet there.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Edge {
    pub(super) offset: u64,
    pub(super) packet: u64,
    pub(super) at_ns: u64,
}

/// The record of TLS around decrypted bytes. A plain byte has the offset of the encrypted
/// byte that it was: AEAD ciphers keep lengths (RFC 5116 section 5).
#[derive(Debug, Clone, Copy)]
pub(super) struct Envelope {
    pub(super) first: Edge,
    /// Behind its last byte, and the packet that completed it: nothing in it can be read
    /// before its tag has come.
    pub(super) last: Edge,
    /// Offsets of its plain bytes.
    pub(super) content: (u64, u64),
}

/// Where bytes came.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) segment: Segment,
    /// Offset of the first of them in the TCP stream.
    pub(super) offset: u64,
    pub(super) record: Option<Envelope>,
}

/// Bytes that have come but are not understood yet, by what carried them.
#[derive(Debug, Default)]
pub(super) struct Pending(Vec<(Place, u32)>);

impl Pending {
    pub(super) fn state_bytes(&self) -> usize {
        self.0.capacity() * size_of::<(Place, u32)>()
    }

    pub(super) fn discard_as(
        &mut self,
        flow: FlowId,
        layer: impl Into<Layer>,
        listener: &mut impl ExchangeObserver,
    ) {
        let layer = layer.into();
        for (place, bytes) in self.0.drain(..) {
            listener.layer(flow, layer, bytes, &place.segment);
        }
    }
}

/// What a parser sees of the bytes that it is given.
pub(super) struct Cursor<'a, E> {
    pub(super) flow: FlowId,
    pub(super) segment: &'a Segment,
    /// Offset of the next byte in its stream.
    pub(super) offset: u64,
    /// The record of TLS that the bytes were in.
    pub(super) record: Option<&'a Envelope>,
    pub(super) pending: &'a mut Pending,
    /// The packet after which the bytes could be read: the last that has brought any of their
    /// direction.
    pub(super) latest: Edge,
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
        let record = self.record;
        extent.take(self.segment, self.offset, record, bytes as u32, layer.kind);
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

    /// Makes bytes that are so far ahead a part of a message, without a layer.
    pub(super) fn touch(&self, extent: &mut Extent, ahead: usize, bytes: usize, kind: Kind) {
        let offset = self.offset + ahead as u64;
        extent.take(self.segment, offset, self.record, bytes as u32, kind);
    }

    /// This position, and the packet there.
    pub(super) fn edge(&self) -> Edge {
        let own = Edge {
            offset: self.offset,
            packet: self.segment.packet,
            at_ns: self.segment.at_ns,
        };
        self.record.map_or(own, |record| Edge {
            offset: self.offset,
            ..record.last
        })
    }

    /// This position, and the packet after which the bytes in front of it could be read.
    pub(super) fn readable(&self) -> Edge {
        let own = self.edge();
        if self.latest.packet > own.packet {
            return Edge {
                offset: own.offset,
                ..self.latest
            };
        }
        own
    }

    /// The next bytes wait for those behind them; false when too many runs wait.
    pub(super) fn hold(&mut self, bytes: usize) -> bool {
        if bytes == 0 {
            return true;
        }
        let place = Place {
            segment: *self.segment,
            offset: self.offset,
            record: self.record.copied(),
        };
        self.offset += bytes as u64;
        // One entry per segment, not per byte: a frame head of 9 bytes (HTTP/2) or 12
        // (GIOP) fits even when each byte comes in a segment of its own.
        self.pending.0.push((place, bytes as u32));
        self.pending.0.len() < PENDING_MAX
    }

    /// The segment of the first byte that waits, or of the next one.
    pub(super) fn first_segment(&self) -> Segment {
        self.pending
            .0
            .first()
            .map_or(*self.segment, |(place, _)| place.segment)
    }

    /// What the record of TLS adds to a unit of that length that begins with the first byte
    /// that waits: its beginning and its end, where the unit has them.
    pub(super) fn framing(&self, bytes: u64) -> u64 {
        let Some((place, _)) = self.pending.0.first() else {
            return 0;
        };
        let own = Edge {
            offset: place.offset,
            packet: 0,
            at_ns: 0,
        };
        let end = place.offset + bytes;
        let edges = place.record.map(|record| record.edges(own, end));
        edges.map_or(0, |(first, last)| {
            (place.offset - first.offset) + (last.offset - end)
        })
    }

    /// The first `bytes` that wait are of that layer and belong to a message.
    pub(super) fn release(
        &mut self,
        layer: impl Into<Layer>,
        bytes: usize,
        mut extent: Option<&mut Extent>,
    ) {
        let layer = layer.into();
        let mut left = bytes as u64;
        let mut used = 0;
        for (place, waiting) in &mut self.pending.0 {
            let taken = left.min(u64::from(*waiting)) as u32;
            if taken > 0 {
                let record = place.record.as_ref();
                if let Some(extent) = extent.as_deref_mut() {
                    extent.take(&place.segment, place.offset, record, taken, layer.kind);
                }
                self.listener.layer(self.flow, layer, taken, &place.segment);
            }
            place.offset += u64::from(taken);
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
    /// Makes `bytes` at `offset` a part of the message; at the edges of the content of a
    /// record, what surrounds it too.
    #[inline]
    fn take(
        &mut self,
        segment: &Segment,
        offset: u64,
        record: Option<&Envelope>,
        bytes: u32,
        kind: Kind,
    ) {
        if bytes == 0 {
            return;
        }
        let own = Edge {
            offset,
            packet: segment.packet,
            at_ns: segment.at_ns,
        };
        let end = offset + u64::from(bytes);
        let (first, last) = match record {
            None => (own, Edge { offset: end, ..own }),
            Some(record) => record.edges(own, end),
        };
        self.widen(first, last, segment.packet);
        let framing = (offset - first.offset) + (last.offset - end);
        self.overhead_bytes += framing;
        if kind.is_overhead() {
            self.overhead_bytes += u64::from(bytes);
        } else {
            self.message_bytes += u64::from(bytes);
        }
    }

    #[inline]
    fn widen(&mut self, first: Edge, last: Edge, carrier: u64) {
        // An empty extent is known by its segments: offset 0 is a valid beginning.
        if self.segments == 0 {
            *self = Extent {
                first_packet: first.packet,
                first_at_ns: first.at_ns,
                last_packet: last.packet,
                last_at_ns: last.at_ns,
                start: first.offset,
                segments: 1,
                ..*self
            };
        // Segments count until the body begins. Two of them mean that head and body
        // were written separately.
        } else if carrier != self.carrier && self.message_bytes == 0 {
            self.segments += 1;
        }
        // Out of order, the last packet to come completes the message, not the one with
        // the last byte.
        if last.packet > self.last_packet {
            self.last_packet = last.packet;
            self.last_at_ns = last.at_ns;
        }
        self.end = last.offset;
        self.carrier = carrier;
    }

    /// Content that the capture lacks: its length is known from its framing, or it is
    /// [`UNKNOWN_BYTES`].
    pub(super) fn miss(&mut self, bytes: u64) {
        // A message of which no byte was seen has no place in the stream.
        if self.segments > 0 && bytes < UNKNOWN_BYTES {
            self.message_bytes += bytes;
            self.end += bytes;
        }
    }
}

impl Envelope {
    /// What bytes from `own` to `end` take of the record: its beginning with its first
    /// plain byte, its end with its last one.
    fn edges(&self, own: Edge, end: u64) -> (Edge, Edge) {
        let (begin, over) = self.content;
        let first = if own.offset == begin { self.first } else { own };
        let offset = if end == over { self.last.offset } else { end };
        (
            first,
            Edge {
                offset,
                ..self.last
            },
        )
    }
}
