//! The slowest exchanges of conversations whose times and causes are known.

use wirelab_trace::diagnosis::Diagnosis;
use wirelab_trace::diagnosis::waits::Part;
use wirelab_trace::output::{Dissection, Elapsed, Options, Phase, SlowExchange, Slowest};

use super::script::{Client, MS, REPLY, REQUEST, SECOND, Script, Server};

const SERVER_US: u64 = 5 * MS;
const TIMEOUT_US: u64 = 200 * MS;

/// What a script knows of an exchange.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Truth {
    number: u64,
    at_us: u64,
    packets: [u64; 2],
}

/// One exchange by a capture at the client. Its request is lost behind the capture, and sent again
/// after that time; 0: it is not lost.
fn call(script: &mut Script, connection: usize, lost_us: u64, server_us: u64) -> (u64, [u64; 2]) {
    script.wait(MS).send(connection, Client, REQUEST);
    let (at_us, first) = (script.since_start_us(), script.packets());
    if lost_us > 0 {
        script.wait(lost_us);
        script.repeat(connection, Client, REQUEST.len() as u32);
    }
    script.wait(server_us).send(connection, Server, REPLY);
    let last = script.packets();
    script.wait(20).ack(connection, Client);
    (at_us, [first, last])
}

/// A thousand exchanges of 5 ms, on two connections in turn. Those whose numbers are lost wait for a
/// retransmission, too; they are returned.
fn thousand(is_lost: fn(u64) -> bool) -> (Script, Vec<Truth>) {
    let mut script = Script::new();
    let connections = [script.open(20), script.open(20)];
    let mut lost = Vec::new();
    for number in 1..=1_000 {
        let connection = connections[(number % 2) as usize];
        let lost_us = if is_lost(number) { TIMEOUT_US } else { 0 };
        let (at_us, packets) = call(&mut script, connection, lost_us, SERVER_US);
        if is_lost(number) {
            lost.push(Truth {
                number,
                at_us,
                packets,
            });
        }
    }
    (script, lost)
}

fn slowest_of(script: &Script, kept: usize) -> Slowest {
    let diagnosis = Diagnosis::default().with_slowest(kept);
    let dissection = script.dissect_with(Options::default(), diagnosis);
    dissection.slowest.expect("it was asked for")
}

fn with_timeline(script: &Script, number: u64) -> Dissection {
    let options = Options {
        timeline: Some(number),
        ..Options::default()
    };
    script.dissect_with(options, Diagnosis::default())
}

fn truth(one: &SlowExchange) -> Truth {
    Truth {
        number: one.number,
        at_us: (one.at_ms * 1e3).round() as u64,
        packets: one.packets,
    }
}

fn share(time: &Elapsed, part: Part) -> f64 {
    time.parts_ms.get(&part).copied().unwrap_or_default() / time.elapsed_ms
}

#[track_caller]
fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-3, "{found} is not {expected}");
}

#[test]
fn the_slowest_are_those_that_lost_a_packet_and_their_time_is_loss_recovery() {
    let (script, lost) = thousand(|number| number % 100 == 37);
    let slowest = slowest_of(&script, 10);
    assert_eq!((slowest.of, lost.len()), (1_000, 10));
    let mut found: Vec<Truth> = slowest.list.iter().map(truth).collect();
    found.sort_by_key(|one| one.number);
    assert_eq!(found, lost);
    for one in &slowest.list {
        assert_near(one.time.elapsed_ms, 205.0);
        assert_near(one.time.parts_ms[&Part::LossRecovery], 200.0);
        assert_near(one.time.parts_ms.values().sum(), 205.0);
    }
    let compared = slowest.compared.expect("a thousand");
    assert_eq!((compared.slowest.count, compared.median.count), (10, 100));
    assert_near(compared.slowest.elapsed_ms, 2_050.0);
    assert_near(compared.median.elapsed_ms, 500.0);
    assert!(share(&compared.slowest, Part::LossRecovery) > 0.97);
    assert!(share(&compared.median, Part::Server) > 0.97);
    assert_near(share(&compared.median, Part::LossRecovery), 0.0);
}

#[test]
fn the_slowest_of_equal_exchanges_took_as_long_as_the_others() {
    let (script, _) = thousand(|_| false);
    let slowest = slowest_of(&script, 5);
    assert_eq!(slowest.list.len(), 5);
    let compared = slowest.compared.expect("a thousand");
    assert_near(compared.slowest.elapsed_ms / 10.0, 5.0);
    assert_near(compared.median.elapsed_ms / 100.0, 5.0);
    for part in Part::ALL {
        let [slow, usual] = [&compared.slowest, &compared.median].map(|time| share(time, part));
        assert_near(slow, usual);
    }
}

#[test]
fn a_number_shows_the_same_exchange_with_timeline() {
    let (script, lost) = thousand(|number| number % 100 == 37);
    for one in slowest_of(&script, 12).list {
        let shown = with_timeline(&script, one.number);
        let of = shown.timeline_of.expect("a timeline");
        assert_eq!((of.flow, of.exchange), (one.flow, one.exchange));
        assert_near(of.latency_us.expect("a reply") / 1e3, one.time.elapsed_ms);
        let mut rungs = shown.timeline.iter();
        let first = rungs.find(|rung| rung.phase == Phase::Exchange);
        assert_eq!(first.map(|rung| rung.packet), Some(one.packets[0]));
        assert!(rungs.any(|rung| rung.packet == one.packets[1]));
    }
    assert_eq!(lost.len(), 10);
}

#[test]
fn an_opening_belongs_to_the_call_that_it_was_made_for() {
    let mut script = Script::new();
    let pooled = script.open(20);
    script.wait(10 * SECOND);
    call(&mut script, pooled, 0, SERVER_US);
    // A connection per call, whose SYN was lost.
    let fresh = script.add();
    let at_us = script.since_start_us();
    let first = script.packets() + 1;
    script.syn(fresh);
    script.wait(SECOND);
    script.handshake(fresh, 20, 20);
    let (_, [_, last]) = call(&mut script, fresh, 0, SERVER_US);
    let slowest = slowest_of(&script, 5);
    let [opened, asked] = &slowest.list[..] else {
        panic!("{slowest:#?}");
    };
    let expected = Truth {
        number: 2,
        at_us,
        packets: [first, last],
    };
    assert_eq!((truth(opened), opened.has_opening), (expected, true));
    assert_near(opened.time.elapsed_ms, 1_006.04);
    assert_near(opened.time.parts_ms[&Part::SynRetransmission], 1_000.0);
    assert_eq!((asked.number, asked.has_opening), (1, false));
    assert_near(asked.time.elapsed_ms, 5.0);
    assert!(slowest.compared.is_none(), "two are too few");
}

#[test]
fn a_capture_without_exchanges_has_an_empty_list() {
    let mut script = Script::new();
    script.open(20);
    let slowest = slowest_of(&script, 5);
    assert_eq!((slowest.of, slowest.list.len()), (0, 0));
    assert!(slowest.compared.is_none());
}

#[test]
fn the_slowest_are_left_out_unless_asked_for() {
    let (script, _) = thousand(|_| false);
    assert!(script.dissect().slowest.is_none());
}
