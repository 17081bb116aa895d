//! nagle-delayed-ack and split-writes.

use super::timeline::{C, S, Timeline};
use super::{causes, of};
use crate::diagnosis::Cause;
use crate::protocol::exchange::{Ending, Protocol};

/// Head and body of a reply in two segments, the second after the acknowledgment of
/// the first, which came after that time; then the answer after `answer_us`.
fn split_reply(timeline: &mut Timeline, delay_us: u64, answer_us: u64) {
    split_reply_far(timeline, [100, 20], delay_us, answer_us);
}

/// The same where the server answers after `way_us[0]` and the client after `way_us[1]`.
fn split_reply_far(timeline: &mut Timeline, way_us: [u64; 2], delay_us: u64, answer_us: u64) {
    let mark = timeline.mark();
    let [server_us, client_us] = way_us;
    timeline
        .data(C, 120, client_us + 50)
        .data(S, 109, server_us);
    timeline
        .ack(C, delay_us)
        .data(S, 211, answer_us)
        .ack(C, client_us);
    // Seen from the capture: request, reply head, acknowledgment, reply body.
    let first = client_us + 50 + server_us;
    let times = (first, first + delay_us + answer_us);
    timeline.exchange(mark, (client_us + 50, client_us + 50), Some(times));
}

#[test]
fn the_first_exchange_is_acknowledged_at_once_and_does_not_stall() {
    let mut timeline = Timeline::new();
    timeline.open(20, 10);
    split_reply(&mut timeline, 30, 20);
    for _ in 0..9 {
        split_reply(&mut timeline, 43_000, 25);
    }
    let findings = timeline.findings();
    let nagle = of(&findings, Cause::NagleDelayedAck).expect("nine stalls");
    assert_eq!((nagle.occurrences, nagle.exchanges), (9, 9));
    assert!(
        (nagle.ms_total - 9.0 * 43.025).abs() < 0.01,
        "{}",
        nagle.ms_total
    );
    assert!((nagle.ms_median - 43.025).abs() < 0.1);
    assert!(nagle.examples.iter().all(|one| one.exchange != Some(0)));
    assert_eq!(nagle.examples[0].packets, [10, 11, 12]);
    let test = nagle.test.as_ref().expect("a switch");
    assert_eq!(
        (test.axis.as_str(), test.value.as_str()),
        ("server.nagle", "off")
    );
    let split = of(&findings, Cause::SplitWrites).expect("the pattern of all ten");
    assert_eq!(split.occurrences, 10);
    assert!(
        split.ms_total < 0.1,
        "the stalls are charged once: {}",
        split.ms_total
    );
}

#[test]
fn every_second_exchange_stalls_on_veth() {
    let mut timeline = Timeline::new();
    timeline.open(20, 10);
    for round in 0..10 {
        split_reply(&mut timeline, if round % 2 == 1 { 41_000 } else { 20 }, 30);
    }
    let findings = timeline.findings();
    let nagle = of(&findings, Cause::NagleDelayedAck).expect("five stalls");
    let exchanges: Vec<_> = nagle
        .examples
        .iter()
        .filter_map(|one| one.exchange)
        .collect();
    assert_eq!(exchanges, [1, 3, 5, 7, 9]);
}

#[test]
fn captured_at_the_receiver_the_answer_comes_a_round_trip_after_the_acknowledgment() {
    let mut timeline = Timeline::new();
    timeline.open(13_800, 10);
    split_reply_far(&mut timeline, [13_900, 20], 41_000, 13_900);
    split_reply_far(&mut timeline, [13_900, 20], 41_000, 14_500);
    let findings = timeline.findings();
    let nagle = of(&findings, Cause::NagleDelayedAck).expect("two stalls");
    assert_eq!(nagle.occurrences, 2);
    assert!((nagle.ms_total - 110.4).abs() < 0.01, "{}", nagle.ms_total);
}

#[test]
fn captured_at_the_sender_the_delay_is_beyond_the_round_trip() {
    let mut timeline = Timeline::new();
    timeline.open(20, 13_800);
    split_reply_far(&mut timeline, [60, 13_850], 13_800 + 41_000, 40);
    let findings = timeline.findings();
    assert_eq!(
        of(&findings, Cause::NagleDelayedAck).map(|one| one.occurrences),
        Some(1)
    );
}

#[test]
fn a_round_trip_is_not_a_delayed_acknowledgment() {
    let mut timeline = Timeline::new();
    timeline.open(20, 60_000);
    split_reply_far(&mut timeline, [60, 61_000], 61_000, 40);
    let findings = timeline.findings();
    assert_eq!(causes(&findings), [Cause::SplitWrites]);
}

#[test]
fn a_server_slower_than_the_delayed_acknowledgment_is_not_stalled_by_nagle() {
    let mut timeline = Timeline::new();
    timeline.open(20, 10);
    for _ in 0..5 {
        split_reply(&mut timeline, 41_000, 9_000);
    }
    assert_eq!(causes(&timeline.findings()), [Cause::SenderStalled]);
}

#[test]
fn requests_are_stalled_by_nagle_too() {
    let mut timeline = Timeline::new();
    timeline.open(20, 10);
    for _ in 0..4 {
        let mark = timeline.mark();
        timeline.data(C, 150, 50).ack(S, 42_000).data(C, 300, 20);
        timeline.data(S, 200, 60).ack(C, 10);
        timeline.exchange(mark, (50, 42_070), Some((42_130, 42_130)));
    }
    let findings = timeline.findings();
    let nagle = of(&findings, Cause::NagleDelayedAck).expect("four stalls");
    assert_eq!(
        nagle.test.as_ref().map(|test| test.axis.as_str()),
        Some("client.nagle")
    );
    assert_eq!(nagle.occurrences, 4);
}

#[test]
fn a_request_after_a_late_reply_is_not_stalled_by_nagle() {
    let mut timeline = Timeline::new();
    timeline.open(20, 10);
    for _ in 0..4 {
        let mark = timeline.mark();
        // The server takes 41 ms; its kernel acknowledges after 40.
        timeline.data(C, 150, 50).ack(S, 40_000).data(S, 200, 1_000);
        timeline.exchange(mark, (50, 50), Some((41_050, 41_050)));
    }
    assert_eq!(causes(&timeline.findings()), [Cause::ServerThinkTime]);
}

#[test]
fn a_one_sided_capture_shows_no_stall_that_needs_acknowledgments() {
    let mut timeline = Timeline::new();
    timeline.opening(true).hide(C);
    for _ in 0..5 {
        split_reply(&mut timeline, 43_000, 25);
    }
    assert_eq!(causes(&timeline.findings()), []);
}

#[test]
fn one_segment_is_one_write() {
    let mut timeline = Timeline::new();
    timeline.open(20, 10);
    for _ in 0..5 {
        let mark = timeline.mark();
        timeline.data(C, 120, 50).data(S, 320, 100).ack(C, 40_000);
        timeline.exchange(mark, (50, 50), Some((150, 150)));
    }
    assert_eq!(causes(&timeline.findings()), []);
}

#[test]
fn a_large_message_that_begins_in_full_segments_is_not_split() {
    let mut timeline = Timeline::new();
    timeline.open(20, 10);
    let mark = timeline.mark();
    timeline.data(C, 120, 50).burst(S, 5, 100).data(S, 700, 10);
    timeline.exchange(mark, (50, 50), Some((150, 200)));
    assert_eq!(causes(&timeline.findings()), []);
}

#[test]
fn a_head_sent_before_a_large_body_is_a_split_write() {
    let mut timeline = Timeline::new();
    timeline.open(20, 10);
    let mark = timeline.mark();
    timeline.data(C, 120, 50).data(S, 140, 100).burst(S, 5, 15);
    timeline.exchange(mark, (50, 50), Some((150, 205)));
    let findings = timeline.findings();
    let split = of(&findings, Cause::SplitWrites).expect("a small first segment");
    assert_eq!(
        split.test.as_ref().map(|test| test.axis.as_str()),
        Some("server.writes")
    );
    assert!((split.ms_total - 0.015).abs() < 1e-6);
}

/// HEADERS, a control frame, and DATA after `data_us`.
fn with_control_frame(data_us: u64) -> Option<f64> {
    let mut timeline = Timeline::new();
    timeline.open(20, 10);
    let mark = timeline.mark();
    timeline
        .data(C, 80, 50)
        .control(C, 13, 15)
        .data(C, 40, data_us);
    timeline.data(S, 200, 60).ack(C, 10);
    let requested = 65 + data_us;
    let times = Some((requested + 60, requested + 60));
    timeline.exchange_as(
        mark,
        (50, requested),
        times,
        Protocol::Http2,
        Ending::Framed,
    );
    let findings = timeline.findings();
    let split = of(&findings, Cause::SplitWrites)?;
    assert_eq!(split.examples[0].packets, [4, 6]);
    assert_eq!(
        split.test.as_ref().map(|test| test.axis.as_str()),
        Some("client.writes")
    );
    Some(split.ms_total)
}

#[test]
fn a_control_frame_between_two_writes_does_not_hide_the_split() {
    let ms = with_control_frame(20).expect("two writes of one message");
    assert!((ms - 0.035).abs() < 1e-6, "{ms}");
    assert_eq!(with_control_frame(9_000), None, "it was not at hand");
}

#[test]
fn a_connection_whose_messages_cannot_be_read_shows_its_stalls_too() {
    let mut timeline = Timeline::new();
    timeline.open(20, 10);
    for _ in 0..3 {
        timeline.data(C, 120, 50).data(S, 109, 100);
        timeline.ack(C, 43_000).data(S, 211, 25).ack(C, 20);
    }
    timeline.closed();
    let findings = timeline.findings();
    let nagle = of(&findings, Cause::NagleDelayedAck).expect("three stalls");
    assert_eq!((nagle.occurrences, nagle.exchanges), (3, 0));
    assert!(nagle.examples.iter().all(|one| one.exchange.is_none()));
}

#[test]
fn a_capture_that_cuts_messages_off_shows_stalls_without_exchanges() {
    let mut timeline = Timeline::new();
    timeline.open(20, 10);
    for _ in 0..300 {
        let mark = timeline.mark();
        timeline.data(C, 120, 50).data(S, 109, 100);
        timeline.ack(C, 43_000).data(S, 211, 25).ack(C, 20);
        timeline.exchange_as(mark, (50, 50), None, Protocol::Http1, Ending::Unseen);
    }
    timeline.closed();
    let findings = timeline.findings();
    assert_eq!(causes(&findings), [Cause::NagleDelayedAck]);
    assert_eq!((findings[0].occurrences, findings[0].exchanges), (300, 0));
    assert!(
        findings[0].words.starts_with("300 times"),
        "{}",
        findings[0].words
    );
}
