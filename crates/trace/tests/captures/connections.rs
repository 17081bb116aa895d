//! How connections begin, go on and end, in captures that see a part of it.

use wirelab_trace::Summary;
use wirelab_trace::flow::Limits;
use wirelab_trace::flow::event::{Closing, Direction, SegmentKind};

use super::events::{Events, read, read_with};
use super::frames::{
    ACK, Captured, FIN, RST, SYN, Segment, client, pcap, reply, request, server, space_frames,
};
use super::tshark::{Folder, agree, has};

const ETHERNET: u16 = 1;

/// Reads segments 1 ms apart; Wireshark, where it is here, must classify each alike.
fn both(segments: &[Segment]) -> (Summary, Events) {
    frames(&space_frames(segments))
}

fn frames(frames: &[Captured]) -> (Summary, Events) {
    let bytes = pcap(false, 1, ETHERNET, frames);
    // The hand-written expectation and Wireshark must agree on every segment.
    if has("tshark") {
        agree(&Folder::new().write("connection.pcap", &bytes));
    }
    read(&bytes)
}

/// MSS 1460 and a window scale of 7 bits.
const OPTIONS: [u8; 8] = [2, 4, 5, 180, 1, 3, 3, 7];

fn handshake() -> Vec<Segment> {
    vec![
        request(999, 0, b"").flags(SYN).options(&OPTIONS),
        reply(4999, 1000, b"").flags(SYN | ACK).options(&OPTIONS),
        request(1000, 5000, b""),
    ]
}

fn teardown(request_end: u32, reply_end: u32) -> [Segment; 3] {
    [
        request(request_end, reply_end, b"").flags(FIN | ACK),
        reply(reply_end, request_end + 1, b"").flags(FIN | ACK),
        request(request_end + 1, reply_end + 1, b""),
    ]
}

#[test]
fn a_whole_connection() {
    let mut segments = handshake();
    segments.push(request(1000, 5000, b"ping"));
    segments.push(reply(5000, 1004, b"pong"));
    segments.extend(teardown(1004, 5004));
    let (summary, events) = both(&segments);
    let opening = events.openings[&0];
    assert_eq!((opening.client, opening.server), (client(), server()));
    assert!(opening.from_syn);
    assert_eq!(opening.mss, [Some(1460), None]);
    use SegmentKind::{Acknowledgment, Close, Data, Open};
    let kinds = [
        Open,
        Open,
        Acknowledgment,
        Data,
        Data,
        Close,
        Close,
        Acknowledgment,
    ];
    assert_eq!(events.kinds(), kinds);
    let at = |number: usize| &events.segments[number].1;
    assert_eq!((at(3).offset, at(3).bytes, at(3).acknowledged), (0, 4, 0));
    assert_eq!((at(4).offset, at(4).acknowledged), (0, 4));
    // The SYN's window is never scaled, the others are.
    assert_eq!((at(0).window, at(3).window), (500, 500 << 7));
    // The FIN is not a byte.
    assert_eq!((at(7).offset, at(7).acknowledged), (4, 4));
    assert_eq!(events.stream(0, Direction::Request).bytes, b"ping");
    assert_eq!(events.stream(0, Direction::Reply).bytes, b"pong");
    assert_eq!(events.closed[&0], (at(6).at_ns, Closing::Orderly));
    assert_eq!((summary.flows.opened, summary.flows.orderly), (1, 1));
    assert_eq!(summary.flows.gap_bytes, 0);
}

#[test]
fn resets_report_their_side() {
    let mut segments = handshake();
    segments.push(reply(5000, 1000, b"").flags(RST));
    let (summary, events) = both(&segments);
    assert_eq!(events.closed[&0].1, Closing::Reset(Direction::Reply));
    assert_eq!(summary.flows.reset, 1);
    assert_eq!(events.kinds()[3], SegmentKind::Reset);
    // Refused: RST instead of an answer to the SYN.
    let refused = [
        request(999, 0, b"").flags(SYN),
        reply(0, 1000, b"").flags(RST | ACK),
    ];
    let (_, events) = both(&refused);
    assert_eq!(events.closed[&0].1, Closing::Reset(Direction::Reply));
    assert_eq!(events.streams.len(), 0);
}

#[test]
fn a_capture_that_begins_in_the_middle() {
    let segments = [
        reply(7_000, 1_000, b"end of a reply"),
        request(1_000, 7_014, b"next request"),
        reply(7_014, 1_012, b"next reply"),
    ];
    let (summary, events) = both(&segments);
    let opening = events.openings[&0];
    assert_eq!((opening.client, opening.from_syn), (client(), false));
    assert_eq!(
        events.stream(0, Direction::Reply).bytes,
        b"end of a replynext reply"
    );
    assert_eq!(events.stream(0, Direction::Request).bytes, b"next request");
    assert_eq!(summary.flows.gap_bytes, 0);
    assert_eq!(events.closed[&0].1, Closing::Unseen);
}

#[test]
fn acknowledgments_show_the_unseen_direction() {
    let mut ours = vec![request(999, 0, b"").flags(SYN)];
    ours.push(request(1000, 5000, b""));
    ours.extend((0..50).map(|n| request(1000 + n * 3, 5000 + n * 1000, b"abc")));
    let (_, events) = both(&ours);
    assert_eq!(
        events.stream(0, Direction::Request).bytes,
        b"abc".repeat(50)
    );
    let unseen = events.stream(0, Direction::Reply);
    assert_eq!(
        (unseen.end, unseen.gaps.iter().map(|gap| gap.1).sum()),
        (49_000, 49_000u64)
    );
    let last = events.segments.last().expect("segments").1;
    assert_eq!(last.acknowledged, 49_000);
    // Acknowledgments alone.
    let acks: Vec<_> = (0..50)
        .map(|n| request(1000, 5000 + n * 1000, b""))
        .collect();
    let (_, events) = both(&acks);
    assert_eq!(events.stream(0, Direction::Reply).end, 49_000);
    assert_eq!(events.stream(0, Direction::Request).end, 0);
}

#[test]
fn only_the_replies_of_a_server() {
    let segments = [
        reply(4999, 1000, b"").flags(SYN | ACK).options(&OPTIONS),
        reply(5000, 1004, b"pong"),
        reply(5004, 1004, b"").flags(FIN | ACK),
    ];
    let (_, events) = both(&segments);
    let opening = events.openings[&0];
    assert_eq!((opening.client, opening.from_syn), (client(), true));
    assert_eq!(opening.mss, [None, Some(1460)]);
    assert_eq!(events.stream(0, Direction::Reply).bytes, b"pong");
    assert_eq!(events.stream(0, Direction::Request).gaps, [(0, 4)]);
}

#[test]
fn a_new_connection_between_the_same_ends() {
    let mut segments = handshake();
    segments.extend(teardown(1000, 5000));
    let again = |segment: &Segment| Segment {
        sequence: segment.sequence.wrapping_add(900_000),
        acknowledgment: segment.acknowledgment.wrapping_add(900_000),
        ..segment.clone()
    };
    let second: Vec<_> = segments.iter().map(again).collect();
    let mut second = second;
    // A SYN acknowledges nothing.
    second[0].acknowledgment = 0;
    second.insert(3, request(900_000 + 1000, 900_000 + 5000, b""));
    // Cut off, and replaced by a third one.
    let unfinished = second[..4].to_vec();
    let third: Vec<_> = segments.iter().map(again).map(|s| again(&s)).collect();
    segments.extend(unfinished);
    segments.extend(third);
    let (summary, events) = both(&segments);
    assert_eq!(summary.flows.flows, 3);
    let endings: Vec<_> = events.closed.values().map(|closed| closed.1).collect();
    assert_eq!(
        endings,
        [Closing::Orderly, Closing::Replaced, Closing::Orderly]
    );
    assert_eq!(summary.flows.replaced, 1);
}

#[test]
fn a_repeated_syn_does_not_open_a_new_connection() {
    let mut segments = vec![
        request(999, 0, b"").flags(SYN),
        request(999, 0, b"").flags(SYN),
    ];
    segments.extend(handshake());
    let (summary, events) = both(&segments);
    assert_eq!(summary.flows.flows, 1);
    let again = SegmentKind::Retransmission;
    assert_eq!(events.kinds()[..3], [SegmentKind::Open, again, again]);
}

#[test]
fn a_syn_answered_twice_with_two_numbers() {
    // SYN cookies: the server remembers nothing of its first answer.
    let segments = [
        request(999, 0, b"").flags(SYN),
        reply(4999, 1000, b"").flags(SYN | ACK),
        reply(7999, 1000, b"").flags(SYN | ACK),
        request(1000, 8000, b"ping"),
        reply(8000, 1004, b"pong"),
    ];
    let (summary, events) = read(&pcap(false, 1, ETHERNET, &space_frames(&segments)));
    assert_eq!(summary.flows.flows, 1);
    assert_eq!(events.stream(0, Direction::Reply).bytes, b"pong");
}

#[test]
fn late_packets_belong_to_the_connection_that_ended() {
    let mut segments = handshake();
    segments.extend(teardown(1000, 5000));
    segments.push(reply(5000, 1001, b"").flags(FIN | ACK));
    segments.push(request(1001, 5001, b"").flags(RST));
    let (summary, events) = both(&segments);
    assert_eq!(summary.flows.flows, 1);
    assert_eq!(events.closed[&0].1, Closing::Orderly);
}

#[test]
fn a_closed_connection_is_reported_after_a_minute() {
    let mut segments = handshake();
    segments.extend(teardown(1000, 5000));
    let mut captured = space_frames(&segments);
    let other = request(1, 1, b"x").ends("10.0.0.9:5555", "10.0.0.2:80");
    let end_ns = captured.last().expect("frames").at_ns;
    // Beyond the TIME-WAIT of 60 s that the table keeps.
    captured.push(Captured::whole(end_ns + 61_000_000_000, other.ethernet()));
    captured.push(Captured::whole(
        end_ns + 61_000_000_001,
        request(1, 1, b"y").ethernet(),
    ));
    let (_, events) = read(&pcap(false, 1, ETHERNET, &captured));
    assert_eq!(
        events.openings.len(),
        3,
        "what comes still later is another one"
    );
}

#[test]
fn probes_are_neither_data_nor_retransmissions() {
    let mut segments = handshake();
    segments.push(request(1000, 5000, b"abc"));
    segments.push(reply(5000, 1003, b""));
    // Live or not? Without and with the last byte.
    segments.push(request(1002, 5000, b""));
    segments.push(reply(5000, 1003, b""));
    segments.push(request(1002, 5000, b"c"));
    segments.push(reply(5000, 1003, b"").window(0));
    // A closed window, probed with the next byte.
    segments.push(request(1003, 5000, b"d"));
    segments.push(reply(5000, 1003, b"").window(0));
    segments.push(request(1003, 5000, b"d"));
    segments.push(reply(5000, 1004, b"").window(600));
    segments.push(request(1004, 5000, b"ef"));
    let (summary, events) = both(&segments);
    let kinds = events.kinds();
    for number in [5, 7, 9, 11] {
        assert_eq!(kinds[number], SegmentKind::KeepAlive, "{number}");
    }
    assert_eq!(summary.flows.keep_alives, 4);
    assert_eq!(summary.flows.retransmissions, 0);
    assert_eq!(events.stream(0, Direction::Request).bytes, b"abcdef");
}

#[test]
fn sequence_numbers_wrap_in_the_middle_of_a_stream() {
    let first = u32::MAX - 5_000;
    let mut segments = vec![request(first.wrapping_sub(1), 0, b"").flags(SYN)];
    let chunk = [b'x'; 1000];
    segments.extend((0..12).map(|n| request(first.wrapping_add(n * 1000), 1, &chunk)));
    let (summary, events) = both(&segments);
    assert_eq!(events.stream(0, Direction::Request).bytes.len(), 12_000);
    assert_eq!(summary.flows.retransmissions, 0);
    let offsets: Vec<_> = events.segments[1..].iter().map(|(_, s)| s.offset).collect();
    assert_eq!(offsets, (0..12).map(|n| n * 1000).collect::<Vec<_>>());
}

#[test]
fn packets_missing_from_the_capture_are_gaps() {
    let mut segments = handshake();
    segments.push(request(1000, 5000, b"aaaa"));
    // 1004 to 1008 were not captured, but acknowledged.
    segments.push(request(1008, 5000, b"cccc"));
    segments.push(reply(5000, 1012, b""));
    segments.extend((0..4).map(|n| request(1012 + n * 4, 5000, b"dddd")));
    let (summary, events) = both(&segments);
    let stream = events.stream(0, Direction::Request);
    assert_eq!(stream.gaps, [(4, 4)]);
    assert_eq!(stream.bytes, b"aaaa\0\0\0\0ccccdddddddddddddddd");
    assert_eq!(events.kinds()[4], SegmentKind::Ahead);
    assert_eq!(
        (summary.flows.gap_bytes, summary.flows.retransmissions),
        (4, 0)
    );
}

#[test]
fn an_acknowledgment_may_be_captured_before_the_bytes() {
    let mut segments = handshake();
    segments.push(reply(5000, 1004, b""));
    segments.push(request(1000, 5000, b"aaaa"));
    segments.push(reply(5000, 1008, b""));
    segments.push(request(1004, 5000, b"bbbb"));
    let (summary, events) = both(&segments);
    assert_eq!(events.stream(0, Direction::Request).bytes, b"aaaabbbb");
    assert_eq!(summary.flows.gap_bytes, 0);
}

#[test]
fn a_fin_missing_from_the_capture_is_not_a_missing_byte() {
    let mut segments = handshake();
    segments.push(request(1000, 5000, b"aaaa"));
    segments.extend((0..9).map(|_| reply(5000, 1005, b"")));
    let (summary, _) = both(&segments);
    assert_eq!(summary.flows.gap_bytes, 0);
}

fn many(count: u32) -> Vec<Captured> {
    let one = |number: u32| {
        let from = format!("10.1.{}.{}:5000", number / 250, number % 250 + 1);
        request(number, 1, b"hello").ends(&from, "10.0.0.2:80")
    };
    space_frames(&(0..count).map(one).collect::<Vec<_>>())
}

#[test]
fn more_connections_than_allowed_are_forgotten_the_longest_idle_first() {
    let limits = Limits {
        flows: 10,
        ..Limits::default()
    };
    let mut captured = many(25);
    // The first one is not idle.
    let first = captured[0].data.clone();
    captured.insert(10, Captured::whole(captured[9].at_ns, first));
    let (summary, events) = read_with(limits, &pcap(false, 1, ETHERNET, &captured));
    assert_eq!((summary.flows.flows, summary.flows.forgotten), (25, 15));
    let position = |flow: u32| events.closed[&flow].0;
    assert!(position(0) > position(1));
    assert!(
        events
            .closed
            .values()
            .all(|closed| closed.1 == Closing::Unseen)
    );
}

#[test]
fn fifty_thousand_idle_connections_are_kept() {
    let (summary, events) = read(&pcap(false, 1, ETHERNET, &many(50_000)));
    assert_eq!((summary.flows.flows, summary.flows.forgotten), (50_000, 0));
    assert_eq!(events.openings.len(), 50_000);
}

#[test]
fn a_connection_with_itself_is_accepted() {
    let own = request(1, 1, b"abc").ends("127.0.0.1:7", "127.0.0.1:7");
    let (summary, _) = read(&pcap(
        false,
        1,
        ETHERNET,
        &space_frames(&[own.clone(), own]),
    ));
    assert_eq!(summary.flows.flows, 1);
}
