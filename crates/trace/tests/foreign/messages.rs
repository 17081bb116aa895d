//! Messages inside streams: where they begin and end, and the time before each.

use wirelab_trace::diagnosis::waits::Part;
use wirelab_trace::output::{MessageGroupSum, SlowMessage, Way};
use wirelab_trace::protocol::exchange::MessageFraming;
use wirelab_wire::grpc;

use super::message_scripts::{
    EVENTS, client_text, data, dissect, event, frame, messages, open_http2, open_stream,
    open_websocket, push, text,
};
use super::script::{Client, MS, REQUEST, SECOND, Script, Server};

const INTERVAL_US: u64 = 100 * MS;

#[track_caller]
fn only_group(script: &Script) -> (MessageGroupSum, Vec<SlowMessage>) {
    let dissection = dissect(script);
    let found = messages(&dissection);
    let [group] = &found.groups[..] else {
        panic!("{found:#?}");
    };
    assert_eq!(group.count, found.count);
    (group.clone(), found.slowest.clone())
}

#[track_caller]
fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 0.2, "{found} is not {expected}");
}

#[test]
fn events_have_the_time_since_the_one_before_each() {
    let mut script = Script::new();
    let connection = open_stream(&mut script, EVENTS);
    for number in 0..10 {
        push(&mut script, connection, INTERVAL_US - 20, &event(number));
        if number == 4 {
            push(&mut script, connection, 30 * MS, b": still here\n\n");
        }
    }
    script.fin(connection, Server);
    let (group, slowest) = only_group(&script);
    assert_eq!(
        (group.framing, group.direction),
        (MessageFraming::Sse, Way::Reply)
    );
    assert_eq!((group.count, group.streams), (10, 1));
    assert_eq!(group.bytes, 10 * event(0).len() as u64);
    let gaps = group.gap_us.expect("ten events");
    assert_eq!(gaps.n, 9);
    assert_near(gaps.p50 / 1e3, 100.0);
    assert_near(gaps.max / 1e3, 130.0);
    assert_eq!(slowest.len(), 10);
    assert_eq!((slowest[0].number, slowest[0].exchange), (6, Some(0)));
    assert_near(slowest[0].time.elapsed_ms, 130.0);
    // Of the first one since the request, which the head of the reply answered at once.
    let first = slowest.iter().find(|one| one.number == 1).expect("all");
    assert_near(first.time.elapsed_ms, 100.4);
    assert_near(first.time.parts_ms[&Part::ServerStall], 100.0);
    for one in &slowest {
        assert_near(one.time.parts_ms.values().sum(), one.time.elapsed_ms);
    }
}

#[test]
fn events_end_with_any_line_end_and_wherever_segments_do() {
    let stream = b"data: a\r\n\r\nid: 7\ndata\n\n: only a comment\n\nevent: x\n\ndata: b\r\rdata:c\n\n\n\ndatum: d\n\n";
    for piece in [1, 2, 3, 7, stream.len()] {
        let mut script = Script::new();
        let connection = open_stream(&mut script, EVENTS);
        for bytes in stream.chunks(piece) {
            push(&mut script, connection, 10 * MS, bytes);
        }
        let (group, _) = only_group(&script);
        assert_eq!(group.count, 4, "in pieces of {piece}");
    }
}

#[test]
fn chunks_of_http_do_not_end_messages() {
    let mut script = Script::new();
    let connection = script.open(300);
    script.wait(MS).send(connection, Client, REQUEST);
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson; charset=utf-8\r\n\
        Transfer-Encoding: chunked\r\n\r\n";
    push(&mut script, connection, 400, head);
    for chunk in ["{\"a\":", "1}\n{\"a\"", ":2}\n", "\n", "{\"a\":3}\n"] {
        let framed = format!("{:x}\r\n{chunk}\r\n", chunk.len());
        push(&mut script, connection, 10 * MS, framed.as_bytes());
    }
    let (group, slowest) = only_group(&script);
    assert_eq!((group.framing, group.count), (MessageFraming::Ndjson, 3));
    assert_eq!(slowest[0].bytes, 8);
}

#[test]
fn messages_of_websocket_are_found_between_control_frames_and_in_parts() {
    let mut script = Script::new();
    let connection = open_websocket(&mut script);
    push(&mut script, connection, INTERVAL_US, &text(b"whole"));
    push(
        &mut script,
        connection,
        INTERVAL_US,
        &frame(0x01, b"in two "),
    );
    push(&mut script, connection, INTERVAL_US, &frame(0x89, b"ping"));
    script
        .wait(MS)
        .send(connection, Client, &client_text(b"between"));
    script.wait(300).ack(connection, Server);
    push(&mut script, connection, INTERVAL_US, &frame(0x80, b"parts"));
    // A compressed one (RFC 7692): its ends are known.
    push(
        &mut script,
        connection,
        INTERVAL_US,
        &frame(0xc2, &[1; 300]),
    );
    let dissection = dissect(&script);
    let found = messages(&dissection);
    let [asked, told] = &found.groups[..] else {
        panic!("{found:#?}");
    };
    assert_eq!((asked.count, asked.bytes), (1, 7));
    assert_eq!((told.count, told.bytes), (3, 5 + 12 + 300));
    assert_eq!((asked.compressed, told.compressed), (0, 1));
    let longest = &found.slowest[0];
    assert_eq!((longest.bytes, longest.direction), (12, Way::Reply));
    assert_near(longest.time.elapsed_ms, 301.4);
    assert_eq!(longest.exchange, None);
}

#[test]
fn the_first_frames_of_websocket_may_be_compressed_or_cut() {
    let mut script = Script::new();
    let connection = open_websocket(&mut script);
    for byte in frame(0xc1, b"deflated") {
        push(&mut script, connection, MS, &[byte]);
    }
    // An empty message behind it is not compressed.
    push(&mut script, connection, MS, &text(b""));
    let (group, _) = only_group(&script);
    assert_eq!((group.count, group.bytes, group.compressed), (2, 8, 1));
}

#[test]
fn messages_of_grpc_are_followed_where_a_call_has_several() {
    let mut script = Script::new();
    let connection = open_http2(&mut script, 2, "application/grpc");
    for number in 0..3 {
        let message = grpc::frame(&[number; 40], number == 1);
        push(&mut script, connection, INTERVAL_US, &data(1, &message));
    }
    // The only one of its call.
    let single = grpc::frame(&[9; 40], false);
    push(&mut script, connection, INTERVAL_US, &data(3, &single));
    let (group, slowest) = only_group(&script);
    assert_eq!((group.framing, group.count), (MessageFraming::Grpc, 3));
    assert_eq!((group.bytes, group.compressed), (120, 1));
    assert_eq!(group.gap_us.expect("three").n, 2);
    assert!(slowest.iter().all(|one| one.stream == 1));
    assert_near(slowest[2].time.elapsed_ms, 100.0);
}

#[test]
fn envelopes_of_connect_are_messages_up_to_the_one_that_ends_the_stream() {
    let mut script = Script::new();
    let connection = open_stream(&mut script, "application/connect+json");
    push(
        &mut script,
        connection,
        INTERVAL_US,
        b"\0\0\0\0\x02{}\0\0\0\0\x02{}",
    );
    push(&mut script, connection, INTERVAL_US, b"\x01\0\0");
    push(
        &mut script,
        connection,
        INTERVAL_US,
        b"\0\x03abc\x02\0\0\0\x02{}",
    );
    let (group, _) = only_group(&script);
    assert_eq!((group.framing, group.count), (MessageFraming::Connect, 3));
    assert_eq!((group.bytes, group.compressed), (7, 1));
}

#[test]
fn a_stream_of_unknown_framing_has_no_messages() {
    let mut script = Script::new();
    let connection = script.open(300);
    script
        .wait(MS)
        .send(connection, Client, b"AMQP\0\0\x09\x01");
    for _ in 0..5 {
        push(
            &mut script,
            connection,
            INTERVAL_US,
            b"\x01\0\0\0\0\0\x02ab\xce",
        );
    }
    let connect = b"CONNECT a:5672 HTTP/1.1\r\nHost: a\r\n\r\n";
    let tunnel = script.open(300);
    script.wait(MS).send(tunnel, Client, connect);
    push(&mut script, tunnel, 400, b"HTTP/1.1 200 OK\r\n\r\n");
    script.wait(MS).send(tunnel, Client, b"AMQP\0\0\x09\x01");
    push(&mut script, tunnel, INTERVAL_US, b"\x81\x02ab");
    assert_eq!(messages(&dissect(&script)).count, 0);
}

#[test]
fn compressed_streams_have_no_messages() {
    for content_type in [EVENTS, "application/x-ndjson"] {
        let mut script = Script::new();
        let encoded = format!("{content_type}\r\nContent-Encoding: gzip");
        let connection = open_stream(&mut script, &encoded);
        push(&mut script, connection, INTERVAL_US, b"data: x\n\n{}\n");
        assert_eq!(messages(&dissect(&script)).count, 0, "{content_type}");
    }
}

#[test]
fn headers_that_lie_end_the_claims_and_not_the_reading() {
    // 2^63 bytes, 2^62 bytes, a reserved opcode, an endless message, a continuation of nothing.
    let endless: Vec<u8> = (0..3_000).flat_map(|_| frame(0x00, b"x")).collect();
    let pings: Vec<u8> = (0..3_000).flat_map(|_| frame(0x89, b"x")).collect();
    let lies: [&[u8]; 6] = [
        b"\x82\x7f\x80\0\0\0\0\0\0\0abc",
        b"\x82\x7f\x40\0\0\0\0\0\0\0abc",
        b"\x83\x03abc",
        &[frame(0x01, b"x"), endless].concat(),
        b"\x80\x03abc",
        &pings,
    ];
    for lie in lies {
        let mut script = Script::new();
        let connection = open_websocket(&mut script);
        push(&mut script, connection, INTERVAL_US, &text(b"true"));
        for piece in lie.chunks(1_400) {
            push(&mut script, connection, MS, piece);
        }
        let (group, _) = only_group(&script);
        assert_eq!(group.count, 1, "{:x?}", &lie[..3]);
    }
}

#[test]
fn bytes_that_the_capture_lacks_cost_the_messages_that_they_hid() {
    let mut script = Script::new();
    let connection = open_stream(&mut script, EVENTS);
    push(&mut script, connection, INTERVAL_US, &event(0));
    // Never captured, and acknowledged.
    let hidden = [&event(1)[..], b"data: half of "].concat();
    script.wait(INTERVAL_US).lose(connection, Server, &hidden);
    script.wait(20).ack(connection, Client);
    push(&mut script, connection, INTERVAL_US, b"it\n\n");
    for number in 2..6 {
        push(&mut script, connection, INTERVAL_US, &event(number));
    }
    let (group, slowest) = only_group(&script);
    assert_eq!(group.count, 5);
    // Nothing is claimed of the time before the first one behind the hole.
    assert_eq!((group.time.count, slowest.len()), (4, 4));
}

#[test]
fn messages_are_left_out_unless_asked_for() {
    let mut script = Script::new();
    let connection = open_stream(&mut script, EVENTS);
    push(&mut script, connection, SECOND, &event(0));
    assert!(script.dissect().messages.is_none());
}
