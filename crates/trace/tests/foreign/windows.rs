//! Senders that wait for a window, of the receiver or of their own.

use wirelab_trace::diagnosis::Cause;
use wirelab_trace::diagnosis::waits::Part;

use super::script::{Client, MS, REQUEST, Script, Server, causes, finding, ms};

/// A reply in flights that end with an acknowledgment one round trip of 30 ms
/// later and begin with `first` segments of 1,460 bytes.
fn flights(first: usize, growth: usize) -> Script {
    let mut script = Script::new();
    let connection = script.add();
    script.handshake(connection, 20, 30 * MS);
    script.wait(MS).send(connection, Client, REQUEST);
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 29125\r\n\r\n";
    let mut body = head.to_vec();
    body.resize(head.len() + 29_125, b'x');
    let (mut rest, mut flight) = (&body[..], first);
    script.wait(200);
    while !rest.is_empty() {
        for _ in 0..flight {
            let (piece, behind) = rest.split_at(rest.len().min(1_460));
            script.wait(10).send(connection, Server, piece);
            rest = behind;
            if rest.is_empty() {
                break;
            }
        }
        script.wait(30 * MS).ack(connection, Client);
        flight += growth;
    }
    script
}

#[test]
fn flights_that_an_acknowledgment_releases_are_of_the_congestion_window() {
    for (first, growth) in [(1, 1), (2, 2), (3, 3), (4, 4), (3, 0), (4, 0)] {
        let dissection = flights(first, growth).dissect();
        let found = causes(&dissection);
        let named = [Cause::SenderStalled, Cause::DribbledWrites];
        assert!(
            !found.iter().any(|one| named.contains(one)),
            "{first}: {found:?}"
        );
        assert_eq!(ms(&dissection, Part::ServerStall), 0, "{first}");
        let window = ms(&dissection, Part::CongestionLimited);
        let whole = dissection.waits.connections.elapsed_ms;
        assert!(window as f64 > 0.3 * whole, "{first}: {window} of {whole}");
    }
}

#[test]
fn a_pause_without_an_acknowledgment_at_its_end_is_of_the_application() {
    let mut script = Script::new();
    let connection = script.add();
    script.handshake(connection, 20, 30 * MS);
    script.wait(MS).send(connection, Client, REQUEST);
    script.wait(200).send(
        connection,
        Server,
        &[
            b"HTTP/1.1 200 OK\r\nContent-Length: 2920\r\n\r\n",
            &[b'x'; 1_419][..],
        ]
        .concat(),
    );
    script.wait(30 * MS).ack(connection, Client);
    script
        .wait(70 * MS)
        .send(connection, Server, &[b'x'; 1_460]);
    script.wait(10).send(connection, Server, &[b'x'; 41]);
    script.wait(30 * MS).ack(connection, Client);
    let dissection = script.dissect();
    assert_eq!(ms(&dissection, Part::ServerStall), 100);
    assert_eq!(finding(&dissection, Cause::SenderStalled).occurrences, 1);
}

#[test]
fn a_closed_window_is_named_in_a_capture_that_begins_later() {
    // Seven packets, without a SYN.
    let mut script = Script::new();
    let connection = script.add();
    script.window(connection, Client, 0);
    script.ack(connection, Client);
    script.wait(5 * MS).keep_alive(connection, Server);
    script.wait(20).ack(connection, Client);
    script.window(connection, Client, 60_000);
    script.wait(5_880).ack(connection, Client);
    for _ in 0..3 {
        script.wait(20).send(connection, Server, &[b'x'; 1_460]);
    }
    let dissection = script.dissect();
    let closed = &dissection.waits.connections.parts_ms[&Part::WindowClosed];
    assert!((closed - 10.9).abs() < 0.01, "{closed}");
    let left = ms(&dissection, Part::Unattributed);
    assert_eq!(left, 0, "{:?}", dissection.waits.connections.parts_ms);
}

#[test]
fn a_closed_window_is_named_where_nothing_follows_it() {
    let mut script = Script::new();
    let connection = script.add();
    script.window(connection, Client, 0);
    script.ack(connection, Client);
    script.window(connection, Client, 60_000);
    script.wait(11 * MS).ack(connection, Client);
    script.wait(20).ack(connection, Server);
    let dissection = script.dissect();
    assert_eq!(ms(&dissection, Part::WindowClosed), 11);
}

/// Two full segments of a path that carries less than both sides announce, and a rest, as every
/// reply has them.
fn replies(segment: usize, rest: usize, mss: u16) -> Script {
    let mut script = Script::new();
    let connection = script.add();
    script.connections[connection].mss = [1_460, mss];
    script.handshake(connection, 20, 30 * MS);
    let bytes = 3 * segment + rest;
    for _ in 0..4 {
        script.wait(MS).send(connection, Client, REQUEST);
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {bytes}\r\n\r\n");
        let mut reply = head.into_bytes();
        reply.resize(reply.len() + bytes, b'x');
        script.wait(200);
        for piece in reply.chunks(segment) {
            script.wait(10).send(connection, Server, piece);
        }
        script.wait(30 * MS).ack(connection, Client);
    }
    script
}

#[test]
fn full_segments_of_a_smaller_mss_are_not_split_writes() {
    for (segment, mss) in [(1_360, 1_360), (1_348, 1_360), (1_200, 1_460)] {
        let dissection = replies(segment, 300, mss).dissect();
        assert_eq!(causes(&dissection), [], "{segment} of {mss}");
    }
}

#[test]
fn two_writes_of_less_than_a_segment_are_split_writes() {
    let mut script = Script::new();
    let connection = script.open(300);
    for _ in 0..4 {
        script.wait(MS).send(connection, Client, REQUEST);
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 600\r\n\r\n";
        script.wait(400).send(connection, Server, head);
        script.wait(20).send(connection, Server, &[b'x'; 600]);
        script.wait(20).ack(connection, Client);
    }
    assert_eq!(causes(&script.dissect()), [Cause::SplitWrites]);
}

#[test]
fn one_call_has_one_latency() {
    let mut script = Script::new();
    let connection = script.open(300);
    script.wait(MS).send(connection, Client, REQUEST);
    script
        .wait(638_471)
        .send(connection, Server, super::script::REPLY);
    let latency = script.dissect().exchanges.latency_us.expect("a call");
    assert_eq!(latency.min, latency.max);
    assert_eq!((latency.p50, latency.p99), (latency.min, latency.max));
}
