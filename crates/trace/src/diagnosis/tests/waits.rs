//! server-think-time.

use super::{causes, of};
use crate::diagnosis::Cause;
use crate::diagnosis::script::{C, S, Script};
use crate::exchange::{Ending, Protocol};

fn call(script: &mut Script, reply_us: u64) {
    let mark = script.mark();
    script.data(C, 120, 50).data(S, 320, reply_us).ack(C, 10);
    let at = 50 + reply_us;
    script.exchange(mark, (50, 50), Some((at, at)));
}

#[test]
fn a_server_that_thinks() {
    let mut script = Script::new();
    script.open(20, 10);
    for _ in 0..4 {
        call(&mut script, 12_020);
    }
    let findings = script.findings();
    let found = of(&findings, Cause::ServerThinkTime).expect("four waits");
    assert_eq!(found.occurrences, 4);
    assert!((found.ms_total - 48.0).abs() < 0.01, "{}", found.ms_total);
    assert!(found.test.is_none());
    assert_eq!(causes(&findings), [Cause::ServerThinkTime]);
}

#[test]
fn the_way_to_the_server_is_no_thinking() {
    let mut script = Script::new();
    script.open(13_800, 10);
    for _ in 0..4 {
        call(&mut script, 15_100);
    }
    assert_eq!(causes(&script.findings()), []);
}

#[test]
fn what_a_link_delays_by_chance_is_no_thinking() {
    let mut script = Script::new();
    script.open(850_000, 10);
    for more in [10_000, 90_000, 160_000, 200_000] {
        call(&mut script, 850_000 + more);
    }
    assert_eq!(causes(&script.findings()), []);
}

#[test]
fn a_reply_behind_another_on_the_same_connection_waits_for_that() {
    let mut script = Script::new();
    script.open(20, 10);
    let mark = script.mark();
    script
        .data(C, 120, 50)
        .data(C, 120, 10)
        .data(S, 320, 10_000);
    script.data(S, 320, 30);
    // The second began with the first: its request and its reply are told apart by time.
    script.exchange(mark, (50, 50), Some((10_060, 10_060)));
    script.exchange(mark, (60, 60), Some((10_090, 10_090)));
    let findings = script.findings();
    let found = of(&findings, Cause::ServerThinkTime).expect("one wait");
    assert_eq!(found.occurrences, 1);
}

#[test]
fn a_request_without_a_reply_is_not_judged() {
    let mut script = Script::new();
    script.open(20, 10);
    let mark = script.mark();
    script.data(C, 120, 50).fin(C, 1_000_000);
    script.exchange_as(mark, (50, 50), None, Protocol::Http1, Ending::Broken);
    script.closed();
    assert_eq!(causes(&script.findings()), []);
}
