//! Losses before the capture, and what only looks like one.

use wirelab_trace::diagnosis::Cause;
use wirelab_trace::diagnosis::waits::Part;

use super::script::{Client, Ids, MS, REPLY, REQUEST, SECOND, Script, Server, causes, finding, ms};

/// Exchanges by a capture next to the server, 10 ms from the client.
fn calls(script: &mut Script, connection: usize, count: usize) {
    for _ in 0..count {
        script.wait(10 * MS).send(connection, Client, REQUEST);
        script.wait(100).send(connection, Server, REPLY);
        script.wait(10 * MS).ack(connection, Client);
    }
}

/// Two connections side by side, then a packet of the first client is lost, and the next comes
/// after that pause.
fn lose_request(ids: Ids, pause_us: u64) -> Script {
    let mut script = Script::new().ids(ids, ids);
    let [first, second] = [script.add(), script.add()];
    script.handshake(first, 20, 10 * MS);
    script.handshake(second, 20, 10 * MS);
    for _ in 0..4 {
        calls(&mut script, first, 1);
        calls(&mut script, second, 1);
    }
    script.lose(first, Client, b"");
    script.wait(pause_us).send(first, Client, REQUEST);
    script.wait(100).send(first, Server, REPLY);
    script
}

#[test]
fn idle_time_is_not_a_loss_whatever_the_ip_identifications() {
    for ids in [Ids::Zero, Ids::PerHost, Ids::PerConnection] {
        for pause in [12 * SECOND, 120 * SECOND, 455 * SECOND] {
            let dissection = lose_request(ids, pause).dissect();
            assert_eq!(causes(&dissection), [Cause::ClientIdle], "{ids:?} {pause}");
            assert_eq!(ms(&dissection, Part::LossRecovery), 0, "{ids:?} {pause}");
            assert_eq!(
                ms(&dissection, Part::ClientBetweenRequests).div_euclid(1_000),
                pause / SECOND,
                "{ids:?}"
            );
        }
    }
}

#[test]
fn a_first_request_after_a_pause_is_not_a_loss() {
    let mut script = Script::new().ids(Ids::PerHost, Ids::PerHost);
    let connection = script.open(314);
    // Six packets to other hosts, which the capture does not hold.
    for _ in 0..6 {
        script.lose(connection, Client, b"");
    }
    script.wait(12 * SECOND).send(connection, Client, REQUEST);
    script.wait(250).ack(connection, Server);
    script.wait(700).send(connection, Server, REPLY);
    let dissection = script.dissect();
    assert_eq!(causes(&dissection), [Cause::ClientIdle]);
    assert_eq!(ms(&dissection, Part::ClientBeforeRequest), 12_000);
}

#[test]
fn a_count_per_connection_shows_a_loss_that_a_timer_repaired() {
    let found = |ids| causes(&lose_request(ids, 214 * MS).dissect());
    assert_eq!(found(Ids::PerConnection), [Cause::TailLoss]);
    assert_eq!(found(Ids::PerHost), [], "one count of all connections");
    assert_eq!(found(Ids::Zero), [], "no count");
}

#[test]
fn a_reply_that_was_lost_with_its_acknowledgment_is_a_loss() {
    let mut script = Script::new().ids(Ids::PerConnection, Ids::PerConnection);
    let connection = script.open(10 * MS);
    for _ in 0..5 {
        script.wait(MS).send(connection, Client, REQUEST);
        script.wait(10 * MS).send(connection, Server, REPLY);
        script.wait(20).ack(connection, Client);
    }
    script.wait(MS).send(connection, Client, REQUEST);
    script.lose(connection, Server, b"");
    script.wait(220 * MS).send(connection, Server, REPLY);
    let dissection = script.dissect();
    assert_eq!(causes(&dissection), [Cause::TailLoss]);
    assert_eq!(ms(&dissection, Part::LossRecovery), 210);
}

#[test]
fn a_capture_at_the_sender_shows_no_loss_before_it() {
    let mut script = Script::new().ids(Ids::PerConnection, Ids::PerConnection);
    let [first, second] = [script.open(10 * MS), script.open(10 * MS)];
    for connection in [first, second, first, second, first, second] {
        script.wait(MS).send(connection, Client, REQUEST);
        script.wait(10 * MS).send(connection, Server, REPLY);
        script.wait(20).ack(connection, Client);
    }
    script.lose(first, Client, b"");
    script.wait(214 * MS).send(first, Client, REQUEST);
    script.wait(10 * MS).send(first, Server, REPLY);
    assert_eq!(causes(&script.dissect()), []);
}

#[test]
fn a_hole_after_a_pause_is_charged_for_no_longer_than_a_timer_takes() {
    let mut script = Script::new();
    let connection = script.open(10 * MS);
    for _ in 0..2 {
        script.wait(MS).send(connection, Client, b"\x01ask");
        script.wait(10 * MS).send(connection, Server, b"\x02answer");
        script.wait(20).ack(connection, Client);
    }
    script.wait(MS).send(connection, Client, b"\x01ask");
    script.wait(10 * MS).ack(connection, Server);
    script.wait(30 * SECOND);
    script.lose(connection, Server, &[b'x'; 1_460]);
    script.burst(connection, Server, 2, 1_460);
    script.wait(220 * MS).repeat(connection, Server, 4_380);
    let dissection = script.dissect();
    let charged = finding(&dissection, Cause::DataRetransmission).ms_total;
    assert!((220.0..600.0).contains(&charged), "{charged}");
}

/// A request that is sent six times, each time after twice the pause.
fn send_six_times(script: &mut Script) -> usize {
    let connection = script.open(10 * MS);
    script.wait(MS).send(connection, Client, REQUEST);
    for doublings in 0..5 {
        script.wait((300 * MS) << doublings);
        script.repeat(connection, Client, REQUEST.len() as u32);
    }
    connection
}

#[test]
fn a_segment_that_is_sent_six_times_is_charged_once() {
    let mut script = Script::new();
    let connection = send_six_times(&mut script);
    script.wait(10 * MS).send(connection, Server, REPLY);
    let dissection = script.dissect();
    let charged = finding(&dissection, Cause::TailLoss).ms_total;
    assert!((charged - 9_300.0).abs() < 1.0, "{charged}");
    assert!(dissection.waits.connections.elapsed_ms >= charged);
}

#[test]
fn a_segment_that_never_arrives_is_half_open_and_not_a_loss() {
    let mut script = Script::new();
    send_six_times(&mut script);
    let dissection = script.dissect();
    // From the first repetition to the last.
    let charged = finding(&dissection, Cause::HalfOpen).ms_total;
    assert!((charged - 9_000.0).abs() < 1.0, "{charged}");
    let losses = [Cause::TailLoss, Cause::DataRetransmission];
    assert!(
        dissection
            .findings
            .iter()
            .all(|one| !losses.contains(&one.cause))
    );
    assert!(dissection.waits.connections.elapsed_ms >= charged);
}
