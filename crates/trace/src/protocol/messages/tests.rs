//! Messages wherever segments end, and bytes that are none.

use proptest::prelude::*;

use super::{Follower, Source, framing_of};
use crate::flow::event::{Direction, Segment, SegmentKind};
use crate::packet::Flags;
use crate::protocol::cursor::{Cursor, Edge, Pending};
use crate::protocol::exchange::{Exchange, ExchangeObserver, MessageFraming, StreamMessage};
use crate::protocol::layer::Kind;

const FRAMINGS: [MessageFraming; 4] = [
    MessageFraming::Sse,
    MessageFraming::Websocket,
    MessageFraming::Connect,
    MessageFraming::Ndjson,
];

#[derive(Debug, Default)]
struct Found(Vec<StreamMessage>);

impl ExchangeObserver for Found {
    fn exchange(&mut self, _: &Exchange) {}

    fn message(&mut self, message: &StreamMessage) {
        self.0.push(*message);
    }
}

fn segment(packet: u64, offset: u64, bytes: u32) -> Segment {
    Segment {
        packet,
        at_ns: packet * 1_000_000,
        direction: Direction::Reply,
        kind: SegmentKind::Data,
        flags: Flags::ACK,
        offset,
        bytes,
        acknowledged: 0,
        window: 60_000,
        header_bytes: 54,
        link_header_bytes: 14,
        ip_header_bytes: 20,
        identification: None,
        reports_duplicate: false,
        options_cut: false,
        mss: None,
    }
}

/// The messages of a stream that comes in segments which end at `cuts`.
fn messages(framing: MessageFraming, stream: &[u8], cuts: &[usize]) -> Vec<StreamMessage> {
    let mut follower = Follower::new(Source {
        framing,
        exchange: None,
        stream: 0,
        since_ns: Some(0),
    });
    let mut found = Found::default();
    let mut ends: Vec<usize> = cuts.iter().map(|cut| (*cut).min(stream.len())).collect();
    ends.push(stream.len());
    ends.sort_unstable();
    let mut from = 0;
    for (packet, end) in (1..).zip(ends) {
        let piece = &stream[from..end];
        let segment = segment(packet, from as u64, piece.len() as u32);
        let mut cursor = Cursor {
            flow: 0,
            segment: &segment,
            offset: from as u64,
            record: None,
            pending: &mut Pending::default(),
            latest: Edge {
                offset: 0,
                packet,
                at_ns: segment.at_ns,
            },
            listener: &mut found,
        };
        follower.take(piece, &mut cursor);
        cursor.label(Kind::Unknown, piece.len());
        from = end;
    }
    found.0
}

/// What does not depend on segments: both ends, bytes, content and time.
type Essence = (u64, u64, u64, Option<u64>, Option<u64>);

fn essence(found: &[StreamMessage]) -> Vec<Essence> {
    let essence = |one: &StreamMessage| {
        let extent = &one.extent;
        let bytes = extent.message_bytes;
        (extent.start, extent.end, bytes, one.content, one.made_ns)
    };
    found.iter().map(essence).collect()
}

fn example(framing: MessageFraming) -> &'static [u8] {
    match framing {
        MessageFraming::Sse => {
            b"id: 1764405695123\r\ndata: a\r\n\r\n: x\n\ndata\n\nevent: none\n\ndata:b\n\ndata: end"
        }
        MessageFraming::Websocket => {
            b"\x81\x05Hello\x89\x02pi\x01\x03Hel\x89\x00\x80\x02lo\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58\x82\x00\x82\x7e\x01"
        }
        MessageFraming::Connect => b"\0\0\0\0\x03abc\x01\0\0\0\0\0\0\0\0\x01d\x02\0\0\0\x02{}",
        MessageFraming::Ndjson => b"{}\n\n  \r\n{\"at\": 1764405695123}\r\n[1]\n{",
        MessageFraming::Grpc => b"",
    }
}

#[test]
fn examples_hold_the_messages_that_they_should() {
    let counts = FRAMINGS.map(|framing| messages(framing, example(framing), &[]).len());
    assert_eq!(counts, [3, 4, 3, 3]);
    let found = messages(
        MessageFraming::Websocket,
        example(MessageFraming::Websocket),
        &[],
    );
    let bytes: Vec<u64> = found.iter().map(|one| one.extent.message_bytes).collect();
    assert_eq!(bytes, [5, 5, 5, 0]);
    // The same text, once masked: its content is the same.
    assert_eq!(found[0].content, found[2].content);
    // And once in two frames.
    assert_eq!(found[0].content, found[1].content);
    let timed = messages(MessageFraming::Ndjson, example(MessageFraming::Ndjson), &[]);
    let made: Vec<_> = timed.iter().map(|one| one.made_ns).collect();
    assert_eq!(made, [None, Some(1_764_405_695_123_000_000), None]);
}

#[test]
fn a_message_is_there_when_all_bytes_before_it_are() {
    let found = messages(MessageFraming::Ndjson, b"{}\n{}\n{}\n", &[2, 4]);
    let times: Vec<_> = found
        .iter()
        .map(|one| (one.number, one.readable.0, one.since_ns))
        .collect();
    let ms = 1_000_000;
    assert_eq!(
        times,
        [(0, 2, Some(0)), (1, 3, Some(2 * ms)), (2, 3, Some(3 * ms))]
    );
}

#[test]
fn media_types_of_streams_are_known_in_any_case_and_with_parameters() {
    let known: [(&[u8], _); 5] = [
        (b"application/x-ndjson", Some(MessageFraming::Ndjson)),
        (
            b"Application/JSONL; charset=utf-8",
            Some(MessageFraming::Ndjson),
        ),
        (b"application/connect+proto", Some(MessageFraming::Connect)),
        (b"application/connect", None),
        (b"application/octet-stream", None),
    ];
    for (name, framing) in known {
        assert_eq!(framing_of(name), framing);
    }
}

#[test]
fn missing_bytes_inside_a_frame_of_known_length_cost_no_boundary() {
    let stream = b"\x82\x7e\x01\x00";
    let mut follower = Follower::new(Source {
        framing: MessageFraming::Websocket,
        exchange: None,
        stream: 0,
        since_ns: None,
    });
    let mut found = Found::default();
    let segment = segment(1, 0, 400);
    let mut cursor = Cursor {
        flow: 0,
        segment: &segment,
        offset: 0,
        record: None,
        pending: &mut Pending::default(),
        latest: Edge::default(),
        listener: &mut found,
    };
    follower.take(stream, &mut cursor);
    follower.miss(200);
    follower.take(&[[7; 56].as_slice(), b"\x81\x01a"].concat(), &mut cursor);
    // More than the frame had left: nothing shows where the next one begins.
    follower.take(stream, &mut cursor);
    follower.miss(257);
    follower.take(b"\x81\x01a", &mut cursor);
    assert_eq!(found.0.len(), 2);
}

proptest! {
    #[test]
    fn any_segments_give_the_same_messages(
        which in 0..FRAMINGS.len(),
        cuts in prop::collection::vec(0_usize..80, 0..20),
    ) {
        let framing = FRAMINGS[which];
        let whole = messages(framing, example(framing), &[]);
        let cut = messages(framing, example(framing), &cuts);
        prop_assert_eq!(essence(&whole), essence(&cut));
    }

    #[test]
    fn garbage_has_messages_that_follow_each_other(
        which in 0..FRAMINGS.len(),
        bytes in prop::collection::vec(
            prop_oneof![Just(b'\n'), Just(b'\r'), Just(0x81), Just(0), Just(b'd'), any::<u8>()],
            0..300,
        ),
        cuts in prop::collection::vec(0_usize..300, 0..9),
    ) {
        let framing = FRAMINGS[which];
        let found = messages(framing, &bytes, &cuts);
        for pair in found.windows(2) {
            prop_assert!(pair[0].extent.end <= pair[1].extent.start);
        }
        prop_assert!(found.iter().all(|one| one.extent.start < one.extent.end));
        prop_assert_eq!(essence(&found), essence(&messages(framing, &bytes, &[])));
    }
}
