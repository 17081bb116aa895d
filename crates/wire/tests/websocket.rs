//! The client's side of WebSocket: handshake, messages, endings and every refusal.

use std::sync::Arc;

use wirelab_wire::http1::HeadLimits;
use wirelab_wire::websocket::{
    DeflateOffer, Deframer, Ending, Header, Kind, Opcode, Options, WebSocket, accept_of,
    append_compressed, append_message, check_request, mask,
};
use wirelab_wire::{CallId, Failure, Head, ProtocolError, Request, Session};

use crate::http1::support::{Event, RecordedEvents, body, end, fail, first, head};

const OPTIONS: Options = Options {
    ending: Ending::EmptyText,
    kind: Some(Kind::Text),
    close: false,
    head_limits: HeadLimits {
        bytes: 4096,
        fields: 40,
    },
    message_bytes_max: 1000,
    deflate: None,
};

fn request(messages: &[&[u8]]) -> Arc<Request> {
    let mut body = Vec::new();
    for message in messages {
        append_message(&mut body, Kind::Text, message);
    }
    Arc::new(Request {
        path: "/stream/feed".into(),
        authority: "localhost:80".into(),
        fields: vec![("x-test".into(), "1".into())],
        body: body.into(),
        ..Request::default()
    })
}

/// A session and the server that it speaks to.
struct Wire {
    session: WebSocket,
    recorded: RecordedEvents,
    /// The key of the handshake.
    key: String,
}

impl Wire {
    /// Call 0 has been begun, and its handshake sent.
    fn send_handshake(options: Options) -> Wire {
        let mut wire = Wire {
            session: WebSocket::new(options),
            recorded: RecordedEvents::default(),
            key: String::new(),
        };
        wire.session.send(0, &request(&[b"one"]));
        assert_eq!(wire.session.capacity(), 0);
        assert!(!wire.session.started(0));
        let asked = String::from_utf8(wire.pump()).expect("a head");
        assert!(asked.starts_with("GET /stream/feed HTTP/1.1\r\nHost: localhost:80\r\n"));
        for field in [
            "x-test: 1",
            "upgrade: websocket",
            "sec-websocket-version: 13",
        ] {
            assert!(asked.contains(&format!("\r\n{field}\r\n")), "{asked}");
        }
        let key = asked.split_once("sec-websocket-key: ").expect("a key").1;
        wire.key = key.lines().next().expect("a line").into();
        assert!(wire.session.started(0) && !wire.session.flushed(0));
        wire
    }

    /// Its server has switched, and has read call 0.
    fn open(options: Options) -> Wire {
        let mut wire = Wire::send_handshake(options);
        let reply = wire.switching();
        wire.receive(reply.as_bytes()).unwrap();
        assert_eq!(
            read_frames(&wire.pump()),
            [(Opcode::Message(Kind::Text), b"one".to_vec())]
        );
        assert!(wire.session.flushed(0));
        assert_eq!(
            wire.take_events(),
            [],
            "the handshake is not a part of the reply"
        );
        wire
    }

    fn switching(&self) -> String {
        self.write_switching("")
    }

    /// With these further lines.
    fn write_switching(&self, fields: &str) -> String {
        format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\n\
             Connection: keep-alive, Upgrade\r\nSec-WebSocket-Accept: {}\r\n{fields}\r\n",
            accept_of(&self.key)
        )
    }

    fn pump(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        while self.session.pump(&mut out) {}
        out
    }

    fn receive(&mut self, input: &[u8]) -> Result<(), ProtocolError> {
        self.session.receive(input, &mut self.recorded)
    }

    fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.recorded.0)
    }
}

/// The frames of a client, unmasked.
fn read_frames(mut bytes: &[u8]) -> Vec<(Opcode, Vec<u8>)> {
    let mut frames = Vec::new();
    while !bytes.is_empty() {
        let (header, length) = Header::parse(bytes).unwrap().expect("a whole header");
        let (payload, rest) = bytes[length..].split_at(header.length as usize);
        let mut payload = payload.to_vec();
        mask(&mut payload, header.key.expect("a client masks"), 0);
        frames.push((header.opcode, payload));
        bytes = rest;
    }
    frames
}

fn frame(opcode: Opcode, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let header = Header {
        is_final: true,
        is_compressed: false,
        opcode,
        key: None,
        length: payload.len() as u64,
    };
    header.write(&mut bytes);
    bytes.extend_from_slice(payload);
    bytes
}

fn text(payload: &[u8]) -> Vec<u8> {
    frame(Opcode::Message(Kind::Text), payload)
}

fn expect_beginning(call: CallId, status: u16) -> [Event; 2] {
    let status = Head {
        status,
        ..Head::default()
    };
    [first(call), head(call, status)]
}

#[test]
fn a_stream_ends_with_an_empty_text_and_the_next_one_follows() {
    let stream = [text(b"{\"a\":1}"), text(b"{\"a\":2}"), text(b"")].concat();
    for size in 1..=stream.len() {
        let mut wire = Wire::open(OPTIONS);
        for call in 0..2 {
            if call == 1 {
                wire.session.send(1, &request(&[b"two", b""]));
                let sent = read_frames(&wire.pump());
                assert_eq!(
                    sent.iter()
                        .map(|(_, payload)| payload.len())
                        .collect::<Vec<_>>(),
                    [3, 0]
                );
            }
            for piece in stream.chunks(size) {
                wire.receive(piece).unwrap();
            }
            let mut expected = expect_beginning(call, 101).to_vec();
            // The recorder joins bodies.
            expected.push(body(call, b"{\"a\":1}{\"a\":2}"));
            expected.push(end(call));
            assert_eq!(wire.take_events(), expected, "pieces of {size}");
            assert_eq!(wire.session.capacity(), 1);
        }
    }
}

#[test]
fn frames_may_come_with_the_head_of_the_handshake() {
    let mut wire = Wire::send_handshake(OPTIONS);
    let reply = wire.switching();
    wire.receive(reply.as_bytes()).unwrap();
    wire.pump();
    let mut early = Wire::send_handshake(Options {
        ending: Ending::Messages(1),
        ..OPTIONS
    });
    let reply = [early.switching().into_bytes(), text(b"hello")].concat();
    let error = early
        .receive(&reply)
        .expect_err("a message before the request");
    assert!(
        error.rule.starts_with("no message without a request"),
        "{error}"
    );
}

#[test]
fn a_reply_of_a_number_of_messages_ends_with_the_last() {
    let mut wire = Wire::open(Options {
        ending: Ending::Messages(2),
        kind: None,
        ..OPTIONS
    });
    let binary = frame(Opcode::Message(Kind::Binary), b"a");
    wire.receive(&[binary, text(b"b")].concat()).unwrap();
    assert_eq!(wire.take_events()[2..], [body(0, b"ab"), end(0)]);
}

#[test]
fn an_error_of_the_contract_has_the_status_of_an_error() {
    let mut wire = Wire::open(OPTIONS);
    let error = br#"{"error":"bytes must be 0 to 65536"}"#;
    wire.receive(&[text(error), text(b"")].concat()).unwrap();
    let mut expected = expect_beginning(0, 400).to_vec();
    expected.extend([body(0, error), end(0)]);
    assert_eq!(wire.take_events(), expected);
}

#[test]
fn a_server_that_does_not_switch_answers_with_its_status() {
    let mut wire = Wire::send_handshake(OPTIONS);
    wire.receive(b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno")
        .unwrap();
    let events = wire.take_events();
    assert_eq!(events[0], first(0));
    assert!(matches!(&events[1], Event::Head(0, head) if head.status == 404));
    assert_eq!(events[2..], [end(0)]);
    assert!(wire.session.finished());
}

#[test]
fn a_handshake_that_breaks_the_standard_is_refused() {
    let accept = |wire: &Wire| accept_of(&wire.key);
    type Reply = fn(&str) -> String;
    let replies: [(&str, Reply); 6] = [
        ("made from the key", |_| {
            "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x".into()
        }),
        ("made from the key", |_| {
            "Upgrade: websocket\r\nConnection: Upgrade".into()
        }),
        ("names the upgrade", |accept| {
            format!("Upgrade: h2c\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}")
        }),
        ("names the upgrade", |accept| {
            format!("Upgrade: websocket\r\nConnection: close\r\nSec-WebSocket-Accept: {accept}")
        }),
        ("that was offered", |accept| {
            format!(
                "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\nSec-WebSocket-Protocol: x"
            )
        }),
        ("that was offered", |accept| {
            format!(
                "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\nSec-WebSocket-Extensions: permessage-deflate"
            )
        }),
    ];
    for (rule, reply) in replies {
        let mut wire = Wire::send_handshake(OPTIONS);
        let fields = reply(&accept(&wire));
        let reply = format!("HTTP/1.1 101 Switching\r\n{fields}\r\n\r\n");
        let error = wire.receive(reply.as_bytes()).expect_err(rule);
        assert!(error.rule.contains(rule), "{error} instead of {rule}");
        let failed = Failure::Protocol(error);
        assert_eq!(wire.take_events().last(), Some(&fail(0, failed)));
    }
    let mut wire = Wire::send_handshake(OPTIONS);
    let long = format!("HTTP/1.1 101 Switching\r\nx: {}\r\n", "y".repeat(5000));
    assert!(wire.receive(long.as_bytes()).is_err());
}

#[test]
fn a_ping_is_answered_between_frames_and_a_flood_of_them_once() {
    let mut wire = Wire::open(OPTIONS);
    let flood: Vec<u8> = (0..1000)
        .flat_map(|number: u32| frame(Opcode::Ping, &number.to_be_bytes()))
        .collect();
    wire.receive(&flood).unwrap();
    let last = 999_u32.to_be_bytes().to_vec();
    assert_eq!(read_frames(&wire.pump()), [(Opcode::Pong, last)]);
    assert!(wire.pump().is_empty());
}

#[test]
fn a_long_message_leaves_in_parts_and_a_pong_never_within_it() {
    let mut wire = Wire::open(OPTIONS);
    wire.receive(&text(b"")).unwrap();
    let long = vec![b'x'; 1 << 20];
    wire.session.send(1, &request(&[&long, b"end"]));
    let mut out = Vec::new();
    assert!(wire.session.pump(&mut out));
    assert!(out.len() < 300 << 10);
    wire.receive(&frame(Opcode::Ping, b"p")).unwrap();
    while wire.session.pump(&mut out) {}
    let frames = read_frames(&out);
    let kinds: Vec<(Opcode, usize)> = frames
        .iter()
        .map(|(opcode, payload)| (*opcode, payload.len()))
        .collect();
    let text = Opcode::Message(Kind::Text);
    assert_eq!(kinds, [(text, 1 << 20), (Opcode::Pong, 1), (text, 3)]);
    assert!(frames[0].1 == long);
}

#[test]
fn a_close_is_answered_and_fails_the_call_with_its_status() {
    let cases: [(&[u8], Failure); 4] = [
        (b"", Failure::Closed),
        (
            b"\x03\xe8bye",
            Failure::ClosedWith {
                status: 1000,
                reason: "\"bye\"".into(),
            },
        ),
        (
            b"\x03\xf1too long",
            Failure::ClosedWith {
                status: 1009,
                reason: "\"too long\"".into(),
            },
        ),
        (
            b"\x0f\xa0\x1b[2J",
            Failure::ClosedWith {
                status: 4000,
                reason: "\"\\x1b[2J\"".into(),
            },
        ),
    ];
    for (payload, failure) in cases {
        let mut wire = Wire::open(OPTIONS);
        wire.receive(&frame(Opcode::Close, payload)).unwrap();
        let failed = wire.take_events();
        assert_eq!(failed, [fail(0, failure)]);
        assert!(wire.session.finished());
        let status = payload[..payload.len().min(2)].to_vec();
        assert_eq!(read_frames(&wire.pump()), [(Opcode::Close, status)]);
    }
    for payload in [
        b"\x03".as_slice(),
        b"\x03\xed",
        b"\x00\x01",
        b"\x03\xe8\xff",
    ] {
        let mut wire = Wire::open(OPTIONS);
        assert!(
            wire.receive(&frame(Opcode::Close, payload)).is_err(),
            "{payload:x?}"
        );
    }
}

#[test]
fn messages_that_nobody_asked_for_or_of_another_kind_are_refused() {
    let mut wire = Wire::open(OPTIONS);
    wire.receive(&text(b"")).unwrap();
    assert!(wire.receive(&text(b"more")).is_err());
    let mut wire = Wire::open(OPTIONS);
    assert!(
        wire.receive(&frame(Opcode::Message(Kind::Binary), b"x"))
            .is_err()
    );
    assert_eq!(wire.session.capacity(), 0);
}

#[test]
fn the_end_of_the_connection_fails_the_call() {
    let mut wire = Wire::open(OPTIONS);
    wire.session.closed(&mut wire.recorded);
    assert_eq!(wire.take_events(), [fail(0, Failure::Closed)]);
    let mut wire = Wire::open(OPTIONS);
    wire.receive(&text(b"{}")[..3]).unwrap();
    wire.take_events();
    wire.session.closed(&mut wire.recorded);
    assert_eq!(wire.take_events(), [fail(0, Failure::Truncated)]);
    let mut wire = Wire::open(OPTIONS);
    assert!(!wire.session.cancel(0));
    assert!(wire.session.finished());
}

#[test]
fn fields_of_the_handshake_are_the_sessions_own() {
    assert!(
        check_request(&Request {
            method: "GET".into(),
            ..(*request(&[])).clone()
        })
        .is_ok()
    );
    let mut with_key = (*request(&[])).clone();
    with_key.method = "GET".into();
    with_key
        .fields
        .push(("Sec-WebSocket-Key".into(), "x".into()));
    assert!(check_request(&with_key).is_err());
}

#[test]
fn a_header_that_announces_much_takes_no_memory() {
    let mut deframer = Deframer::new(usize::MAX >> 1);
    let header = [0x82, 127, 0x3f, 0xff, 0xff, 0xff, 0, 0, 0, 0];
    let mut input = header.as_slice();
    assert_eq!(deframer.next(&mut input), Ok(None));
    assert!(deframer.is_within() && input.is_empty());
}

#[test]
fn a_session_that_breaks_off_names_the_protocol_error() {
    let mut wire = Wire::open(OPTIONS);
    assert!(wire.receive(b"\x83\x00").is_err());
    // RFC 6455 section 7.4.1.
    let close = (Opcode::Close, 1002_u16.to_be_bytes().to_vec());
    assert_eq!(read_frames(&wire.pump()), [close]);
}

#[test]
fn a_connection_of_one_call_is_closed_with_a_status() {
    let mut wire = Wire::open(Options {
        close: true,
        ..OPTIONS
    });
    assert_eq!(wire.session.capacity(), 0);
    wire.receive(&text(b"")).unwrap();
    assert!(wire.session.finished() && !wire.session.is_drained());
    let close = (Opcode::Close, 1000_u16.to_be_bytes().to_vec());
    assert_eq!(read_frames(&wire.pump()), [close]);
    assert!(wire.session.is_drained());
}

#[test]
fn a_reply_that_overtakes_its_request_ends_the_connection_within_a_frame() {
    let mut wire = Wire::open(OPTIONS);
    wire.receive(&text(b"")).unwrap();
    let long = vec![b'x'; 1 << 20];
    wire.session.send(1, &request(&[&long]));
    assert!(!wire.session.started(1));
    let mut out = Vec::new();
    assert!(wire.session.pump(&mut out));
    assert!(wire.session.started(1) && !wire.session.flushed(1));
    wire.receive(&text(b"")).unwrap();
    assert!(wire.session.finished());
    assert!(wire.pump().is_empty(), "a close within a frame");
}

#[test]
fn a_control_frame_in_parts_is_not_the_first_byte_of_a_reply() {
    let mut wire = Wire::open(OPTIONS);
    let close = frame(Opcode::Close, b"\x03\xe8");
    wire.receive(&close[..3]).unwrap();
    assert_eq!(wire.take_events(), []);
    wire.receive(&close[3..]).unwrap();
    let failure = Failure::ClosedWith {
        status: 1000,
        reason: "\"\"".into(),
    };
    assert_eq!(wire.take_events(), [fail(0, failure)]);
}

#[test]
fn a_message_behind_the_last_one_of_a_reply_fails_the_call() {
    let mut wire = Wire::open(Options {
        ending: Ending::Messages(1),
        kind: None,
        ..OPTIONS
    });
    let ping = frame(Opcode::Ping, b"p");
    wire.receive(&[text(b"one"), ping].concat()).unwrap();
    assert_eq!(wire.take_events()[2..], [body(0, b"one"), end(0)]);
    wire.session.send(1, &request(&[b"two"]));
    wire.pump();
    let error = wire.receive(&[text(b"two"), text(b"three")].concat());
    let failed = Failure::Protocol(error.expect_err("two messages"));
    assert_eq!(wire.take_events().last(), Some(&fail(1, failed)));
}

#[test]
fn replies_before_the_final_one_of_the_handshake_are_passed_over() {
    let mut wire = Wire::send_handshake(OPTIONS);
    let ping = frame(Opcode::Ping, b"p");
    let early = "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n";
    let reply = [early.as_bytes(), wire.switching().as_bytes(), &ping].concat();
    wire.receive(&reply).unwrap();
    let sent = read_frames(&wire.pump());
    assert_eq!(sent[0], (Opcode::Pong, b"p".to_vec()));
    assert_eq!(sent[1].1, b"one");
}

const OFFERING: Options = Options {
    deflate: Some(DeflateOffer {
        server_no_context_takeover: false,
        server_max_window_bits: None,
    }),
    ..OPTIONS
};

/// RFC 7692 section 7.2.3.1: "Hello", and again in the window of the first (section 7.2.3.2).
const HELLO: &[u8] = b"\xf2\x48\xcd\xc9\xc9\x07\x00";
const HELLO_AGAIN: &[u8] = b"\xf2\x00\x11\x00\x00";

fn mark_compressed(payload: &[u8]) -> Vec<u8> {
    let mut bytes = text(payload);
    bytes[0] |= 0x40;
    bytes
}

fn request_compressed(messages: &[&[u8]]) -> Arc<Request> {
    let mut body = Vec::new();
    for message in messages {
        append_compressed(&mut body, Kind::Text, message);
    }
    Arc::new(Request {
        body: body.into(),
        ..(*request(&[])).clone()
    })
}

/// A session that has offered compression, whose server answers with these lines. Call 0 is
/// "Hello" and an empty message.
fn answer_offer(fields: &str) -> Result<Wire, ProtocolError> {
    let mut wire = Wire {
        session: WebSocket::new(OFFERING),
        recorded: RecordedEvents::default(),
        key: String::new(),
    };
    wire.session.send(0, &request_compressed(&[b"Hello", b""]));
    let asked = String::from_utf8(wire.pump()).expect("a head");
    let offer = "\r\nsec-websocket-extensions: permessage-deflate; client_no_context_takeover\r\n";
    assert!(asked.contains(offer), "{asked}");
    let key = asked.split_once("sec-websocket-key: ").expect("a key").1;
    wire.key = key.lines().next().expect("a line").into();
    let reply = wire.write_switching(fields);
    wire.receive(reply.as_bytes()).map(|()| wire)
}

#[test]
fn messages_are_compressed_both_ways_where_the_server_agrees() {
    let agreement = "Sec-WebSocket-Extensions: permessage-deflate\r\n";
    let mut wire = answer_offer(agreement).unwrap();
    let negotiated = wire.session.take_negotiated().expect("an answer");
    assert_eq!(negotiated.to_string(), "permessage-deflate");
    assert_eq!(wire.session.take_negotiated(), None);
    let sent = wire.pump();
    assert_eq!(sent[0], 0xc1, "final, compressed, text");
    let frames = read_frames(&sent);
    assert_eq!(frames[0].1, HELLO);
    assert_eq!(frames[1].1, b"");
    let (second, _) = Header::parse(&sent[6 + HELLO.len()..]).unwrap().unwrap();
    assert!(!second.is_compressed, "an empty message stays as it is");
    let stream = [
        mark_compressed(HELLO),
        text(b"plain"),
        mark_compressed(HELLO_AGAIN),
        text(b""),
    ]
    .concat();
    for piece in stream.chunks(3) {
        wire.receive(piece).unwrap();
    }
    let mut expected = expect_beginning(0, 101).to_vec();
    expected.extend([body(0, b"HelloplainHello"), end(0)]);
    assert_eq!(wire.take_events(), expected);
    // The window is that of the connection, and not of the call.
    wire.session.send(1, &request_compressed(&[b"Hello"]));
    assert_eq!(read_frames(&wire.pump())[0].1, HELLO);
    let rest = [mark_compressed(HELLO_AGAIN), mark_compressed(b"\x00")].concat();
    wire.receive(&rest).unwrap();
    assert_eq!(wire.take_events()[2..], [body(1, b"Hello"), end(1)]);
}

#[test]
fn messages_go_out_as_they_were_where_the_server_declines() {
    let mut wire = answer_offer("").unwrap();
    let negotiated = wire.session.take_negotiated().expect("an answer");
    assert_eq!(negotiated.to_string(), "none");
    let sent = wire.pump();
    assert_eq!(sent[0], 0x81, "not compressed");
    assert_eq!(read_frames(&sent)[0].1, b"Hello");
    let error = wire
        .receive(&mark_compressed(HELLO))
        .expect_err("no agreement");
    assert!(error.rule.contains("without an extension"), "{error}");
    // Also one that is longer than what goes out at a time.
    let mut wire = answer_offer("").unwrap();
    wire.pump();
    wire.receive(&text(b"")).unwrap();
    let long = vec![b'x'; 1 << 20];
    wire.session.send(1, &request_compressed(&[&long, b"end"]));
    let frames = read_frames(&wire.pump());
    assert!(frames[0].1 == long && frames[1].1 == b"end");
}

#[test]
fn an_answer_that_was_not_offered_fails_the_call_with_the_rule() {
    for (field, rule) in [
        (
            "permessage-deflate; client_max_window_bits=9",
            "where it was offered",
        ),
        ("permessage-deflate; x=1", "four parameters"),
        (
            "permessage-deflate\r\nSec-WebSocket-Extensions: permessage-deflate",
            "one offer",
        ),
        ("x-other", "that was offered"),
    ] {
        let error = answer_offer(&format!("Sec-WebSocket-Extensions: {field}\r\n"));
        let error = error.err().expect(field);
        assert!(error.rule.contains(rule), "{error} instead of {rule}");
    }
    let error = answer_offer("Sec-WebSocket-Protocol: x\r\n").err().unwrap();
    assert!(
        error.rule.contains("subprotocol that was offered"),
        "{error}"
    );
}

#[test]
fn a_bomb_fails_the_call_at_the_largest_message() {
    let agreement = "Sec-WebSocket-Extensions: permessage-deflate\r\n";
    let mut wire = answer_offer(agreement).unwrap();
    let bomb = request_compressed(&[&vec![b'x'; 100 << 20]]);
    // Behind the prefix of a message of a body.
    let frame = mark_compressed(&bomb.body[5..]);
    let mut last = Ok(());
    for piece in frame.chunks(1000) {
        last = wire.receive(piece);
        if last.is_err() {
            break;
        }
    }
    let error = last.expect_err("a bomb");
    assert!(error.rule.contains("largest size"), "{error}");
    assert!(error.found.contains("1000 bytes, decompressed"), "{error}");
}
