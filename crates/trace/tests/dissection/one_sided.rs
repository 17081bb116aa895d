//! Captures that hold one direction of their connections.

use crate::tape::{C, S, Tape};

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Connections with packets of the client only, of the server only, and all;
/// and what is said of it.
fn told(tape: &Tape) -> ([u64; 3], Option<String>) {
    let dissection = tape.play().dissection;
    let flows = &dissection.flows;
    let counts = [
        flows.one_sided.requests,
        flows.one_sided.replies,
        flows.count,
    ];
    (counts, dissection.capture.one_sided)
}

#[test]
fn one_direction_alone_says_what_it_cannot_tell_and_what_to_do() {
    for (side, payload, counts, whose) in [
        (C, GET, [1, 0, 1], "of the client"),
        (S, OK, [0, 1, 1], "of the server"),
    ] {
        let tape = &mut Tape::new_one_way(side);
        let (found, words) = told(tape.send(side, payload).fin(side));
        assert_eq!(found, counts);
        let words = words.expect("words");
        for part in ["1 of 1 connection only", whose, "latency", "mergecap"] {
            assert!(words.contains(part), "{part}: {words}");
        }
    }
}

#[test]
fn a_capture_of_both_directions_has_no_warning() {
    let mut tape = Tape::new();
    assert_eq!(told(tape.send(C, GET).send(S, OK)), ([0, 0, 1], None));
}

#[test]
fn a_connection_that_nobody_answers_was_captured_whole() {
    let mut tape = Tape::middle();
    assert_eq!(told(tape.knock().knock().knock()), ([0, 0, 3], None));
}

#[test]
fn one_sided_captures_are_reported_where_most_connections_are() {
    let mut tape = Tape::new();
    tape.send(C, GET)
        .send(S, OK)
        .again()
        .send(C, GET)
        .send(S, OK);
    tape.again().send(C, GET).send(S, OK).only(S);
    assert_eq!(told(&tape), ([0, 1, 3], None), "one of three");
    tape.again().send(C, GET).send(S, OK).only(C);
    assert_eq!(told(&tape), ([1, 1, 4], None), "half of them");
    tape.again().send(C, GET).send(S, OK).only(C);
    let (counts, words) = told(&tape);
    assert_eq!(counts, [2, 1, 5]);
    let words = words.expect("words");
    assert!(words.contains("3 of 5 connections only"), "{words}");
    assert!(words.contains("either the client or the server"), "{words}");
}

#[test]
fn a_port_that_is_asked_for_is_judged_alone() {
    let options = |port| wirelab_trace::output::Options {
        port: Some(port),
        ..Default::default()
    };
    let mut tape = Tape::new();
    tape.send(C, GET).send(S, OK).again().send(C, GET).only(C);
    let of = |port| tape.play_with(options(port)).dissection.capture.one_sided;
    assert_eq!(of(40_000), None);
    assert!(of(40_001).is_some());
}
