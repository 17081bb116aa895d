//! Captures that hold one direction of their connections.

use super::packet_builder::{C, PacketBuilder, S};

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Connections with packets of the client only, of the server only, and all;
/// and what is said of it.
fn one_sided(builder: &PacketBuilder) -> ([u64; 3], Option<String>) {
    let dissection = builder.dissect().dissection;
    let flows = &dissection.flows;
    let counts = [
        flows.one_sided.requests,
        flows.one_sided.replies,
        flows.count,
    ];
    (counts, dissection.capture.one_sided)
}

#[test]
fn a_one_sided_capture_reports_what_is_unknown_and_the_remedy() {
    for (side, payload, counts, whose) in [
        (C, GET, [1, 0, 1], "of the client"),
        (S, OK, [0, 1, 1], "of the server"),
    ] {
        let builder = &mut PacketBuilder::new_one_way(side);
        let (found, words) = one_sided(builder.send(side, payload).fin(side));
        assert_eq!(found, counts);
        let words = words.expect("words");
        for part in ["1 of 1 connection only", whose, "latency", "mergecap"] {
            assert!(words.contains(part), "{part}: {words}");
        }
    }
}

#[test]
fn a_capture_of_both_directions_has_no_warning() {
    let mut builder = PacketBuilder::new();
    assert_eq!(
        one_sided(builder.send(C, GET).send(S, OK)),
        ([0, 0, 1], None)
    );
}

#[test]
fn an_unanswered_syn_is_not_one_sided() {
    let mut builder = PacketBuilder::middle();
    assert_eq!(
        one_sided(
            builder
                .syn_without_answer()
                .syn_without_answer()
                .syn_without_answer()
        ),
        ([0, 0, 3], None)
    );
}

#[test]
fn one_sided_captures_are_reported_where_most_connections_are() {
    let mut builder = PacketBuilder::new();
    builder
        .send(C, GET)
        .send(S, OK)
        .next_connection()
        .send(C, GET)
        .send(S, OK);
    builder.next_connection().send(C, GET).send(S, OK).only(S);
    assert_eq!(one_sided(&builder), ([0, 1, 3], None), "one of three");
    builder.next_connection().send(C, GET).send(S, OK).only(C);
    assert_eq!(one_sided(&builder), ([1, 1, 4], None), "half of them");
    builder.next_connection().send(C, GET).send(S, OK).only(C);
    let (counts, words) = one_sided(&builder);
    assert_eq!(counts, [2, 1, 5]);
    let words = words.expect("words");
    assert!(words.contains("3 of 5 connections only"), "{words}");
    assert!(words.contains("either the client or the server"), "{words}");
}

#[test]
fn a_port_filter_limits_the_one_sided_check() {
    let options = |port| wirelab_trace::output::Options {
        port: Some(port),
        ..Default::default()
    };
    let mut builder = PacketBuilder::new();
    builder
        .send(C, GET)
        .send(S, OK)
        .next_connection()
        .send(C, GET)
        .only(C);
    let of = |port| {
        builder
            .dissect_with(options(port))
            .dissection
            .capture
            .one_sided
    };
    assert_eq!(of(40_000), None);
    assert!(of(40_001).is_some());
}
