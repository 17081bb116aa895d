//! h2-stream-limit, h2-settings-wait and h2-ping-wait.

use super::of;
use super::timeline::{C, S, Timeline};
use crate::diagnosis::{Cause, Finding};
use crate::protocol::exchange::Pdu;

const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const ACK: u8 = 1;
const END_STREAM: u8 = 1;

const CAUSES: [Cause; 3] = [
    Cause::H2SettingsWait,
    Cause::H2PingWait,
    Cause::H2StreamLimit,
];

fn pdu(kind: u8, flags: u8, stream: u32) -> Pdu {
    Pdu::Http2 {
        kind,
        stream,
        length: 8,
        window: None,
        flags,
        streams_max: None,
    }
}

fn limit(streams: u32) -> Pdu {
    Pdu::Http2 {
        kind: SETTINGS,
        stream: 0,
        length: 6,
        window: None,
        flags: 0,
        streams_max: Some(streams),
    }
}

fn http2_findings(timeline: Timeline) -> Vec<Finding> {
    let mut findings = timeline.findings();
    findings.retain(|finding| CAUSES.contains(&finding.cause));
    findings
}

/// Over a path of 60 ms, seen by the client.
fn open_connection() -> Timeline {
    let mut timeline = Timeline::new();
    timeline.open(60_000, 10);
    timeline
}

fn request(timeline: &mut Timeline, stream: u32, after_us: u64) {
    timeline.frame(C, pdu(HEADERS, END_STREAM, stream), 50, after_us);
}

fn reply(timeline: &mut Timeline, stream: u32, after_us: u64) {
    timeline.frame(S, pdu(HEADERS, END_STREAM, stream), 50, after_us);
}

#[test]
fn a_first_request_that_waits_for_settings_is_found() {
    let mut timeline = open_connection();
    timeline.frame(C, pdu(SETTINGS, 0, 0), 30, 50);
    timeline.frame(S, pdu(SETTINGS, 0, 0), 30, 60_000);
    request(&mut timeline, 1, 200);
    reply(&mut timeline, 1, 60_000);
    let findings = http2_findings(timeline);
    let waited = of(&findings, Cause::H2SettingsWait).expect("one");
    assert!((waited.ms_total - 60.2).abs() < 1e-6);
    assert_eq!(waited.examples[0].packets, [4, 5, 6]);
    assert_eq!(findings.len(), 1);
}

#[test]
fn a_first_request_that_is_sent_at_once_or_much_later_waits_for_nothing() {
    for (before, behind) in [(300, 60_000), (60_000, 70_000)] {
        let mut timeline = open_connection();
        timeline.frame(C, pdu(SETTINGS, 0, 0), 30, 50);
        if before < 60_000 {
            request(&mut timeline, 1, before);
            timeline.frame(S, pdu(SETTINGS, 0, 0), 30, behind);
        } else {
            timeline.frame(S, pdu(SETTINGS, 0, 0), 30, before);
            request(&mut timeline, 1, behind);
        }
        reply(&mut timeline, 1, 60_000);
        assert_eq!(http2_findings(timeline), []);
    }
}

/// A PING so long after the last reply, and a request so long after its answer.
fn diagnose_ping(quiet_us: u64, behind_us: u64) -> Vec<Finding> {
    let mut timeline = open_connection();
    timeline.frame(C, pdu(SETTINGS, 0, 0), 30, 50);
    request(&mut timeline, 1, 10);
    reply(&mut timeline, 1, 60_000);
    timeline.frame(C, pdu(PING, 0, 0), 17, quiet_us);
    timeline.frame(S, pdu(PING, ACK, 0), 17, 60_000);
    request(&mut timeline, 3, behind_us);
    reply(&mut timeline, 3, 60_000);
    http2_findings(timeline)
}

#[test]
fn a_request_that_waits_for_a_ping_is_found() {
    let findings = diagnose_ping(700_000, 300);
    let waited = of(&findings, Cause::H2PingWait).expect("one");
    assert!((waited.ms_total - 60.3).abs() < 1e-6);
    assert_eq!(findings.len(), 1);
    assert_eq!(diagnose_ping(700_000, 40_000), [], "it waited for nothing");
    assert_eq!(diagnose_ping(100, 300), [], "it measures the path");
}

/// That many streams are allowed, and two workers call.
fn two_workers(allowed: u32) -> Vec<Finding> {
    let mut timeline = open_connection();
    timeline.frame(S, limit(allowed), 30, 20);
    timeline.frame(C, pdu(SETTINGS, 0, 0), 30, 50);
    request(&mut timeline, 1, 10);
    request(&mut timeline, 3, 10);
    reply(&mut timeline, 1, 100_000);
    request(&mut timeline, 5, 100);
    reply(&mut timeline, 3, 40_000);
    reply(&mut timeline, 5, 100_000);
    http2_findings(timeline)
}

#[test]
fn a_request_that_waits_for_a_stream_is_found() {
    let findings = two_workers(2);
    let held = of(&findings, Cause::H2StreamLimit).expect("one");
    assert_eq!(held.occurrences, 1);
    assert!((held.ms_total - 100.1).abs() < 1e-6, "{}", held.ms_total);
    assert_eq!(held.examples[0].packets, [7, 8, 9]);
}

#[test]
fn below_the_limit_nothing_waits() {
    assert_eq!(two_workers(3), []);
    assert_eq!(two_workers(1), [], "one after the other is not a sign");
}
