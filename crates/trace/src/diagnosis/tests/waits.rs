//! The account of time: known conversations, and that it always adds up.

use super::causes;
use super::timeline::{C, S, Timeline};
use crate::diagnosis::Cause;
use crate::diagnosis::waits::{Part, WaitSums};
use crate::flow::event::Direction;
use crate::packet::Flags;
use crate::protocol::exchange::Pdu;

const MS: u64 = 1_000;

fn sums(timeline: &mut Timeline) -> WaitSums {
    let diagnosis = std::mem::take(&mut timeline.diagnosis);
    diagnosis.results().waits
}

/// Milliseconds of a part, of all connections.
fn ms(sums: &WaitSums, part: Part) -> u64 {
    sums.connections.0[part as usize].div_ceil(1_000_000)
}

#[track_caller]
fn assert_parts(timeline: &mut Timeline, expected: &[(Part, u64)]) {
    let sums = sums(timeline);
    assert_eq!(sums.connections.total(), sums.connections_ns);
    let found: Vec<(Part, u64)> = Part::ALL
        .into_iter()
        .filter(|part| sums.connections.0[*part as usize] >= 1_000_000)
        .map(|part| {
            (
                part,
                (sums.connections.0[part as usize] + 500_000) / 1_000_000,
            )
        })
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn a_handshake_and_a_round_trip_of_a_second_are_named() {
    let mut timeline = Timeline::new();
    timeline.open(1_000 * MS, 0);
    timeline
        .data(C, 100, 10)
        .ack(S, 1_000 * MS)
        .data(S, 200, 50);
    assert_parts(
        &mut timeline,
        &[(Part::Connecting, 1_000), (Part::Path, 1_000)],
    );
}

#[test]
fn a_window_that_grows_by_one_segment_limits_every_flight() {
    let mut timeline = Timeline::new();
    timeline.open(0, 60 * MS).data(C, 100, MS);
    for segments in 20..24 {
        timeline.burst(S, segments, 10).ack(C, 60 * MS);
    }
    timeline.data(S, 900, 10);
    assert_parts(
        &mut timeline,
        &[
            (Part::Connecting, 60),
            (Part::ClientBeforeRequest, 1),
            (Part::CongestionLimited, 240),
        ],
    );
}

#[test]
fn a_client_that_idles_between_connecting_and_asking_is_named() {
    let mut timeline = Timeline::new();
    timeline.open(100, 0);
    timeline.data(C, 100, 1_300 * MS).data(S, 200, 40 * MS);
    timeline
        .data(C, 100, 700 * MS)
        .data(S, 200, 40 * MS)
        .fin(C, 300 * MS);
    assert_parts(
        &mut timeline,
        &[
            (Part::ClientBeforeRequest, 1_300),
            (Part::Server, 80),
            (Part::ClientBetweenRequests, 700),
            (Part::BeforeClosing, 300),
        ],
    );
}

#[test]
fn pauses_inside_messages_are_of_their_senders() {
    let mut timeline = Timeline::new();
    timeline.open(100, 0);
    timeline
        .data(C, 100, 100)
        .ack(S, 100)
        .data(C, 100, 300 * MS);
    timeline.data(S, 200, 5 * MS).ack(C, 20);
    for _ in 0..10 {
        timeline.data(S, 10, 100 * MS).ack(C, 20);
    }
    assert_parts(
        &mut timeline,
        &[
            (Part::ClientStall, 300),
            (Part::Server, 5),
            (Part::ServerStall, 1_000),
        ],
    );
}

#[test]
fn a_closed_window_is_of_the_receiver() {
    let mut timeline = Timeline::new();
    timeline.open(100, 0);
    timeline.data(C, 100, 100).burst(S, 44, 5 * MS);
    timeline.window(C, 0).ack(C, 50);
    timeline.window(C, 1 << 20).ack(C, 2_000 * MS);
    timeline.burst(S, 4, 20);
    assert_parts(
        &mut timeline,
        &[(Part::Server, 5), (Part::WindowClosed, 2_000)],
    );
}

#[test]
fn an_unanswered_request_waits_for_its_server_to_the_end() {
    let mut timeline = Timeline::new();
    timeline.open(100, 0);
    timeline.data(C, 100, 100).ack(S, 100).fin(C, 4_000 * MS);
    assert_parts(&mut timeline, &[(Part::Server, 4_000)]);
}

#[test]
fn a_syn_that_is_sent_again_and_refused_is_named() {
    let mut timeline = Timeline::new();
    timeline.opening(true).handshake(C, Flags::SYN, 0);
    timeline
        .handshake_again(C, Flags::SYN, 1_000 * MS)
        .reset(S, 20 * MS);
    assert_parts(
        &mut timeline,
        &[(Part::Connecting, 20), (Part::SynRetransmission, 1_000)],
    );
}

#[test]
fn a_lost_segment_is_recovered() {
    let mut timeline = Timeline::new();
    timeline.open(100, 0);
    timeline
        .data(C, 100, 100)
        .ack(S, 100)
        .burst(S, 3, 5 * MS)
        .ack(C, 30);
    let before = timeline.mark().sent[S as usize];
    timeline
        .lose(S, 1448)
        .burst(S, 2, 20)
        .ack_only(C, before, 20);
    timeline.retransmit(S, before, 1448, 220 * MS).ack(C, 30);
    assert_parts(
        &mut timeline,
        &[(Part::Server, 5), (Part::LossRecovery, 220)],
    );
}

#[test]
fn waits_seen_from_one_side_are_not_attributed() {
    let mut timeline = Timeline::new();
    timeline.opening(false);
    for _ in 0..3 {
        timeline.data(S, 100, 50 * MS);
    }
    let sums = sums(&mut timeline);
    assert_eq!(ms(&sums, Part::Unattributed), 100);
    assert_eq!(sums.unattributed[0].packets, [1, 2]);
}

/// Any order of any packets, at any times: nothing is counted twice or left out.
#[test]
fn parts_always_add_up_to_the_elapsed_time() {
    use proptest::prelude::*;
    let event = (0..11u8, any::<bool>(), 0..500_000u64, 1..3_000u32);
    proptest!(|(events in proptest::collection::vec(event, 1..200), from_syn in any::<bool>())| {
        let mut timeline = Timeline::new();
        if from_syn {
            timeline.open(300, 200);
        } else {
            timeline.opening(false);
        }
        for (kind, is_client, after, bytes) in events {
            let side = if is_client { Direction::Request } else { Direction::Reply };
            match kind {
                0..=3 => timeline.data(side, bytes, after),
                4 => timeline.ack(side, after),
                5 => timeline.retransmit(side, 0, bytes.min(100), after),
                6 => timeline.window(side, u64::from(bytes)).ack(side, after),
                7 => timeline.lose(side, bytes),
                8 => timeline.reports_duplicate().ack(side, after),
                9 => {
                    let pdu = Pdu::Http2 {
                        kind: (bytes % 10) as u8,
                        stream: bytes % 7,
                        length: bytes,
                        window: Some(bytes),
                        flags: (bytes / 16) as u8,
                        streams_max: Some(bytes % 5),
                    };
                    timeline.frame(side, pdu, bytes, after)
                }
                _ => timeline.fin(side, after),
            };
        }
        let sums = sums(&mut timeline);
        prop_assert_eq!(sums.connections.total(), sums.connections_ns);
    });
}

fn find_causes(timeline: &mut Timeline) -> Vec<(Cause, u64)> {
    let diagnosis = std::mem::take(&mut timeline.diagnosis);
    let findings = diagnosis.results().findings;
    let found = findings.iter();
    found
        .map(|finding| (finding.cause, finding.ms_total.round() as u64))
        .collect()
}

#[test]
fn idle_refused_reset_and_unanswered_connections_are_found() {
    let mut timeline = Timeline::new();
    timeline
        .open(100, 0)
        .data(C, 100, 1_300 * MS)
        .data(S, 200, 40)
        .fin(C, 2_000 * MS);
    assert_eq!(find_causes(&mut timeline), [(Cause::ClientIdle, 3_300)]);

    let mut timeline = Timeline::new();
    timeline
        .opening(true)
        .handshake(C, Flags::SYN, 0)
        .reset(S, 20 * MS);
    assert_eq!(find_causes(&mut timeline), [(Cause::ConnectionRefused, 20)]);

    let mut timeline = Timeline::new();
    timeline
        .open(100, 0)
        .data(C, 100, 50)
        .ack(S, 90)
        .reset(S, 70 * MS);
    assert_eq!(find_causes(&mut timeline), [(Cause::ConnectionReset, 70)]);

    let mut timeline = Timeline::new();
    timeline
        .open(100, 0)
        .data(C, 100, 50)
        .ack(S, 100)
        .fin(C, 900 * MS);
    assert_eq!(find_causes(&mut timeline), [(Cause::Unanswered, 900)]);
}

#[test]
fn a_window_that_never_opens_again_is_found() {
    let mut timeline = Timeline::new();
    timeline.open(100, 0).data(C, 100, 50).burst(S, 44, 50);
    timeline.window(C, 0).ack(C, 50);
    for _ in 0..3 {
        timeline.probe(S, 7_000 * MS).ack(C, 20);
    }
    let found = find_causes(&mut timeline);
    assert_eq!(found, [(Cause::ZeroWindow, 21_000)]);
}

#[test]
fn pauses_inside_a_reply_are_found_in_its_exchange() {
    for (pieces, cause) in [(1, Cause::SenderStalled), (10, Cause::DribbledWrites)] {
        let mut timeline = Timeline::new();
        timeline.open(100, 0);
        let mark = timeline.mark();
        timeline.data(C, 100, 100).data(S, 100, 200);
        for _ in 0..pieces {
            timeline.data(S, 100, 100 * MS);
        }
        let end = 300 + pieces * 100 * MS;
        timeline.exchange(mark, (100, 100), Some((300, end)));
        assert_eq!(find_causes(&mut timeline), [(cause, pieces * 100)]);
    }
}

/// A stream of messages, each after its pause in milliseconds.
fn stream(pauses: &[u64]) -> Vec<(Cause, u64)> {
    let mut timeline = Timeline::new();
    timeline.open(100, 0).streams();
    let mark = timeline.mark();
    timeline.data(C, 100, 100).data(S, 100, 200);
    for pause in pauses {
        timeline.data(S, 100, pause * MS);
    }
    let end = 300 + pauses.iter().sum::<u64>() * MS;
    timeline.exchange(mark, (100, 100), Some((300, end)));
    find_causes(&mut timeline)
}

#[test]
fn the_uneven_intervals_of_a_stream_are_found() {
    let even = stream(&[20, 25, 20, 22, 20]);
    assert_eq!(even, [(Cause::DribbledWrites, 107)]);
    let uneven = stream(&[20, 25, 300, 22, 20]);
    assert_eq!(
        uneven,
        [(Cause::UnevenStream, 278), (Cause::DribbledWrites, 109)]
    );
}

/// A connection on which a small request was answered.
fn exchange_once() -> Timeline {
    let mut timeline = Timeline::new();
    timeline
        .open(100, 0)
        .data(C, 100, 50)
        .data(S, 100, 50)
        .ack(C, 20);
    timeline
}

#[test]
fn connections_that_do_not_get_on_are_found() {
    // Large segments vanish; the client's acknowledgments still come.
    let mut timeline = exchange_once();
    let before = timeline.mark().sent[S as usize];
    timeline.data(S, 1448, 50);
    for _ in 0..4 {
        timeline
            .retransmit(S, before, 1448, 400 * MS)
            .ack_only(C, before, 20);
    }
    let seen = causes(&timeline.findings());
    assert!(seen.contains(&Cause::MtuBlackHole), "{seen:?}");

    // The same of a request, whose connection the server closes after a while.
    let mut timeline = exchange_once();
    let before = timeline.mark().sent[C as usize];
    timeline.data(C, 1448, 50);
    for _ in 0..4 {
        timeline.retransmit(C, before, 1448, 400 * MS);
    }
    timeline.fin(S, 900 * MS);
    let seen = causes(&timeline.findings());
    assert!(seen.contains(&Cause::MtuBlackHole), "{seen:?}");
    assert!(!seen.contains(&Cause::Unanswered), "{seen:?}");

    // Nothing comes any more.
    let mut timeline = exchange_once();
    let before = timeline.mark().sent[C as usize];
    timeline.data(C, 90, 50);
    for _ in 0..4 {
        timeline.retransmit(C, before, 90, 400 * MS);
    }
    let seen = causes(&timeline.findings());
    assert!(seen.contains(&Cause::HalfOpen), "{seen:?}");
    assert!(!seen.contains(&Cause::MtuBlackHole), "{seen:?}");

    let mut timeline = exchange_once();
    for _ in 0..5 {
        timeline.probe(S, 900 * MS);
    }
    let seen = causes(&timeline.findings());
    assert!(seen.contains(&Cause::KeepAliveDeath), "{seen:?}");
}

#[test]
fn a_request_that_never_arrives_is_not_a_tail_loss_too() {
    for (bytes, cause) in [(1448, Cause::MtuBlackHole), (90, Cause::HalfOpen)] {
        let mut timeline = exchange_once();
        let mark = timeline.mark();
        let before = mark.sent[C as usize];
        timeline.data(C, bytes, 50);
        for _ in 0..4 {
            timeline.retransmit(C, before, bytes, 400 * MS);
        }
        if cause == Cause::MtuBlackHole {
            timeline.fin(S, 900 * MS);
        }
        timeline.exchange(mark, (50, 50), None);
        let seen = causes(&timeline.findings());
        assert!(seen.contains(&cause), "{seen:?}");
        assert!(!seen.contains(&Cause::TailLoss), "{seen:?}");
    }
    // Two repetitions may be lost by chance.
    let mut timeline = exchange_once();
    let mark = timeline.mark();
    let before = mark.sent[C as usize];
    timeline.data(C, 90, 50);
    for _ in 0..2 {
        timeline.retransmit(C, before, 90, 400 * MS);
    }
    timeline.fin(S, 900 * MS).exchange(mark, (50, 50), None);
    let seen = causes(&timeline.findings());
    assert!(seen.contains(&Cause::TailLoss), "{seen:?}");
}

#[test]
fn a_segment_that_arrives_after_repeated_losses_is_not_a_black_hole() {
    let mut timeline = exchange_once();
    let before = timeline.mark().sent[S as usize];
    timeline.data(S, 1448, 50);
    for _ in 0..3 {
        timeline
            .retransmit(S, before, 1448, 400 * MS)
            .ack_only(C, before, 20);
    }
    timeline.ack(C, 20);
    let seen = causes(&timeline.findings());
    assert!(!seen.contains(&Cause::MtuBlackHole), "{seen:?}");
}

#[test]
fn a_reply_behind_an_earlier_one_is_blocked_by_it() {
    let mut timeline = Timeline::new();
    timeline.open(100, 0);
    let mark = timeline.mark();
    timeline.data(C, 100, 10).data(C, 100, 10);
    timeline.data(S, 500, 50 * MS).data(S, 500, 100);
    timeline.exchange(mark, (10, 10), Some((50_020, 50_020)));
    timeline.exchange(mark, (20, 20), Some((50_120, 50_120)));
    let found = find_causes(&mut timeline);
    assert!(found.contains(&(Cause::HeadOfLine, 50)), "{found:?}");
    assert!(found.contains(&(Cause::ServerThinkTime, 50)), "{found:?}");
}
