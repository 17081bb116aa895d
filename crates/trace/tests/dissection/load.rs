//! When requests began, how many were under way, and whether they waited for replies.

use wirelab_trace::output::Load;

use super::packet_builder::{C, PacketBuilder, S};

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const REPLY: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Latencies in microseconds that vary, by a rule.
fn latencies() -> impl Iterator<Item = u64> {
    // Deterministic, spread over 200 to 1700 us, and without a trend.
    (0..40_u64).map(|n| 200 + n * n * 37 % 1_500)
}

fn load(builder: &PacketBuilder) -> Load {
    builder.dissect().dissection.load
}

/// `waits` tells how long the client waits after a reply that took so long.
fn serial(waits: impl Fn(u64) -> u64) -> Load {
    let mut builder = PacketBuilder::new();
    for latency in latencies() {
        builder.send(C, GET).wait(latency).send(S, REPLY);
        builder.wait(waits(latency));
    }
    load(&builder)
}

#[test]
fn closed_loop_and_open_loop_clients_are_distinguished() {
    let closed = serial(|_| 50);
    assert!(closed.coupling.unwrap().correlation > 0.95, "{closed:?}");
    assert!(closed.gap_us.unwrap().variation > 0.3);

    let constant = serial(|latency| 5_000 - latency);
    assert!(constant.gap_us.unwrap().variation < 1e-9, "{constant:?}");
    assert!(constant.coupling.is_none(), "gaps that never vary");
    let concurrency = constant.concurrency.unwrap();
    assert!(concurrency.idle_share > 0.5 && concurrency.max == 1);
}

#[test]
fn concurrency_rate_and_latency_satisfy_littles_law() {
    let load = serial(|_| 300);
    let latency = latencies().sum::<u64>() as f64 / 40.0 + 100.0;
    assert!((load.latency_mean_us.unwrap() - latency).abs() < 1e-6);
    // 100 us pass between packets of the script.
    let gap = latency + 300.0 + 100.0;
    assert!((load.gap_us.unwrap().mean - gap).abs() / gap < 0.05);
    assert_eq!((load.requests, load.connections_open_max), (40, 1));
    let turnaround = load.turnaround_us.unwrap();
    assert!((turnaround.p50 - 400.0).abs() < 1.0, "{turnaround:?}");
}

#[test]
fn pauses_with_and_without_outstanding_replies_are_distinguished() {
    let mut builder = PacketBuilder::new();
    builder.send(C, GET).wait(70_000).send(S, REPLY);
    builder.send(C, GET).send(S, REPLY).wait(30_000);
    builder.send(C, GET).send(S, REPLY);
    let load = load(&builder);
    let (waiting, resting) = (load.pause_waiting.unwrap(), load.pause_resting.unwrap());
    assert_eq!((waiting.us, waiting.packet), (70_100.0, 6));
    assert_eq!((resting.us, resting.packet), (30_100.0, 8));
}

#[test]
fn requests_of_a_pipeline_are_under_way_together() {
    let mut builder = PacketBuilder::new();
    builder.send(C, GET).send(C, GET).send(C, GET);
    builder.send(S, REPLY).send(S, REPLY).send(S, REPLY);
    let concurrency = load(&builder).concurrency.unwrap();
    assert_eq!(concurrency.max, 3);
    assert!((concurrency.mean - 1.8).abs() < 1e-9, "{concurrency:?}");
    assert!(
        (concurrency.full_share - 0.2).abs() < 1e-9,
        "{concurrency:?}"
    );
}

#[test]
fn a_connection_per_call_is_timed_from_its_syn() {
    let mut builder = PacketBuilder::new();
    for call in 0..5 {
        if call > 0 {
            builder.next_connection();
        }
        builder.send(C, GET).send(S, REPLY).close(C);
    }
    let load = load(&builder);
    assert!(load.turnaround_us.is_none() && load.coupling.is_none());
    assert_eq!(load.connect_us.unwrap().n, 5);
    assert!((load.connect_us.unwrap().p50 - 300.0).abs() < 1.0);
    assert_eq!(load.connections_open_max, 1);
}

#[test]
fn a_request_that_is_never_answered_is_under_way_to_the_end_of_its_connection() {
    let mut builder = PacketBuilder::new();
    builder.send(C, GET).wait(10_000).reset(S);
    let load = load(&builder);
    assert!((load.latency_mean_us.unwrap() - 10_100.0).abs() < 1e-6);
    assert!(load.per_s.is_none() && load.gap_us.is_none());
}

#[test]
fn without_requests_there_is_no_load() {
    let load = load(&PacketBuilder::new());
    assert_eq!(load.requests, 0);
    assert!(load.concurrency.is_none() && load.latency_mean_us.is_none());
}

#[test]
fn times_of_the_first_requests_are_listed_where_they_are_asked_for() {
    let mut builder = PacketBuilder::new();
    builder.send(C, GET).wait(900).send(S, REPLY);
    builder.wait(1_900).send(C, GET);
    assert!(load(&builder).sample.is_none());

    let options = |sample| wirelab_trace::output::Options {
        sample,
        ..Default::default()
    };
    let sample = |count| {
        builder
            .dissect_with(options(count))
            .dissection
            .load
            .sample
            .unwrap()
    };
    let both = sample(9);
    // 100 us pass between packets of the script. The second request has no reply.
    assert_eq!(both.began_ns, [0, 3_000_000]);
    assert_eq!(both.took_ns, [Some(1_000_000), None]);
    assert_eq!(both.connection[0], both.connection[1]);
    assert_eq!(sample(1).began_ns, [0]);
}
