//! Idle connections, and streams of messages whose ends nothing shows.

use wirelab_trace::diagnosis::Cause;
use wirelab_trace::diagnosis::waits::Part;

use super::script::{Client, MS, REPLY, REQUEST, SECOND, Script, Server, Side, causes, ms};

fn parts(dissection: &wirelab_trace::output::Dissection) -> Vec<(Part, u64)> {
    let parts = &dissection.waits.connections.parts_ms;
    let long = parts.iter().filter(|(_, ms)| **ms >= 50.0);
    long.map(|(part, ms)| (*part, ms.round() as u64)).collect()
}

/// A query of a protocol that is not parsed, and its answer.
fn query_twice(script: &mut Script) -> usize {
    let connection = script.open(300);
    for _ in 0..2 {
        script
            .wait(MS)
            .send(connection, Client, b"\x01\xfeASK 17\x00");
        script
            .wait(400)
            .send(connection, Server, b"\x02\xfdANSWER 17\x00");
        script.wait(20).ack(connection, Client);
    }
    connection
}

#[test]
fn packets_after_a_complete_reply_are_not_a_pause_within_it() {
    // A reset, a probe, and a message that nobody asked for.
    let reset = |script: &mut Script, connection| script.rst(connection, Client);
    let probe = |script: &mut Script, connection| {
        script.keep_alive(connection, Client);
        script.wait(300).ack(connection, Server);
    };
    let unasked = |script: &mut Script, connection| {
        script.send(connection, Server, b"\x03\xfcEVENT 9\x00");
        script.wait(20).ack(connection, Client);
    };
    type Step<'a> = &'a dyn Fn(&mut Script, usize);
    let idle: [(Step, Part); 3] = [
        (&reset, Part::BeforeClosing),
        (&probe, Part::ClientBetweenRequests),
        (&unasked, Part::ServerUnasked),
    ];
    for (follows, part) in idle {
        let mut script = Script::new();
        let connection = query_twice(&mut script);
        script.wait(75 * SECOND);
        follows(&mut script, connection);
        let dissection = script.dissect();
        let [(found, ms)] = parts(&dissection)[..] else {
            panic!("{part:?}: {:?}", parts(&dissection));
        };
        assert_eq!(found, part);
        // With the pause of a millisecond before.
        assert!((75_000..=75_002).contains(&ms), "{part:?}: {ms}");
        let found = causes(&dissection);
        let idle = [Cause::ClientIdle];
        assert!(found.is_empty() || found == idle, "{part:?}: {found:?}");
    }
}

#[test]
fn a_reply_with_a_length_is_complete_whatever_follows() {
    let mut script = Script::new();
    let connection = script.open(300);
    script.wait(MS).send(connection, Client, REQUEST);
    script.wait(400).send(connection, Server, REPLY);
    script.wait(20).ack(connection, Client);
    script.wait(30 * SECOND).keep_alive(connection, Server);
    script.wait(20).ack(connection, Client);
    script.wait(30 * SECOND).rst(connection, Server);
    let dissection = script.dissect();
    assert_eq!(ms(&dissection, Part::ServerStall), 0);
    assert_eq!(causes(&dissection), [Cause::ClientIdle]);
}

#[test]
fn a_reply_that_pauses_before_its_length_is_reached_is_a_pause() {
    let mut script = Script::new();
    let connection = script.open(300);
    script.wait(MS).send(connection, Client, REQUEST);
    script
        .wait(400)
        .send(connection, Server, &REPLY[..REPLY.len() - 1]);
    script.wait(20).ack(connection, Client);
    script.wait(2 * SECOND).keep_alive(connection, Client);
    script.wait(300).ack(connection, Server);
    script.wait(SECOND).send(connection, Server, b"k");
    let dissection = script.dissect();
    assert_eq!(ms(&dissection, Part::ServerStall), 3_000);
    assert_eq!(causes(&dissection), [Cause::SenderStalled]);
}

/// Messages of one side, each after a pause.
fn stream(side: Side, pauses: usize, us: u64) -> Script {
    let mut script = Script::new();
    let connection = query_twice(&mut script);
    for place in 0..pauses {
        script.wait(if place == 0 { MS } else { us });
        script.send(connection, side, b"\x04\xfbPUBLISH topic 1234567890\x00");
        let other = if side == Client { Server } else { Client };
        script.wait(40).ack(connection, other);
    }
    script
}

#[test]
fn pauses_between_messages_of_unknown_length_are_not_stalls() {
    for (side, part) in [
        (Client, Part::ClientBetweenRequests),
        (Server, Part::ServerUnasked),
    ] {
        let dissection = stream(side, 11, 200 * MS).dissect();
        assert_eq!(causes(&dissection), [], "{side:?}");
        let [(found, ms)] = parts(&dissection)[..] else {
            panic!("{side:?}: {:?}", parts(&dissection));
        };
        assert_eq!(found, part);
        assert!((2_000..=2_003).contains(&ms), "{side:?}: {ms}");
    }
}

#[test]
fn a_stream_one_way_waits_for_no_answer_at_its_end() {
    let mut script = stream(Client, 5, 200 * MS);
    script.wait(30 * SECOND).fin(0, Client);
    let dissection = script.dissect();
    assert!(ms(&dissection, Part::Server) <= 1);
    assert_eq!(ms(&dissection, Part::BeforeClosing), 30_000);
    let found = causes(&dissection);
    assert!(!found.contains(&Cause::Unanswered), "{found:?}");
    assert!(!found.contains(&Cause::ServerThinkTime), "{found:?}");
}

#[test]
fn a_pause_behind_a_full_segment_is_inside_a_message() {
    let mut script = Script::new();
    let connection = query_twice(&mut script);
    script
        .wait(MS)
        .send(connection, Client, b"\x01\xfeASK 18\x00");
    script.wait(400).send(connection, Server, &[b'x'; 1_460]);
    script.wait(20).ack(connection, Client);
    script.wait(300 * MS).send(connection, Server, &[b'x'; 700]);
    let dissection = script.dissect();
    assert_eq!(ms(&dissection, Part::ServerStall), 300);
    assert_eq!(causes(&dissection), [Cause::SenderStalled]);
}

/// A server that passes on messages of others every two seconds (IRC), and asks in between
/// whether the client is there; the client answers after `answer_us`.
fn chat(answer_us: u64, next_us: u64) -> wirelab_trace::output::Dissection {
    let mut script = Script::new();
    let connection = query_twice(&mut script);
    for place in 0..8 {
        let next = if place > 0 { next_us } else { 2 * SECOND };
        script.wait(next);
        script.send(connection, Server, b":bob PRIVMSG #shop :hello\r\n");
        script.wait(20).ack(connection, Client);
        script.wait(2 * SECOND);
        script.send(connection, Server, b"PING :irc.test\r\n");
        script.wait(answer_us);
        script.send(connection, Client, b"PONG :irc.test\r\n");
    }
    script.dissect()
}

#[test]
fn an_answer_to_what_came_unasked_waits_for_nothing() {
    let dissection = chat(200, 2 * SECOND);
    assert_eq!(causes(&dissection), []);
    assert!(ms(&dissection, Part::Server) < 10);
    assert_eq!(ms(&dissection, Part::ServerUnasked) / 1_000, 32);
}

#[test]
fn a_question_after_what_came_unasked_is_one() {
    // Not at once, so that it is the client's own; and a server that takes half a second.
    for (answer_us, next_us) in [(300 * MS, 2 * SECOND), (200, 500 * MS)] {
        let dissection = chat(answer_us, next_us);
        assert_eq!(causes(&dissection), [Cause::ServerThinkTime], "{answer_us}");
    }
}
