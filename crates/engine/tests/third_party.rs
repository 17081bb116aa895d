//! What servers of other makers do and the services of the lab do not: servers of the tests,
//! each with a log of its own, and the engine driven against them.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wirelab_wire::http2::frame::{
    FrameHead, PREFACE, code, flag, kind, setting, write_frame, write_rst_stream,
};

use crate::support::{drive, each_request, group, ok, plan, server};

/// `:status: 200` of the static table (RFC 7541, appendix A).
const STATUS_200: [u8; 1] = [0x88];
/// RFC 9113 section 7.
const REFUSED_STREAM: u32 = 0x7;

/// What an HTTP/2 server of these tests saw.
#[derive(Default)]
struct Log {
    connections: AtomicUsize,
    /// Requests that were answered, by connection and stream.
    answered: Mutex<Vec<(usize, u32)>>,
    /// Requests that were refused.
    refused: AtomicUsize,
}

/// How it answers.
#[derive(Clone, Copy)]
struct Behaviour {
    /// GOAWAY comes with this reply of a connection; no stream above it is answered.
    replies_max: usize,
    /// Each request whose number is a multiple of this is refused once.
    refuse_every: usize,
    /// No request is ever answered.
    refuses_all: bool,
    /// Streams that it allows at a time; those above are refused.
    streams_max: u32,
    /// Time before SETTINGS are sent.
    settings_after: Duration,
}

const HEALTHY: Behaviour = Behaviour {
    replies_max: usize::MAX,
    refuse_every: usize::MAX,
    refuses_all: false,
    streams_max: 1_000,
    settings_after: Duration::ZERO,
};

/// Starts it; its address, and its log.
fn start(behaviour: Behaviour) -> (String, Arc<Log>) {
    let log = Arc::new(Log::default());
    let seen = Arc::clone(&log);
    let (address, _) = server(move |stream, _| serve(stream, &seen, behaviour));
    (address, log)
}

fn serve(mut stream: TcpStream, log: &Log, behaviour: Behaviour) {
    let connection = log.connections.fetch_add(1, Ordering::SeqCst);
    let mut preface = [0; PREFACE.len()];
    if stream.read_exact(&mut preface).is_err() {
        return;
    }
    // Requests that come before the limit is known are answered after it, as by a server whose
    // packets are slower than those of its client.
    std::thread::sleep(behaviour.settings_after);
    let mut entry = setting::MAX_CONCURRENT_STREAMS.to_be_bytes().to_vec();
    entry.extend_from_slice(&behaviour.streams_max.to_be_bytes());
    let mut out = Vec::new();
    write_frame(&mut out, kind::SETTINGS, 0, 0, &entry);
    let (mut input, mut buffer, mut replies) = (Vec::new(), [0; 65_536], 0);
    loop {
        if stream.write_all(&out).is_err() {
            return;
        }
        out.clear();
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return,
            Ok(length) => input.extend_from_slice(&buffer[..length]),
        }
        // All that has come at once counts as open at the same time.
        let mut open = 0;
        for stream in take_requests(&mut input) {
            open += 1;
            if replies >= behaviour.replies_max {
                continue;
            }
            let mut answered = log.answered.lock().unwrap();
            let number = answered.len() + 1;
            let is_due = number.is_multiple_of(behaviour.refuse_every)
                && log.refused.load(Ordering::SeqCst) < number / behaviour.refuse_every;
            if is_due || behaviour.refuses_all || open > behaviour.streams_max {
                log.refused.fetch_add(1, Ordering::SeqCst);
                write_rst_stream(&mut out, stream, REFUSED_STREAM);
                continue;
            }
            replies += 1;
            answered.push((connection, stream));
            write_frame(
                &mut out,
                kind::HEADERS,
                flag::END_HEADERS,
                stream,
                &STATUS_200,
            );
            write_frame(&mut out, kind::DATA, flag::END_STREAM, stream, b"ok");
            if replies == behaviour.replies_max {
                let mut payload = stream.to_be_bytes().to_vec();
                payload.extend_from_slice(&code::NO_ERROR.to_be_bytes());
                write_frame(&mut out, kind::GOAWAY, 0, 0, &payload);
            }
        }
    }
}

/// The streams whose requests have come whole; without a body.
fn take_requests(input: &mut Vec<u8>) -> Vec<u32> {
    let mut streams = Vec::new();
    while let Some(head) = input.first_chunk().map(FrameHead::parse) {
        let end = FrameHead::LEN + head.length as usize;
        if input.len() < end {
            break;
        }
        if head.kind == kind::HEADERS {
            assert!(head.has(flag::END_STREAM), "requests have no body");
            streams.push(head.stream);
        }
        input.drain(..end);
    }
    streams
}

/// A plan of `calls` calls of HTTP/2, of 16 users on two connections.
fn http2_plan(target: &str, calls: u64) -> Value {
    let mut plan = plan(target);
    let group = &mut plan["groups"][0];
    group["stack"] = json!({"binding": "rest", "codec": "text", "transport": "http/2",
        "connection": "pool=2", "in_flight": "multiplex=8"});
    group["load"]["users"] = json!(16);
    group["window"] = json!({"calls": {"calls": calls, "max_s": 120.0}});
    group["timeout_s"] = json!(20.0);
    plan
}

#[test]
fn calls_above_the_last_stream_of_a_goaway_go_to_another_connection() {
    let behaviour = Behaviour {
        replies_max: 100,
        ..HEALTHY
    };
    let (address, log) = start(behaviour);
    let group = group(&http2_plan(&address, 5_000));
    assert_eq!((&group["ok"], &group["errors"]), (&json!(5_000), &json!(0)));
    let resent = group["resent"].as_u64().expect("a count");
    assert!(resent > 0, "{group}");
    // 50 connections end, with at most 7 calls above the last stream each, and a call may meet
    // several of them.
    assert!(resent <= 50 * 8, "{group}");
    // No request was answered twice, and none beyond the last stream.
    let answered = log.answered.lock().unwrap();
    assert_eq!(answered.len(), 5_000);
    assert_eq!(answered.iter().collect::<BTreeSet<_>>().len(), 5_000);
    assert!(log.connections.load(Ordering::SeqCst) >= 50);
}

#[test]
fn a_call_up_to_the_last_stream_of_a_goaway_is_never_sent_again() {
    // GOAWAY covers all streams, then the connection ends without the replies.
    let (address, requests) = {
        let seen = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&seen);
        let (address, _) = server(move |mut stream, _| {
            let mut preface = [0; PREFACE.len()];
            if stream.read_exact(&mut preface).is_err() {
                return;
            }
            let (mut input, mut buffer) = (Vec::new(), [0; 4096]);
            while let Ok(length @ 1..) = stream.read(&mut buffer) {
                input.extend_from_slice(&buffer[..length]);
                let streams = take_requests(&mut input);
                counted.fetch_add(streams.len(), Ordering::SeqCst);
                if let Some(last) = streams.last() {
                    let mut out = Vec::new();
                    write_frame(&mut out, kind::SETTINGS, 0, 0, &[]);
                    let mut payload = last.to_be_bytes().to_vec();
                    payload.extend_from_slice(&code::NO_ERROR.to_be_bytes());
                    write_frame(&mut out, kind::GOAWAY, 0, 0, &payload);
                    let _ = stream.write_all(&out);
                    // An end with bytes unread would be a reset.
                    let _ = stream.shutdown(Shutdown::Write);
                    while let Ok(1..) = stream.read(&mut buffer) {}
                    return;
                }
            }
        });
        (address, seen)
    };
    let mut plan = http2_plan(&address, 20);
    plan["groups"][0]["stack"]["in_flight"] = json!("1");
    plan["groups"][0]["load"]["users"] = json!(1);
    let group = group(&plan);
    assert_eq!((&group["ok"], &group["resent"]), (&json!(0), &json!(0)));
    assert_eq!(group["errors_by_kind"], json!({"closed": 20}));
    assert_eq!(requests.load(Ordering::SeqCst), 20);
}

#[test]
fn refused_streams_are_sent_again_on_the_same_connection() {
    let behaviour = Behaviour {
        refuse_every: 50,
        ..HEALTHY
    };
    let (address, log) = start(behaviour);
    let mut plan = http2_plan(&address, 1_000);
    plan["groups"][0]["workload"]["method"] = json!("PATCH");
    let group = group(&plan);
    assert_eq!((&group["ok"], &group["errors"]), (&json!(1_000), &json!(0)));
    assert_eq!(log.refused.load(Ordering::SeqCst), 20);
    assert_eq!(group["resent"], json!(20));
    assert_eq!(log.connections.load(Ordering::SeqCst), 2);
}

/// A server without any of these behaviours.
#[test]
fn nothing_is_sent_again_to_a_server_that_processes_everything() {
    let (address, log) = start(HEALTHY);
    let group = group(&http2_plan(&address, 1_000));
    assert_eq!((&group["ok"], &group["resent"]), (&json!(1_000), &json!(0)));
    assert_eq!(log.answered.lock().unwrap().len(), 1_000);
    assert_eq!(
        (&group["connections_failed"], &group["framing"]),
        (&json!(0), &json!(0))
    );
}

#[test]
fn a_call_that_is_always_refused_fails_after_three_more_attempts() {
    let behaviour = Behaviour {
        refuses_all: true,
        ..HEALTHY
    };
    let (address, log) = start(behaviour);
    let group = group(&http2_plan(&address, 50));
    assert_eq!(group["errors_by_kind"], json!({"reset": 50}), "{group}");
    assert_eq!(group["resent"], json!(50));
    assert_eq!(log.refused.load(Ordering::SeqCst), 200);
    let example = group["error_examples"][0].as_str().expect("a text");
    assert!(example.ends_with("after 3 further attempts"), "{example}");
}

#[test]
fn with_h2_wait_settings_no_stream_exceeds_the_limit_of_the_server() {
    let behaviour = Behaviour {
        streams_max: 4,
        settings_after: Duration::from_millis(50),
        ..HEALTHY
    };
    let refused_with = |wait: &str| {
        let (address, log) = start(behaviour);
        let mut plan = http2_plan(&address, 500);
        plan["groups"][0]["stack"]["client.h2_wait_settings"] = json!(wait);
        let group = group(&plan);
        assert_eq!(group["ok"], json!(500), "{group}");
        (log.refused.load(Ordering::SeqCst), group["resent"].clone())
    };
    let (refused, resent) = refused_with("off");
    assert!(
        refused >= 8 && resent.as_u64() >= Some(8),
        "{refused} {resent}"
    );
    assert_eq!(refused_with("on"), (0, json!(0)));
}

#[test]
fn calls_fail_in_time_where_settings_that_they_wait_for_never_come() {
    let silent = Behaviour {
        settings_after: Duration::from_secs(20),
        ..HEALTHY
    };
    let (address, _) = start(silent);
    let mut plan = http2_plan(&address, 4);
    let group_plan = &mut plan["groups"][0];
    group_plan["stack"]["client.h2_wait_settings"] = json!("on");
    group_plan["timeout_s"] = json!(0.2);
    let began = Instant::now();
    let group = group(&plan);
    assert_eq!(group["errors_by_kind"], json!({"timeout": 4}), "{group}");
    assert!(began.elapsed() < Duration::from_secs(15));
}

#[test]
fn a_port_that_refuses_at_once_does_not_keep_a_thread() {
    let mut plan = plan("unix:/nowhere");
    let group_plan = &mut plan["groups"][0];
    group_plan["reconnect_delay_s"] = json!(0.0);
    group_plan["warmup"] = json!({"min_s": 0.1, "max_s": 0.2});
    group_plan["window"] = json!({"duration_s": 0.2});
    let began = Instant::now();
    let group = group(&plan);
    assert!(
        group["errors"].as_u64() > Some(0) && group["ok"] == json!(0),
        "{group}"
    );
    assert!(began.elapsed() < Duration::from_secs(15));
}

#[test]
fn a_post_of_http1_is_never_sent_again() {
    // Each connection ends with its second request unanswered.
    let (address, seen) = server(|stream, seen| {
        each_request(stream, &seen, |stream, number| number < 2 && ok(stream));
    });
    let mut plan = plan(&address);
    let group_plan = &mut plan["groups"][0];
    group_plan["workload"]["method"] = json!("POST");
    group_plan["window"] = json!({"calls": {"calls": 40, "max_s": 20.0}});
    let group = group(&plan);
    assert_eq!(group["errors_by_kind"], json!({"closed": 20}), "{group}");
    assert_eq!(group["resent"], json!(0));
    assert_eq!(seen.requests.load(Ordering::SeqCst), 40);
}

#[test]
fn a_reply_with_two_lengths_is_read_by_its_chunks_and_ends_the_connection() {
    let (address, seen) = server(|stream, seen| {
        each_request(stream, &seen, |stream, _| {
            let reply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\
                         X-Folded: a\r\n b\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
            stream.write_all(reply.as_bytes()).is_ok()
        });
    });
    let mut plan = plan(&address);
    let group_plan = &mut plan["groups"][0];
    group_plan["window"] = json!({"calls": {"calls": 30, "max_s": 20.0}});
    group_plan["timeout_s"] = json!(10.0);
    group_plan["workload"]["expect"] = json!({"status": 200, "bytes": {"min": 5, "max": 5},
        "headers": {"x-folded": "a   b"}});
    let group = group(&plan);
    assert_eq!(
        (&group["ok"], &group["framing"]),
        (&json!(30), &json!(30)),
        "{group}"
    );
    assert_eq!(seen.connections.load(Ordering::SeqCst), 30);
}

#[test]
fn a_large_head_is_accepted_up_to_the_limit_of_the_plan() {
    let fields: String = (0..200)
        .map(|n| format!("X-{n}: {}\r\n", "v".repeat(990)))
        .collect();
    let answer = format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: 2\r\n\r\nok");
    let (address, _) = server(move |stream, seen| {
        each_request(stream, &seen, |stream, _| {
            stream.write_all(answer.as_bytes()).is_ok()
        });
    });
    let mut plan = plan(&address);
    plan["groups"][0]["window"] = json!({"calls": {"calls": 10, "max_s": 20.0}});
    plan["groups"][0]["timeout_s"] = json!(10.0);
    assert_eq!(group(&plan)["ok"], json!(10));
    for limits in [json!({"bytes": 150_000}), json!({"fields": 100})] {
        plan["groups"][0]["head_limits"] = limits;
        assert_eq!(group(&plan)["errors_by_kind"], json!({"protocol": 10}));
    }
}

/// A port that nobody listens on.
fn find_closed_port() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("bound").to_string()
}

#[test]
fn pauses_after_failed_connections_are_stated_and_bounded_by_the_plan() {
    let run = |delay_s: f64| {
        let mut plan = plan(&find_closed_port());
        let group_plan = &mut plan["groups"][0];
        group_plan["window"] = json!({"calls": {"calls": 40, "max_s": 60.0}});
        group_plan["reconnect_delay_s"] = json!(delay_s);
        let began = Instant::now();
        let group = group(&plan);
        assert_eq!(group["errors_by_kind"], json!({"refused": 40}), "{group}");
        let failed = group["connections_failed"].as_u64().expect("a count");
        assert!((40..=42).contains(&failed), "{group}");
        let paused_s = group["reconnect_pause_s"].as_f64().expect("a time");
        (paused_s, began.elapsed().as_secs_f64())
    };
    let (paused_s, took_s) = run(0.032);
    // They begin at 1 ms and double up to 32 ms: each of the 40 calls waited for one.
    assert!(
        paused_s > 30.0 * 0.032 && paused_s < 42.0 * 0.032,
        "{paused_s}"
    );
    assert!(took_s > 0.8 * paused_s, "{took_s} {paused_s}");
    let (paused_s, _) = run(0.0);
    assert!(paused_s.abs() < f64::EPSILON, "{paused_s}");
}

#[test]
fn limits_of_heads_and_pauses_that_cannot_be_are_refused() {
    for (key, value, named) in [
        ("head_limits", json!({"bytes": 10}), "head_limits"),
        ("head_limits", json!({"fields": 0}), "head_limits"),
        ("slowest", json!(1001), "slowest"),
        ("reconnect_delay_s", json!(-1.0), "reconnect_delay_s"),
    ] {
        let mut plan = plan("127.0.0.1:1");
        plan["groups"][0][key] = value;
        let (code, event, _) = drive(&plan);
        assert_eq!(code, 2, "{event}");
        assert!(
            event["message"].as_str().unwrap().contains(named),
            "{event}"
        );
    }
}
