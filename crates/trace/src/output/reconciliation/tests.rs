//! Hand-written logs and exchanges, compared.

use std::io::Cursor;

use proptest::prelude::*;

use super::*;
use crate::flow::event::SegmentKind;
use crate::packet::Flags;
use crate::protocol::exchange::{Ending, Extent, Protocol};

/// When the capture begins, ns.
const BEGIN: u64 = 1_000_000_000_000;
/// From one call of a test to the next, ns.
const STEP: u64 = 1_000_000;

#[derive(Debug, Clone)]
enum Event {
    Open(FlowId, u16, bool),
    Packet(FlowId, Direction, Flags, u64),
    CallStarted(FlowId),
    Exchange(Box<Exchange>),
    Gap(FlowId),
    Tls(FlowId),
}

#[derive(Debug, Clone, Default)]
struct Scenario {
    lines: Vec<String>,
    events: Vec<Event>,
}

/// Times of one call and its packets after `begin`, which is when it was sent.
fn exchange(flow: FlowId, ordinal: u64, begin: u64) -> Exchange {
    let extent = |first: u64, last: u64| Extent {
        first_at_ns: begin + first,
        last_at_ns: begin + last,
        segments: 1,
        between_bytes: 0,
        ..Extent::default()
    };
    Exchange {
        flow,
        ordinal,
        protocol: Protocol::Http1,
        caller: Direction::Request,
        name: "GET /".into(),
        status: None,
        stream: 0,
        request: extent(2_000, 5_000),
        reply: Some(extent(105_000, 135_000)),
        ending: Ending::Framed,
        closed_by_server: false,
        is_stream: false,
        bursts: Vec::new(),
    }
}

/// Intended 10 us before it was sent, done after 150 us.
fn line(connection: u64, port: u16, ordinal: u64, begin: u64) -> String {
    let [intended, first, done] = [begin - 10_000, begin + 110_000, begin + 150_000];
    format!("0,0,{connection},{port},{ordinal},Hello,{intended},{begin},{begin},{first},{done},1")
}

impl Scenario {
    fn new() -> Scenario {
        Scenario::default()
    }

    fn open(mut self, flow: FlowId, port: u16, from_syn: bool) -> Scenario {
        self.events.push(Event::Open(flow, port, from_syn));
        self
    }

    /// One call after the other; `logged` and `captured` say of which numbers.
    fn calls(
        mut self,
        flow: FlowId,
        port: u16,
        count: u64,
        logged: impl Fn(u64) -> bool,
        captured: impl Fn(u64) -> bool,
    ) -> Scenario {
        for ordinal in 0..count {
            let begin = BEGIN + u64::from(flow) * 100_000 + ordinal * STEP;
            if logged(ordinal) {
                self.lines.push(line(u64::from(flow), port, ordinal, begin));
            }
            if captured(ordinal) {
                self.events.push(Event::CallStarted(flow));
                self.events
                    .push(Event::Exchange(exchange(flow, ordinal, begin).into()));
            }
        }
        self
    }

    fn run(self) -> Reconciliation {
        let text = format!("{HEAD}\n{}\n", self.lines.join("\n"));
        let log = CallLog::new(Cursor::new(text)).expect("a log");
        let mut reconciler = Reconciler::new(log, Diagnosis::default());
        // A first packet, so that the capture's span covers the calls.
        let now = std::iter::once(&Event::Packet(0, Direction::Request, Flags::ACK, BEGIN));
        for event in now.chain(&self.events) {
            observe(&mut reconciler, event);
        }
        let (found, _) = reconciler.finish();
        assert_balanced(&found);
        found
    }
}

fn segment(direction: Direction, flags: Flags, at_ns: u64) -> Segment {
    Segment {
        packet: 1,
        at_ns,
        direction,
        kind: SegmentKind::Acknowledgment,
        flags,
        offset: 0,
        bytes: 0,
        acknowledged: 0,
        window: 65_536,
        header_bytes: 66,
        link_header_bytes: 14,
        ip_header_bytes: 20,
        identification: None,
        reports_duplicate: false,
        options_cut: false,
        mss: None,
    }
}

fn observe(reconciler: &mut Reconciler<Cursor<String>>, event: &Event) {
    match event {
        Event::Open(flow, port, from_syn) => {
            let opening = Opening {
                client: ([10, 0, 0, 1], *port).into(),
                server: ([10, 0, 0, 2], 80).into(),
                at_ns: 0,
                from_syn: *from_syn,
                mss: [None; 2],
            };
            reconciler.opened(*flow, &opening);
        }
        Event::Packet(flow, direction, flags, at_ns) => {
            reconciler.segment(*flow, &segment(*direction, *flags, *at_ns));
        }
        Event::CallStarted(flow) => {
            reconciler.call_started(*flow, &segment(Direction::Request, Flags::ACK, BEGIN));
        }
        Event::Exchange(exchange) => {
            let last = exchange.reply.as_ref().unwrap_or(&exchange.request);
            let at_ns = last.last_at_ns;
            reconciler.segment(exchange.flow, &segment(Direction::Reply, Flags::ACK, at_ns));
            reconciler.exchange(exchange);
        }
        Event::Gap(flow) => reconciler.gap(*flow, Direction::Request, 0, 100),
        Event::Tls(flow) => {
            let segment = segment(Direction::Request, Flags::ACK, BEGIN);
            reconciler.pdu(
                *flow,
                Pdu::Tls {
                    kind: 22,
                    length: 80,
                    content: None,
                },
                &segment,
            );
        }
    }
}

/// All calls are counted, and the parts add up to the whole.
fn assert_balanced(found: &Reconciliation) {
    let calls = &found.calls;
    let sum = calls.matched + calls.unanswered + calls.outside + calls.encrypted;
    let sum = sum + calls.without_port + calls.unmatched + calls.given_up;
    assert_eq!(calls.logged, sum, "{calls:?}");
    let exchanges = &found.exchanges;
    let sum = exchanges.matched + exchanges.unanswered + exchanges.unmatched + exchanges.given_up;
    assert_eq!(exchanges.seen, sum, "{exchanges:?}");
    assert_eq!(
        (calls.matched, calls.unanswered),
        (exchanges.matched, exchanges.unanswered)
    );
    let all = found.all.as_ref();
    assert_eq!(all.map_or(0, |all| all.calls), calls.matched);
    let of_operations: u64 = found.operations.iter().map(|one| one.calls).sum();
    assert_eq!(of_operations, calls.matched);
    for one in found.operations.iter().chain(all) {
        let parts: f64 = one.phases.iter().map(|part| part.spent.mean_us).sum();
        // The invariant of the document: phases and residual are the response time.
        let whole = parts + one.residual.mean_us;
        let off = (whole - one.response.mean_us).abs();
        assert!(off <= 1e-9 * one.response.mean_us.max(1.0), "{one:?}");
    }
}

fn match_counts(found: &Reconciliation) -> [u64; 4] {
    [
        found.calls.matched,
        found.calls.unmatched,
        found.exchanges.matched,
        found.exchanges.unmatched,
    ]
}

fn always(_: u64) -> bool {
    true
}

#[test]
fn each_call_finds_its_exchange_and_the_figures_are_exact() {
    let scenario = Scenario::new().open(0, 4_000, true).open(1, 4_001, true);
    let scenario = scenario.calls(0, 4_000, 50, always, always);
    let mut scenario = scenario.calls(1, 4_001, 50, always, always);
    scenario.events.sort_by_key(|event| match event {
        Event::Exchange(exchange) => exchange.request.first_at_ns,
        _ => 0,
    });
    scenario
        .lines
        .sort_by_key(|line| line.split(',').nth(10).map(str::to_owned));
    let found = scenario.run();
    assert_eq!(match_counts(&found), [100, 0, 100, 0]);
    let all = found.all.expect("calls");
    let means: Vec<f64> = all.phases.iter().map(|part| part.spent.mean_us).collect();
    assert_eq!(means, [10.0, 2.0, 3.0, 100.0, 0.0, 30.0, 15.0]);
    assert_eq!(all.response.mean_us, 160.0);
    assert_eq!(all.residual.max_us, 0.0);
    assert_eq!(all.phases[3].share, 100.0 / 160.0);
    let clock = found.clock_us.expect("replies");
    assert!((clock.low + 2.0).abs() < 0.01, "{clock:?}");
    assert!((clock.high - 5.0).abs() < 0.01, "{clock:?}");
}

#[test]
fn lines_of_a_thread_may_come_long_after_their_calls() {
    let mut scenario = Scenario::new().open(0, 4_000, true).open(1, 4_001, true);
    scenario = scenario.calls(1, 4_001, 5, always, always);
    scenario = scenario.calls(0, 4_000, 300, always, always);
    scenario.lines.rotate_left(5);
    assert_eq!(match_counts(&scenario.run()), [305, 0, 305, 0]);
}

#[test]
fn calls_and_exchanges_on_different_ports_are_unmatched() {
    let scenario = Scenario::new().open(0, 4_000, true).open(1, 5_000, true);
    let scenario = scenario.calls(0, 4_001, 20, always, |_| false);
    let found = scenario.calls(1, 5_000, 30, |_| false, always).run();
    assert_eq!(match_counts(&found), [0, 20, 0, 30]);
    assert!(found.all.is_none() && found.clock_us.is_none());
}

#[test]
fn a_call_without_packets_is_not_matched_to_another_exchange() {
    let mut scenario = Scenario::new().open(0, 4_000, true);
    scenario = scenario.calls(0, 4_000, 20, always, |ordinal| ordinal < 7);
    // An exchange is reported when the next one begins, so that a gap may come before it.
    let late = scenario.events.pop().expect("the last one");
    scenario.events.extend([Event::Gap(0), Event::Gap(0), late]);
    // The capture lacks the calls 7 to 9, so that those behind them have lower numbers.
    for ordinal in 10..20 {
        let of_call = exchange(0, ordinal - 3, BEGIN + ordinal * STEP);
        scenario
            .events
            .extend([Event::CallStarted(0), Event::Exchange(of_call.into())]);
    }
    let found = scenario.run();
    assert_eq!(match_counts(&found), [17, 3, 17, 0]);
    assert_eq!(found.all.expect("calls").residual.max_us, 0.0);
}

#[test]
fn a_capture_that_began_later_numbers_from_its_own_beginning() {
    let mut scenario = Scenario::new().open(0, 4_000, false);
    scenario = scenario.calls(0, 4_000, 20, always, |_| false);
    for ordinal in 5..20 {
        let of_call = exchange(0, ordinal - 5, BEGIN + ordinal * STEP);
        scenario.events.push(Event::Exchange(of_call.into()));
    }
    let now = Event::Packet(0, Direction::Request, Flags::ACK, BEGIN);
    scenario.events.insert(0, now);
    assert_eq!(match_counts(&scenario.run()), [15, 5, 15, 0]);
}

#[test]
fn indistinguishable_candidates_are_not_matched() {
    // Two calls under way at the same time, of a capture that saw neither begin.
    let mut scenario = Scenario::new().open(0, 4_000, false);
    for ordinal in 0..2 {
        scenario
            .lines
            .push(line(0, 4_000, ordinal, BEGIN + ordinal));
    }
    let mut late = exchange(0, 0, BEGIN + 10);
    late.request.last_at_ns = late.request.first_at_ns;
    scenario.events.push(Event::Exchange(late.into()));
    assert_eq!(match_counts(&scenario.run()), [0, 2, 0, 1]);
}

#[test]
fn a_port_that_is_used_again_is_another_connection() {
    let mut scenario = Scenario::new();
    for flow in 0..20u32 {
        let begin = BEGIN + u64::from(flow) * STEP;
        scenario = scenario.open(flow, 4_000, true);
        scenario.lines.push(line(u64::from(flow), 4_000, 0, begin));
        if flow != 3 {
            scenario
                .events
                .push(Event::Exchange(exchange(flow, 0, begin).into()));
        }
    }
    let found = scenario.run();
    assert_eq!(match_counts(&found), [19, 1, 19, 0]);
    assert_eq!(found.all.expect("calls").residual.max_us, 0.0);
}

/// The engine's stamps moved by a number of nanoseconds.
fn reconcile_shifted(by: i64) -> Reconciliation {
    let mut scenario = Scenario::new().open(0, 4_000, true);
    scenario = scenario.calls(0, 4_000, 50, |_| false, always);
    for ordinal in 0..50 {
        let begin = (BEGIN + ordinal * STEP).saturating_add_signed(by);
        scenario.lines.push(line(0, 4_000, ordinal, begin));
    }
    scenario.run()
}

#[test]
fn clocks_that_differ_show_as_residual_and_as_bounds() {
    let found = reconcile_shifted(50_000);
    assert_eq!(match_counts(&found), [50, 0, 50, 0]);
    // Captured 48 us before it was written: cut, and reported.
    let residual = found.all.expect("calls").residual;
    assert_eq!(residual.mean_us, -48.0);
    assert!((residual.p99_us - 48.0).abs() < 0.05, "{residual:?}");
    let clock = found.clock_us.expect("replies");
    assert!(clock.low > 47.9 && clock.low <= 50.0, "{clock:?}");
    let found = reconcile_shifted(-50_000);
    let all = found.all.expect("calls");
    assert_eq!(all.residual.mean_us, -35.0);
    let clock = found.clock_us.expect("replies");
    assert!(clock.high < -44.9 && clock.high >= -50.0, "{clock:?}");
}

#[test]
fn a_log_of_another_time_matches_nothing() {
    let found = reconcile_shifted(3_600_000_000_000);
    assert_eq!((found.calls.outside, found.calls.matched), (50, 0));
    let found = reconcile_shifted(-3_600_000_000_000 / 60);
    assert_eq!((found.calls.outside, found.calls.matched), (50, 0));
    // Within the time of the capture, and yet not the same exchanges.
    let found = reconcile_shifted(-300_000_000);
    assert_eq!(found.calls.matched, 0);
}

#[test]
fn encrypted_connections_and_unix_sockets_are_reported() {
    let mut scenario = Scenario::new().open(0, 4_000, true);
    scenario.events.push(Event::Tls(0));
    scenario = scenario.calls(0, 4_000, 3, always, |_| false);
    scenario = scenario.calls(1, 0, 4, always, |_| false);
    let end = BEGIN + 10 * STEP;
    let last = Event::Packet(0, Direction::Reply, Flags::ACK, end);
    scenario.events.push(last);
    let found = scenario.run();
    assert_eq!((found.calls.encrypted, found.calls.without_port), (3, 4));
}

#[test]
fn a_one_way_call_ends_with_its_report_and_a_broken_one_has_no_parts() {
    let mut scenario = Scenario::new().open(0, 4_000, true);
    for ordinal in 0..3 {
        let begin = BEGIN + ordinal * STEP;
        let mut of_call = exchange(0, ordinal, begin);
        of_call.reply = None;
        of_call.ending = [Ending::Framed, Ending::Unseen, Ending::Broken][ordinal as usize];
        let text = line(0, 4_000, ordinal, begin);
        let failed = ordinal == 2;
        let text = if failed {
            text.replace(",1\n", "\n")
        } else {
            text
        };
        let text = if failed {
            format!("{},0", &text[..text.len() - 2])
        } else {
            text
        };
        scenario.lines.push(text);
        scenario.events.push(Event::Exchange(of_call.into()));
    }
    let found = scenario.run();
    assert_eq!((found.calls.matched, found.calls.unanswered), (2, 1));
    let all = found.all.expect("calls");
    let last = all.phases.last().expect("parts");
    assert_eq!((last.phase, last.spent.mean_us), (Phase::Report, 145.0));
}

#[test]
fn handshakes_locate_the_capture_point() {
    let mut scenario = Scenario::new().open(0, 4_000, true);
    let both = Flags(Flags::SYN.0 | Flags::ACK.0);
    for (direction, flags, at_us) in [
        (Direction::Request, Flags::SYN, 0),
        (Direction::Reply, both, 13_800),
        (Direction::Request, Flags::ACK, 13_810),
    ] {
        let at = BEGIN + at_us * 1_000;
        scenario.events.push(Event::Packet(0, direction, flags, at));
    }
    let found = scenario.run();
    let us = |found: Option<crate::output::Quantiles>| found.expect("a handshake").p50;
    assert!((us(found.handshake_us.to_server) - 13_800.0).abs() < 10.0);
    assert!((us(found.handshake_us.to_client) - 10.0).abs() < 0.1);
}

#[test]
fn memory_is_bounded() {
    // A log of others, and a capture of others, longer than what may wait.
    let mut scenario = Scenario::new();
    for flow in 0..40u32 {
        scenario = scenario.open(flow, 4_000 + flow as u16, true);
    }
    for number in 0..200_000u64 {
        let (flow, ordinal) = ((number % 40) as u32, number / 40);
        scenario.lines.push(line(
            7,
            9_000 + (number % 40) as u16,
            ordinal,
            BEGIN + number * 100,
        ));
        scenario.events.push(Event::Exchange(
            exchange(flow, ordinal, BEGIN + number * 100).into(),
        ));
    }
    let found = scenario.run();
    assert_eq!(found.calls.given_up, 200_000 - found.calls.unmatched);
    assert_eq!(found.calls.unmatched, 1 << 17);
    assert_eq!(found.exchanges.unmatched, 1 << 17);
}

fn any_scenario() -> impl Strategy<Value = Scenario> {
    let events = prop_oneof![
        (0u32..4, 0u16..4, any::<bool>())
            .prop_map(|(flow, port, syn)| Event::Open(flow, port, syn)),
        (0u32..4).prop_map(Event::Gap),
        (0u32..4).prop_map(Event::CallStarted),
        (0u32..4).prop_map(Event::Tls),
        (0u32..4, 0u64..6, any::<[u16; 4]>(), 0..5u8).prop_map(|(flow, ordinal, at, kind)| {
            let mut of_call = exchange(flow, ordinal, BEGIN);
            let at = at.map(|at| BEGIN + u64::from(at) * 1_000);
            (of_call.request.first_at_ns, of_call.request.last_at_ns) = (at[0], at[1]);
            if let Some(reply) = &mut of_call.reply {
                (reply.first_at_ns, reply.last_at_ns) = (at[2], at[3]);
            }
            match kind {
                0 => of_call.reply = None,
                1 => of_call.ending = Ending::Unseen,
                2 => of_call.request.last_at_ns = u64::MAX,
                3 => of_call.ordinal = u64::MAX,
                _ => {}
            }
            Event::Exchange(of_call.into())
        }),
    ];
    let line = (0u64..3, 0u16..4, 0u64..6, 0u64..60_000, 0u8..9).prop_map(
        |(connection, port, ordinal, at, damage)| {
            let text = line(connection, port, ordinal, BEGIN + at * 1_000);
            match damage {
                0 => text[..text.len() / 2].to_owned(),
                1 => text.replace("Hello", "Hello,Hello"),
                _ => text,
            }
        },
    );
    let events = proptest::collection::vec(events, 0..40);
    let lines = proptest::collection::vec(line, 0..40);
    (events, lines).prop_map(|(events, lines)| Scenario { lines, events })
}

proptest! {
    /// No event and no log line panics, or makes the books not balance.
    #[test]
    fn random_events_are_handled(scenario in any_scenario()) {
        scenario.run();
    }
}
