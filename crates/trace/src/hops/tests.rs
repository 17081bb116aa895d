use super::document::HopTime;
use super::{Call, HopCollector, Passage, compare};
use crate::protocol::exchange::Burst;

const MS: u64 = 1_000_000;

fn passage(first_ns: u64, last_ns: u64) -> Passage {
    Passage {
        first_ns,
        last_ns,
        first_packet: first_ns / MS,
        bytes: 100,
    }
}

/// A call whose request comes at `at`, and whose reply begins and ends then.
fn call(at: u64, reply: (u64, u64)) -> Call {
    Call {
        name: 0,
        request: passage(at * MS, at * MS),
        reply: passage(reply.0 * MS, reply.1 * MS),
        stream: None,
    }
}

fn side(calls: Vec<Call>, connections: u64) -> HopCollector {
    HopCollector {
        exchanges: calls.len() as u64,
        calls,
        connections,
        ..HopCollector::default()
    }
}

#[test]
fn the_added_time_is_the_sum_of_both_ways() {
    let front = side(vec![call(0, (9, 10)), call(20, (29, 30))], 1);
    let back = side(vec![call(2, (6, 7)), call(22, (26, 27))], 2);
    let hops = compare(front, back);
    assert_eq!(hops.matched, 2);
    let same = |us| HopTime {
        mean_us: us,
        p50_us: us,
        p99_us: us,
    };
    assert_eq!(hops.added, Some(same(5_000.0)));
    assert_eq!(hops.request, Some(same(2_000.0)));
    assert_eq!(hops.reply, Some(same(3_000.0)));
    assert_eq!(hops.front.connections_per_call, Some(0.5));
    assert_eq!(hops.back.connections_per_call, Some(1.0));
}

#[test]
fn calls_at_the_same_time_are_paired_by_the_ends_of_their_replies() {
    let front = side(vec![call(0, (20, 20)), call(1, (10, 10))], 2);
    let back = side(vec![call(2, (19, 19)), call(3, (9, 9))], 1);
    let hops = compare(front, back);
    assert_eq!(hops.matched, 2);
    let added = hops.added.expect("both were matched");
    assert!((added.mean_us - 3_000.0).abs() < 1e-9, "{added:?}");
}

#[test]
fn a_proxy_with_threads_may_overtake() {
    // The call that came second is sent on first, and answered first.
    let front = side(vec![call(0, (30, 30)), call(1, (12, 12))], 2);
    let back = side(vec![call(3, (10, 10)), call(4, (29, 29))], 2);
    assert_eq!(compare(front, back).matched, 2);
}

#[test]
fn a_reply_cannot_leave_before_it_came() {
    // Only the second call in front ends after the reply behind began.
    let front = side(vec![call(0, (4, 4)), call(1, (12, 12))], 1);
    let back = side(vec![call(2, (10, 10))], 1);
    let hops = compare(front, back);
    assert_eq!(hops.matched, 1);
    assert_eq!(hops.added.map(|time| time.p50_us), Some(3_000.0));
}

#[test]
fn other_names_and_lengths_are_other_calls() {
    let mut other = call(2, (6, 7));
    other.name = 1;
    let mut longer = call(3, (6, 7));
    longer.reply.bytes = 200;
    let hops = compare(
        side(vec![call(0, (9, 10))], 1),
        side(vec![other, longer], 1),
    );
    assert_eq!(hops.matched, 0);
    assert!(hops.added.is_none());
}

#[test]
fn a_first_byte_that_waits_for_the_rest_is_held() {
    // Behind, 40 ms pass between the head and the end of the reply.
    let slow = call(1, (2, 42));
    let held = compare(side(vec![call(0, (43, 43))], 1), side(vec![slow], 1)).held;
    assert_eq!(held.occurrences, 1);
    // Until the reply was whole, not until it was forwarded.
    assert!((held.ms_total - 40.0).abs() < 1e-9, "{held:?}");
    assert_eq!(held.places[0].back_packet, 2);
    let passed = compare(side(vec![call(0, (3, 43))], 1), side(vec![slow], 1)).held;
    // 1 ms of 43: too small a part of the call.
    assert_eq!(passed.occurrences, 0);
}

#[test]
fn a_proxy_that_waits_for_its_processor_holds_nothing() {
    let hops = compare(
        side(vec![call(0, (6, 12))], 1),
        side(vec![call(1, (2, 11))], 1),
    );
    assert_eq!(hops.held.occurrences, 0);
}

/// Numbers that look random, from 0 to `below`; the generator of Numerical Recipes.
fn random(state: &mut u64, below: u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % below
}

#[test]
fn calls_of_many_users_are_all_found_and_their_mean_is_right() {
    let mut state = 25;
    let (mut front, mut back) = (Vec::new(), Vec::new());
    let mut added_ns = 0;
    for _user in 0..16 {
        let mut now = random(&mut state, 5_000);
        for _call in 0..500 {
            let [there, service, home] = [200, 3_000, 400].map(|us| 1 + random(&mut state, us));
            let (asked, answered) = (now + there, now + there + service);
            let message = |first: u64, last: u64| passage(first * 1_000, last * 1_000);
            let call = |at: u64, reply: u64| Call {
                name: 0,
                request: message(at, at),
                reply: message(reply, reply),
                stream: None,
            };
            front.push(call(now, answered + home));
            back.push(call(asked, answered));
            added_ns += (there + home) * 1_000;
            now = answered + home + 1 + random(&mut state, 100);
        }
    }
    let calls = front.len() as f64;
    let hops = compare(side(front, 16), side(back, 16));
    assert!(
        hops.matched as f64 > 0.995 * calls,
        "{} of {calls}",
        hops.matched
    );
    let mean_us = added_ns as f64 / calls / 1e3;
    let found = hops.added.expect("nearly all were matched").mean_us;
    assert!(
        (found / mean_us - 1.0).abs() < 0.02,
        "{found} for {mean_us}"
    );
}

/// A stream of five events of 100 bytes, asked for and coming at these times, ms.
fn stream(asked: u64, at: [u64; 5]) -> HopCollector {
    let burst = |place: usize| Burst {
        packets: [at[place]; 2],
        at_ns: [at[place] * MS; 2],
        end: 100 * (place as u64 + 1),
        ends_inside: false,
        events: 1,
        timed: 0,
        made_ns: [0; 2],
    };
    let mut bursts: Vec<Burst> = Vec::new();
    for burst in (0..5).map(burst) {
        match bursts.last_mut().filter(|last| last.at_ns == burst.at_ns) {
            Some(last) => last.end = burst.end,
            None => bursts.push(burst),
        }
    }
    let mut side = side(vec![call(asked, (at[0], at[4]))], 1);
    side.calls[0].stream = side.keep_bursts(&bursts);
    side
}

#[test]
fn events_that_wait_for_later_ones_are_held() {
    let back = [10, 60, 110, 160, 210];
    let passed = compare(stream(0, back.map(|at| at + 1)), stream(1, back));
    assert_eq!(passed.held_parts.occurrences, 0, "{passed:?}");
    // The first two wait for the third, the fourth for the fifth.
    let held = compare(stream(0, [111, 111, 111, 211, 211]), stream(1, back)).held_parts;
    assert_eq!(held.occurrences, 3);
    assert!((held.ms_total - 203.0).abs() < 1e-9, "{held:?}");
    assert_eq!(held.places[0].back_packet, 10);
}

#[test]
fn a_slow_proxy_holds_nothing() {
    // The reply was whole at once; the proxy took 20 ms to forward it.
    let hops = compare(
        side(vec![call(0, (22, 22))], 1),
        side(vec![call(1, (2, 2))], 1),
    );
    assert_eq!(hops.held.occurrences, 0);
    assert_eq!(hops.reply.map(|time| time.p50_us), Some(20_000.0));
}

#[test]
fn empty_captures_match_nothing() {
    let hops = compare(side(vec![], 0), side(vec![], 0));
    assert_eq!(hops.matched, 0);
    assert!(hops.front.connections_per_call.is_none());
    assert!(hops.held.ms_median.is_none());
}
