//! One encrypted record, which is collected until it is whole.

use super::cipher::Opened;
use super::upper::{APPLICATION_DATA, HEAD_BYTES, Upper};
use crate::flow::event::Segment;
use crate::protocol::cursor::{Edge, Envelope, Place};
use crate::protocol::layer::Kind;

/// Segments that carry one record at most: of 16 KiB those of 4 bytes.
const RUNS_MAX: usize = 4096;

/// Room that is kept from one record to the next, bytes; many connections wait for long.
const ROOM_MAX: usize = 1 << 10;

/// Bytes of a record that came together.
#[derive(Debug, Clone, Copy)]
struct Run {
    segment: Segment,
    offset: u64,
    bytes: usize,
}

/// The payload of a record, as far as it has come.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) payload: Vec<u8>,
    runs: Vec<Run>,
    /// The first byte of the head.
    first: Option<Edge>,
}

impl Record {
    pub(super) fn state_bytes(&self) -> usize {
        self.payload.capacity() + self.runs.capacity() * size_of::<Run>()
    }

    /// A head begins.
    pub(super) fn begin(&mut self, segment: &Segment, offset: u64) {
        self.clear();
        self.first = Some(edge(segment, offset));
    }

    /// What it held was handed out.
    pub(super) fn clear(&mut self) {
        self.payload.clear();
        self.payload.shrink_to(ROOM_MAX);
        self.runs.clear();
        self.runs.shrink_to(ROOM_MAX / size_of::<Run>());
    }

    /// Adds bytes; false where they came in too many pieces.
    pub(super) fn push(&mut self, segment: &Segment, offset: u64, bytes: &[u8]) -> bool {
        self.payload.extend_from_slice(bytes);
        self.runs.push(Run {
            segment: *segment,
            offset,
            bytes: bytes.len(),
        });
        self.runs.len() < RUNS_MAX
    }

    /// All of it has that layer: it was not opened.
    pub(super) fn release(&mut self, kind: Kind, upper: &mut impl Upper) {
        for run in self.runs.drain(..) {
            upper.label(kind, run.bytes, &run.segment);
        }
        self.clear();
    }

    /// Hands out what was decrypted: application data as plain bytes, all else as layers.
    pub(super) fn hand_out(&self, opened: &Opened, upper: &mut impl Upper) {
        let Some(envelope) = self.envelope(opened) else {
            return;
        };
        let content = &opened.content;
        let mut begin = 0;
        for run in &self.runs {
            let end = begin + run.bytes;
            // What of the run lies before, in and behind the content.
            let (from, to) = (
                content.start.clamp(begin, end),
                content.end.clamp(begin, end),
            );
            upper.label(Kind::TlsRecords, from - begin, &run.segment);
            if opened.kind == APPLICATION_DATA && from < to {
                let place = Place {
                    segment: run.segment,
                    offset: run.offset + (from - begin) as u64,
                    record: Some(envelope),
                };
                upper.content(&place, &self.payload[from..to]);
            } else {
                upper.label(Kind::TlsHandshake, to - from, &run.segment);
            }
            upper.label(Kind::TlsTags, end - to, &run.segment);
            begin = end;
        }
    }

    fn envelope(&self, opened: &Opened) -> Option<Envelope> {
        let (first, head) = (self.first?, self.runs.first()?);
        let newest = self.runs.iter().max_by_key(|run| run.segment.packet)?;
        let at = |place: usize| head.offset + place as u64;
        Some(Envelope {
            first,
            last: edge(&newest.segment, at(self.payload.len())),
            content: (at(opened.content.start), at(opened.content.end)),
        })
    }

    /// Where the payload begins.
    pub(super) fn offset(&self) -> u64 {
        self.first
            .map_or(0, |first| first.offset + HEAD_BYTES as u64)
    }
}

fn edge(segment: &Segment, offset: u64) -> Edge {
    Edge {
        offset,
        packet: segment.packet,
        at_ns: segment.at_ns,
    }
}
