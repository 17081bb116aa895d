//! When requests began, how many were under way, and whether they waited for replies.

use wirelab_trace::output::Load;
use wirelab_trace::protocol::exchange::Ending;

use super::http2::{Side, client_preface, unary};
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

/// `waits` returns how long the client waits after a reply that took that long.
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

/// A connection of that kind, and what is under way while another one goes on for a second.
fn with_another(write: impl Fn(&mut PacketBuilder)) -> Load {
    let mut builder = PacketBuilder::new();
    write(&mut builder);
    builder.next_connection().wait(1_000_000);
    builder.send(C, GET).send(S, REPLY);
    load(&builder)
}

/// Milliseconds that requests were under way in sum, less those of the other connection.
fn total_latency_ms(load: &Load) -> f64 {
    (load.latency_mean_us.unwrap() * load.requests as f64 - 100.0) / 1e3
}

#[track_caller]
fn assert_under_way(write: impl Fn(&mut PacketBuilder), ms: f64) {
    let load = with_another(write);
    let found = total_latency_ms(&load);
    assert!((found - ms).abs() < 1e-6, "{found} instead of {ms}");
    assert_eq!(load.concurrency.unwrap().max, 1);
}

#[test]
fn an_unanswered_request_ends_with_the_servers_fin() {
    let write = |builder: &mut PacketBuilder| {
        builder.send(C, GET).wait(4_900).fin(S);
    };
    assert_under_way(write, 5.0);
    assert_under_way(
        |builder| {
            write(builder);
            builder.ack(C).wait(50_000).fin(C).ack(S);
        },
        5.0,
    );
}

#[test]
fn an_unanswered_request_ends_with_a_reset_of_either_side() {
    for side in [C, S] {
        let write = |builder: &mut PacketBuilder| {
            builder.send(C, GET).wait(4_900).reset(side);
        };
        assert_under_way(write, 5.0);
    }
}

#[test]
fn a_reply_with_fin_in_the_same_segment_answers_its_request() {
    let mut builder = PacketBuilder::new();
    builder.send(C, GET).wait(4_900).send_last(S, REPLY);
    builder.next_connection().wait(1_000_000);
    builder.send(C, GET).send(S, REPLY);
    let dissected = builder.dissect();
    assert!((total_latency_ms(&dissected.dissection.load) - 5.0).abs() < 1e-6);
    let endings = &dissected.dissection.exchanges.endings;
    assert_eq!(endings.get(&Ending::Framed), Some(&2), "{endings:?}");
}

#[test]
fn a_fin_that_is_captured_before_the_reply_does_not_end_the_request() {
    assert_under_way(
        |builder| {
            builder
                .send(C, GET)
                .wait(4_800)
                .send(S, REPLY)
                .fin(S)
                .swap();
        },
        5.0,
    );
}

#[test]
fn a_half_closed_client_waits_for_its_reply() {
    assert_under_way(
        |builder| {
            builder.send(C, GET).fin(C).wait(4_800).send(S, REPLY);
            builder.ack(C).fin(S).ack(C);
        },
        5.0,
    );
    assert_under_way(
        |builder| {
            builder.send_last(C, GET).wait(4_900).send_last(S, REPLY);
            builder.ack(C);
        },
        5.0,
    );
}

#[test]
fn a_client_that_gave_up_has_ended_its_request() {
    // Its tool's timeout; the reply comes much later, and a RST answers it.
    assert_under_way(
        |builder| {
            builder.send(C, GET).wait(1_900).fin(C).wait(90_000);
            builder.send(S, REPLY).reset(C);
        },
        2.0,
    );
    // No reply comes at all, and the server closes later, or never.
    assert_under_way(
        |builder| {
            builder.send(C, GET).wait(1_900).fin(C).wait(90_000).fin(S);
        },
        2.0,
    );
    assert_under_way(
        |builder| {
            builder.send(C, GET).wait(1_900).fin(C).ack(S);
        },
        2.0,
    );
}

#[test]
fn requests_of_a_pipeline_end_with_their_connection() {
    let load = with_another(|builder| {
        builder.send(C, GET).send(C, GET).send(C, GET);
        builder.wait(900).send(S, REPLY).wait(900).fin(S);
    });
    // 1.2 ms the first, 2.1 and 2.0 ms the others.
    let found = total_latency_ms(&load);
    assert!((found - 5.3).abs() < 1e-6, "{found}");
    assert_eq!(load.concurrency.unwrap().max, 3);
}

#[test]
fn streams_of_http2_end_with_their_connection() {
    for end in [PacketBuilder::fin, PacketBuilder::reset] {
        let (mut client, mut server) = (Side::new(), Side::new());
        let [first, answered] = unary(&mut client, &mut server, 1, "/a.B/C");
        let [second, _] = unary(&mut client, &mut server, 3, "/a.B/C");
        let [third, _] = unary(&mut client, &mut server, 5, "/a.B/C");
        let mut builder = PacketBuilder::new();
        builder.send(C, &[client_preface(), first].concat());
        builder.send(C, &second).send(C, &third);
        builder.wait(900).send(S, &answered).wait(900);
        end(&mut builder, S);
        builder.next_connection().wait(1_000_000);
        builder.send(C, GET).send(S, REPLY);
        let dissection = builder.dissect().dissection;
        // As those of a pipeline.
        let found = total_latency_ms(&dissection.load);
        assert!((found - 5.3).abs() < 1e-6, "{found}");
        assert_eq!(dissection.load.concurrency.unwrap().max, 3);
        let endings = &dissection.exchanges.endings;
        assert_eq!(endings.get(&Ending::Broken), Some(&2), "{endings:?}");
        assert_eq!(endings.get(&Ending::Framed), Some(&2), "{endings:?}");
    }
}

#[test]
fn a_request_behind_the_servers_fin_is_not_under_way() {
    assert_under_way(
        |builder| {
            builder.send(C, GET).send(S, REPLY).wait(900).fin(S);
            builder.send(C, GET).reset(S);
        },
        0.1,
    );
}

#[test]
fn a_connection_that_only_the_server_closed_left_its_request_broken() {
    let mut builder = PacketBuilder::new();
    builder.send(C, GET).fin(S).ack(C);
    let endings = builder.dissect().dissection.exchanges.endings;
    assert_eq!(endings.get(&Ending::Broken), Some(&1), "{endings:?}");
    // Without the FIN, the reply may come behind the end of the capture.
    let mut builder = PacketBuilder::new();
    builder.send(C, GET).ack(S);
    let endings = builder.dissect().dissection.exchanges.endings;
    assert_eq!(endings.get(&Ending::Unseen), Some(&1), "{endings:?}");
}

#[test]
fn a_request_without_any_end_is_under_way_to_the_end_of_the_capture() {
    let load = with_another(|builder| {
        builder.send(C, GET);
    });
    assert_eq!(load.concurrency.unwrap().max, 2);
    assert!(total_latency_ms(&load) > 1_000.0);
}

/// How many connections each side ended: client, server.
fn count_ends(write: impl Fn(&mut PacketBuilder)) -> [u64; 2] {
    let mut builder = PacketBuilder::new();
    write(&mut builder);
    let connections = builder.dissect().dissection.exchanges.connections;
    [connections.ended_by_client, connections.ended_by_server]
}

const CLOSING: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

#[test]
fn the_first_side_to_announce_or_close_ended_the_connection() {
    let call = |builder: &mut PacketBuilder| {
        builder.send(C, GET).send(S, REPLY);
    };
    assert_eq!(count_ends(call), [0, 0]);
    for (side, expected) in [(C, [1, 0]), (S, [0, 1])] {
        let closed = count_ends(|builder| {
            call(builder);
            builder.close(side);
        });
        let reset = count_ends(|builder| {
            call(builder);
            builder.reset(side).reset(side.opposite());
        });
        assert_eq!([closed, reset], [expected; 2]);
    }
    // The client's FIN comes first, but the server had announced the end.
    let announced = count_ends(|builder| {
        builder.send(C, GET).send(S, CLOSING).close(C);
    });
    assert_eq!(announced, [0, 1]);
    // The server's reply only repeats what the request had asked for.
    for request in [
        &b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n"[..],
        b"GET / HTTP/1.0\r\n\r\n",
    ] {
        let asked = count_ends(|builder| {
            builder.send(C, request).send(S, CLOSING).close(S);
        });
        assert_eq!(asked, [1, 0]);
    }
    let given_up = |builder: &PacketBuilder| {
        let connections = builder.dissect().dissection.exchanges.connections;
        [connections.ended_by_client, connections.given_up]
    };
    let mut builder = PacketBuilder::new();
    assert_eq!(given_up(builder.send(C, GET).close(C)), [1, 1]);
    let mut builder = PacketBuilder::new();
    assert_eq!(
        given_up(builder.send(C, GET).send(S, REPLY).close(C)),
        [1, 0]
    );
    // Without a request nobody ended the use of it.
    let unused = count_ends(|builder| {
        builder.close(S);
    });
    assert_eq!(unused, [0, 0]);
}

#[test]
fn connections_of_other_clients_are_left_out_up_to_a_time() {
    let mut builder = PacketBuilder::new();
    builder.send(C, GET).wait(9_900).send(S, REPLY).close(C);
    builder.next_connection().send(C, GET).send(S, REPLY);
    let without = |until_ns| {
        let options = wirelab_trace::output::Options {
            without: [("10.0.0.1:40000".parse().unwrap(), until_ns)].into(),
            ..Default::default()
        };
        builder.dissect_with(options).dissection
    };
    let left = without(2_000_000_000);
    assert_eq!((left.flows.count, left.exchanges.count), (1, 1));
    assert!(left.exchanges.latency_us.unwrap().max < 200.0);
    assert_eq!(left.accounting.total.all.packets.packets, 5);
    // The port was used again later.
    assert_eq!(without(1_000_000_000).flows.count, 2);
}

#[test]
fn latencies_are_listed_with_the_times_of_requests() {
    let mut builder = PacketBuilder::new();
    for latency in latencies() {
        builder.send(C, GET).wait(latency).send(S, REPLY);
    }
    assert!(
        builder
            .dissect()
            .dissection
            .exchanges
            .latency_bins
            .is_empty()
    );
    let options = wirelab_trace::output::Options {
        sample: 1,
        ..Default::default()
    };
    let bins = builder
        .dissect_with(options)
        .dissection
        .exchanges
        .latency_bins;
    let listed = bins.iter().flat_map(|bin| (0..bin.count).map(|_| bin.us));
    let mut true_us: Vec<f64> = latencies().map(|us| us as f64 + 100.0).collect();
    true_us.sort_by(f64::total_cmp);
    for (listed, true_us) in listed.zip(&true_us) {
        assert!((listed / true_us - 1.0).abs() < 1e-3, "{listed} {true_us}");
    }
    assert_eq!(bins.iter().map(|bin| bin.count).sum::<u64>(), 40);
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
