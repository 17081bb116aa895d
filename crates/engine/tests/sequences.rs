//! Sequences of calls: numbers of replies go into later requests, and the
//! sequence is reported in addition to its calls.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::charging;
use crate::support::{drive, group, plan};

fn sequence_plan(address: &str, function: &str) -> Value {
    let mut plan = plan(address);
    let group = &mut plan["groups"][0];
    group["stack"] = json!({"binding": "rest", "codec": "json", "transport": "http/1.1"});
    group["workload"] =
        json!({"kind": "sequence", "contract": "charging", "function": function, "accounts": 3});
    group["window"] = json!({"calls": {"calls": 20, "max_s": 20.0}});
    group["timeout_s"] = json!(10.0);
    plan
}

fn operation<'a>(group: &'a Value, name: &str) -> &'a Value {
    let operations = group["operations"].as_array().expect("a list");
    let found = operations.iter().find(|one| one["operation"] == name);
    found.unwrap_or_else(|| panic!("{name}: {group}"))
}

#[test]
fn each_reply_s_numbers_go_into_the_next_request() {
    let (address, requests) = charging::serve(|_, _, _, _| {});
    let group = group(&sequence_plan(&address, "ReservationDebit"));
    assert_eq!(
        (group["ok"].as_u64(), group["errors"].as_u64()),
        (Some(80), Some(0)),
        "{group}"
    );
    let requests = requests.lock().unwrap();
    assert_eq!(requests.len(), 80);
    for calls in requests.chunks(4) {
        let names: Vec<&str> = calls.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            [
                "Reserve",
                "ConfirmAction",
                "DebitReservation",
                "ConfirmAction"
            ]
        );
        // One user, so one account.
        assert_eq!(calls[0].1, json!({"id": 1, "am": 520}));
        assert_eq!(
            (&calls[2].1["id"], &calls[2].1["am"]),
            (&json!(1), &json!(520))
        );
        // The service gives each confirmation a number of its own.
        assert_ne!(calls[1].1["cn"], calls[3].1["cn"]);
    }
}

#[test]
fn a_sequence_is_reported_with_its_calls_and_its_operations() {
    let (address, _) = charging::serve(|name, _, _, _| {
        let slow = name == "DebitReservation";
        std::thread::sleep(Duration::from_millis(if slow { 20 } else { 0 }));
    });
    let group = group(&sequence_plan(&address, "ReservationDebit"));
    let sequences = &group["sequences"];
    assert_eq!(
        (&sequences["count"], &sequences["errors"]),
        (&json!(20), &json!(0)),
        "{group}"
    );
    assert_eq!(sequences["response"]["count"], 20);
    // The sequence lasts at least as long as its slowest call.
    assert!(
        sequences["response"]["min_ns"].as_u64().unwrap() >= 20_000_000,
        "{group}"
    );
    for (name, calls) in [
        ("Reserve", 20),
        ("ConfirmAction", 40),
        ("DebitReservation", 20),
    ] {
        let operation = operation(&group, name);
        assert_eq!(operation["ok"], calls, "{group}");
        assert_eq!(operation["times"]["response"]["count"], calls, "{group}");
    }
    assert_eq!(group["operations"].as_array().unwrap().len(), 3);
    let slow = operation(&group, "DebitReservation")["times"]["response"]["min_ns"].as_u64();
    assert!(slow.unwrap() >= 20_000_000, "{group}");
    assert_eq!(group["times"]["response"]["count"], 80);
    assert_eq!(group["calls_whole_run"], 80);
}

#[test]
fn a_failed_call_ends_its_sequence_and_the_user_begins_the_next() {
    let (address, requests) = charging::serve(|name, number, status, body| {
        // Every fourth of 20: five.
        if name == "ConfirmAction" && number % 4 == 1 {
            *status = 400;
            *body = br#"{"error":"unknown confirmation"}"#.to_vec();
        }
    });
    let group = group(&sequence_plan(&address, "Credit"));
    assert_eq!(
        group["errors_by_kind"],
        json!({"application": 5}),
        "{group}"
    );
    assert_eq!(group["sequences"]["count"], 20, "{group}");
    assert_eq!(group["sequences"]["errors"], 5, "{group}");
    assert_eq!(operation(&group, "Credit")["errors"], 0);
    assert_eq!(
        operation(&group, "ConfirmAction")["errors_by_kind"],
        json!({"application": 5})
    );
    let example = group["error_examples"][0].as_str().unwrap();
    assert!(
        example.ends_with("HTTP status 400: unknown confirmation"),
        "{example}"
    );
    assert_eq!(requests.lock().unwrap().len(), 40);
}

#[test]
fn an_error_in_the_middle_leaves_the_rest_of_the_sequence_out() {
    let (address, requests) = charging::serve(|name, _, _, body| {
        if name == "Reserve" {
            *body = br#"{"res":0,"cn":5}"#.to_vec();
        }
    });
    let group = group(&sequence_plan(&address, "ReservationRelease"));
    // No right service gives the number 0.
    assert_eq!(group["errors_by_kind"], json!({"wrong": 20}), "{group}");
    assert_eq!(group["sequences"]["errors"], 20);
    assert_eq!(operation(&group, "ConfirmAction")["calls"], 0);
    assert!(
        requests
            .lock()
            .unwrap()
            .iter()
            .all(|(name, _)| name == "Reserve")
    );
}

#[test]
fn a_number_that_was_not_confirmed_is_a_wrong_answer() {
    let (address, _) = charging::serve(|name, _, _, body| {
        if name == "ConfirmAction" {
            *body = br#"{"cn":999999}"#.to_vec();
        }
    });
    let group = group(&sequence_plan(&address, "DirectDebit"));
    assert_eq!(group["errors_by_kind"], json!({"wrong": 20}), "{group}");
    assert_eq!(operation(&group, "DirectDebit")["ok"], 20);
}

#[test]
fn with_frame_work_the_numbers_are_carried_all_the_same() {
    let (address, requests) = charging::serve(|_, _, _, _| {});
    let mut plan = sequence_plan(&address, "ReservationRelease");
    plan["groups"][0]["stack"]["work"] = json!("frame");
    let group = group(&plan);
    assert_eq!(
        (group["ok"].as_u64(), group["errors"].as_u64()),
        (Some(80), Some(0)),
        "{group}"
    );
    assert_eq!(requests.lock().unwrap().len(), 80);
}

#[test]
fn users_have_accounts_of_their_own() {
    let (address, requests) = charging::serve(|_, _, _, _| {});
    let mut plan = sequence_plan(&address, "CreditControl");
    plan["groups"][0]["load"]["users"] = json!(4);
    plan["threads"] = json!(2);
    let group = group(&plan);
    assert_eq!(group["ok"], 20, "{group}");
    // One operation needs no list of operations, but it is a sequence.
    assert_eq!(group["operations"], json!([]));
    assert_eq!(group["sequences"]["count"], 20);
    let requests = requests.lock().unwrap();
    let mut accounts: Vec<i64> = requests
        .iter()
        .map(|(_, r)| r["id"].as_i64().unwrap())
        .collect();
    accounts.sort_unstable();
    accounts.dedup();
    // Four users on three accounts: the last shares the first one's.
    assert_eq!(accounts, [1, 2, 3]);
}

#[test]
fn only_the_first_call_of_an_open_load_is_an_arrival() {
    let (address, _) = charging::serve(|_, _, _, _| {});
    let mut plan = sequence_plan(&address, "ReservationDebit");
    let group_plan = &mut plan["groups"][0];
    group_plan["load"] = json!({"kind": "constant", "rate": 200.0, "in_flight_max": 4});
    group_plan["window"] = json!({"duration_s": 0.5});
    group_plan["drain_s"] = json!(20.0);
    let group = group(&plan);
    let sequences = group["sequences"]["count"].as_u64().unwrap();
    // 0.5 s at 200 per second.
    assert!((99..=101).contains(&sequences), "{group}");
    assert_eq!(group["calls"].as_u64(), Some(4 * sequences), "{group}");
    assert_eq!(
        group["times"]["lag"]["count"].as_u64(),
        Some(sequences),
        "{group}"
    );
    assert_eq!(group["errors"], 0, "{group}");
}

/// The intended times of sequences are those of the schedule, gap by gap, although each
/// takes longer than the mean gap; their later calls are not arrivals.
#[test]
fn sequences_arrive_at_the_times_of_a_poisson_process() {
    let (address, _) = charging::serve(|_, _, _, _| {
        std::thread::sleep(Duration::from_millis(3));
    });
    let path = std::env::temp_dir().join(format!("wirelab-poisson-{}", std::process::id()));
    let mut plan = sequence_plan(&address, "ReservationDebit");
    plan["call_log"] = json!(path);
    let load = json!({"kind": "poisson", "rate": 250.0, "in_flight_max": 8, "seed": 11});
    plan["groups"][0]["load"] = load.clone();
    plan["groups"][0]["window"] = json!({"duration_s": 1.0});
    plan["groups"][0]["drain_s"] = json!(20.0);
    let group = group(&plan);
    let log = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let rows = log.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let mut intended: Vec<i64> = rows
        .filter(|row| row[5] == "Reserve")
        .map(|row| row[6].parse().unwrap())
        .collect();
    intended.sort_unstable();
    let load = serde_json::from_value(load).unwrap();
    let mut schedule = wirelab_load::arrivals::Arrivals::of(&load, 0, 1).unwrap();
    let first = schedule.next().unwrap();
    for (seen, due) in intended[1..].iter().zip(schedule) {
        // The log's clock may be corrected a little between two lines.
        let apart = (seen - intended[0]) - (due - first) as i64;
        assert!(apart.abs() < 1_000_000, "{apart} ns");
    }
    let sequences = group["sequences"]["count"].as_u64().unwrap();
    assert_eq!(intended.len() as u64, sequences);
    // Five standard deviations of a Poisson variable.
    assert!(sequences.abs_diff(250) < 80, "{group}");
    assert_eq!(group["calls"].as_u64(), Some(4 * sequences), "{group}");
    assert_eq!(group["times"]["lag"]["count"].as_u64(), Some(sequences));
    // Four calls of 3 ms at least.
    let response = group["sequences"]["response"]["min_ns"].as_u64();
    assert!(response.unwrap() >= 12_000_000, "{group}");
}

#[test]
fn a_sequence_that_began_in_the_window_ends_after_it() {
    let (address, requests) = charging::serve(|_, _, _, _| {
        std::thread::sleep(Duration::from_millis(150));
    });
    let mut plan = sequence_plan(&address, "ReservationDebit");
    plan["groups"][0]["window"] = json!({"duration_s": 0.1});
    plan["groups"][0]["drain_s"] = json!(20.0);
    let group = group(&plan);
    assert_eq!(
        (&group["ok"], &group["sequences"]["count"]),
        (&json!(4), &json!(1)),
        "{group}"
    );
    // All four calls of the sequence, though the window closed during the first.
    assert_eq!(requests.lock().unwrap().len(), 4);
}

#[test]
fn a_drain_that_is_too_short_leaves_the_sequence_unfinished() {
    let (address, _) = charging::serve(|name, _, _, _| {
        let slow = name == "DebitReservation";
        std::thread::sleep(Duration::from_secs(if slow { 5 } else { 0 }));
    });
    let mut plan = sequence_plan(&address, "ReservationDebit");
    plan["groups"][0]["window"] = json!({"duration_s": 0.1});
    plan["groups"][0]["drain_s"] = json!(0.3);
    let group = group(&plan);
    assert_eq!(group["errors_by_kind"], json!({"unfinished": 1}), "{group}");
    assert_eq!(group["sequences"]["errors"], 1, "{group}");
    assert_eq!(
        operation(&group, "DebitReservation")["errors"],
        1,
        "{group}"
    );
}

#[test]
fn one_operation_of_charging_is_not_a_sequence() {
    let (address, requests) = charging::serve(|_, _, _, _| {});
    let mut plan = sequence_plan(&address, "Credit");
    plan["groups"][0]["workload"] = json!({"kind": "contract", "contract": "charging",
        "operation": "Credit", "accounts": 7});
    plan["groups"][0]["load"]["users"] = json!(2);
    let group = group(&plan);
    assert_eq!(
        (&group["ok"], &group["sequences"]),
        (&json!(20), &Value::Null),
        "{group}"
    );
    let requests = requests.lock().unwrap();
    assert!(
        requests
            .iter()
            .all(|(name, r)| name == "Credit" && r["am"] == 147)
    );
    assert!(
        requests.iter().any(|(_, r)| r["id"] == 1) && requests.iter().any(|(_, r)| r["id"] == 2)
    );
}

#[test]
fn workloads_that_make_no_sense_are_refused_with_a_remedy() {
    let cases = [
        (
            json!({"kind": "contract", "contract": "charging", "operation": "ConfirmAction"}),
            "ConfirmAction",
            "sequence",
        ),
        (
            json!({"kind": "sequence", "contract": "calendar", "function": "Credit"}),
            "charging only",
            "contract charging",
        ),
        (
            json!({"kind": "sequence", "contract": "charging", "function": "Refund"}),
            "Refund",
            "name one",
        ),
        (
            json!({"kind": "sequence", "contract": "charging", "function": "Credit", "accounts": 0}),
            "accounts = 0",
            "1 or more",
        ),
        (
            json!({"kind": "contract", "contract": "payments", "operation": "Credit"}),
            "payments",
            "name one",
        ),
    ];
    for (workload, message, remedy) in cases {
        let mut plan = sequence_plan("127.0.0.1:9", "Credit");
        plan["groups"][0]["workload"] = workload;
        let (code, event, _) = drive(&plan);
        assert_eq!(code, 2, "{event}");
        assert!(
            event["message"].as_str().unwrap().contains(message),
            "{event}"
        );
        assert!(
            event["remedy"].as_str().unwrap().contains(remedy),
            "{event}"
        );
    }
}
