//! connection-per-call, read-until-close and syn-retransmission.

use super::timeline::{C, S, Timeline};
use super::{causes, of};
use crate::diagnosis::Cause;
use crate::packet::Flags;
use crate::protocol::exchange::{Ending, Protocol};

const SYN_ACK: Flags = Flags(Flags::SYN.0 | Flags::ACK.0);

fn call(timeline: &mut Timeline) {
    let mark = timeline.mark();
    timeline.data(C, 120, 50).data(S, 320, 100);
    timeline.exchange(mark, (50, 50), Some((150, 150)));
}

fn close(timeline: &mut Timeline) {
    timeline
        .fin(S, 50)
        .ack(C, 10)
        .fin(C, 10)
        .ack(S, 20)
        .closed();
}

#[test]
fn a_connection_for_each_call() {
    let mut timeline = Timeline::new();
    for _ in 0..5 {
        timeline.us += 1_000;
        timeline.open(400, 100);
        call(&mut timeline);
        close(&mut timeline);
    }
    let findings = timeline.findings();
    let found = of(&findings, Cause::ConnectionPerCall).expect("five openings");
    assert_eq!(found.occurrences, 5);
    assert!((found.ms_total - 2.5).abs() < 1e-6, "{}", found.ms_total);
    assert_eq!(found.examples[0].packets, [1, 2, 3]);
    assert_eq!(
        found.test.as_ref().map(|test| test.value.as_str()),
        Some("keep")
    );
    assert_eq!(causes(&findings), [Cause::ConnectionPerCall]);
}

#[test]
fn a_connection_for_one_call_is_not_a_pattern() {
    let mut timeline = Timeline::new();
    timeline.open(400, 100);
    call(&mut timeline);
    close(&mut timeline);
    assert_eq!(causes(&timeline.findings()), []);
}

#[test]
fn connections_of_several_calls_are_reused() {
    let mut timeline = Timeline::new();
    for _ in 0..3 {
        timeline.us += 1_000;
        timeline.open(400, 100);
        call(&mut timeline);
        call(&mut timeline);
        close(&mut timeline);
    }
    assert_eq!(causes(&timeline.findings()), []);
}

#[test]
fn connections_that_are_never_closed_could_be_used_again() {
    let mut timeline = Timeline::new();
    for _ in 0..3 {
        timeline.open(400, 100);
        call(&mut timeline);
        timeline.flow += 1;
    }
    assert_eq!(causes(&timeline.findings()), []);
}

#[test]
fn only_the_end_of_the_connection_ends_the_reply() {
    let mut timeline = Timeline::new();
    for _ in 0..2 {
        timeline.us += 1_000;
        timeline.open(20, 10);
        let mark = timeline.mark();
        timeline
            .data(C, 120, 50)
            .data(S, 320, 100)
            .ack(C, 10)
            .fin(S, 60_000);
        let times = (Some((150, 150)), Protocol::Http1, Ending::UntilClose);
        timeline.exchange_as(mark, (50, 50), times.0, times.1, times.2);
        timeline.ack(C, 10).fin(C, 10).closed();
    }
    let findings = timeline.findings();
    let found = of(&findings, Cause::ReadUntilClose).expect("two replies");
    assert_eq!(found.occurrences, 2);
    assert!((found.ms_total - 120.02).abs() < 1e-6, "{}", found.ms_total);
    assert_eq!(
        causes(&findings),
        [Cause::ReadUntilClose, Cause::ConnectionPerCall]
    );
}

#[test]
fn a_framed_reply_before_the_end_is_complete() {
    let mut timeline = Timeline::new();
    timeline.open(20, 10);
    call(&mut timeline);
    timeline.fin(S, 60_000).closed();
    assert_eq!(causes(&timeline.findings()), []);
}

#[test]
fn a_lost_syn_is_sent_again_after_a_second() {
    let mut timeline = Timeline::new();
    timeline.opening(true);
    timeline
        .handshake(C, Flags::SYN, 0)
        .handshake(C, Flags::SYN, 1_010_000);
    timeline
        .handshake(C, Flags::SYN, 2_020_000)
        .handshake(S, SYN_ACK, 300)
        .ack(C, 10);
    call(&mut timeline);
    let findings = timeline.findings();
    let found = of(&findings, Cause::SynRetransmission).expect("one opening");
    assert_eq!((found.occurrences, found.exchanges), (1, 1));
    assert!((found.ms_total - 3_030.0).abs() < 1e-6);
    assert_eq!(found.examples[0].packets, [1, 3]);
    assert!(found.share_of_latency > 0.99);
}

#[test]
fn a_lost_answer_is_sent_again_too() {
    let mut timeline = Timeline::new();
    timeline.opening(true);
    timeline
        .handshake(C, Flags::SYN, 0)
        .handshake(S, SYN_ACK, 10);
    timeline.handshake(S, SYN_ACK, 1_020_000).ack(C, 2_600);
    call(&mut timeline);
    let findings = timeline.findings();
    let found = of(&findings, Cause::SynRetransmission).expect("one opening");
    assert!((found.ms_total - 1_020.0).abs() < 1e-6);
}

#[test]
fn a_syn_that_the_network_delivers_twice_was_sent_once() {
    let mut timeline = Timeline::new();
    timeline.opening(true);
    timeline
        .handshake(C, Flags::SYN, 0)
        .handshake(C, Flags::SYN, 800);
    timeline.handshake(S, SYN_ACK, 13_000).ack(C, 10);
    call(&mut timeline);
    assert_eq!(causes(&timeline.findings()), []);
}

#[test]
fn an_opening_that_fails_is_an_occurrence_without_exchange() {
    let mut timeline = Timeline::new();
    timeline.opening(true);
    timeline
        .handshake(C, Flags::SYN, 0)
        .handshake(C, Flags::SYN, 1_000_000);
    timeline.closed();
    let findings = timeline.findings();
    let found = of(&findings, Cause::SynRetransmission).expect("one opening");
    assert_eq!((found.occurrences, found.exchanges), (1, 0));
}
