//! The process contract: ready, refused, stopped.

use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{
    Process, Service, block_on, config, grpc, iiop, raw, rest, rest2, soap, with,
};

/// What the service calls code of this project in its ready line.
const OWN: &str = "lab's own";

/// Longest time from the order to stop to the end.
const STOP: Duration = Duration::from_millis(1500);

fn refusal(line: &str) -> Value {
    let mut process = Process::start(line);
    let line = process.line();
    let answer: Value = serde_json::from_str(&line).expect(&line);
    assert_eq!(
        process.wait(STOP).expect("it ends").code(),
        Some(2),
        "{line}"
    );
    for part in ["message", "remedy"] {
        assert!(
            answer["refused"][part]
                .as_str()
                .is_some_and(|text| !text.is_empty()),
            "{line}"
        );
    }
    answer["refused"].clone()
}

/// A path for a socket that no other test uses.
fn socket_path(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("wirelab-{}-{name}.sock", std::process::id()))
}

#[test]
fn the_ready_line_reports_what_runs_and_what_was_set() {
    let socket = json!({"nagle": true, "tcp_window": 100_000, "h2_window": 20_000});
    let service = Service::start(&grpc(), json!({"socket": socket, "processors": 2}));
    let ready = &service.ready;
    assert_eq!(ready["language"], "rust");
    assert_eq!(ready["pid"], service.process.child.id());
    assert!(ready["runtime"].as_str().unwrap().starts_with("rustc 1."));
    let set = &ready["set"];
    assert_eq!(
        (&set["nagle"], &set["processors"]),
        (&json!(true), &json!(2))
    );
    // The kernel doubles what is asked for (socket(7)).
    assert_eq!(set["tcp_window"], 200_000);
    assert_eq!(set["h2_window"], 20_000);
    assert_eq!(set["h2_connection_window"], 65_535);
    assert_eq!(service.metric("tokio_workers"), 2.0);
}

#[test]
fn every_stack_names_its_libraries_by_role() {
    const WEB: &[&str] = &["axum", "hyper", "tokio"];
    for (stack, server, codec) in [
        (rest("json"), WEB, &["serde_json"][..]),
        (rest("protobuf"), WEB, &["prost"]),
        (rest("text"), WEB, &[OWN]),
        (
            rest2("xml"),
            &["axum", "hyper", "h2", "tokio"],
            &["quick-xml"],
        ),
        (soap("soap-literal"), WEB, &["quick-xml"]),
        (soap("soap-rpc"), WEB, &["quick-xml"]),
        (soap("soap-encoded"), WEB, &["quick-xml", OWN]),
        (grpc(), &["tonic", "hyper", "h2", "tokio"], &["prost"]),
        (iiop(), &[OWN, "tokio"], &[OWN]),
        (raw("soap-literal"), &[OWN, "tokio"], &["quick-xml"]),
        (raw("token-xml"), &[OWN, "tokio"], &[OWN]),
    ] {
        let compressed = with(stack.clone(), "compression", "zstd");
        let service = Service::start(&stack, json!({}));
        assert_eq!(service.libraries("server"), server, "{stack}");
        assert_eq!(service.libraries("codec"), codec, "{stack}");
        assert!(service.libraries("compression").is_empty() && service.libraries("tls").is_empty());
        if stack["binding"] != "iiop" {
            let service = Service::start(&compressed, json!({}));
            assert_eq!(service.libraries("compression"), ["zstd"], "{stack}");
        }
    }
}

#[test]
fn every_stack_answers_as_soon_as_it_is_ready() {
    for stack in [
        rest("json"),
        rest("text"),
        rest2("json"),
        rest2("text"),
        grpc(),
    ] {
        for processors in [1, 2] {
            let service = Service::start(&stack, json!({"processors": processors}));
            assert_eq!(
                block_on(service.hello()).unwrap(),
                "Hello, wirelab",
                "{stack}"
            );
            assert_eq!(
                service.metric("wirelab_calls_total{operation=\"Hello\"}"),
                1.0
            );
            assert_eq!(service.metric("wirelab_connections_total"), 1.0);
        }
    }
}

#[test]
fn the_end_of_standard_input_ends_it() {
    for stack in [rest("json"), grpc()] {
        let mut service = Service::start(&stack, json!({}));
        // A connection that stays open must not keep the service alive.
        let _idle = service.connect();
        let start = Instant::now();
        drop(service.process.child.stdin.take());
        let status = service.process.wait(STOP).expect("it ends");
        assert_eq!(status.code(), Some(0), "{stack}, {:?}", start.elapsed());
    }
}

#[test]
fn signals_end_it_cleanly() {
    for signal in [libc::SIGTERM, libc::SIGINT] {
        let mut service = Service::start(&rest("text"), json!({}));
        service.process.signal(signal);
        assert_eq!(service.process.wait(STOP).expect("it ends").code(), Some(0));
    }
}

#[test]
fn a_call_in_flight_is_answered_before_the_end() {
    for stack in [rest("json"), rest2("json"), grpc()] {
        let faults = json!({"faults": {"delay_us": 300_000}});
        let mut service = Service::start(&stack, faults);
        let answer = block_on(async {
            let stdin = service.process.child.stdin.take();
            let order = async {
                tokio::time::sleep(Duration::from_millis(100)).await;
                drop(stdin);
            };
            tokio::join!(service.hello(), order).0
        });
        assert_eq!(answer.as_deref(), Ok("Hello, wirelab"), "{stack}");
        assert_eq!(service.process.wait(STOP).expect("it ends").code(), Some(0));
    }
}

#[test]
fn calls_that_never_end_do_not_keep_it_alive() {
    for faults in [
        json!({"hang": {"every": 1}}),
        json!({"freeze": {"at_call": 1, "ms": 60_000}}),
    ] {
        let mut service = Service::start(&rest("text"), json!({"faults": faults}));
        let mut stream = service.connect();
        std::io::Write::write_all(
            &mut stream,
            b"GET /transfer/hello HTTP/1.1\r\nhost: x\r\n\r\n",
        )
        .unwrap();
        std::thread::sleep(Duration::from_millis(100));
        drop(service.process.child.stdin.take());
        assert_eq!(
            service.process.wait(STOP).expect("it ends").code(),
            Some(0),
            "{faults}"
        );
    }
}

#[test]
fn a_port_that_is_taken_is_refused() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let refused = refusal(&config(&grpc(), json!({"listen": address})));
    assert_eq!(refused["option"], "listen");
    assert!(refused["message"].as_str().unwrap().contains(&address));
    let refused = refusal(&config(&grpc(), json!({"metrics_listen": address})));
    assert_eq!(refused["option"], "metrics_listen");
}

#[test]
fn what_cannot_be_honoured_is_refused() {
    for (line, option) in [
        (String::new(), "."),
        ("{".to_owned(), "."),
        (config(&rest("yaml"), json!({})), "stack.codec"),
        (config(&rest("cdr"), json!({})), "stack.codec"),
        (config(&grpc(), json!({"listen": "0.0.0.0:0"})), "listen"),
        (
            config(&grpc(), json!({"listen": "198.17.255.255:0"})),
            "listen",
        ),
        (config(&grpc(), json!({"listen": "198.20.0.0:0"})), "listen"),
        (
            config(&grpc(), json!({"metrics_listen": "198.18.0.2:0"})),
            "metrics_listen",
        ),
        (config(&grpc(), json!({"colour": 1})), "colour"),
        // The kernel makes another size of these (socket(7)).
        (
            config(&grpc(), json!({"socket": {"tcp_window": 10}})),
            "socket.tcp_window",
        ),
        (
            config(
                &grpc(),
                json!({"socket": {"tcp_window": (1_u32 << 30) - 1}}),
            ),
            "socket.tcp_window",
        ),
        (
            config(&grpc(), json!({"listen": "unix:/nowhere/at/all"})),
            "listen",
        ),
        (
            config(&grpc(), json!({"listen": "unix:/etc/passwd"})),
            "listen",
        ),
    ] {
        assert_eq!(refusal(&line)["option"], option, "{line}");
    }
}

#[test]
fn a_database_is_refused_with_the_program_that_has_drivers() {
    for contract in ["records", "petclinic"] {
        let store = json!({"kind": "sqlite", "url": "/tmp/wirelab-no-driver"});
        let other = json!({"contract": contract, "store": store});
        let refused = refusal(&config(&rest("json"), other));
        assert_eq!(refused["option"], "store.kind", "{contract}");
        let remedy = refused["remedy"].as_str().unwrap();
        assert!(
            remedy.contains("wirelab-rust-service-databases"),
            "{remedy}"
        );
    }
}

#[test]
fn a_unix_socket_is_served_and_removed() {
    for stack in [rest("text"), grpc()] {
        let path = socket_path(stack["binding"].as_str().unwrap());
        let address = format!("unix:{}", path.display());
        // What a process that was killed leaves behind is not in the way.
        drop(UnixListener::bind(&path).unwrap());
        let mut service = Service::start(&stack, json!({"listen": address}));
        assert_eq!(service.address(), address);
        let in_use = refusal(&config(&stack, json!({"listen": address})));
        assert_eq!(in_use["option"], "listen");
        drop(service.process.child.stdin.take());
        assert_eq!(service.process.wait(STOP).expect("it ends").code(), Some(0));
        assert!(!path.exists());
    }
}

#[test]
fn it_listens_on_version_6_of_loopback() {
    let service = Service::start(&rest("text"), json!({"listen": "[::1]:0"}));
    assert!(service.address().starts_with("[::1]:"));
    assert_eq!(block_on(service.hello()).unwrap(), "Hello, wirelab");
}

#[test]
fn a_start_can_fail_on_purpose() {
    let mut process = Process::start(&config(&grpc(), json!({"faults": {"fail_start": true}})));
    assert_eq!(process.line(), "");
    assert_eq!(process.wait(STOP).expect("it ends").code(), Some(70));
}

#[test]
fn running_out_of_descriptors_is_outlived_without_a_busy_loop() {
    let limited = format!(
        // Few descriptors, so that 60 connections exhaust them.
        "ulimit -n 40; exec {}",
        crate::SERVICE
    );
    let line = config(&rest("text"), json!({}));
    let mut process = Process::start_by(Command::new("sh").args(["-c", &limited]), &line);
    let ready: Value = serde_json::from_str(&process.line()).unwrap();
    let address = ready["address"].as_str().unwrap();
    let cpu = || process_cpu(process.child.id());
    let connections: Vec<_> = (0..60)
        .map(|_| std::net::TcpStream::connect(address).unwrap())
        .collect();
    std::thread::sleep(Duration::from_millis(100));
    let before = cpu();
    std::thread::sleep(Duration::from_millis(1000));
    let spent = cpu() - before;
    assert!(spent < 0.3, "{spent} s of CPU in 1 s");
    drop(connections);
    std::thread::sleep(Duration::from_millis(200));
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    std::io::Write::write_all(&mut stream, b"GET /transfer/hello HTTP/1.0\r\n\r\n").unwrap();
    let mut reply = String::new();
    std::io::Read::read_to_string(&mut stream, &mut reply).unwrap();
    assert!(reply.ends_with("Hello, wirelab"), "{reply}");
}

/// CPU seconds that a process has used, from /proc (proc(5): 100 ticks a second).
fn process_cpu(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    // The second field, the name in parentheses, may hold spaces.
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    let ticks: f64 = fields[11..13]
        .iter()
        .map(|ticks| ticks.parse::<f64>().unwrap())
        .sum();
    ticks / 100.0
}
