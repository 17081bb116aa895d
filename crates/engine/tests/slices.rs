//! Groups that take turns, as two servers with logs of their own see them.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{drive, each_request, ok, plan, server};

/// When the requests of one server came and were answered.
type Log = Arc<Mutex<Vec<(Instant, Instant)>>>;

/// A server that takes `work` for each request, and its log.
fn serve_logged(work: Duration) -> (String, Log) {
    let log = Log::default();
    let kept = Arc::clone(&log);
    let (address, _) = server(move |stream, seen| {
        each_request(stream, &seen, |stream, _| {
            let came = Instant::now();
            std::thread::sleep(work);
            kept.lock().unwrap().push((came, Instant::now()));
            ok(stream)
        });
    });
    (address, log)
}

/// A plan of one group for each address, in slices of 50 ms.
fn plan_turns(addresses: &[&str]) -> Value {
    let mut made = plan(addresses[0]);
    let group = made["groups"][0].clone();
    let groups = addresses.iter().enumerate().map(|(number, address)| {
        let mut group = group.clone();
        group["name"] = json!(format!("group {number}"));
        group["target"] = json!(address);
        group["window"] = json!({"duration_s": 0.4});
        group
    });
    made["groups"] = groups.collect();
    made["slices"] = json!({"length_s": 0.05, "skip_s": 0.005, "drain_s": 0.25, "first": 1});
    made
}

fn result(plan: &Value) -> Value {
    let (code, event, output) = drive(plan);
    assert_eq!(code, 0, "{output:?}");
    event
}

#[test]
fn calls_of_two_groups_are_never_under_way_together() {
    let ((slow, slow_log), (fast, fast_log)) = (
        serve_logged(Duration::from_millis(7)),
        serve_logged(Duration::from_millis(1)),
    );
    for threads in [1, 2] {
        slow_log.lock().unwrap().clear();
        fast_log.lock().unwrap().clear();
        let mut plan = plan_turns(&[&slow, &fast]);
        plan["threads"] = json!(threads);
        for group in plan["groups"].as_array_mut().unwrap() {
            group["load"]["users"] = json!(3);
        }
        let event = result(&plan);
        let (slow_log, fast_log) = (slow_log.lock().unwrap(), fast_log.lock().unwrap());
        assert!(slow_log.len() > 60 && fast_log.len() > 200, "{event}");
        for (came, answered) in &*slow_log {
            let together = fast_log.iter().filter(|(other_came, other_answered)| {
                other_came < answered && came < other_answered
            });
            assert_eq!(together.count(), 0);
        }
    }
}

#[test]
fn each_group_gets_its_whole_window_and_its_own_times() {
    let ((slow, _), (fast, _)) = (
        serve_logged(Duration::from_millis(8)),
        serve_logged(Duration::from_millis(2)),
    );
    let event = result(&plan_turns(&[&slow, &fast]));
    let slices = event["slices"]["slices"].as_array().unwrap();
    assert_eq!(slices.len(), 16);
    assert_eq!(event["slices"]["overrun"], json!(false));
    let order: Vec<_> = slices
        .iter()
        .map(|slice| slice["group"].as_u64().unwrap())
        .collect();
    assert_eq!(order[..4], [1, 0, 1, 0]);
    for (number, least_ms, most_per_s) in [(0, 8.0, 125.0), (1, 2.0, 500.0)] {
        let group = &event["groups"][number];
        assert_eq!(
            (&group["window_s"], &group["errors"]),
            (&json!(0.4), &json!(0)),
            "{group}"
        );
        let median_ms = group["times"]["response"]["percentiles_ns"]["p50"]
            .as_f64()
            .unwrap()
            / 1e6;
        // A call takes what its server takes; a call that spans two slices would take 50 ms more.
        assert!((least_ms..least_ms + 20.0).contains(&median_ms), "{group}");
        let longest_ms = group["times"]["response"]["max_ns"].as_f64().unwrap() / 1e6;
        assert!(longest_ms < 50.0 || least_ms + 40.0 > longest_ms, "{group}");
        let rate = group["rate_per_s"].as_f64().unwrap();
        assert!(
            rate > 0.3 * most_per_s && rate <= 1.05 * most_per_s,
            "{group}"
        );
        let series: u64 = group["series"]
            .as_array()
            .unwrap()
            .iter()
            .map(|n| n.as_u64().unwrap())
            .sum();
        assert_eq!(group["series"].as_array().unwrap().len(), 4, "{group}");
        // The beginning of each slice and its drain are not measured, but cost as much.
        let ended = group["ended"].as_u64().unwrap();
        assert!(
            series <= ended && ended <= series + series / 4 + 8,
            "{group}"
        );
        // Calls over the edges of 8 slices are counted by their begin or by their end.
        assert!(
            series.abs_diff(group["ok"].as_u64().unwrap()) <= 8,
            "{group}"
        );
    }
    for slice in slices {
        let at = |name: &str| slice[name].as_u64().unwrap();
        assert_eq!(at("end_ns") - at("start_ns"), 50_000_000);
        assert!(at("start_ns") - at("began_ns") == 5_000_000 && at("drained_ns") >= at("end_ns"));
    }
}

#[test]
fn connections_are_kept_over_the_slices() {
    let opened = |plan: &Value| {
        let event = result(plan);
        [0, 1].map(|number| event["groups"][number]["connections_opened"].clone())
    };
    let ((one, _), (other, _)) = (serve_logged(Duration::ZERO), serve_logged(Duration::ZERO));
    let mut plan = plan_turns(&[&one, &other]);
    plan["groups"][0]["load"]["users"] = json!(5);
    plan["groups"][1]["load"]["users"] = json!(2);
    assert_eq!(opened(&plan), [json!(5), json!(2)]);
}

#[test]
fn an_open_load_keeps_its_rate_within_its_slices() {
    let ((one, _), (other, _)) = (
        serve_logged(Duration::from_millis(1)),
        serve_logged(Duration::from_millis(1)),
    );
    let mut plan = plan_turns(&[&one, &other]);
    for group in plan["groups"].as_array_mut().unwrap() {
        group["load"] = json!({"kind": "constant", "rate": 200.0, "in_flight_max": 20});
    }
    let event = result(&plan);
    for group in event["groups"].as_array().unwrap() {
        // 10 arrivals in 50 ms, and 1 in the 5 ms before that are not measured.
        let calls = group["calls"].as_u64().unwrap();
        assert!((72..=88).contains(&calls), "{group}");
        assert_eq!(group["errors"], json!(0));
        let waited_ms = group["times"]["queueing"]["mean_ns"].as_f64().unwrap() / 1e6;
        assert!(
            waited_ms < 20.0,
            "arrivals wait for no other slice: {group}"
        );
    }
}

#[test]
fn the_warm_up_is_in_turns_as_well() {
    let ((one, one_log), (other, other_log)) = (
        serve_logged(Duration::from_millis(2)),
        serve_logged(Duration::from_millis(2)),
    );
    let mut plan = plan_turns(&[&one, &other]);
    for group in plan["groups"].as_array_mut().unwrap() {
        group["warmup"] = json!({"min_s": 0.15, "max_s": 0.15});
    }
    let event = result(&plan);
    for (number, log) in [(0, one_log), (1, other_log)] {
        let group = &event["groups"][number];
        assert_eq!(group["window_s"], json!(0.4));
        let warm = group["warmup"]["calls"].as_u64().unwrap();
        assert!(warm > 30, "{group}");
        assert_eq!(
            warm + group["calls"].as_u64().unwrap(),
            log.lock().unwrap().len() as u64
        );
    }
}

/// A call takes longer than the part of a slice that is not measured, so that many end in the drain.
#[test]
fn costs_are_of_all_calls_of_a_slice() {
    let ((slow, slow_log), (fast, fast_log)) = (
        serve_logged(Duration::from_millis(30)),
        serve_logged(Duration::from_millis(1)),
    );
    let mut plan = plan_turns(&[&slow, &fast]);
    plan["groups"][0]["load"]["users"] = json!(4);
    let event = result(&plan);
    for (number, log) in [(0, slow_log), (1, fast_log)] {
        let group = &event["groups"][number];
        let answered = log.lock().unwrap().len() as u64;
        assert_eq!(group["ended"], json!(answered), "{group}");
        let reply = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".len() as u64;
        assert_eq!(group["bytes_received"], json!(answered * reply), "{group}");
    }
}

#[test]
fn a_call_that_outlasts_the_drain_ends_the_run() {
    let ((hanging, _), (fast, _)) = (
        serve_logged(Duration::from_millis(600)),
        serve_logged(Duration::ZERO),
    );
    let mut plan = plan_turns(&[&hanging, &fast]);
    plan["slices"]["drain_s"] = json!(0.1);
    plan["groups"][0]["timeout_s"] = json!(5.0);
    let event = result(&plan);
    assert_eq!(event["slices"]["overrun"], json!(true), "{event}");
    assert!(event["slices"]["slices"].as_array().unwrap().len() < 4);
}

#[test]
fn groups_that_cannot_pause_are_refused() {
    let (address, _) = serve_logged(Duration::ZERO);
    let refused = |change: &dyn Fn(&mut Value), reason: &str| {
        let mut plan = plan_turns(&[&address, &address]);
        change(&mut plan);
        let (code, event, _) = drive(&plan);
        assert_eq!(code, 2, "{event}");
        assert!(
            event["message"].as_str().unwrap().contains(reason),
            "{event}"
        );
    };
    refused(
        &|plan| plan["slices"]["length_s"] = json!(0.0),
        "length_s must be above 0",
    );
    refused(
        &|plan| plan["slices"]["first"] = json!(2),
        "first names no group",
    );
    refused(
        &|plan| plan["groups"][1]["load"]["iterations"] = json!(3),
        "must stay the same",
    );
    refused(
        &|plan| plan["groups"][1]["window"] = json!({"calls": {"calls": 5, "max_s": 1.0}}),
        "time must close the window",
    );
    refused(
        &|plan| {
            plan["groups"].as_array_mut().unwrap().pop();
        },
        "at least two groups",
    );
}
