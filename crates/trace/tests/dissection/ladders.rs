//! Ladders and inter-arrival times.

use wirelab_trace::output::{Chosen, Options, Phase, Way};

use super::packet_builder::{C, PacketBuilder, S};

const ASK: &[u8] = b"GET / HTTP/1.0\r\n\r\n";
const HEAD: &[u8] = b"HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\n";

/// One connection per call, with the stall of a split reply.
fn build_stalled_calls(calls: u64) -> PacketBuilder {
    let mut builder = PacketBuilder::new();
    for call in 0..calls {
        if call > 0 {
            builder.next_connection();
        }
        builder
            .send(C, ASK)
            .send(S, HEAD)
            .wait(40_000 + 1_000 * call)
            .ack(C);
        builder.send(S, b"body").ack(C).close(S);
    }
    builder
}

#[test]
fn a_ladder_has_set_up_exchange_and_tear_down() {
    let dissected = build_stalled_calls(1).dissect();
    let rungs = &dissected.dissection.timeline;
    let flags: Vec<&str> = rungs.iter().map(|rung| &*rung.flags).collect();
    let expected = [
        "SYN", "SYN ACK", "ACK", "PSH ACK", "PSH ACK", "ACK", "PSH ACK", "ACK", "FIN ACK",
        "FIN ACK", "ACK",
    ];
    assert_eq!(flags, expected);
    let phases = rungs.iter().map(|rung| rung.phase);
    let expected = [
        (3, Phase::SetUp),
        (5, Phase::Exchange),
        (3, Phase::TearDown),
    ];
    assert!(phases.eq(expected.into_iter().flat_map(|(n, phase)| vec![phase; n])));
    assert_eq!(rungs[5].note, "delayed ACK, 40.1 ms");
    assert_eq!(
        (rungs[5].gap_us, rungs[5].direction),
        (40_100.0, Way::Request)
    );
    assert_eq!(rungs[6].layers[0].layer, "message");
    assert_eq!(rungs[4].layers[0].layer, "HTTP head");
    let gaps: f64 = rungs.iter().map(|rung| rung.gap_us).sum();
    assert_eq!(gaps, rungs[10].at_us);
    let of = dissected.dissection.timeline_of.expect("a ladder");
    assert_eq!((of.chosen, of.omitted), (Chosen::Median, 0));
    assert_eq!(of.latency_us, Some(40_300.0));
}

#[test]
fn inter_arrival_times_have_mean_and_deviation() {
    let dissected = build_stalled_calls(5).dissect();
    let of = dissected.dissection.interarrival_of;
    assert_eq!(
        (of.exchanges, of.of, of.shapes, of.not_followed),
        (5, 5, 1, 0)
    );
    let positions = &dissected.dissection.interarrival;
    assert_eq!(positions.len(), 11);
    let delayed = positions[5].gap_us;
    assert!((delayed.mean - 42_100.0).abs() < 1e-6, "{delayed:?}");
    // Of 40, 41, 42, 43, 44 ms: the square root of 10 / 4.
    assert!(
        (delayed.deviation - 2_500_000_f64.sqrt()).abs() < 1e-6,
        "{delayed:?}"
    );
    // Of 40 to 44 ms in nanoseconds eight bits leave steps of 2^18.
    let counted = positions[5].gap_histogram.iter();
    let expected = [152, 156, 160, 164, 168].map(|n| (n as f64 * 262.144, 1));
    assert!(counted.map(|bin| (bin.from_us, bin.n)).eq(expected));
    assert_eq!(
        (positions[6].bytes_median, positions[0].gap_us.mean),
        (4, 0.0)
    );
    let median = dissected.dissection.timeline_of.expect("a ladder");
    assert_eq!(median.flow, 2, "of five latencies the third");
}

#[test]
fn a_ladder_can_be_requested() {
    let requested = |number| {
        let options = Options {
            timeline: Some(number),
            ..Options::default()
        };
        build_stalled_calls(3).dissect_with(options).dissection
    };
    let last = requested(3);
    let of = last.timeline_of.expect("a ladder");
    assert_eq!((of.flow, of.chosen), (2, Chosen::Asked));
    assert_eq!(last.timeline.len(), 11);
    assert_eq!(requested(4).timeline, []);
}

/// The exchanges between the first and the last have neither set-up nor
/// tear-down of their own, and the ladder shows the connection's.
#[test]
fn exchanges_of_a_connection_that_is_kept() {
    let ask = b"GET / HTTP/1.1\r\n\r\n";
    let reply = [&HEAD.to_vec()[..], b"body"].concat();
    let mut builder = PacketBuilder::new();
    for _ in 0..10 {
        builder.send(C, ask).send(S, &reply);
    }
    builder.ack(C).close(C);
    let options = Options {
        timeline: Some(4),
        ..Options::default()
    };
    let dissection = builder.dissect_with(options).dissection;
    assert_eq!(dissection.interarrival_of.exchanges, 8);
    assert_eq!(dissection.interarrival_of.shapes, 3);
    assert_eq!(dissection.interarrival.len(), 2);
    let phases: Vec<Phase> = dissection.timeline.iter().map(|rung| rung.phase).collect();
    assert_eq!(
        phases[2..6],
        [
            Phase::SetUp,
            Phase::Exchange,
            Phase::Exchange,
            Phase::TearDown
        ]
    );
    assert_eq!(dissection.timeline.len(), 8);
}

#[test]
fn a_long_exchange_shows_its_beginning_and_end() {
    let body = vec![1; 1_000_000];
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n";
    let mut builder = PacketBuilder::new();
    builder
        .send(C, ASK)
        .send(S, head)
        .pieces(S, &body, 1_000)
        .close(C);
    let dissection = builder.dissect().dissection;
    let of = dissection.timeline_of.expect("a ladder");
    assert!(of.omitted > 700, "{of:?}");
    assert_eq!(
        of.omitted + dissection.timeline.len() as u64,
        3 + 1 + 1 + 1_000 + 3
    );
    assert_eq!(
        dissection.timeline.last().map(|rung| rung.phase),
        Some(Phase::TearDown)
    );
    assert_eq!(dissection.interarrival_of.not_followed, 1);
}

#[test]
fn retransmissions_are_noted() {
    let mut builder = PacketBuilder::new();
    builder
        .send(C, ASK)
        .wait(200_000)
        .repeat()
        .send(S, HEAD)
        .send(S, b"body")
        .close(S);
    let dissection = builder.dissect().dissection;
    let notes: Vec<&str> = dissection.timeline.iter().map(|rung| &*rung.note).collect();
    assert_eq!(notes[4], "retransmission");
    assert_eq!(dissection.timeline[4].layers, []);
    let payload = &dissection.accounting.request.payload;
    assert_eq!(payload.retransmitted_bytes, ASK.len() as u64);
}
