//! Clocks that step back or stop.

use wirelab_trace::diagnosis::waits::Part;

use super::script::{Client, MS, REPLY, REQUEST, SECOND, Script, Server, ms};

/// Calls of 40 ms each; the clock steps back behind the third.
fn calls(back_us: u64) -> Script {
    let mut script = Script::new();
    let connection = script.open(300);
    for place in 0..6 {
        if place == 3 {
            script.step_back(back_us);
        }
        script.wait(MS).send(connection, Client, REQUEST);
        script.wait(40 * MS).send(connection, Server, REPLY);
        script.wait(20).ack(connection, Client);
    }
    script
}

#[test]
fn the_account_continues_after_a_clock_steps_back() {
    let dissection = calls(3 * SECOND).dissect();
    let warning = dissection.capture.clock.as_deref().expect("a warning");
    assert!(warning.contains("1 time"), "{warning}");
    assert!(warning.contains("3 s before packet 13"), "{warning}");
    assert_eq!(ms(&dissection, Part::Server), 238);
    assert_eq!(ms(&dissection, Part::Unattributed), 0);
    let waits = &dissection.waits;
    assert!(waits.connections.elapsed_ms <= dissection.capture.seconds * 1e3 + 1e-6);
    assert!(waits.exchanges.elapsed_ms <= waits.connections.elapsed_ms);
}

#[test]
fn a_handshake_across_a_step_of_the_clock_has_no_round_trip() {
    for (back_us, rtt_us) in [(0, Some(30_020.0)), (8 * SECOND, None)] {
        let mut script = Script::new();
        let connection = script.add();
        script.syn(connection);
        script.step_back(back_us);
        script.wait(30 * MS).syn_ack(connection);
        script.wait(20).ack(connection, Client);
        script.wait(MS).send(connection, Client, REQUEST);
        script.wait(31 * MS).send(connection, Server, REPLY);
        script.wait(20).ack(connection, Client);
        let dissection = script.dissect();
        assert_eq!(dissection.flows.list[0].rtt_us, rtt_us, "{back_us}");
    }
}

#[test]
fn a_clock_that_keeps_running_has_no_warning() {
    for back_us in [0, MS] {
        let dissection = calls(back_us).dissect();
        assert_eq!(dissection.capture.clock, None);
        let server = ms(&dissection, Part::Server);
        assert!((237..=238).contains(&server), "{server}");
    }
}

#[test]
fn equal_times_are_reported() {
    let mut script = Script::new();
    let connection = script.open(0);
    script.ack(connection, Client);
    let script = script.freeze();
    let dissection = script.dissect();
    let warning = dissection.capture.clock.expect("a warning");
    assert!(warning.contains("the same time"), "{warning}");
    assert_eq!(dissection.waits.connections.elapsed_ms, 0.0);
}
