//! Whatever a capture holds, the figures of the diagnosis are possible ones.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::diagnosis::Diagnosis;
use crate::flow::event::{Closing, Direction, Observer, Opening, Segment, SegmentKind};
use crate::packet::Flags;
use crate::protocol::exchange::{Ending, Exchange, ExchangeObserver, Extent, Pdu, Protocol};

const FLOWS: u32 = 3;

fn direction() -> impl Strategy<Value = Direction> {
    prop_oneof![Just(Direction::Request), Just(Direction::Reply)]
}

fn number() -> impl Strategy<Value = u64> {
    // Collisions, plausible times, and the edge at which sums would overflow.
    prop_oneof![0..20u64, 0..3_000_000_000u64, Just(u64::MAX)]
}

prop_compose! {
    fn segment()(
        at in number(), direction in direction(), flags in 0..32u8, offset in 0..9_000u64,
        bytes in 0..3_000u32, acknowledged in 0..12_000u64, window in 0..8_000u64,
        identification in proptest::option::of(0..20u16), reports_duplicate: bool,
        options_cut: bool, mss in proptest::option::of(0..2_000u16),
    ) -> Segment {
        Segment {
            packet: 1, at_ns: at, direction, kind: SegmentKind::Acknowledgment,
            flags: Flags(flags), offset, bytes, acknowledged, window, header_bytes: 66,
            link_header_bytes: 14, ip_header_bytes: 20, identification, reports_duplicate,
            options_cut, mss,
        }
    }
}

prop_compose! {
    fn extent()(first in number(), last in number(), start in 0..9_000u64, end in 0..9_000u64) -> Extent {
        Extent {
            first_packet: 1, first_at_ns: first, last_packet: 2, last_at_ns: last, start, end,
            message_bytes: end, overhead_bytes: 0, segments: 1, between_bytes: (last % 50) as u32, carrier: 2,
        }
    }
}

#[derive(Debug, Clone)]
enum Event {
    Open(bool),
    Segment(Segment),
    Frame(u8, u32, u32, Segment),
    Exchange(Extent, Option<Extent>, bool),
    Gap(Direction, u64),
    Close,
}

fn event() -> impl Strategy<Value = (u32, Event)> {
    let event = prop_oneof![
        1 => any::<bool>().prop_map(Event::Open),
        12 => segment().prop_map(Event::Segment),
        3 => (0..10u8, 0..3u32, any::<u32>(), segment())
            .prop_map(|(kind, stream, length, segment)| Event::Frame(kind, stream, length, segment)),
        3 => (extent(), proptest::option::of(extent()), any::<bool>())
            .prop_map(|(request, reply, until)| Event::Exchange(request, reply, until)),
        1 => (direction(), number()).prop_map(|(way, end)| Event::Gap(way, end)),
        1 => Just(Event::Close),
    ];
    (0..FLOWS, event)
}

fn observe(diagnosis: &mut Diagnosis, flow: u32, event: &Event, ordinal: u64) {
    match event {
        Event::Open(from_syn) => {
            let end = "10.0.0.1:1".parse().expect("an address");
            let mss = [Some(0), None];
            diagnosis.opened(
                flow,
                &Opening {
                    client: end,
                    server: end,
                    at_ns: 0,
                    from_syn: *from_syn,
                    mss,
                },
            );
        }
        Event::Segment(segment) => diagnosis.segment(flow, segment),
        Event::Frame(kind, stream, length, segment) => {
            let window = Some(*length);
            let pdu = Pdu::Http2 {
                kind: *kind,
                stream: *stream,
                length: *length,
                window,
                flags: *length as u8,
                streams_max: Some(*length % 4),
            };
            diagnosis.pdu(flow, pdu, segment);
        }
        Event::Exchange(request, reply, until) => diagnosis.exchange(&Exchange {
            flow,
            ordinal,
            protocol: if *until {
                Protocol::Http1
            } else {
                Protocol::Http2
            },
            caller: Direction::Request,
            name: "".into(),
            status: None,
            stream: 1,
            request: *request,
            reply: *reply,
            ending: if *until {
                Ending::UntilClose
            } else {
                Ending::Framed
            },
            closed_by_server: false,
            is_stream: ordinal.is_multiple_of(3),
            bursts: Vec::new(),
        }),
        Event::Gap(way, end) => diagnosis.gap(flow, *way, 0, *end),
        Event::Close => diagnosis.closed(flow, 0, Closing::Orderly),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn findings_hold_their_invariants(events in vec(event(), 1..200)) {
        let mut diagnosis = Diagnosis::default();
        for flow in 0..FLOWS {
            observe(&mut diagnosis, flow, &Event::Open(true), 0);
        }
        for (ordinal, (flow, event)) in events.iter().enumerate() {
            observe(&mut diagnosis, *flow, event, ordinal as u64);
        }
        for finding in diagnosis.findings() {
            // What every reader of the document relies on, whatever the capture holds.
            prop_assert!(finding.occurrences >= finding.exchanges);
            prop_assert!(finding.examples.len() as u64 <= finding.occurrences);
            prop_assert!(finding.ms_total >= 0.0 && finding.ms_total.is_finite());
            prop_assert!((0.0..=1.0).contains(&finding.share_of_latency));
        }
    }
}
