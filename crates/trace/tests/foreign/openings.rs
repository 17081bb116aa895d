//! Connections that are refused, never answered, or captured in one direction only.

use wirelab_trace::diagnosis::Cause;
use wirelab_trace::diagnosis::waits::Part;

use super::script::{Client, MS, REPLY, REQUEST, SECOND, Script, Server, causes, finding, ms};

#[test]
fn refused_attempts_are_counted_and_open_nothing() {
    let mut script = Script::new();
    let connection = script.add();
    for _ in 0..3 {
        script.syn(connection);
        script.wait(160).rst(connection, Server);
        script.wait(499_840);
    }
    let dissection = script.dissect();
    assert_eq!(dissection.flows.refused, 3);
    assert_eq!(causes(&dissection), [Cause::ConnectionRefused]);
    assert_eq!(
        finding(&dissection, Cause::ConnectionRefused).occurrences,
        3
    );
    assert_eq!(ms(&dissection, Part::SynRetransmission), 1_000);
    assert_eq!(ms(&dissection, Part::Closing), 0);
}

#[test]
fn a_client_that_is_let_in_at_last_was_refused_before() {
    let mut script = Script::new();
    let connection = script.add();
    script.syn(connection);
    script.wait(160).rst(connection, Server);
    script.wait(500 * MS);
    script.handshake(connection, 160, 20);
    script.wait(MS).send(connection, Client, REQUEST);
    script.wait(300).send(connection, Server, REPLY);
    let dissection = script.dissect();
    assert_eq!(dissection.flows.refused, 1);
    assert_eq!(causes(&dissection), [Cause::ConnectionRefused]);
}

#[test]
fn unanswered_attempts_are_counted() {
    let mut script = Script::new();
    for _ in 0..2 {
        let connection = script.add();
        for doublings in 0..3 {
            script.syn(connection);
            script.wait(SECOND << doublings);
        }
    }
    let dissection = script.dissect();
    let flows = &dissection.flows;
    assert_eq!((flows.unanswered, flows.refused), (2, 0));
    assert_eq!(causes(&dissection), [Cause::SynRetransmission]);
    assert_eq!(ms(&dissection, Part::SynRetransmission), 6_000);
}

#[test]
fn a_connection_that_opens_is_neither_refused_nor_unanswered() {
    let mut script = Script::new();
    let connection = script.open(10 * MS);
    script.wait(MS).send(connection, Client, REQUEST);
    script.wait(10 * MS).send(connection, Server, REPLY);
    script.wait(20).rst(connection, Client);
    let flows = script.dissect().flows;
    assert_eq!((flows.unanswered, flows.refused), (0, 0));
}

/// Calls of 40 ms each, with an idle second, a probe and a reset.
fn calls(mut script: Script) -> Script {
    let connection = script.open(300);
    for _ in 0..600 {
        script.wait(MS).send(connection, Client, REQUEST);
        script.wait(40 * MS).send(connection, Server, REPLY);
        script.wait(20).ack(connection, Client);
    }
    script.wait(SECOND).keep_alive(connection, Client);
    script.wait(100).ack(connection, Server);
    script.wait(SECOND).rst(connection, Client);
    script
}

#[test]
fn one_direction_alone_shows_no_part_of_the_other_side() {
    for hidden in [Server, Client] {
        let dissection = calls(Script::new().hide(hidden)).dissect();
        assert_eq!(causes(&dissection), [], "{hidden:?}");
        let waits = &dissection.waits.connections;
        let of = |part| waits.parts_ms.get(&part).copied().unwrap_or(0.0);
        let known = of(Part::Connecting) + of(Part::Unattributed);
        assert!(
            (known - waits.elapsed_ms).abs() < 1e-6,
            "{:?}",
            waits.parts_ms
        );
        assert!(dissection.capture.one_sided.is_some());
    }
}

#[test]
fn both_directions_show_the_server() {
    let dissection = calls(Script::new()).dissect();
    let found = causes(&dissection);
    assert!(found.contains(&Cause::ServerThinkTime), "{found:?}");
    assert!(ms(&dissection, Part::Server) > 23_000);
}

#[test]
fn one_direction_alone_shows_what_is_sent_again() {
    let mut script = Script::new().hide(Server);
    let connection = script.open(300);
    script.wait(MS).send(connection, Client, REQUEST);
    let bytes = REQUEST.len() as u32;
    script.wait(300 * MS).repeat(connection, Client, bytes);
    let dissection = script.dissect();
    assert_eq!(causes(&dissection), [Cause::DataRetransmission]);
    assert_eq!(ms(&dissection, Part::LossRecovery), 300);
}
