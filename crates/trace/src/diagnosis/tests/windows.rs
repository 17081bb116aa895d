//! Windows of TCP, of HTTP/2, and of congestion.

use super::timeline::{C, Mark, S, Timeline};
use super::{causes, of};
use crate::diagnosis::{Cause, Finding};
use crate::protocol::exchange::{Ending, Pdu, Protocol};

const SEGMENT: u64 = 1448;
/// From the server to the client and back, us.
const FAR_US: u64 = 13_800;

fn begin(timeline: &mut Timeline, segments: u32) -> Mark {
    let mark = timeline.mark();
    timeline.data(C, 120, 50).burst(S, segments, 100);
    mark
}

/// The rest is acknowledged after that time, as everything before it.
fn end(timeline: &mut Timeline, mark: Mark, client_us: u64) {
    let now = timeline.us - mark.us();
    timeline
        .ack(C, client_us)
        .exchange(mark, (50, 50), Some((150, now)));
}

/// A call whose reply comes in flights of that number of segments, each after the
/// acknowledgment of the one before, 13.8 ms later.
fn call(timeline: &mut Timeline, flights: &[u32]) {
    let (first, others) = flights.split_first().expect("a flight");
    let mark = begin(timeline, *first);
    for segments in others {
        timeline.ack(C, FAR_US).burst(S, *segments, 20);
    }
    end(timeline, mark, FAR_US);
}

/// A call of two flights of four segments, a window each. The client says `closed_us`
/// after the first one that its window is closed, and after `opened_us` that it is open.
fn call_with_closed_window(closed_us: u64, opened_us: u64) -> Vec<Finding> {
    let mut timeline = Timeline::new();
    timeline.window(C, 4 * SEGMENT).open(10, closed_us);
    let mark = begin(&mut timeline, 4);
    timeline
        .window(C, 0)
        .ack(C, closed_us)
        .window(C, 4 * SEGMENT)
        .ack(C, opened_us)
        .burst(S, 4, 20);
    end(&mut timeline, mark, FAR_US);
    timeline.findings()
}

#[test]
fn a_small_window_is_exhausted_once_per_round_trip() {
    let mut timeline = Timeline::new();
    timeline.window(C, 4 * SEGMENT).open(10, FAR_US);
    call(&mut timeline, &[4; 6]);
    let findings = timeline.findings();
    assert_eq!(causes(&findings), [Cause::TcpWindowExhausted]);
    let found = of(&findings, Cause::TcpWindowExhausted).expect("five waits in one exchange");
    assert_eq!(found.occurrences, 1);
    assert!(
        (found.ms_total - 5.0 * 13.82).abs() < 1e-6,
        "{}",
        found.ms_total
    );
    assert_eq!(
        found.test.as_ref().map(|test| test.axis.as_str()),
        Some("client.tcp_window")
    );
}

#[test]
fn a_request_limited_by_a_small_window_blames_the_server() {
    let mut timeline = Timeline::new();
    timeline.window(S, 4 * SEGMENT).open(FAR_US, 10);
    let mark = timeline.mark();
    timeline.burst(C, 4, 50);
    for _ in 0..5 {
        timeline.ack(S, FAR_US).burst(C, 4, 20);
    }
    timeline.data(S, 150, FAR_US);
    let now = timeline.us - mark.us();
    timeline
        .ack(C, 10)
        .exchange(mark, (50, now - FAR_US), Some((now, now)));
    let findings = timeline.findings();
    let found = of(&findings, Cause::TcpWindowExhausted).expect("five waits in one exchange");
    assert!((found.ms_total - 5.0 * 13.82).abs() < 1e-6, "{findings:?}");
    let test = found.test.as_ref().expect("a switch");
    assert_eq!(
        (test.axis.as_str(), test.value.as_str()),
        ("server.tcp_window", "kernel")
    );
}

#[test]
fn truncated_window_scale_options_leave_windows_unknown() {
    let mut timeline = Timeline::new();
    timeline.cut_options();
    timeline.window(C, 4 * SEGMENT).open(10, FAR_US);
    call(&mut timeline, &[4; 6]);
    let findings = timeline.findings();
    let found = causes(&findings);
    assert!(!found.contains(&Cause::TcpWindowExhausted), "{found:?}");
    assert!(!found.contains(&Cause::ClientNotReading), "{found:?}");
}

#[test]
fn captured_at_the_receiver_the_window_was_offered_a_round_trip_before() {
    let mut timeline = Timeline::new();
    timeline.window(C, 4 * SEGMENT).open(FAR_US, 10);
    let mark = timeline.mark();
    timeline.data(C, 120, 50).burst(S, 4, 13_900).ack(C, 10);
    for _ in 0..5 {
        timeline.burst(S, 4, 13_830).ack(C, 10);
    }
    let now = timeline.us - mark.us();
    timeline.exchange(mark, (50, 50), Some((13_950, now)));
    let findings = timeline.findings();
    assert_eq!(causes(&findings), [Cause::TcpWindowExhausted]);
}

#[test]
fn a_window_that_stays_closed_is_of_a_client_that_does_not_read() {
    let findings = call_with_closed_window(300, 60_000);
    assert_eq!(causes(&findings), [Cause::ClientNotReading]);
    assert!(
        (findings[0].ms_total - 60.32).abs() < 1e-6,
        "{}",
        findings[0].ms_total
    );
}

#[test]
fn a_window_that_closes_for_a_moment_is_a_small_one() {
    let findings = call_with_closed_window(5_000, 300);
    assert_eq!(causes(&findings), [Cause::TcpWindowExhausted]);
}

#[test]
fn without_syns_no_window_stall_is_reported() {
    let mut timeline = Timeline::new();
    timeline.window(C, 64).opening(false);
    call(&mut timeline, &[4; 6]);
    let findings = timeline.findings();
    assert!(
        of(&findings, Cause::TcpWindowExhausted).is_none(),
        "{findings:?}"
    );
}

#[test]
fn flights_that_double_are_slow_start() {
    let mut timeline = Timeline::new();
    timeline.open(10, FAR_US);
    call(&mut timeline, &[10, 20, 15]);
    let findings = timeline.findings();
    assert_eq!(causes(&findings), [Cause::SlowStart]);
    assert!(
        (findings[0].ms_total - 27.64).abs() < 1e-6,
        "{}",
        findings[0].ms_total
    );
}

#[test]
fn a_small_rest_behind_full_flights_waits_for_the_congestion_window() {
    let mut timeline = Timeline::new();
    timeline.open(20, 60_000);
    let mark = begin(&mut timeline, 3);
    for segments in [6, 9, 12] {
        timeline.ack(C, 60_000).burst(S, segments, 10);
    }
    timeline.ack(C, 60_000).data(S, 33, 10);
    end(&mut timeline, mark, 60_000);
    let findings = timeline.findings();
    assert_eq!(causes(&findings), [Cause::SlowStart]);
    let ms = findings[0].ms_total;
    assert!((ms - 240.0).abs() < 0.1, "{ms}");
}

#[test]
fn a_small_rest_whose_acknowledgment_was_delayed_is_held_by_nagle() {
    let mut timeline = Timeline::new();
    timeline.open(20, 10);
    let mark = begin(&mut timeline, 12);
    timeline.ack(C, 41_000).data(S, 33, 20);
    end(&mut timeline, mark, 10);
    assert_eq!(causes(&timeline.findings()), [Cause::NagleDelayedAck]);
}

#[test]
fn a_message_of_one_flight_meets_no_congestion_window() {
    let mut timeline = Timeline::new();
    timeline.open(10, FAR_US);
    for _ in 0..3 {
        call(&mut timeline, &[10]);
        timeline.us += 20_000;
    }
    assert_eq!(causes(&timeline.findings()), []);
}

#[test]
fn a_sender_that_computes_between_parts_is_not_congested() {
    let mut timeline = Timeline::new();
    timeline.open(10, FAR_US);
    let mark = begin(&mut timeline, 10);
    timeline.ack(C, FAR_US).burst(S, 20, 30_000);
    end(&mut timeline, mark, FAR_US);
    assert_eq!(causes(&timeline.findings()), [Cause::SenderStalled]);
}

#[test]
fn an_idle_restart_resets_a_grown_congestion_window() {
    let mut timeline = Timeline::new();
    timeline.open(10, FAR_US);
    call(&mut timeline, &[10, 20, 40]);
    timeline.us += 900_000;
    call(&mut timeline, &[10, 20, 40]);
    let findings = timeline.findings();
    assert_eq!(causes(&findings), [Cause::IdleRestart, Cause::SlowStart]);
    let idle = of(&findings, Cause::IdleRestart).expect("the second exchange");
    assert_eq!(idle.examples[0].exchange, Some(1));
    let switches: Vec<_> = findings
        .iter()
        .filter_map(|found| found.test.as_ref())
        .map(|test| (test.axis.as_str(), test.value.as_str()))
        .collect();
    assert_eq!(
        switches,
        [("after_idle", "keep"), ("initial_window", "1000")]
    );
}

fn data(length: u32) -> Pdu {
    Pdu::Http2 {
        kind: 0,
        stream: 1,
        length,
        window: None,
        flags: 0,
        streams_max: None,
    }
}

fn update(stream: u32, bytes: u32) -> Pdu {
    Pdu::Http2 {
        kind: 8,
        stream,
        length: 4,
        window: Some(bytes),
        flags: 0,
        streams_max: None,
    }
}

fn settings(window: u32) -> Pdu {
    Pdu::Http2 {
        kind: 4,
        stream: 0,
        length: 6,
        window: Some(window),
        flags: 0,
        streams_max: None,
    }
}

/// A reply in frames of 1,000 bytes, each sent once the window is opened.
fn h2_call(window: u32, frames: u32, update_us: u64) -> Vec<Finding> {
    let mut timeline = Timeline::new();
    timeline.open(10, 2_500);
    timeline.frame(C, settings(window), 30, 20);
    let mark = timeline.mark();
    timeline.data(C, 120, 50).frame(S, data(1_000), 1_009, 100);
    for _ in 1..frames {
        timeline
            .frame(C, update(1, 1_000), 13, update_us)
            .frame(S, data(1_000), 1_009, 40);
    }
    let now = timeline.us - mark.us();
    timeline.exchange_as(
        mark,
        (50, 50),
        Some((150, now)),
        Protocol::Http2,
        Ending::Framed,
    );
    timeline.findings()
}

#[test]
fn data_that_waits_for_each_update_has_used_up_the_window() {
    let findings = h2_call(1_000, 4, 2_600);
    assert_eq!(causes(&findings), [Cause::H2WindowExhausted]);
    assert!(
        (findings[0].ms_total - 3.0 * 2.64).abs() < 1e-6,
        "{}",
        findings[0].ms_total
    );
    let test = findings[0].test.as_ref().expect("a switch");
    assert_eq!(
        (test.axis.as_str(), test.value.as_str()),
        ("client.h2_window", "engine")
    );
}

#[test]
fn early_window_updates_cause_no_stall() {
    assert_eq!(causes(&h2_call(65_535, 4, 2_600)), []);
}
