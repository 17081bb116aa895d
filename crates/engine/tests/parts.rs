//! A load that several processes make together, and the sum of what they measured.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use wirelab_load::now_ns;

use crate::support::{drive, each_request, ok, plan, server};

/// Time for the processes to start, nanoseconds; the default of a busy machine.
const AHEAD_NS: u64 = 1_500_000_000;

/// What the parts of `plan` say, made by as many processes at the same time.
fn drive_parts(plan: &Value, of: u32) -> Vec<Value> {
    let start_ns = now_ns() + AHEAD_NS;
    let processes: Vec<_> = (0..of)
        .map(|index| {
            let mut plan = plan.clone();
            plan["part"] = json!({"index": index, "of": of, "start_ns": start_ns});
            if let Some(log) = plan["call_log"].as_str() {
                plan["call_log"] = json!(format!("{log}.{index}"));
            }
            thread::spawn(move || {
                let (code, event, output) = drive(&plan);
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                assert_eq!(code, 0, "{said}");
                event
            })
        })
        .collect();
    let ended = processes.into_iter().map(|process| process.join());
    ended.map(|event| event.expect("a result")).collect()
}

/// What `wirelab-engine merge` makes of lines.
fn merge(lines: &[String]) -> (i32, Value) {
    let mut engine = Command::new(crate::ENGINE)
        .arg("merge")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the engine starts");
    let mut stdin = engine.stdin.take().expect("piped");
    // One that refuses a line need not read the rest.
    let _ = stdin.write_all(lines.join("\n").as_bytes());
    drop(stdin);
    let output = engine.wait_with_output().expect("the engine ends");
    let event = serde_json::from_slice(&output.stdout).expect("one line of JSON");
    (output.status.code().unwrap_or(-1), event)
}

fn merge_results(results: &[Value]) -> Value {
    let lines: Vec<String> = results.iter().map(Value::to_string).collect();
    let (code, event) = merge(&lines);
    assert_eq!(code, 0, "{event}");
    event
}

fn log_path(name: &str) -> String {
    let file = format!("wirelab-parts-{name}-{}.csv", std::process::id());
    std::env::temp_dir().join(file).display().to_string()
}

/// Column `at` of a log of calls, which is removed.
fn read_column(log: &str, at: usize) -> Vec<u64> {
    let text = fs::read_to_string(log).expect("the log");
    fs::remove_file(log).expect("it was made");
    let lines = text.lines().skip(1);
    lines
        .map(|line| {
            line.split(',')
                .nth(at)
                .expect("a cell")
                .parse()
                .expect("a number")
        })
        .collect()
}

const INTENDED: usize = 6;

/// Arrivals, nanoseconds from the first.
fn from_first(mut arrivals: Vec<u64>) -> Vec<u64> {
    arrivals.sort_unstable();
    let first = arrivals[0];
    arrivals.iter().map(|at| at - first).collect()
}

#[test]
fn parts_arrive_as_the_threads_of_one_process_would() {
    let loads = [
        (
            "constant",
            json!({"kind": "constant", "rate": 400.0, "in_flight_max": 30}),
        ),
        (
            "poisson",
            json!({"kind": "poisson", "rate": 400.0, "seed": 7, "in_flight_max": 30}),
        ),
        (
            "stages",
            json!({"kind": "stages", "from": 100.0, "in_flight_max": 30,
                "stages": [{"to": 600.0, "duration_s": 0.5}, {"to": 100.0, "duration_s": 0.5}]}),
        ),
        (
            "bursts",
            json!({"kind": "bursts", "calls": 50, "gap_s": 0.2, "gaps": "exponential", "seed": 3,
                "in_flight_max": 30}),
        ),
    ];
    for (name, load) in loads {
        let (address, _) = server(|stream, seen| each_request(stream, &seen, |s, _| ok(s)));
        let mut plan = plan(&address);
        plan["groups"][0]["load"] = load;
        plan["groups"][0]["window"] = json!({"duration_s": 1.0});
        plan["groups"][0]["timeout_s"] = json!(20.0);
        plan["groups"][0]["stack"]["connection"] = json!("pool=30");
        let log = log_path(name);
        plan["call_log"] = json!(log);
        let results = drive_parts(&plan, 3);
        let together = (0..3).flat_map(|index| read_column(&format!("{log}.{index}"), INTENDED));
        let together = from_first(together.collect());
        let whole = merge_results(&results);
        assert_eq!(whole["groups"][0]["ok"], json!(together.len()), "{name}");
        plan["threads"] = json!(3);
        let (code, event, _) = drive(&plan);
        assert_eq!(code, 0, "{event}");
        let alone = from_first(read_column(&log, INTENDED));
        assert_eq!(together.len(), alone.len(), "{name}");
        for (mine, theirs) in together.iter().zip(&alone) {
            // Each process converts between clocks by itself.
            assert!(mine.abs_diff(*theirs) < 200_000, "{name}: {mine} {theirs}");
        }
    }
}

#[test]
fn the_sum_of_the_parts_is_what_the_log_of_all_calls_says() {
    // Every tenth request of a connection fails, and calls take 1 to 5 ms.
    let (address, seen) = server(|stream, seen| {
        each_request(stream, &seen, |stream, number| {
            thread::sleep(Duration::from_millis(1 + number as u64 % 5));
            match number % 10 {
                0 => stream
                    .write_all(b"HTTP/1.1 503 Busy\r\nContent-Length: 2\r\n\r\nno")
                    .is_ok(),
                _ => ok(stream),
            }
        });
    });
    let mut plan = plan(&address);
    plan["groups"][0]["load"] = json!({"kind": "closed", "users": 7});
    plan["groups"][0]["window"] = json!({"calls": {"calls": 703, "max_s": 60.0}});
    plan["groups"][0]["timeout_s"] = json!(20.0);
    let log = log_path("sum");
    plan["call_log"] = json!(log);
    let results = drive_parts(&plan, 3);
    let mut responses = Vec::new();
    for index in 0..3 {
        let file = format!("{log}.{index}");
        let text = fs::read_to_string(&file).expect("the log");
        fs::remove_file(&file).expect("it was made");
        responses.extend(text.lines().skip(1).map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let [intended, done] = [6, 10].map(|at| cells[at].parse::<u64>().expect("a time"));
            done - intended
        }));
    }
    responses.sort_unstable();
    let whole = merge_results(&results);
    let group = &whole["groups"][0];
    assert_eq!(group["calls"], 703, "the window of calls is divided");
    assert_eq!(group["calls"], json!(responses.len()));
    assert_eq!(
        group["calls"],
        json!(seen.requests.load(std::sync::atomic::Ordering::SeqCst))
    );
    let (ok, errors) = (group["ok"].as_u64(), group["errors"].as_u64());
    assert_eq!(ok.zip(errors).map(|(ok, errors)| ok + errors), Some(703));
    assert!(errors >= Some(60), "{group}");
    assert_eq!(group["times"]["response_good"]["count"], group["ok"]);
    assert_eq!(group["times"]["response_failed"]["count"], group["errors"]);
    assert_eq!(group["connections_peak"], 7, "users are divided");
    let response = &group["times"]["response"];
    for (name, share) in [("p50", 0.5), ("p90", 0.9)] {
        let at = (share * responses.len() as f64).ceil() as usize - 1;
        let (found, truth) = (response["percentiles_ns"][name].as_u64(), responses[at]);
        let off = found.map(|found| found.abs_diff(truth) as f64 / truth as f64);
        assert!(off < Some(0.002), "{name}: {found:?} {truth}");
    }
    // All that went well ended within the window, which lasts until the last call.
    let per_s = ok
        .zip(group["window_s"].as_f64())
        .map(|(ok, s)| ok as f64 / s);
    let off = group["rate_per_s"].as_f64().zip(per_s);
    assert!(
        off.is_some_and(|(rate, truth)| (rate / truth - 1.0).abs() < 1e-9),
        "{group}"
    );
}

#[test]
fn each_row_of_data_is_taken_by_one_part() {
    let paths = std::sync::Arc::new(std::sync::Mutex::new(BTreeMap::<String, u32>::new()));
    let counted = std::sync::Arc::clone(&paths);
    let (address, _) = server(move |mut stream, _| {
        use std::io::{BufRead, BufReader};
        let reader = BufReader::new(stream.try_clone().expect("a copy"));
        for line in reader.lines().map_while(Result::ok) {
            if let Some(rest) = line.strip_prefix("GET /") {
                let row = rest.split(' ').next().unwrap_or_default().to_owned();
                *counted.lock().expect("whole").entry(row).or_default() += 1;
            }
            if line.is_empty() && !ok(&mut stream) {
                return;
            }
        }
    });
    let rows = log_path("rows").replace(".csv", ".jsonl");
    let text: Vec<String> = (0..90)
        .map(|row| format!(r#"{{"row": "r{row}"}}"#))
        .collect();
    fs::write(&rows, text.join("\n")).expect("written");
    let mut plan = plan(&address);
    let group = &mut plan["groups"][0];
    group["workload"]["path"] = json!("/${row}");
    group["workload"]["data"] = json!({"rows": {"kind": "file", "path": rows}});
    group["load"] = json!({"kind": "constant", "rate": 300.0, "in_flight_max": 9});
    group["stack"]["connection"] = json!("pool=9");
    group["window"] = json!({"calls": {"calls": 90, "max_s": 60.0}});
    group["timeout_s"] = json!(20.0);
    drive_parts(&plan, 3);
    fs::remove_file(&rows).expect("it was made");
    let paths = paths.lock().expect("whole");
    assert_eq!(paths.len(), 90, "{paths:?}");
    assert!(paths.values().all(|count| *count == 1), "{paths:?}");
}

#[test]
fn a_part_that_starts_late_reports_it_and_its_window_is_that_of_the_others() {
    let (address, _) = server(|stream, seen| each_request(stream, &seen, |s, _| ok(s)));
    let mut plan = plan(&address);
    plan["groups"][0]["load"] = json!({"kind": "constant", "rate": 200.0, "in_flight_max": 4});
    plan["groups"][0]["window"] = json!({"duration_s": 1.0});
    plan["groups"][0]["timeout_s"] = json!(20.0);
    let start_ns = now_ns() - 300_000_000;
    plan["part"] = json!({"index": 1, "of": 2, "start_ns": start_ns});
    let (code, event, _) = drive(&plan);
    assert_eq!(code, 0, "{event}");
    assert!(event["late_s"].as_f64() >= Some(0.3), "{event}");
    let group = &event["groups"][0];
    assert_eq!(group["window_start_ns"], json!(start_ns));
    assert_eq!(group["ok"], 100, "none is left out: {group}");
    let worst = group["times"]["response"]["max_ns"].as_u64();
    assert!(
        worst >= Some(290_000_000),
        "counted from when it was due: {group}"
    );
}

#[test]
fn parts_that_are_not_of_one_load_are_refused() {
    let (address, _) = server(|stream, seen| each_request(stream, &seen, |s, _| ok(s)));
    for part in [
        json!({"index": 2, "of": 2, "start_ns": now_ns()}),
        json!({"index": 0, "of": 0, "start_ns": now_ns()}),
        json!({"index": 0, "of": 1001, "start_ns": now_ns()}),
        json!({"index": 0, "of": 2, "start_ns": 0}),
        json!({"index": 0, "of": 2, "start_ns": now_ns() + 3_600_000_000_000u64}),
    ] {
        let mut plan = plan(&address);
        plan["part"] = part.clone();
        let (code, event, _) = drive(&plan);
        assert_eq!((code, &event["event"]), (2, &json!("error")), "{part}");
    }
    let (_, result, _) = drive(&plan(&address));
    let mut other = result.clone();
    other["groups"][0]["name"] = json!("other");
    let mut spoilt = result.clone();
    spoilt["groups"][0]["times"]["response"]["hdr"] = json!("AAAA");
    for lines in [
        vec![],
        vec!["{}".to_owned()],
        vec![result.to_string(), "[".to_owned()],
        vec![result.to_string(), other.to_string()],
        vec![result.to_string(), spoilt.to_string()],
    ] {
        let (code, event) = merge(&lines);
        assert_eq!((code, &event["event"]), (2, &json!("error")), "{lines:?}");
    }
}
