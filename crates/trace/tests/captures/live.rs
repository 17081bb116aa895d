//! Captures of real traffic on this machine, our own and dumpcap's.

use std::net::UdpSocket;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use wirelab_trace::Summary;
use wirelab_trace::capture::{Capture, CaptureError, Options};
use wirelab_trace::flow::event::{Closing, Direction};

use super::events::Events;
use super::traffic::{
    Call, EndedBy, Namespace, Tap, call, ip, mix, pattern, serve, switch_offloads_off,
};
use super::tshark::{Folder, agree, capinfos, has, is_root};

/// What the client got is what is in the packets. Calls were made one after the other.
fn assert_replies(events: &Events, calls: &[Call]) {
    assert_eq!(events.openings.len(), calls.len());
    for (flow, call) in (0..).zip(calls) {
        let reply = events.stream(flow, Direction::Reply);
        assert_eq!(reply.gaps, [], "{call:?}");
        let expected = pattern(call.reply_bytes).repeat(call.rounds);
        assert!(
            reply.bytes == expected,
            "{call:?}: {} bytes",
            reply.bytes.len()
        );
    }
}

#[test]
fn loopback_is_captured_once_and_read_as_wireshark_reads_it() {
    if !is_root() || !has("tshark") {
        return;
    }
    let (folder, namespace) = (Folder::new(), Namespace::new());
    let port = serve(&namespace, "127.0.0.1");
    let file = folder.file("lo.pcapng");
    let options = Options {
        port: Some(port),
        ..Options::of("lo")
    };
    let tap = Tap::begin(&namespace, options, &file);
    let calls = namespace
        .run(move || mix("127.0.0.1", port))
        .join()
        .expect("calls");
    let recorded = tap.end();
    let (summary, events) = agree(&file);
    // With drops the comparison below would fail for another reason.
    assert_eq!(recorded.kernel.drops, 0, "the test is small");
    assert_eq!(summary.drops, Some(0));
    assert_eq!(summary.packets, recorded.packets);
    assert_eq!(summary.bytes, recorded.bytes);
    // Each packet twice would be a retransmission each; a few are real ones.
    assert!(summary.flows.retransmissions < summary.tcp_packets / 4);
    assert_replies(&events, &calls);
    let words = capinfos(&file);
    assert!(words.contains("Wireshark/... - pcapng"), "{words}");
    assert!(words.contains("nanoseconds (9)"), "{words}");
    assert!(words.contains("Name = lo"), "{words}");
}

#[test]
fn a_port_filter_captures_only_that_port() {
    if !is_root() {
        return;
    }
    let (folder, namespace) = (Folder::new(), Namespace::new());
    for address in ["127.0.0.1", "::1"] {
        let (needed, other) = (serve(&namespace, address), serve(&namespace, address));
        let file = folder.file(&format!("{needed}.pcapng"));
        let options = Options {
            port: Some(needed),
            ..Options::of("lo")
        };
        let tap = Tap::begin(&namespace, options, &file);
        let calls = namespace.run(move || {
            mix(address, other);
            mix(address, needed)
        });
        let calls = calls.join().expect("calls");
        tap.end();
        let (_, events) = super::events::read(&std::fs::read(&file).expect("a file"));
        assert_eq!(events.openings.len(), calls.len(), "{address}");
        assert!(
            events
                .openings
                .values()
                .all(|opening| opening.server.port() == needed)
        );
    }
}

#[test]
fn without_a_port_lookups_of_names_are_captured_too() {
    if !is_root() {
        return;
    }
    let (folder, namespace) = (Folder::new(), Namespace::new());
    for address in ["127.0.0.1", "::1"] {
        let port = serve(&namespace, address);
        let file = folder.file(&format!("{port}.pcapng"));
        let tap = Tap::begin(&namespace, Options::of("lo"), &file);
        let calls = namespace.run(move || {
            let socket = UdpSocket::bind((address, 0)).expect("a socket");
            for to in [53, 54] {
                // Nobody listens, which an error of a later sending may tell.
                _ = socket.send_to(b"a query", (address, to));
            }
            mix(address, port)
        });
        calls.join().expect("calls");
        tap.end();
        let (summary, _) = super::events::read(&std::fs::read(&file).expect("a file"));
        assert_eq!(summary.packets, summary.tcp_packets + 1, "{address}");
        assert_eq!(summary.other.udp, 1, "{address}");
    }
}

#[test]
fn frames_are_cut_by_the_kernel_and_the_rest_is_a_gap() {
    if !is_root() || !has("tshark") {
        return;
    }
    let (folder, namespace) = (Folder::new(), Namespace::new());
    let port = serve(&namespace, "127.0.0.1");
    let file = folder.file("cut.pcapng");
    let options = Options {
        // The smallest that is allowed: all headers, and little else.
        snap_bytes: 114,
        ..Options::of("lo")
    };
    let tap = Tap::begin(&namespace, options, &file);
    let calls = namespace.run(move || mix("127.0.0.1", port));
    let calls = calls.join().expect("calls");
    tap.end();
    let (summary, events) = agree(&file);
    assert!(summary.truncated > 0);
    let flows = &summary.flows;
    // Each call has a head of nine bytes.
    let sent = |call: &Call| call.rounds * (9 + call.request_bytes + call.reply_bytes);
    let sent: usize = calls.iter().map(sent).sum();
    assert_eq!(flows.stream_bytes + flows.gap_bytes, sent as u64);
    for (flow, direction) in events.streams.keys() {
        let whole = events.stream(*flow, *direction);
        assert_eq!(whole.end, whole.bytes.len() as u64);
    }
}

#[test]
fn an_interface_without_link_headers_is_raw_ip() {
    if !is_root() {
        return;
    }
    let namespace = Namespace::new();
    let name = namespace.name.clone();
    ip(&["-n", &name, "tuntap", "add", "dev", "tun0", "mode", "tun"]);
    ip(&["-n", &name, "addr", "add", "198.18.9.1/30", "dev", "tun0"]);
    ip(&["-n", &name, "link", "set", "tun0", "up"]);
    let opened = namespace.run(|| Capture::open(&Options::of("tun0")).map(|c| c.link_type()));
    let link_type = opened.join().expect("no panic").expect("a capture");
    assert_eq!(link_type, wirelab_trace::packet::link_layer::LinkType::RAW);
}

#[test]
fn invalid_capture_options_are_reported_by_name() {
    if !is_root() {
        return;
    }
    let refused = |options: &Options| match Capture::open(options) {
        Ok(_) => panic!("{options:?} was taken"),
        Err(error) => error,
    };
    let error = refused(&Options::of("no-such-interface"));
    assert!(
        matches!(&error, CaptureError::NoInterface { present, .. } if present.contains(&"lo".to_owned()))
    );
    assert_eq!(error.option(), "interface");
    assert!(error.remedy().contains("lo"));
    let error = refused(&Options {
        snap_bytes: 20,
        ..Options::of("lo")
    });
    assert_eq!(error.option(), "snaplen");
    let error = refused(&Options {
        ring_mib: 0,
        ..Options::of("lo")
    });
    assert_eq!(error.option(), "ring_mib");
}

#[test]
fn dumpcap_captures_the_same_packets() {
    if !is_root() || !has("dumpcap") || !has("tshark") {
        return;
    }
    let (folder, namespace) = (Folder::new(), Namespace::new());
    let port = serve(&namespace, "127.0.0.1");
    let (theirs, ours) = (folder.file("dumpcap.pcapng"), folder.file("ours.pcapng"));
    let mut dumpcap = Command::new("ip")
        .args([
            "netns",
            "exec",
            &namespace.name,
            "dumpcap",
            "-q",
            "-i",
            "lo",
            "-f",
            "tcp",
            // Its ring of 2 MB overflows where it does not run for a moment.
            "-B",
            "64",
            "-w",
        ])
        .arg(&theirs)
        .stderr(Stdio::null())
        .spawn()
        .expect("dumpcap");
    let started = Instant::now();
    while theirs.metadata().map_or(0, |file| file.len()) == 0 {
        assert!(
            started.elapsed() < Duration::from_secs(30),
            "dumpcap begins"
        );
        thread::sleep(Duration::from_millis(20));
    }
    let tap = Tap::begin(&namespace, Options::of("lo"), &ours);
    let calls = namespace.run(move || {
        // dumpcap writes its head before it opens the interface.
        thread::sleep(Duration::from_millis(500));
        mix("127.0.0.1", port)
    });
    let calls = calls.join().expect("calls");
    thread::sleep(Duration::from_millis(500));
    let process = rustix::process::Pid::from_child(&dumpcap);
    rustix::process::kill_process(process, rustix::process::Signal::INT).expect("dumpcap runs");
    assert!(dumpcap.wait().expect("dumpcap ends").success());
    tap.end();
    let ((their_summary, events), (our_summary, _)) = (agree(&theirs), agree(&ours));
    let streams = |summary: &Summary| (summary.flows.flows, summary.flows.stream_bytes);
    assert_eq!(streams(&our_summary), streams(&their_summary));
    assert_eq!(our_summary.packets, their_summary.packets);
    assert_eq!(our_summary.bytes, their_summary.bytes);
    assert_replies(&events, &calls);
}

/// Two namespaces with a router between them whose queue is too short.
struct Lossy {
    near: Namespace,
    router: Namespace,
    far: Namespace,
}

impl Lossy {
    fn new() -> Lossy {
        let lossy = Lossy {
            near: Namespace::new(),
            router: Namespace::new(),
            far: Namespace::new(),
        };
        let Lossy { near, router, far } = &lossy;
        for (end, subnet, name) in [(near, "198.18.1", "wl0"), (far, "198.18.2", "wl1")] {
            ip(&[
                "-n",
                &router.name,
                "link",
                "add",
                name,
                "type",
                "veth",
                "peer",
                "name",
                name,
                "netns",
                &end.name,
            ]);
            for (namespace, host) in [(end, 1), (router, 2)] {
                let address = format!("{subnet}.{host}/30");
                ip(&["-n", &namespace.name, "addr", "add", &address, "dev", name]);
                ip(&["-n", &namespace.name, "link", "set", name, "up"]);
                let switched = namespace.run(move || switch_offloads_off(name));
                switched.join().expect("offloads are off");
            }
            let via = format!("{subnet}.2");
            ip(&["-n", &end.name, "route", "add", "default", "via", &via]);
            tool(&[
                "tc",
                "-n",
                &router.name,
                "qdisc",
                "add",
                "dev",
                name,
                "root",
                "tbf",
                "rate",
                "60mbit",
                "burst",
                "6kb",
                "limit",
                "20kb",
            ]);
        }
        tool(&[
            "ip",
            "netns",
            "exec",
            &router.name,
            "sysctl",
            "-q",
            "-w",
            "net.ipv4.ip_forward=1",
        ]);
        lossy
    }
}

fn tool(words: &[&str]) {
    let output = Command::new(words[0])
        .args(&words[1..])
        .output()
        .expect(words[0]);
    assert!(
        output.status.success(),
        "{words:?} {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn losses_are_classified_like_wireshark_at_both_ends() {
    if !is_root() || !has("tshark") {
        return;
    }
    let (folder, lossy) = (Folder::new(), Lossy::new());
    let port = serve(&lossy.far, "198.18.2.1");
    let files = [folder.file("near.pcapng"), folder.file("far.pcapng")];
    let taps = [
        Tap::begin(&lossy.near, Options::of("wl0"), &files[0]),
        Tap::begin(&lossy.far, Options::of("wl1"), &files[1]),
    ];
    let call_of = |request_bytes, reply_bytes, end| Call {
        request_bytes,
        reply_bytes,
        rounds: 2,
        end,
    };
    let calls = [
        call_of(1_000_000, 100, EndedBy::Client),
        call_of(100, 1_000_000, EndedBy::Server),
        call_of(300_000, 300_000, EndedBy::Reset),
    ];
    let made = lossy
        .near
        .run(move || calls.map(|one| call("198.18.2.1", port, one)));
    made.join().expect("calls");
    for (tap, file) in taps.into_iter().zip(&files) {
        tap.end();
        let (summary, events) = agree(file);
        assert!(summary.flows.retransmissions > 0, "{:?}", summary.flows);
        assert_eq!(summary.flows.gap_bytes, 0);
        assert_replies(&events, &calls);
        let endings: Vec<_> = events
            .closed
            .values()
            .map(|(_, closing)| *closing)
            .collect();
        let expected = [
            Closing::Orderly,
            Closing::Orderly,
            Closing::Reset(Direction::Request),
        ];
        assert_eq!(endings, expected);
        println!("{:?}", summary.flows);
    }
}
