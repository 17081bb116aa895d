//! One-way calls: they end by the service's report, and by nothing else.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use wirelab_wire::raw::Deframer;
use wirelab_wire::raw::report::Record;

use crate::support::{drive, group, plan, server};

/// A service that sends `processed` the port of each message it takes.
fn service(processed: Sender<u16>) -> String {
    let processed = Mutex::new(processed);
    let (address, _) = server(move |mut stream, _| {
        let port = stream.peer_addr().expect("connected").port();
        let (mut deframer, mut buffer) = (Deframer::new(), [0u8; 4096]);
        let processed = processed.lock().expect("no thread panicked").clone();
        while let Ok(length @ 1..) = stream.read(&mut buffer) {
            let mut input = &buffer[..length];
            while let Ok(Some(_)) = deframer.next(&mut input) {
                let _ = processed.send(port);
            }
        }
    });
    address
}

/// The report side: `handle` gets the connection that the engine made.
fn reports(handle: impl Fn(TcpStream, usize) + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound").to_string();
    thread::spawn(move || {
        for (number, stream) in listener.incoming().flatten().enumerate() {
            handle(stream, number + 1);
        }
    });
    address
}

/// Reports every message at once, `lag` later, until `until` messages are reported.
fn report_all(stream: &mut TcpStream, processed: &Receiver<u16>, lag: Duration, until: usize) {
    let mut counts = std::collections::HashMap::new();
    for port in processed.iter().take(until) {
        thread::sleep(lag);
        let count = counts.entry(port).or_insert(0u64);
        *count += 1;
        let record = Record {
            port,
            count: *count,
        };
        if stream.write_all(&record.bytes()).is_err() {
            return;
        }
    }
}

fn one_way_plan(address: &str, report: &str) -> Value {
    let mut plan = plan(address);
    let group = &mut plan["groups"][0];
    group["stack"] = json!({"binding": "raw", "codec": "soap-literal", "transport": "tcp",
        "reply": "one-way", "connection": "pool=1", "in_flight": "pipeline=4"});
    group["report"] = json!(report);
    group["workload"] = json!({"kind": "contract", "contract": "calendar", "operation": "Deploy"});
    group["load"]["users"] = json!(4);
    // The bound is for a hang only.
    group["window"] = json!({"calls": {"calls": 20, "max_s": 20.0}});
    group["timeout_s"] = json!(10.0);
    plan
}

#[test]
fn a_call_lasts_until_it_is_reported() {
    let (sender, receiver) = channel();
    let address = service(sender);
    let receiver = Mutex::new(receiver);
    let report = reports(move |mut stream, _| {
        let receiver = receiver.lock().expect("no thread panicked");
        report_all(
            &mut stream,
            &receiver,
            Duration::from_millis(10),
            usize::MAX,
        );
    });
    let group = group(&one_way_plan(&address, &report));
    assert_eq!(
        (&group["ok"], &group["errors"]),
        (&json!(20), &json!(0)),
        "{group}"
    );
    let minimum = |name: &str| group["times"][name]["min_ns"].as_u64().unwrap();
    assert!(minimum("response") >= 10_000_000, "{group}");
    assert!(
        minimum("wait") > 0 && minimum("service") >= 10_000_000,
        "{group}"
    );
    // Four at a time behind a report every 10 ms.
    assert!(group["concurrency"].as_f64().unwrap() <= 4.0, "{group}");
}

#[test]
fn records_of_other_connections_and_in_pieces_change_nothing() {
    let (sender, receiver) = channel();
    let address = service(sender);
    let receiver = Mutex::new(receiver);
    let report = reports(move |mut stream, _| {
        let receiver = receiver.lock().expect("no thread panicked");
        for (count, port) in (1..).zip(receiver.iter()) {
            let other = Record {
                port: port ^ 1,
                count: 99,
            }
            .bytes();
            let own = Record { port, count }.bytes();
            // Cut within records: TCP keeps no boundaries.
            for part in [&other[..5], &other[5..], &own[..11], &own[11..]] {
                let _ = stream.write_all(part);
                thread::sleep(Duration::from_millis(1));
            }
        }
    });
    assert_eq!(group(&one_way_plan(&address, &report))["ok"], 20);
}

#[test]
fn calls_under_way_fail_when_the_report_is_lost() {
    let (sender, receiver) = channel();
    let address = service(sender);
    let receiver = Arc::new(Mutex::new(receiver));
    let report = reports(move |mut stream, number| {
        let receiver = receiver.lock().expect("no thread panicked");
        match number {
            // Falls silent, and ends, with calls under way.
            1 => {
                report_all(&mut stream, &receiver, Duration::ZERO, 3);
                while receiver.recv_timeout(Duration::from_millis(100)).is_ok() {}
            }
            _ => report_all(&mut stream, &receiver, Duration::ZERO, usize::MAX),
        }
    });
    let group = group(&one_way_plan(&address, &report));
    // All four places were taken when it ended; the rest went on after it came back.
    assert_eq!(group["errors_by_kind"], json!({"closed": 4}), "{group}");
    assert_eq!(group["ok"], 16, "{group}");
    let example = group["error_examples"][0].as_str().unwrap();
    assert!(example.contains("the report connection"), "{example}");
    assert_eq!(group["connections_opened"], 2, "{group}");
}

#[test]
fn without_a_report_nothing_is_sent() {
    let closed_port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .to_string();
    let (sender, receiver) = channel();
    let address = service(sender);
    let mut plan = one_way_plan(&address, &closed_port);
    plan["groups"][0]["window"] = json!({"duration_s": 0.3});
    let group = group(&plan);
    assert_eq!(group["ok"], 0, "{group}");
    let refused = group["errors_by_kind"]["refused"].as_u64().unwrap();
    // Attempts back off, as those of calls do.
    assert!((3..100).contains(&refused), "{group}");
    assert_eq!(
        (&group["calls_whole_run"], &group["bytes_sent"]),
        (&json!(0), &json!(0))
    );
    assert!(receiver.try_recv().is_err());
}

#[test]
fn a_count_that_cannot_be_is_a_protocol_error() {
    let (sender, receiver) = channel();
    let address = service(sender);
    let receiver = Mutex::new(receiver);
    let report = reports(move |mut stream, _| {
        let receiver = receiver.lock().expect("no thread panicked");
        for port in receiver.iter() {
            let _ = stream.write_all(&Record { port, count: 1_000 }.bytes());
        }
    });
    let mut plan = one_way_plan(&address, &report);
    plan["groups"][0]["load"]["users"] = json!(1);
    let group = group(&plan);
    assert_eq!(group["errors_by_kind"], json!({"protocol": 20}), "{group}");
}

#[test]
fn a_report_that_never_comes_is_a_timeout() {
    let (sender, _receiver) = channel();
    let address = service(sender);
    // Kept open: an end of the connection would fail the calls before their timeout.
    let held = Mutex::new(Vec::new());
    let report = reports(move |stream, _| held.lock().expect("no thread panicked").push(stream));
    let mut plan = one_way_plan(&address, &report);
    plan["groups"][0]["load"]["users"] = json!(1);
    plan["groups"][0]["timeout_s"] = json!(0.1);
    plan["groups"][0]["window"] = json!({"calls": {"calls": 3, "max_s": 20.0}});
    let group = group(&plan);
    assert_eq!(group["errors_by_kind"], json!({"timeout": 3}), "{group}");
}

#[test]
fn sequences_and_other_machines_are_refused() {
    let mut plan = one_way_plan("127.0.0.1:9", "127.0.0.1:9");
    plan["groups"][0]["workload"] =
        json!({"kind": "sequence", "contract": "charging", "function": "Credit"});
    let (code, event, _) = drive(&plan);
    assert_eq!(code, 2, "{event}");
    assert!(
        event["message"].as_str().unwrap().contains("sequence"),
        "{event}"
    );
    let (code, event, _) = drive(&one_way_plan("127.0.0.1:9", "192.0.2.1:9"));
    assert_eq!(code, 2, "{event}");
    assert!(
        event["message"].as_str().unwrap().contains("report"),
        "{event}"
    );
}
