//! Conversations in every protocol, as `fuzz_conversations` reads them.

use wirelab_wire::http2::frame::{PREFACE, flag, kind, write_frame};
use wirelab_wire::http2::hpack::{Encoder, Huffman, Indexing};

/// A side and what it says.
type Action = (u8, Vec<u8>);

const C: u8 = 0;
const S: u8 = 1;
/// FIN of a side.
const FIN: u8 = 6 << 1;
/// Captured packets hold 25 bytes of payload from here on.
const SNAP: u8 = 7 << 1 | 5 << 4;
/// What follows is lost.
const LOST: u8 = 4 << 1;

/// Seeds by name.
pub fn conversations() -> Vec<(&'static str, Vec<u8>)> {
    let scripts = [
        ("http", http()),
        ("http-to-the-end", reply_until_close()),
        ("http-snapped", [vec![(SNAP, vec![])], http()].concat()),
        ("http-with-holes", holes()),
        ("grpc", grpc()),
        ("giop", giop()),
        ("raw", raw()),
        ("tls", tls()),
        ("unknown", unknown()),
        ("websocket", websocket()),
        ("events", events()),
        ("lines", lines()),
        ("connect", connect()),
        ("grpc-stream", grpc_stream()),
    ];
    scripts.map(|(name, action)| (name, script(&action))).into()
}

fn script(action: &[Action]) -> Vec<u8> {
    let piece =
        |(action, payload): &Action| [&[*action, payload.len() as u8], &payload[..]].concat();
    action.iter().flat_map(piece).collect()
}

fn action(side: u8, payload: &[u8]) -> Action {
    (side, payload.to_vec())
}

fn http() -> Vec<Action> {
    vec![
        action(C, b"GET /a?b HTTP/1.1\r\nHost: a\r\n\r\n"),
        action(S, b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"),
        action(S, b"hello"),
        action(
            C,
            b"POST /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        ),
        action(
            S,
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
        ),
        (C | FIN, vec![]),
        (S | FIN, vec![]),
    ]
}

fn reply_until_close() -> Vec<Action> {
    vec![
        action(C, b"GET / HTTP/1.0\r\n\r\n"),
        action(S, b"HTTP/1.0 200 OK\r\n\r\nto the end"),
        (S | FIN, vec![]),
    ]
}

fn holes() -> Vec<Action> {
    vec![
        action(C, b"GET / HTTP/1.1\r\n\r\n"),
        action(S, b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n"),
        action(S | LOST, &[1; 20]),
        action(S, &[1; 30]),
        action(C | LOST, b"GET / HTTP/1.1\r\n\r\n"),
        action(S, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        action(C, b"GET / HTTP/1.1\r\n\r\n"),
    ]
}

fn grpc() -> Vec<Action> {
    let mut encoder = Encoder::new(4096, Huffman::WhenNotLonger);
    let mut block = |fields: &[(&str, &str)]| {
        let mut out = Vec::new();
        for (name, value) in fields {
            encoder.field(
                name.as_bytes(),
                value.as_bytes(),
                Indexing::Incremental,
                &mut out,
            );
        }
        out
    };
    let request = block(&[
        (":method", "POST"),
        (":path", "/a.B/C"),
        ("content-type", "application/grpc"),
    ]);
    let reply = block(&[(":status", "200"), ("content-type", "application/grpc")]);
    let trailers = block(&[("grpc-status", "0")]);
    // A whole unary call with padding, so that the fuzzer begins inside every branch.
    let (last, whole) = (flag::END_STREAM, flag::END_HEADERS);
    let mut requested = PREFACE.to_vec();
    write_frame(&mut requested, kind::SETTINGS, 0, 0, &[0, 4, 0, 1, 0, 0]);
    write_frame(&mut requested, kind::HEADERS, whole, 1, &request);
    write_frame(&mut requested, kind::DATA, last, 1, b"\0\0\0\0\x03abc");
    let mut answered = Vec::new();
    write_frame(&mut answered, kind::SETTINGS, 0, 0, &[]);
    write_frame(&mut answered, kind::WINDOW_UPDATE, 0, 0, &[0, 0, 0, 9]);
    write_frame(&mut answered, kind::HEADERS, whole, 1, &reply);
    write_frame(
        &mut answered,
        kind::DATA,
        flag::PADDED,
        1,
        b"\x02\0\0\0\0\x03abc\0\0",
    );
    write_frame(&mut answered, kind::HEADERS, whole | last, 1, &trailers);
    write_frame(&mut answered, kind::GOAWAY, 0, 0, &[0; 8]);
    vec![
        action(C, &requested),
        action(S, &answered),
        (C | FIN, vec![]),
    ]
}

fn websocket() -> Vec<Action> {
    vec![
        action(C, b"GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n"),
        action(S, b"HTTP/1.1 101 S\r\nUpgrade: websocket\r\n\r\n"),
        action(S, b"\x81\x05Hello\x01\x03Hel\x89\x00\x80\x02lo\xc2\x01z"),
        action(C, b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"),
        action(S, b"\x82\x7e\x00\x7e\x82\x7f\x40\0\0\0\0\0\0\0"),
        action(S, &[b'x'; 126]),
        action(S | LOST, b"\x81\x01a"),
        action(S, b"\x81\x01b\x82\x7f\x80\0\0\0\0\0\0\0"),
    ]
}

fn stream(content_type: &str, pieces: &[&[u8]]) -> Vec<Action> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\n\r\n");
    let mut actions = vec![
        action(C, b"GET / HTTP/1.1\r\n\r\n"),
        action(S, head.as_bytes()),
    ];
    actions.extend(pieces.iter().map(|piece| action(S, piece)));
    actions.push((S | FIN, vec![]));
    actions
}

fn events() -> Vec<Action> {
    let pieces: [&[u8]; 4] = [
        b"id: 1764405695123\ndata: a\n\n: x\r\n\r\n",
        b"data: b\r",
        b"\ndata\r\n\r",
        b"\n\ndata: c\n\n",
    ];
    stream("text/event-stream", &pieces)
}

fn lines() -> Vec<Action> {
    let pieces: [&[u8]; 3] = [b"{\"at\":1764405695123}\n\n{", b"}\r\n", b" \n[]\n{"];
    stream("application/x-ndjson", &pieces)
}

fn connect() -> Vec<Action> {
    let pieces: [&[u8]; 3] = [b"\0\0\0\0\x02{}\x01\0\0", b"\0\0\0", b"\xff\xff\xff\xffab"];
    stream("application/connect+json", &pieces)
}

/// Both sides of a call send several messages, and a frame ends inside a prefix.
fn grpc_stream() -> Vec<Action> {
    let mut actions = grpc();
    let first = b"\0\0\0\0\x02ab\0\0\0";
    let second = b"\0\x01c\x01\0\0\0\0";
    for (place, side) in [C, S].into_iter().enumerate() {
        let mut frames = Vec::new();
        for payload in [&first[..], &second[..]] {
            write_frame(&mut frames, kind::DATA, 0, 3, payload);
        }
        actions.insert(1 + place, action(side, &frames));
    }
    let opening = b"\x83\x86\x84\x5f\x10application/grpc";
    let mut asked = Vec::new();
    write_frame(&mut asked, kind::HEADERS, flag::END_HEADERS, 3, opening);
    actions.insert(1, action(C, &asked));
    let mut answered = Vec::new();
    let reply = b"\x88\x5f\x10application/grpc";
    write_frame(&mut answered, kind::HEADERS, flag::END_HEADERS, 3, reply);
    actions.insert(2, action(S, &answered));
    actions
}

fn giop() -> Vec<Action> {
    let request =
        b"GIOP\x01\x02\x00\x00\x00\x00\x00\x28\0\0\0\x05\x03\0\0\0\0\0\0\0\0\0\0\x01k\0\0\0\
        \0\0\0\x03hi\0\0\0\0\0\0\0\0\0\0abcd";
    let reply = b"GIOP\x01\x02\x00\x01\0\0\0\x10\0\0\0\x05\0\0\0\0\0\0\0\0abcd";
    let close = b"GIOP\x01\x02\x00\x05\0\0\0\0";
    vec![action(C, request), action(S, reply), action(S, close)]
}

fn raw() -> Vec<Action> {
    vec![
        action(C, b"4\n<a/>3\nabc"),
        action(S, b"4\n<b/>0\n"),
        action(C, b"2\nab"),
    ]
}

fn tls() -> Vec<Action> {
    let hello = b"\x16\x03\x01\0\x04abcd";
    let data = b"\x17\x03\x03\0\x04abcd";
    vec![
        action(C, hello),
        action(S, hello),
        action(C, data),
        action(S, data),
    ]
}

fn unknown() -> Vec<Action> {
    vec![
        action(S, b"220 mail.example ESMTP ready and waiting\r\n"),
        action(C, b"ehlo client.example\r\n"),
        action(S, b"250 mail.example\r\n"),
    ]
}
