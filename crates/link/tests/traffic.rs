//! Traffic over links of this process. As root; else skipped with a printed reason.

#![allow(clippy::disallowed_macros, reason = "the reasons of skipped tests")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wirelab_link::{AfterIdle, Driver, Link, LinkConfig, LinkError, Match, Way};

use crate::privileges;

/// Only a hang takes as long.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A process has one link at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    // A test that failed must not fail the others.
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn start(config: &Value) -> Link {
    let config = LinkConfig::parse(&config.to_string()).expect("a configuration");
    Link::start(&config).expect("a link")
}

fn own(both: Value) -> Value {
    json!({"profile": {"name": "own", "both": both}, "measure": {"pings": 5}, "seed": 1})
}

/// A connection from client to server: both ends, and how long it took to make.
fn connect(link: &Link) -> (TcpStream, TcpStream, Duration) {
    let server: SocketAddr = "198.18.0.2:0".parse().expect("an address");
    let listener = link
        .run_in_server(|| TcpListener::bind(server))
        .expect("a listener");
    let address = listener.local_addr().expect("an address");
    let before = Instant::now();
    let client = link
        .run_in_client(|| TcpStream::connect_timeout(&address, TIMEOUT))
        .expect("a connection");
    let took = before.elapsed();
    let (accepted, _) = listener.accept().expect("accepted");
    for socket in [&client, &accepted] {
        socket.set_read_timeout(Some(TIMEOUT)).expect("set");
        // Each write is a segment, as the scripted drops count them.
        socket.set_nodelay(true).expect("set");
    }
    (client, accepted, took)
}

/// Sends that number of bytes to the server and back, and compares them.
fn there_and_back(link: &Link, bytes: usize) {
    let (mut client, server, _) = connect(link);
    let sent: Vec<u8> = (0..bytes as u32)
        // Repeats after 2,048 bytes and not after a segment's 1,448: a swap of segments shows.
        .map(|number| ((number * 7) >> 3) as u8)
        .collect();
    let mut back = vec![0; bytes];
    thread::scope(|scope| {
        scope.spawn(|| {
            let (mut from, mut to) = (&server, &server);
            std::io::copy(&mut (&mut from).take(bytes as u64), &mut to).expect("echoed");
        });
        // Written and read at the same time, or full buffers would stop both ends.
        let mut writing = client.try_clone().expect("a handle");
        let sent = &sent;
        scope.spawn(move || writing.write_all(sent).expect("sent"));
        client.read_exact(&mut back).expect("all comes back");
    });
    assert!(back == sent, "what came back is not what was sent");
}

#[test]
fn tcp_brings_everything_over_a_link_with_every_fault() {
    if privileges::are_missing() {
        return;
    }
    let _alone = alone();
    let link = start(&own(json!({
        "delay_ms": 2, "jitter_ms": 0.5, "distribution": "uniform",
        "loss": {"kind": "random", "percent": 1}, "rate_kbit": 50_000, "queue_bytes": 100_000,
        "reorder_percent": 1, "duplicate_percent": 1, "corrupt_percent": 1,
    })));
    there_and_back(&link, 1 << 20);
    let done = link.report().expect("a report");
    assert!(
        done.bytes.forward > 1 << 20 && done.bytes.backward > 1 << 20,
        "{done:?}"
    );
    for (fault, count) in [
        ("lost", &done.lost),
        ("duplicated", &done.duplicated),
        ("corrupted", &done.corrupted),
        ("reordered", &done.reordered),
    ] {
        let count = count.expect("the emulator counts");
        assert!(count.forward > 0 && count.backward > 0, "{fault}: {done:?}");
    }
    assert!(done.lateness_us.is_some_and(|late| late.n > 0));
}

#[test]
fn tcp_brings_everything_over_bare_veth() {
    if privileges::are_missing() {
        return;
    }
    let _alone = alone();
    let link = start(&json!({"profile": "lan", "measure": {"pings": 5}}));
    assert_eq!(link.ready().driver, Driver::Veth);
    there_and_back(&link, 1 << 20);
    let done = link.report().expect("a report");
    // Offloads are off: a MiB is more packets than one of 64 KiB each.
    assert!(done.packets.forward > (1 << 20) / 1_500, "{done:?}");
    assert_eq!((done.lost, done.syns), (None, None));
}

#[test]
fn a_dropped_syn_costs_the_timer_and_is_logged() {
    if privileges::are_missing() {
        return;
    }
    let _alone = alone();
    let drops = json!([
        {"direction": "forward", "match": "syn", "nth": 1},
        {"direction": "backward", "match": "data", "nth": 2},
    ]);
    let mut config = own(json!({"delay_ms": 1}));
    config["drops"] = drops;
    let link = start(&config);
    let (mut client, mut server, took) = connect(&link);
    // RFC 6298: the first timer runs for a second.
    assert!(took >= Duration::from_millis(900), "{took:?}");
    for letter in [b'a', b'b', b'c'] {
        server.write_all(&[letter]).expect("sent");
        let mut received = [0];
        client.read_exact(&mut received).expect("received");
        assert_eq!(received, [letter]);
    }
    let done = link.report().expect("a report");
    let [syn, data] = &done.dropped[..] else {
        panic!("{done:?}");
    };
    let port = server.local_addr().expect("an address").port();
    assert_eq!(
        (syn.direction, syn.kind, syn.nth),
        (Way::Forward, Match::Syn, 1)
    );
    assert_eq!(syn.tcp.as_ref().map(|tcp| tcp.destination_port), Some(port));
    assert_eq!((data.direction, data.kind), (Way::Backward, Match::Data));
    assert_eq!(data.tcp.as_ref().map(|tcp| tcp.data), Some(1));
    assert!(data.at_unix_ns > syn.at_unix_ns);
}

#[test]
fn the_loss_of_syns_is_reported_and_counted() {
    if privileges::are_missing() {
        return;
    }
    let _alone = alone();
    let config = json!({"profile": "routed-wlan", "measure": {"pings": 5}, "seed": 1});
    let link = start(&config);
    let nominal = link.ready().nominal.syn_loss_percent;
    assert_eq!((nominal.forward, nominal.backward), (0.0, 2.9));
    drop(connect(&link));
    let done = link.report().expect("a report");
    let syns = done.syns.expect("the emulator counts");
    assert_eq!(syns.forward.offered, 0, "{done:?}");
    // The SYN-ACK that came, and those before it that did not.
    assert!(syns.backward.offered > syns.backward.lost, "{done:?}");
}

#[test]
fn losses_of_a_seed_repeat_and_lie_in_their_interval() {
    if privileges::are_missing() {
        return;
    }
    let _alone = alone();
    let mut config = own(json!({"delay_ms": 0.2, "loss": {"kind": "random", "percent": 10}}));
    config["measure"] = json!({"pings": 5, "loss_packets": 2_000});
    let measured = |config: &Value| {
        let link = start(config);
        let loss = link.ready().measured.loss_percent.clone();
        loss.expect("it was asked for")
    };
    let loss = measured(&config);
    for way in [&loss.forward, &loss.backward] {
        assert!(way.low <= 10.0 && 10.0 <= way.high, "{loss:?}");
    }
    assert_eq!(loss.forward, measured(&config).forward);
}

#[test]
fn a_bottleneck_lets_no_more_through_than_its_rate() {
    if privileges::are_missing() {
        return;
    }
    let _alone = alone();
    let mut config = own(json!({"rate_kbit": 5_000, "queue_bytes": 30_000}));
    config["measure"]["rate"] = json!(true);
    let rate = start(&config)
        .ready()
        .measured
        .rate_kbit
        .expect("asked for");
    for kbit in [rate.forward, rate.backward] {
        // Less only when this machine was too busy to send.
        assert!((2_500.0..5_150.0).contains(&kbit), "{rate:?}");
    }
}

#[test]
fn congestion_control_is_what_the_sockets_have() {
    if privileges::are_missing() {
        return;
    }
    let _alone = alone();
    let available = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control")
        .expect("a list");
    for name in ["reno", "cubic", "bbr"] {
        if !available.split_whitespace().any(|other| other == name) {
            privileges::report_skip(format!("this kernel has no {name}"));
            continue;
        }
        let mut config = json!({"profile": "lan", "measure": {"pings": 5}, "quickack": true});
        config["congestion"] = json!(name);
        let link = start(&config);
        let seen = &link.ready().congestion;
        assert_eq!((seen.client.as_str(), seen.server.as_str()), (name, name));
    }
}

/// A server sends 200 full segments at once over 400 ms of round trip. What has
/// come half a round trip after the first byte is the first flight.
fn first_flight(link: &Link) -> usize {
    const MESSAGE: usize = 200 * 1_448;
    let (client, mut server, _) = connect(link);
    thread::scope(|scope| {
        scope.spawn(move || server.write_all(&vec![7; MESSAGE]).expect("sent"));
        let mut reading = &client;
        let mut bytes = vec![0; MESSAGE];
        reading.read_exact(&mut bytes[..1]).expect("it begins");
        thread::sleep(Duration::from_millis(200));
        client.set_nonblocking(true).expect("set");
        let first = reading.read(&mut bytes[1..]).map_or(1, |length| 1 + length);
        client.set_nonblocking(false).expect("set");
        reading.read_exact(&mut bytes[first..]).expect("it ends");
        first
    })
}

#[test]
fn a_first_flight_is_as_large_as_the_initial_window() {
    if privileges::are_missing() {
        return;
    }
    let _alone = alone();
    for (segments, whole) in [(Some(2), false), (None, false), (Some(256), true)] {
        let mut config = own(json!({"delay_ms": 200}));
        config["initcwnd"] = json!(segments);
        let link = start(&config);
        let tcp = &link.ready().tcp;
        for end in [&tcp.client, &tcp.server] {
            assert_eq!(end.initial_window, segments.unwrap_or(10));
            if whole {
                // Not the receiver, either, makes it smaller.
                assert!(end.receive_window >= 256 * 1_448, "{tcp:?}");
            }
        }
        let first = first_flight(&link);
        match whole {
            true => assert_eq!(first, 200 * 1_448),
            // More only when this machine came late to read it.
            false => assert!(first < 200 * 1_448, "{segments:?}: {first}"),
        }
    }
}

#[test]
fn a_pause_does_to_windows_what_was_asked_for() {
    if privileges::are_missing() {
        return;
    }
    let _alone = alone();
    for (option, expected) in [("restart", AfterIdle::Restart), ("keep", AfterIdle::Keep)] {
        let config = json!({"profile": "lan", "measure": {"pings": 5}, "after_idle": option});
        let link = start(&config);
        let tcp = &link.ready().tcp;
        assert_eq!(
            (tcp.client.after_idle, tcp.server.after_idle),
            (expected, expected)
        );
        let file = "/proc/sys/net/ipv4/tcp_slow_start_after_idle";
        let setting = link.run_in_server(|| std::fs::read_to_string(file));
        let value = if option == "keep" { "0" } else { "1" };
        assert_eq!(setting.expect("a setting").trim(), value);
    }
}

/// As on loopback, so that a connection per call costs the same search for a port.
#[test]
fn ports_of_closed_connections_are_used_again() {
    if privileges::are_missing() {
        return;
    }
    let _alone = alone();
    let link = start(&json!({"profile": "lan", "measure": {"pings": 5}}));
    let setting = || std::fs::read_to_string("/proc/sys/net/ipv4/tcp_tw_reuse");
    for found in [link.run_in_client(setting), link.run_in_server(setting)] {
        assert_eq!(found.expect("a setting").trim(), "1");
    }
}

#[test]
fn an_idle_link_carries_nothing_of_its_own() {
    if privileges::are_missing() {
        return;
    }
    let _alone = alone();
    for profile in ["lan", "wlan"] {
        let link = start(&json!({"profile": profile, "measure": {"pings": 5}}));
        // Router solicitations come within the first second (RFC 4861 section 6.3.7).
        thread::sleep(Duration::from_millis(1_500));
        let packets = link.report().expect("a report").packets;
        assert_eq!((packets.forward, packets.backward), (0, 0), "{profile}");
    }
}

/// Datagrams of 1,472 B of payload are full packets; one byte more and the
/// kernel cuts them into two.
#[test]
fn packets_are_at_most_1500_bytes() {
    if privileges::are_missing() {
        return;
    }
    let _alone = alone();
    let link = start(&own(json!({"delay_ms": 0.1})));
    let from: SocketAddr = "198.18.0.1:0".parse().expect("an address");
    let to: SocketAddr = "198.18.0.2:9".parse().expect("an address");
    let socket = link
        .run_in_client(|| UdpSocket::bind(from))
        .expect("a socket");
    // Packets in all: one, and then two fragments.
    for (payload, packets) in [(1_472, 1), (1_473, 3)] {
        socket.send_to(&vec![0; payload], to).expect("sent");
        let deadline = Instant::now() + TIMEOUT;
        while link.report().expect("a report").packets.forward < packets {
            assert!(Instant::now() < deadline, "{packets} packets do not come");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn a_core_that_does_not_exist_is_an_error() {
    if privileges::are_missing() {
        return;
    }
    let _alone = alone();
    let mut config = own(json!({"delay_ms": 1}));
    config["cores"] = json!([900]);
    let config = LinkConfig::parse(&config.to_string()).expect("a configuration");
    assert!(
        matches!(Link::start(&config), Err(LinkError::Refused(refusal)) if refusal.option == "cores")
    );
}

#[test]
fn a_driver_that_the_kernel_lacks_is_refused() {
    if privileges::are_missing() {
        return;
    }
    let _alone = alone();
    let config = r#"{"profile":"wlan","driver":"netem","measure":{"pings":5}}"#;
    match Link::start(&LinkConfig::parse(config).expect("a configuration")) {
        Ok(link) => {
            eprintln!("this kernel has netem: its round trip is measured instead");
            assert_eq!(link.ready().driver, Driver::Netem);
            assert!(!link.ready().verified);
            assert!(link.ready().measured.rtt_ms.min >= 2.5);
        }
        Err(LinkError::Refused(refusal)) => {
            assert_eq!(
                (refusal.option.as_str(), refusal.remedy.contains("emulator")),
                ("driver", true)
            );
        }
        Err(error) => panic!("{error}"),
    }
}
