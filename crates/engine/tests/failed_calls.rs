//! What failed calls do to response times: known shares of them, on the wire.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::service::Service;
use crate::support::{drive, each_request, group, plan, server};

const REST: (&str, &str, &str) = ("rest", "json", "http/1.1");
const GRPC: (&str, &str, &str) = ("grpc", "protobuf", "http/2");
const CALLS: u64 = 1_100;
/// Of services that hang: long enough that a busy machine seldom exceeds it.
const SHORT_NS: u64 = 2_000_000_000;
/// Of all others.
const LONG_NS: u64 = 20_000_000_000;
/// Every call takes at least this in the service's own code.
const DELAY_NS: u64 = 1_000_000;

/// A group of [`CALLS`] calls of four users, and what the log of calls holds of it.
struct Driven {
    group: Value,
    /// Response time of every call in nanoseconds, and whether it went well.
    calls: Vec<(u64, bool)>,
}

impl Driven {
    fn drive_with_faults(
        (binding, codec, transport): (&str, &str, &str),
        faults: Value,
        name: &str,
    ) -> Driven {
        let hangs = faults.get("hang").is_some();
        let timeout_ns = if hangs { SHORT_NS } else { LONG_NS };
        let stack = json!({"binding": binding, "codec": codec, "transport": transport});
        let mut switches = json!({"delay_us": DELAY_NS / 1000});
        for (name, value) in faults.as_object().expect("an object") {
            switches[name] = value.clone();
        }
        let service = Service::start("transfer", &stack, &json!({"faults": switches}));
        let file = log_file(&format!("{name}-{binding}"));
        let mut plan = plan(service.address());
        plan["call_log"] = json!(file);
        let group = &mut plan["groups"][0];
        group["stack"] = stack;
        group["workload"] = json!({"kind": "contract", "contract": "transfer",
            "operation": "Hello", "bytes": 14});
        group["load"]["users"] = json!(4);
        group["window"] = json!({"calls": {"calls": CALLS, "max_s": 60.0}});
        group["timeout_s"] = json!(timeout_ns as f64 / 1e9);
        let (code, event, _) = drive(&plan);
        let text = std::fs::read_to_string(&file).expect("the log");
        std::fs::remove_file(&file).expect("it was made");
        assert_eq!(code, 0, "{event}");
        Driven {
            group: event["groups"][0].clone(),
            calls: text.lines().skip(1).map(response_time).collect(),
        }
    }

    fn failures(&self) -> (Option<u64>, &Value) {
        (self.group["errors"].as_u64(), &self.group["errors_by_kind"])
    }

    fn times(&self, which: &str) -> &Value {
        &self.group["times"][which]
    }

    fn ns(&self, which: &str, figure: &str) -> u64 {
        let value = &self.times(which)[figure];
        value
            .as_u64()
            .unwrap_or_else(|| panic!("{which} {figure}: {}", self.group))
    }

    /// The recorded distribution is that of the calls in the log, to three digits.
    fn agrees(&self, which: &str, is_of: impl Fn(bool) -> bool) {
        let kept = self.calls.iter().filter(|(_, well)| is_of(*well));
        let mut ns: Vec<u64> = kept.map(|(ns, _)| *ns).collect();
        ns.sort_unstable();
        assert_eq!(self.ns(which, "count"), ns.len() as u64, "{which}");
        let percentiles = self.times(which)["percentiles_ns"].as_object();
        for (name, value) in percentiles.expect("an object") {
            let share: f64 = name[1..].parse().expect("p and a number");
            let place = (ns.len() as f64 * share / 100.0).ceil() as usize;
            let (found, expected) = (value.as_f64().expect("a number"), ns[place - 1] as f64);
            assert!(
                // Twice the error of the histogram, which keeps three digits.
                (found - expected).abs() <= 0.002 * expected,
                "{which} {name}: {found} {expected}"
            );
        }
    }

    /// All three distributions are those of the log's calls.
    fn agrees_with_the_log(&self) {
        self.agrees("response", |_| true);
        self.agrees("response_good", |well| well);
        self.agrees("response_failed", |well| !well);
    }
}

fn log_file(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("wirelab-failed-{name}-{}.csv", std::process::id()))
}

fn response_time(line: &str) -> (u64, bool) {
    let cells: Vec<&str> = line.split(',').collect();
    let ns = |at: usize| cells[at].parse::<u64>().expect("a number");
    // done_ns, intended_ns and ok.
    (ns(10) - ns(6), cells[11] == "1")
}

#[test]
fn without_a_failed_call_there_is_one_distribution() {
    let driven = Driven::drive_with_faults(REST, json!({}), "none");
    assert_eq!(driven.failures(), (Some(0), &json!({})));
    driven.agrees("response", |_| true);
    for which in ["response_good", "response_failed"] {
        assert!(driven.times(which).is_null(), "{which}");
    }
}

#[test]
fn an_answered_error_counts_with_the_time_of_its_answer() {
    for stack in [REST, GRPC] {
        let faults = json!({"wrong": {"every": 5, "what": "status"}});
        let driven = Driven::drive_with_faults(stack, faults, "status");
        let failed = CALLS / 5;
        assert_eq!(
            driven.failures(),
            (Some(failed), &json!({"application": failed}))
        );
        driven.agrees_with_the_log();
        assert!(driven.ns("response_failed", "min_ns") >= DELAY_NS);
        assert!(driven.ns("response_failed", "max_ns") < LONG_NS);
    }
}

#[test]
fn a_call_that_hangs_counts_with_the_timeout_and_leaves_good_percentiles_alone() {
    for stack in [REST, GRPC] {
        // 12 of 1,100 hang: the p99 of all calls is the timeout, that of the good ones is not.
        let driven = Driven::drive_with_faults(stack, json!({"hang": {"every": 90}}), "hang");
        let failed = CALLS / 90;
        assert_eq!(
            driven.failures(),
            (Some(failed), &json!({"timeout": failed}))
        );
        driven.agrees_with_the_log();
        let p99 = |which: &str| driven.times(which)["percentiles_ns"]["p99"].as_u64();
        assert!(p99("response") >= Some(SHORT_NS), "{}", driven.group);
        assert!(p99("response_good") < Some(SHORT_NS), "{}", driven.group);
        // The least of a histogram of three digits is the lower end of its bucket; the log of
        // calls, with which it agrees, has the time itself.
        let failed = driven.calls.iter().filter(|(_, well)| !well);
        assert!(failed.map(|(ns, _)| *ns).min() >= Some(SHORT_NS));
        let example = &driven.group["error_examples"][0];
        assert_eq!(example, "timeout: no complete reply within 2 s");
    }
}

#[test]
fn a_connection_closed_in_mid_reply_counts_with_the_time_until_then() {
    for stack in [REST, GRPC] {
        let driven =
            Driven::drive_with_faults(stack, json!({"close_mid_reply": {"every": 4}}), "close");
        let failed = CALLS / 4;
        assert_eq!(
            driven.failures(),
            (Some(failed), &json!({"closed": failed}))
        );
        driven.agrees_with_the_log();
        assert!(driven.ns("response_failed", "min_ns") >= DELAY_NS);
    }
}

#[test]
fn the_time_of_an_error_status_ends_with_its_body_and_not_with_its_head() {
    let late = Duration::from_millis(60);
    // Head and body 60 ms apart: the call lasts until the second.
    let (address, _) = server(move |stream, seen| {
        each_request(stream, &seen, |s, _| {
            let head = b"HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\n";
            if s.write_all(head).is_err() {
                return false;
            }
            std::thread::sleep(late);
            s.write_all(b"oops").is_ok()
        });
    });
    let group = group(&plan(&address));
    assert_eq!(group["ok"], 0, "{group}");
    let failed = &group["times"]["response_failed"];
    assert!(
        u128::from(failed["min_ns"].as_u64().unwrap()) >= late.as_nanos(),
        "{group}"
    );
    assert!(group["times"]["response_good"].is_null(), "{group}");
}
