//! Connection policies and windows, as a server sees them.

use std::io::{Read, Write};
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use base64::Engine as _;
use serde_json::json;

use crate::support::{drive, each_request, group, ok, plan, server};

#[test]
fn keep_uses_one_connection_per_user_for_all_calls() {
    let (address, seen) = server(|stream, seen| each_request(stream, &seen, |s, _| ok(s)));
    let mut plan = plan(&address);
    plan["groups"][0]["load"]["users"] = json!(7);
    let group = group(&plan);
    assert_eq!(seen.connections.load(SeqCst), 7);
    assert_eq!(group["connections_opened"], 7);
    assert_eq!(group["errors"], 0);
    assert_eq!(group["calls_whole_run"], seen.requests.load(SeqCst));
}

#[test]
fn close_uses_one_connection_per_call() {
    let (address, seen) = server(|stream, seen| each_request(stream, &seen, |s, _| ok(s)));
    let mut plan = plan(&address);
    plan["groups"][0]["stack"]["connection"] = json!("close");
    plan["groups"][0]["load"]["users"] = json!(3);
    plan["groups"][0]["window"] = json!({"calls": {"calls": 500, "max_s": 20.0}});
    let group = group(&plan);
    assert_eq!(
        (&group["ok"], &group["errors"]),
        (&json!(500), &json!(0)),
        "{group}"
    );
    assert_eq!(seen.requests.load(SeqCst), 500);
    assert_eq!(seen.connections.load(SeqCst), 500);
    assert_eq!(group["times"]["connect"]["count"], 500);
}

#[test]
fn replies_that_end_with_the_connection_follow_each_other_without_a_pause() {
    let (address, seen) = server(|stream, seen| {
        each_request(stream, &seen, |s, _| {
            s.write_all(b"HTTP/1.0 200 OK\r\n\r\nok")
                .expect("a connection that is still there");
            false
        });
    });
    let mut plan = plan(&address);
    plan["groups"][0]["stack"]["transport"] = json!("http/1.0");
    plan["groups"][0]["stack"]["connection"] = json!("close");
    plan["groups"][0]["workload"]["expect"] = json!({"bytes": {"min": 2, "max": 2}});
    plan["groups"][0]["window"] = json!({"calls": {"calls": 200, "max_s": 20.0}});
    let group = group(&plan);
    assert_eq!(
        (&group["ok"], &group["errors"]),
        (&json!(200), &json!(0)),
        "{group}"
    );
    assert_eq!(seen.connections.load(SeqCst), 200);
    // A pause after every connection would take 128 ms a call before long.
    assert!(group["window_s"].as_f64().unwrap() < 5.0, "{group}");
}

#[test]
fn a_pool_is_shared_by_more_users_than_it_has_connections() {
    let (address, seen) = server(|stream, seen| {
        each_request(stream, &seen, |s, _| {
            std::thread::sleep(Duration::from_millis(10));
            ok(s)
        });
    });
    let mut plan = plan(&address);
    plan["groups"][0]["stack"]["connection"] = json!("pool=2");
    plan["groups"][0]["load"]["users"] = json!(4);
    let group = group(&plan);
    assert_eq!(seen.connections.load(SeqCst), 2);
    let mean = |which: &str| group["times"][which]["mean_ns"].as_f64().unwrap() / 1e6;
    // Two users wait while two are served: about one service time each.
    // Not 1: at the start nobody waits.
    assert!(mean("queueing") > 0.7 * mean("service"), "{group}");
    assert!((mean("response") - mean("service") - mean("queueing")).abs() < 1.0);
}

#[test]
fn pipelining_sends_before_the_reply() {
    let (address, seen) = server(|stream, seen| {
        let mut held = 0;
        each_request(stream, &seen, |s, _| {
            held += 1;
            // Nothing is answered before four requests have come.
            if held == 4 {
                held = 0;
                return (0..4).all(|_| ok(s));
            }
            true
        });
    });
    let mut plan = plan(&address);
    plan["groups"][0]["stack"]["in_flight"] = json!("pipeline=4");
    plan["groups"][0]["load"]["users"] = json!(4);
    plan["groups"][0]["window"] = json!({"calls": {"calls": 400, "max_s": 20.0}});
    let group = group(&plan);
    assert_eq!(
        (&group["ok"], &group["errors"]),
        (&json!(400), &json!(0)),
        "{group}"
    );
    assert_eq!(seen.connections.load(SeqCst), 1);
}

#[test]
fn a_pipelined_call_behind_a_large_body_is_sent_when_that_body_is_out() {
    const BODY_BYTES: usize = 8 << 20;
    // Nothing is read for 200 ms, so that the first body fills every buffer;
    // then both requests are read, until no more comes, and answered.
    let (address, _) = server(|mut stream, _| {
        std::thread::sleep(Duration::from_millis(200));
        let timeout = Some(Duration::from_millis(200));
        stream.set_read_timeout(timeout).expect("a socket");
        let (mut taken, mut buffer) = (0, vec![0; 1 << 20]);
        while let Ok(length @ 1..) = stream.read(&mut buffer) {
            taken += length;
        }
        assert!(taken > 2 * BODY_BYTES && ok(&mut stream) && ok(&mut stream));
    });
    let mut plan = plan(&address);
    let body = base64::engine::general_purpose::STANDARD.encode(vec![b'x'; BODY_BYTES]);
    plan["groups"][0]["stack"]["in_flight"] = json!("pipeline=2");
    plan["groups"][0]["workload"]["method"] = json!("POST");
    plan["groups"][0]["workload"]["body_base64"] = json!(body);
    plan["groups"][0]["load"]["users"] = json!(2);
    plan["groups"][0]["timeout_s"] = json!(5.0);
    plan["groups"][0]["window"] = json!({"calls": {"calls": 2, "max_s": 20.0}});
    let group = group(&plan);
    assert_eq!(group["ok"], 2, "{group}");
    let ns = |which: &str, what: &str| group["times"][which][what].as_u64().unwrap();
    // The first was sent at once, the second not before the server read.
    assert!(ns("queueing", "min_ns") < 100_000_000, "{group}");
    assert!(ns("queueing", "max_ns") > 150_000_000, "{group}");
}

#[test]
fn a_number_of_calls_is_kept_exactly_over_threads() {
    let (address, seen) = server(|stream, seen| each_request(stream, &seen, |s, _| ok(s)));
    let mut plan = plan(&address);
    plan["threads"] = json!(3);
    plan["groups"][0]["load"]["users"] = json!(8);
    // Divisible neither by the threads nor by the users.
    plan["groups"][0]["window"] = json!({"calls": {"calls": 1001, "max_s": 20.0}});
    let group = group(&plan);
    assert_eq!(group["ok"], 1001);
    assert_eq!(seen.requests.load(SeqCst), 1001);
}

#[test]
fn a_window_of_calls_on_a_running_load_has_the_rate_of_the_load() {
    let (address, seen) = server(|stream, seen| {
        each_request(stream, &seen, |s, _| {
            std::thread::sleep(Duration::from_millis(200));
            ok(s)
        });
    });
    let mut plan = plan(&address);
    plan["groups"][0]["load"] = json!({"kind": "constant", "rate": 200.0, "in_flight_max": 80});
    plan["groups"][0]["window"] = json!({"calls": {"calls": 40, "max_s": 20.0}});
    plan["groups"][0]["timeout_s"] = json!(5.0);
    // Opened with the load: all its calls count, and none ends before 200 ms.
    let cold = group(&plan);
    assert_eq!(
        (&cold["ok"], &cold["rate_per_s"]),
        (&json!(40), &json!(0.0))
    );
    assert_eq!(seen.requests.load(SeqCst), 40);
    // Opened while it ran: as many calls end as begin, but for some of either end's.
    plan["groups"][0]["warmup"] = json!({"min_s": 0.5, "max_s": 0.5});
    let warm = group(&plan);
    assert_eq!(warm["ok"], 40, "{warm}");
    for group in [cold, warm.clone()] {
        let window_s = group["window_s"].as_f64().unwrap();
        // 40 calls at 200 per second.
        assert!((0.199..=0.206).contains(&window_s), "{group}");
    }
    let rate = warm["rate_per_s"].as_f64().unwrap();
    assert!((180.0..=220.0).contains(&rate), "{warm}");
}

/// However many users wait, and however calls come in batches or over threads, a window of
/// calls has the rate that one of time has.
#[test]
fn a_window_of_calls_has_the_rate_of_its_connections() {
    let (address, _) = server(|stream, seen| {
        each_request(stream, &seen, |s, _| {
            std::thread::sleep(Duration::from_millis(10));
            ok(s)
        });
    });
    for (connections, users, threads, in_flight) in
        [(2, 50, 1, 2.0), (3, 3, 2, 3.0), (20, 20, 1, 20.0)]
    {
        let mut plan = plan(&address);
        plan["threads"] = json!(threads);
        plan["groups"][0]["stack"]["connection"] = json!(format!("pool={connections}"));
        plan["groups"][0]["load"]["users"] = json!(users);
        plan["groups"][0]["window"] = json!({"calls": {"calls": 60, "max_s": 20.0}});
        plan["groups"][0]["warmup"] = json!({"min_s": 0.2, "max_s": 0.2});
        plan["groups"][0]["timeout_s"] = json!(5.0);
        let group = group(&plan);
        assert_eq!(group["ok"], 60, "{group}");
        // One thread knows to the call; of two, one may learn a little late.
        let ended = group["ended"].as_u64().unwrap();
        assert!((60..=60 + threads - 1).contains(&ended), "{group}");
        let under_way = group["concurrency"].as_f64().unwrap();
        assert!(
            (0.9 * in_flight..=in_flight).contains(&under_way),
            "{group}"
        );
        let rate = group["rate_per_s"].as_f64().unwrap();
        // A call takes 10 ms at least, so 100 per second and connection are the most.
        assert!(rate <= 101.0 * in_flight, "{group}");
    }
}

/// One connection whose server takes 5 ms for a call gets five times as many.
#[test]
fn a_rate_that_the_service_cannot_keep_is_not_its_rate() {
    let (address, _) = server(|stream, seen| {
        each_request(stream, &seen, |s, _| {
            std::thread::sleep(Duration::from_millis(5));
            ok(s)
        });
    });
    let mut plan = plan(&address);
    plan["groups"][0]["load"] = json!({"kind": "constant", "rate": 1000.0, "in_flight_max": 1});
    plan["groups"][0]["timeout_s"] = json!(5.0);
    plan["groups"][0]["drain_s"] = json!(5.0);
    let windows = [
        json!({"duration_s": 0.5}),
        json!({"calls": {"calls": 500, "max_s": 20.0}}),
    ];
    for window in windows {
        plan["groups"][0]["window"] = window;
        plan["groups"][0]["warmup"] = json!({"min_s": 0.2, "max_s": 0.2});
        let group = group(&plan);
        // Every arrival counts, as late as it is answered …
        assert!(group["ok"].as_u64().unwrap().abs_diff(500) <= 1, "{group}");
        let slowest = group["times"]["response"]["max_ns"].as_u64().unwrap();
        // 500 calls of 5 ms take 2.5 s and arrive within 0.5 s.
        assert!(slowest > 1_500_000_000, "{group}");
        // … and per second goes what ended within the window.
        let (rate, ended) = (group["rate_per_s"].as_f64(), group["ended"].as_u64());
        assert!((50.0..=200.0).contains(&rate.unwrap()), "{group}");
        assert!((25..=101).contains(&ended.unwrap()), "{group}");
        let series = group["series"].as_array().unwrap();
        let sum: u64 = series.iter().map(|slot| slot.as_u64().unwrap()).sum();
        assert_eq!(sum, ended.unwrap(), "{group}");
        let under_way = group["concurrency"].as_f64().unwrap();
        assert!((0.7..=1.0).contains(&under_way), "{group}");
    }
}

#[test]
fn calls_that_end_after_the_window_do_not_count_in_the_rate() {
    let (address, _) = server(|stream, seen| {
        each_request(stream, &seen, |s, _| {
            std::thread::sleep(Duration::from_millis(250));
            ok(s)
        });
    });
    let mut plan = plan(&address);
    plan["groups"][0]["load"] = json!({"kind": "closed", "users": 10});
    plan["groups"][0]["window"] = json!({"duration_s": 0.4});
    plan["groups"][0]["timeout_s"] = json!(5.0);
    let group = group(&plan);
    // Calls of 250 ms in 0.4 s: two rounds of ten begin, and one of them ends.
    assert_eq!((&group["ok"], &group["ended"]), (&json!(20), &json!(10)));
    assert_eq!(group["rate_per_s"], 25.0);
    // Ten were under way, from a first moment on.
    let under_way = group["concurrency"].as_f64().unwrap();
    assert!((9.0..=10.0).contains(&under_way), "{group}");
}

#[test]
fn a_warm_up_lasts_three_rounds_of_its_users() {
    let (address, _) = server(|stream, seen| {
        each_request(stream, &seen, |s, _| {
            std::thread::sleep(Duration::from_millis(180));
            ok(s)
        });
    });
    let mut plan = plan(&address);
    plan["groups"][0]["stack"]["connection"] = json!("pool=20");
    plan["groups"][0]["load"] = json!({"kind": "closed", "users": 20});
    plan["groups"][0]["window"] = json!({"duration_s": 0.2});
    plan["groups"][0]["timeout_s"] = json!(5.0);
    // Eight samples of 50 ms see two level rounds.
    plan["groups"][0]["warmup"] = json!({"min_s": 0.1, "max_s": 5.0});
    let warmup = &group(&plan)["warmup"];
    assert_eq!(warmup["stationary"], true, "{warmup}");
    // Three rounds have ended, and the fourth has begun.
    assert!(warmup["calls"].as_u64().unwrap() >= 80, "{warmup}");
    // Its bound holds, and is reported.
    plan["groups"][0]["warmup"] = json!({"min_s": 0.1, "max_s": 0.45});
    let warmup = &group(&plan)["warmup"];
    assert_eq!(warmup["stationary"], false, "{warmup}");
}

#[test]
fn a_constant_rate_is_met_exactly_and_think_time_is_kept() {
    let (address, _) = server(|stream, seen| each_request(stream, &seen, |s, _| ok(s)));
    let mut constant = plan(&address);
    constant["groups"][0]["load"] = json!({"kind": "constant", "rate": 1000.0, "in_flight_max": 4});
    constant["groups"][0]["window"] = json!({"duration_s": 1.0});
    let constant = group(&constant);
    let calls = constant["calls"].as_u64().unwrap();
    // Tenths of the second that the window lasts.
    assert_eq!(constant["series"].as_array().unwrap().len(), 10);
    assert!((999..=1001).contains(&calls), "{calls}");
    let mut thinking = plan(&address);
    thinking["groups"][0]["load"] = json!({"kind": "closed", "users": 2, "think_s": 0.02});
    thinking["groups"][0]["window"] = json!({"duration_s": 0.5});
    // Two users, a call every 20 ms and a little each.
    let calls = group(&thinking)["calls"].as_u64().unwrap();
    // 50 without any service time; fewer on a machine that is busy.
    assert!((30..=50).contains(&calls), "{calls}");
}

#[test]
fn warm_up_calls_are_not_counted_in_the_window() {
    let (address, seen) = server(|stream, seen| each_request(stream, &seen, |s, _| ok(s)));
    let mut plan = plan(&address);
    plan["groups"][0]["warmup"] = json!({"min_s": 0.5, "max_s": 3.0});
    let group = group(&plan);
    let (window, warmup) = (
        group["calls"].as_u64().unwrap(),
        group["warmup"]["calls"].as_u64().unwrap(),
    );
    assert!(warmup > 0);
    assert_eq!(window + warmup, seen.requests.load(SeqCst) as u64);
    assert_eq!(group["warmup"]["stationary"], true);
}

#[test]
fn progress_counts_the_calls_of_its_phase() {
    let (address, _) = server(|stream, seen| each_request(stream, &seen, |s, _| ok(s)));
    let mut plan = plan(&address);
    plan["progress_ms"] = json!(1);
    plan["groups"][0]["load"] = json!({"kind": "constant", "rate": 1000.0, "in_flight_max": 4});
    plan["groups"][0]["warmup"] = json!({"min_s": 0.5, "max_s": 0.5});
    let (_, _, output) = drive(&plan);
    let lines = String::from_utf8(output.stdout).unwrap();
    let lines = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let first = |phase: &str| {
        let mut lines = lines
            .clone()
            .filter(|line: &serde_json::Value| line["phase"] == phase);
        lines.next().expect("a line of every phase")["calls"]
            .as_u64()
            .unwrap()
    };
    // 500 calls of the warm-up are not part of the window's first line.
    assert!(first("warmup") < 100 && first("measure") < 100);
}

#[test]
fn time_spent_spinning_is_reported_apart_from_work() {
    let (address, _) = server(|stream, seen| {
        each_request(stream, &seen, |s, _| {
            std::thread::sleep(Duration::from_millis(2));
            ok(s)
        });
    });
    let of = |wait: &str| {
        let mut plan = plan(&address);
        plan["wait"] = json!(wait);
        plan["groups"][0]["window"] = json!({"duration_s": 0.5});
        let (code, event, _) = drive(&plan);
        assert_eq!(code, 0, "{event}");
        let process = &event["process"];
        let seconds = |name: &str| process[name].as_f64().unwrap();
        let cpu_s = seconds("cpu_user_s") + seconds("cpu_system_s");
        (seconds("spin_s"), cpu_s)
    };
    let (sleeping, spinning) = (of("adaptive"), of("spin"));
    // 2 ms of waiting and some 0.1 ms of work, again and again.
    assert!(sleeping.0 < 0.05, "{sleeping:?}");
    assert!(
        spinning.0 > 0.5 * spinning.1 && spinning.0 < spinning.1 + 1e-9,
        "{spinning:?}"
    );
}
