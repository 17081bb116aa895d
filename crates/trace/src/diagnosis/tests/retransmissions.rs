//! data-retransmission, tail-loss, reordering and spurious-retransmission.

use super::timeline::{C, S, Timeline};
use super::{causes, of};
use crate::diagnosis::Cause;

#[test]
fn captured_before_the_loss_both_transmissions_are_seen() {
    let mut timeline = Timeline::new();
    timeline.open(13_800, 10);
    let mark = timeline.mark();
    timeline
        .data(C, 120, 50)
        .retransmit(C, 0, 120, 214_000)
        .data(S, 320, 14_000)
        .ack(C, 10);
    timeline.exchange(mark, (50, 50), Some((228_050, 228_050)));
    let findings = timeline.findings();
    let found = of(&findings, Cause::TailLoss).expect("one");
    assert!((found.ms_total - 214.0).abs() < 1e-6);
    assert_eq!(found.examples[0].packets, [4, 5]);
    assert_eq!(causes(&findings), [Cause::TailLoss]);
}

#[test]
fn a_loss_that_the_receiver_reports_is_not_a_tail_loss() {
    let mut timeline = Timeline::new();
    timeline.open(10, 13_800);
    let mark = timeline.mark();
    timeline.data(C, 120, 50).burst(S, 4, 50);
    timeline
        .ack_only(C, 1448, 13_800)
        .ack_only(C, 1448, 10)
        .retransmit(S, 1448, 1448, 10)
        .ack(C, 13_800);
    timeline.exchange(mark, (50, 50), Some((100, 130)));
    assert_eq!(causes(&timeline.findings()), [Cause::DataRetransmission]);
}

#[test]
fn captured_behind_the_loss_there_is_a_hole() {
    let mut timeline = Timeline::new();
    timeline.open(13_800, 10);
    let mark = timeline.mark();
    timeline.data(C, 120, 50).burst(S, 2, 13_900).lose(S, 1448);
    let hole = 2 * 1448;
    timeline.burst(S, 3, 20).ack_only(C, hole, 10);
    timeline.retransmit(S, hole, 1448, 14_200).ack(C, 10);
    timeline.exchange(mark, (50, 50), Some((13_950, 28_200)));
    let findings = timeline.findings();
    let found = of(&findings, Cause::DataRetransmission).expect("one");
    assert!((found.ms_total - 14.23).abs() < 1e-6, "{}", found.ms_total);
}

#[test]
fn reordered_packets_are_not_lost_and_hold_up_those_behind() {
    let mut timeline = Timeline::new();
    timeline.open(13_800, 10);
    let mark = timeline.mark();
    timeline.data(C, 120, 50).burst(S, 2, 13_900).lose(S, 1448);
    let hole = 2 * 1448;
    timeline
        .data(S, 1448, 20)
        .ack_only(C, hole, 5)
        .ack_only(C, hole, 5)
        .retransmit(S, hole, 1448, 6_900)
        .ack(C, 10);
    timeline.exchange(mark, (50, 50), Some((13_950, 20_900)));
    let findings = timeline.findings();
    assert_eq!(causes(&findings), [Cause::Reordering]);
    assert!((findings[0].ms_total - 6.91).abs() < 1e-6);
    assert_eq!(findings[0].examples[0].packets, [7, 9, 10]);
}

#[test]
fn reordering_that_costs_no_time_is_not_reported() {
    let mut timeline = Timeline::new();
    timeline.open(13_800, 10);
    let mark = timeline.mark();
    timeline.data(C, 120, 50).burst(S, 2, 13_900).lose(S, 1448);
    let hole = 2 * 1448;
    timeline
        .data(S, 1448, 20)
        .retransmit(S, hole, 1448, 80)
        .ack(C, 10);
    timeline.exchange(mark, (50, 50), Some((13_950, 14_060)));
    assert_eq!(causes(&timeline.findings()), []);
}

#[test]
fn network_duplicates_are_not_losses() {
    let mut timeline = Timeline::new();
    timeline.open(13_800, 10);
    let mark = timeline.mark();
    timeline
        .data(C, 120, 50)
        .data(S, 320, 13_900)
        .retransmit(S, 0, 320, 300)
        .ack(C, 10);
    timeline.exchange(mark, (50, 50), Some((13_950, 13_950)));
    assert_eq!(causes(&timeline.findings()), []);
}

#[test]
fn retransmitting_acknowledged_data_is_spurious() {
    let mut timeline = Timeline::new();
    timeline.open(10, 13_800);
    let mark = timeline.mark();
    timeline.data(C, 120, 50).data(S, 320, 100).ack(C, 13_900);
    timeline.retransmit(S, 0, 320, 230_000).ack(C, 13_900);
    timeline.exchange(mark, (50, 50), Some((150, 150)));
    let findings = timeline.findings();
    assert_eq!(causes(&findings), [Cause::SpuriousRetransmission]);
    assert!((findings[0].ms_total - 13.9).abs() < 1e-6);
    assert_eq!(findings[0].examples[0].packets, [5, 7, 8]);
}

#[test]
fn an_acknowledgment_within_half_a_round_trip_is_of_the_first_transmission() {
    let mut timeline = Timeline::new();
    timeline.open(10, 850_000);
    let mark = timeline.mark();
    timeline
        .data(C, 120, 50)
        .data(S, 320, 100)
        .retransmit(S, 0, 320, 1_050_000);
    timeline.ack(C, 90_000);
    timeline.exchange(mark, (50, 50), Some((150, 150)));
    let findings = timeline.findings();
    assert_eq!(causes(&findings), [Cause::SpuriousRetransmission]);
    assert!((findings[0].ms_total - 90.0).abs() < 1e-6);
}

#[test]
fn a_duplicate_sack_marks_the_retransmission_as_spurious() {
    let mut timeline = Timeline::new();
    timeline.open(10, 13_800);
    let mark = timeline.mark();
    timeline
        .data(C, 120, 50)
        .data(S, 320, 100)
        .retransmit(S, 0, 320, 214_000);
    timeline.reports_duplicate().ack(C, 13_900);
    timeline.exchange(mark, (50, 50), Some((150, 150)));
    let findings = timeline.findings();
    assert_eq!(causes(&findings), [Cause::SpuriousRetransmission]);
    assert_eq!(findings[0].examples[0].packets, [5, 6, 7]);
}

/// The last of two segments is sent again while the first is not acknowledged either (RFC 8985
/// section 7.3).
fn probe_loss(reports_duplicate: bool, answered_us: u64) -> Timeline {
    let mut timeline = Timeline::new();
    timeline.open(10, 2_500);
    let mark = timeline.mark();
    timeline
        .data(C, 120, 50)
        .burst(S, 1, 100)
        .data(S, 24, 2)
        .retransmit(S, 1448, 24, 10_200);
    if reports_duplicate {
        timeline.reports_duplicate();
    }
    timeline.ack(C, answered_us);
    timeline.exchange(mark, (50, 50), Some((150, 152)));
    timeline
}

#[test]
fn a_tail_probe_is_spurious_if_the_receiver_reports_a_duplicate() {
    let findings = probe_loss(true, 30_700).findings();
    assert_eq!(causes(&findings), [Cause::SpuriousRetransmission]);
    assert_eq!(findings[0].examples[0].packets, [6, 7, 8]);
}

#[test]
fn a_probe_of_the_tail_whose_answer_reports_no_duplicate_repaired_a_loss() {
    let findings = probe_loss(false, 2_600).findings();
    assert_eq!(causes(&findings), [Cause::TailLoss]);
    assert!((findings[0].ms_total - 10.2).abs() < 1e-6);
}

#[test]
fn a_late_acknowledgment_that_crosses_a_probe_shows_no_loss() {
    assert_eq!(causes(&probe_loss(false, 1_200).findings()), []);
}

/// Exchanges with counted packets; `skip` packets of the client are lost before the last one.
fn diagnose_skipped_packets(skip: u16, pause_us: u64) -> Vec<Cause> {
    let mut timeline = Timeline::new();
    timeline.open(10, 13_800).number_packets();
    for round in 0..8 {
        let mark = timeline.mark();
        let (pause, skipped) = if round == 7 { (pause_us, skip) } else { (0, 0) };
        timeline
            .skip(C, skipped)
            .data(C, 120, 13_800 + pause)
            .data(S, 320, 100);
        let requested = 13_800 + pause;
        timeline.exchange(
            mark,
            (requested, requested),
            Some((requested + 100, requested + 100)),
        );
    }
    causes(&timeline.findings())
}

#[test]
fn a_packet_that_was_counted_and_did_not_come_was_lost_before_the_capture() {
    assert_eq!(diagnose_skipped_packets(1, 214_000), [Cause::TailLoss]);
}

#[test]
fn a_pause_without_a_missing_packet_is_a_pause() {
    assert_eq!(diagnose_skipped_packets(0, 214_000), []);
}

#[test]
fn a_lone_packet_before_any_timeout_may_have_been_an_acknowledgment() {
    assert_eq!(diagnose_skipped_packets(1, 50_000), []);
}

#[test]
fn random_ip_identifications_show_no_loss() {
    let mut timeline = Timeline::new();
    timeline.open(10, 13_800).number_packets();
    for round in 0..8 {
        let mark = timeline.mark();
        timeline
            .skip(C, round * 7_919 + 3)
            .data(C, 120, 300_000)
            .data(S, 320, 100);
        timeline.exchange(mark, (300_000, 300_000), Some((300_100, 300_100)));
    }
    assert_eq!(causes(&timeline.findings()), [Cause::ClientIdle]);
}

#[test]
fn a_one_sided_capture_shows_retransmissions() {
    let mut timeline = Timeline::new();
    timeline.opening(true).hide(C);
    let mark = timeline.mark();
    timeline.data(S, 320, 100).retransmit(S, 0, 320, 250_000);
    timeline.exchange(mark, (50, 50), Some((100, 100)));
    assert_eq!(causes(&timeline.findings()), [Cause::DataRetransmission]);
}
