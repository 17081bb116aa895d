//! Loads with more connections than one table of open files holds.

use std::sync::atomic::Ordering::SeqCst;

use serde_json::{Value, json};

use crate::support::service::Service;
use crate::support::{drive_limited, each_request, ok, plan, server};

/// Open files of an engine whose threads have 64 connections each.
const FILES: u64 = 128;

/// 300 users, who need five such threads.
const USERS: u64 = 300;

/// A plan of 900 calls by 300 users to a server.
fn users_of(address: &str) -> Value {
    let mut plan = plan(address);
    let group = &mut plan["groups"][0];
    group["load"]["users"] = json!(USERS);
    group["window"] = json!({"calls": {"calls": 3 * USERS, "max_s": 60.0}});
    group["timeout_s"] = json!(20.0);
    plan
}

/// The result with that number of open files, and the one with all that the machine has.
fn both(plan: &Value) -> (Value, Value) {
    let (limited, free) = (drive_limited(plan, Some(FILES)), drive_limited(plan, None));
    for (code, event, output) in [&limited, &free] {
        let log = String::from_utf8_lossy(&output.stderr);
        assert_eq!((*code, &event["event"]), (0, &json!("result")), "{log}");
    }
    let tables = json!({"threads": 5, "limit": FILES});
    assert_eq!(limited.1["process"]["file_tables"], tables);
    assert_eq!(free.1["process"]["file_tables"], Value::Null);
    (limited.1["groups"][0].clone(), free.1["groups"][0].clone())
}

#[test]
fn threads_with_their_own_files_hold_the_connections_of_all_users() {
    let (address, seen) = server(|stream, seen| each_request(stream, &seen, |s, _| ok(s)));
    let (code, event, output) = drive_limited(&users_of(&address), Some(FILES));
    assert_eq!(code, 0, "{}", String::from_utf8_lossy(&output.stderr));
    let group = &event["groups"][0];
    assert_eq!(
        event["process"]["file_tables"],
        json!({"threads": 5, "limit": FILES})
    );
    assert_eq!(group["connections_opened"], USERS);
    assert_eq!(seen.connections.load(SeqCst) as u64, USERS);
    assert_eq!((&group["ok"], &group["errors"]), (&json!(900), &json!(0)));
    assert_eq!(group["calls_whole_run"], seen.requests.load(SeqCst));
    assert_eq!(group["times"]["response"]["count"], 900);
}

#[test]
fn files_besides_connections_need_room_too() {
    let (address, _) = server(|stream, seen| each_request(stream, &seen, |s, _| ok(s)));
    let mut plan = users_of(&address);
    // Fewer connections than open files, and with the engine's own files more.
    plan["groups"][0]["load"]["users"] = json!(FILES - 20);
    let (code, event, output) = drive_limited(&plan, Some(FILES));
    assert_eq!(code, 0, "{}", String::from_utf8_lossy(&output.stderr));
    let tables = json!({"threads": 2, "limit": FILES});
    assert_eq!(event["process"]["file_tables"], tables);
    assert_eq!(event["groups"][0]["errors"], 0);
}

#[test]
fn users_choose_and_end_as_they_do_in_one_table() {
    let stack = json!({"binding": "rest", "codec": "json", "transport": "http/1.1"});
    let hellos = json!({"store": {"hello_bytes": 200}});
    let service = Service::start("transfer", &stack, &hellos);
    let part = |weight: f64, operation: &str| {
        json!({"weight": weight, "workload": {
            "kind": "contract", "contract": "transfer", "operation": operation, "bytes": 200}})
    };
    let mut plan = users_of(service.address());
    let group = &mut plan["groups"][0];
    group["stack"] = stack;
    group["workload"] = json!({
        "kind": "mix", "seed": 5, "parts": [part(2.0, "Hello"), part(1.0, "Submit")]});
    // The users start one after another within 0.2 s, and each makes three calls.
    group["load"]["iterations"] = json!(3);
    group["load"]["stages"] = json!([{"to": USERS, "duration_s": 0.2}]);
    let (limited, free) = both(&plan);
    let counts = |group: &Value| -> Vec<(String, u64)> {
        let operations = group["operations"].as_array().expect("two of them").iter();
        let counts = operations.map(|one| {
            assert_eq!(one["calls"], one["times"]["response"]["count"]);
            let name = one["operation"].as_str().expect("a name").to_owned();
            (name, one["ok"].as_u64().expect("a count"))
        });
        counts.collect()
    };
    assert_eq!(counts(&limited), counts(&free));
    let all: u64 = counts(&limited).iter().map(|(_, calls)| calls).sum();
    assert_eq!(all, 3 * USERS);
    assert_eq!(limited["periods"].as_array().map(Vec::len), Some(1));
}

#[test]
fn arrivals_of_an_open_load_are_those_of_one_table() {
    let (address, seen) = server(|stream, seen| each_request(stream, &seen, |s, _| ok(s)));
    let mut plan = users_of(&address);
    plan["groups"][0]["load"] =
        json!({"kind": "poisson", "rate": 2000.0, "seed": 7, "in_flight_max": USERS});
    plan["groups"][0]["window"] = json!({"duration_s": 0.5});
    let (code, event, output) = drive_limited(&plan, Some(FILES));
    assert_eq!(code, 0, "{}", String::from_utf8_lossy(&output.stderr));
    let group = &event["groups"][0];
    assert_eq!(group["errors"], 0, "{group}");
    // Five standard deviations of the number of arrivals of a Poisson process.
    let calls = group["calls"].as_u64().expect("a count");
    assert!((842..=1158).contains(&calls), "{calls}");
    assert_eq!(group["calls_whole_run"], seen.requests.load(SeqCst));
    assert_eq!(group["connections_opened"], USERS);
}

#[test]
fn a_group_that_is_smaller_than_the_threads_cannot_be_split() {
    let (address, _) = server(|stream, seen| each_request(stream, &seen, |s, _| ok(s)));
    let mut plan = users_of(&address);
    let mut small = plan["groups"][0].clone();
    small["name"] = json!("small");
    small["load"]["users"] = json!(2);
    plan["groups"].as_array_mut().expect("a list").push(small);
    let (code, event, _) = drive_limited(&plan, Some(FILES));
    assert_eq!((code, &event["kind"]), (3, &json!("limit")), "{event}");
    let message = event["message"].as_str().expect("a text");
    for part in [
        "302 connections",
        "128 open files",
        "threads = 5 with 2 calls in flight",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
}

#[test]
fn more_connections_than_local_ports_are_refused() {
    let mut plan = plan("127.0.0.1:1");
    plan["groups"][0]["load"]["users"] = json!(70_000);
    let (code, event, _) = drive_limited(&plan, None);
    assert_eq!((code, &event["kind"]), (3, &json!("limit")), "{event}");
    let message = event["message"].as_str().expect("a text");
    assert!(
        message.contains("70000 connections to 127.0.0.1:1"),
        "{message}"
    );
    assert!(message.contains("local ports"), "{message}");
}
