//! server-think-time.

use super::timeline::{C, S, Timeline};
use super::{causes, of};
use crate::diagnosis::Cause;
use crate::protocol::exchange::{Ending, Protocol};

fn call(timeline: &mut Timeline, reply_us: u64) {
    let mark = timeline.mark();
    timeline.data(C, 120, 50).data(S, 320, reply_us).ack(C, 10);
    let at = 50 + reply_us;
    timeline.exchange(mark, (50, 50), Some((at, at)));
}

#[test]
fn a_slow_server_has_think_time() {
    let mut timeline = Timeline::new();
    timeline.open(20, 10);
    for _ in 0..4 {
        call(&mut timeline, 12_020);
    }
    let findings = timeline.findings();
    let found = of(&findings, Cause::ServerThinkTime).expect("four waits");
    assert_eq!(found.occurrences, 4);
    assert!((found.ms_total - 48.0).abs() < 0.01, "{}", found.ms_total);
    assert!(found.test.is_none());
    assert_eq!(causes(&findings), [Cause::ServerThinkTime]);
}

#[test]
fn network_delay_is_not_think_time() {
    let mut timeline = Timeline::new();
    timeline.open(13_800, 10);
    for _ in 0..4 {
        call(&mut timeline, 15_100);
    }
    assert_eq!(causes(&timeline.findings()), []);
}

#[test]
fn random_link_delay_is_not_think_time() {
    let mut timeline = Timeline::new();
    timeline.open(850_000, 10);
    for more in [10_000, 90_000, 160_000, 200_000] {
        call(&mut timeline, 850_000 + more);
    }
    assert_eq!(causes(&timeline.findings()), [Cause::LongPath]);
}

/// A link whose round trip has a normal distribution, us.
struct Link {
    mean: f64,
    deviation: f64,
    seed: u64,
}

impl Link {
    /// Sum of twelve uniform numbers, cut at four standard deviations.
    fn round_trip(&mut self) -> u64 {
        let uniform = |seed: &mut u64| {
            // A linear congruential generator with Knuth's multiplier; the upper 53
            // bits become a number below 1.
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (*seed >> 11) as f64 / (1u64 << 53) as f64
        };
        // Irwin-Hall: the sum of twelve uniform numbers has variance 1 and is close to
        // normal.
        let sum: f64 = (0..12).map(|_| uniform(&mut self.seed)).sum();
        (self.mean + self.deviation * (sum - 6.0).clamp(-4.0, 4.0)) as u64
    }
}

/// Calls over 20 such links, of which the server thinks over those that `thinks_us` says:
/// how many were found to wait, of that number each.
fn waits_found(deviation: f64, calls: u64, thinks_us: impl Fn(u64) -> u64) -> u64 {
    let found = (1..=20).map(|seed| {
        let mut link = Link {
            mean: 13_800.0,
            deviation,
            seed: seed << 32,
        };
        let mut timeline = Timeline::new();
        timeline.open(link.round_trip(), 10);
        // The first request is acknowledged at once, as it is where connections begin.
        let mark = timeline.mark();
        timeline.data(C, 120, 50);
        let way = link.round_trip();
        timeline.ack(S, way).data(S, 320, 1_000).ack(C, 10);
        timeline.exchange(mark, (50, 50), Some((1_050 + way, 1_050 + way)));
        for number in 1..calls {
            call(&mut timeline, link.round_trip() + thinks_us(number));
        }
        let findings = timeline.findings();
        of(&findings, Cause::ServerThinkTime).map_or(0, |found| found.occurrences)
    });
    found.sum()
}

#[test]
fn jitter_is_not_think_time() {
    for deviation in [1_000.0, 2_120.0] {
        for calls in [30, 200] {
            let found = waits_found(deviation, calls, |_| 0);
            let share = found as f64 / (20 * calls) as f64;
            // At most one call in a hundred may be a false finding.
            assert!(share <= 0.01, "{deviation} us, {calls} calls: {share}");
        }
    }
}

#[test]
fn think_time_is_found_despite_jitter() {
    let calls = 30;
    let always = waits_found(1_000.0, calls, |_| 15_000);
    assert!(always >= 560, "{always} of 580");
    let now_and_then = waits_found(1_000.0, calls, |number| 20_000 * (number % 3 / 2));
    assert!((190..=202).contains(&now_and_then), "{now_and_then} of 200");
    let long = waits_found(2_120.0, calls, |_| 40_000);
    assert!(long >= 570, "{long} of 580");
}

#[test]
fn think_time_of_half_a_round_trip_is_found_on_a_steady_link() {
    let found = waits_found(100.0, 10, |_| 8_000);
    assert_eq!(found, 20 * 9, "all but the first");
}

#[test]
fn a_reply_behind_another_on_the_same_connection_waits_for_that() {
    let mut timeline = Timeline::new();
    timeline.open(20, 10);
    let mark = timeline.mark();
    timeline
        .data(C, 120, 50)
        .data(C, 120, 10)
        .data(S, 320, 10_000);
    timeline.data(S, 320, 30);
    // The second began with the first: time distinguishes its request and its reply.
    timeline.exchange(mark, (50, 50), Some((10_060, 10_060)));
    timeline.exchange(mark, (60, 60), Some((10_090, 10_090)));
    let findings = timeline.findings();
    let found = of(&findings, Cause::ServerThinkTime).expect("one wait");
    assert_eq!(found.occurrences, 1);
}

#[test]
fn a_request_without_a_reply_has_no_think_time() {
    let mut timeline = Timeline::new();
    timeline.open(20, 10);
    let mark = timeline.mark();
    timeline.data(C, 120, 50).fin(C, 1_000_000);
    timeline.exchange_as(mark, (50, 50), None, Protocol::Http1, Ending::Broken);
    timeline.closed();
    assert_eq!(causes(&timeline.findings()), [Cause::Unanswered]);
}
