//! The events of a reading, recorded and checked while it comes.

use std::collections::BTreeMap;

use wirelab_trace::flow::Limits;
use wirelab_trace::flow::event::{
    Closing, Direction, FlowId, Observer, Opening, Segment, SegmentKind,
};
use wirelab_trace::{Summary, read_within};

/// One direction of a connection.
#[derive(Debug, Default, Clone)]
pub struct Stream {
    /// What came, with zeros in the gaps.
    pub bytes: Vec<u8>,
    /// Where and how long.
    pub gaps: Vec<(u64, u64)>,
    /// How far bytes and gaps reach.
    pub end: u64,
}

#[derive(Debug, Default)]
pub struct Events {
    /// Whether streams are kept; a gap of gigabytes is not.
    keep: bool,
    pub openings: BTreeMap<FlowId, Opening>,
    pub segments: Vec<(FlowId, Segment)>,
    pub streams: BTreeMap<(FlowId, Direction), Stream>,
    pub closed: BTreeMap<FlowId, (u64, Closing)>,
}

impl Events {
    pub fn keeping_bytes() -> Events {
        Events {
            keep: true,
            ..Events::default()
        }
    }

    pub fn stream(&self, flow: FlowId, direction: Direction) -> Stream {
        self.streams
            .get(&(flow, direction))
            .cloned()
            .unwrap_or_default()
    }

    pub fn kinds(&self) -> Vec<SegmentKind> {
        self.segments
            .iter()
            .map(|(_, segment)| segment.kind)
            .collect()
    }

    fn is_open(&self, flow: FlowId) {
        assert!(self.openings.contains_key(&flow), "{flow} was not opened");
        assert!(!self.closed.contains_key(&flow), "{flow} was closed");
    }
}

impl Observer for Events {
    fn opened(&mut self, flow: FlowId, opening: &Opening) {
        let other = self.openings.insert(flow, *opening);
        assert!(other.is_none(), "{flow} was opened twice");
    }

    fn segment(&mut self, flow: FlowId, segment: &Segment) {
        self.is_open(flow);
        if let Some((_, last)) = self.segments.last() {
            assert!(last.packet < segment.packet);
        }
        self.segments.push((flow, *segment));
    }

    fn bytes(&mut self, flow: FlowId, offset: u64, bytes: &[u8], segment: &Segment) {
        self.is_open(flow);
        assert!(!bytes.is_empty());
        // Bytes lie inside the segment that is named as theirs.
        assert!(segment.offset <= offset && offset + bytes.len() as u64 <= segment.end());
        let stream = self.streams.entry((flow, segment.direction)).or_default();
        // The promise of `Observer`: in order, each byte once.
        assert_eq!(stream.end, offset, "bytes go on where the last ended");
        stream.end += bytes.len() as u64;
        if self.keep {
            stream.bytes.extend_from_slice(bytes);
        }
    }

    fn gap(&mut self, flow: FlowId, direction: Direction, offset: u64, bytes: u64) {
        self.is_open(flow);
        assert!(bytes > 0);
        let stream = self.streams.entry((flow, direction)).or_default();
        assert_eq!(stream.end, offset, "gaps go on where the last ended");
        stream.end += bytes;
        stream.gaps.push((offset, bytes));
        if self.keep {
            assert!(bytes < 1 << 30, "a gap of {bytes} is not kept");
            stream.bytes.resize(stream.bytes.len() + bytes as usize, 0);
        }
    }

    fn closed(&mut self, flow: FlowId, at_ns: u64, closing: Closing) {
        self.is_open(flow);
        self.closed.insert(flow, (at_ns, closing));
    }
}

/// Reads a capture whole.
pub fn read(capture: &[u8]) -> (Summary, Events) {
    read_with(Limits::default(), capture)
}

pub fn read_with(limits: Limits, capture: &[u8]) -> (Summary, Events) {
    let mut events = Events::keeping_bytes();
    let summary = read_within(limits, capture, &mut events).expect("a capture");
    assert_eq!(
        events.openings.len(),
        events.closed.len(),
        "every connection is closed"
    );
    assert_eq!(summary.flows.flows, events.openings.len() as u64);
    let segments = events.segments.len() as u64 + summary.flows.copies;
    assert_eq!(summary.tcp_packets, segments);
    (summary, events)
}
