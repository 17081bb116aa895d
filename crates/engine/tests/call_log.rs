//! The log of calls: one line per call that was sent, in the clock of packets.

use std::collections::BTreeMap;
use std::sync::Barrier;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;

use crate::support::{drive, each_request, ok, plan, server};

const USERS: usize = 4;

fn path(name: &str) -> std::path::PathBuf {
    std::env::temp_dir().join(format!("wirelab-{name}-{}.csv", std::process::id()))
}

#[test]
fn every_call_is_a_line_with_its_place_and_stamps_in_order() {
    // Else, on a busy machine, one thread makes all calls before the other one runs.
    let every_user = Barrier::new(USERS);
    let (address, _) = server(move |stream, seen| {
        each_request(stream, &seen, |s, number| {
            if number == 1 {
                every_user.wait();
            }
            ok(s)
        });
    });
    let file = path("calls");
    let mut plan = plan(&address);
    plan["groups"][0]["timeout_s"] = json!(20.0);
    plan["call_log"] = json!(file);
    plan["threads"] = json!(2);
    plan["groups"][0]["load"]["users"] = json!(USERS);
    plan["groups"][0]["window"] = json!({"calls": {"calls": 200, "max_s": 20.0}});
    let (code, event, _) = drive(&plan);
    let text = std::fs::read_to_string(&file).expect("the log");
    std::fs::remove_file(&file).expect("it was made");
    assert_eq!(code, 0, "{event}");
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("a clock");
    let mut next = BTreeMap::new();
    let mut lines = text.lines();
    assert!(
        lines
            .next()
            .is_some_and(|head| head.starts_with("group,thread,connection,port,"))
    );
    let mut calls = 0;
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let of: Vec<u64> = [3, 4, 6, 7, 8, 9, 10]
            .map(|at| cells[at].parse().expect("a number"))
            .into();
        let [port, ordinal, intended, sent, flushed, first, done] = of[..] else {
            panic!("{line}")
        };
        // By thread, too: each numbers its connections from 0.
        let expected = next.entry((cells[1], cells[2], port)).or_insert(0);
        assert_eq!(ordinal, *expected, "{line}");
        *expected += 1;
        assert!(
            intended <= sent && sent <= flushed && flushed <= first && first <= done,
            "{line}"
        );
        assert!(
            // Within a minute of CLOCK_REALTIME, in which packets are stamped; since boot it
            // would be years.
            now.as_nanos().abs_diff(u128::from(done)) < 60_000_000_000,
            "{line}"
        );
        calls += 1;
    }
    assert_eq!(next.len(), USERS, "each user has its connection");
    assert_eq!(json!(calls), event["groups"][0]["calls_whole_run"]);
    assert_eq!(event["call_log"], json!({"calls": calls, "error": null}));
}

#[test]
fn a_log_that_exists_is_refused_before_anything_is_called() {
    let (address, seen) = server(|stream, seen| each_request(stream, &seen, |s, _| ok(s)));
    let file = path("calls-twice");
    std::fs::write(&file, "mine").expect("a file");
    let mut plan = plan(&address);
    plan["call_log"] = json!(file);
    let (code, event, _) = drive(&plan);
    let kept = std::fs::read_to_string(&file).expect("still there");
    std::fs::remove_file(&file).expect("it was made");
    assert_eq!((code, kept.as_str()), (2, "mine"));
    assert!(
        event["message"]
            .as_str()
            .is_some_and(|text| text.contains("call_log")),
        "{event}"
    );
    assert_eq!(seen.connections.load(SeqCst), 0);
}
