//! Servers that misbehave, and plans that cannot be run.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support;
use crate::support::{drive, each_request, group, ok, plan, server};

fn kinds(group: &Value) -> Vec<(&str, u64)> {
    let kinds = group["errors_by_kind"].as_object().expect("an object");
    kinds
        .iter()
        .map(|(kind, count)| (kind.as_str(), count.as_u64().unwrap()))
        .collect()
}

#[test]
fn a_refused_connection_is_data_and_does_not_spin() {
    // The listener is dropped at once: its port is closed.
    let address = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .to_string();
    let group = group(&plan(&address));
    let found = kinds(&group);
    assert_eq!(found[0].0, "refused");
    // Attempts back off: in 0.3 s there are some, not thousands.
    assert!((3..100).contains(&found[0].1), "{group}");
    assert_eq!(group["ok"], 0);
    // No service could have counted a call that never left.
    assert_eq!(group["calls_whole_run"], 0);
}

#[test]
fn a_server_that_hangs_costs_a_timeout_and_a_connection() {
    let (address, seen) = server(|stream, seen| {
        each_request(stream, &seen, |_, _| {
            std::thread::sleep(Duration::from_secs(5));
            false
        });
    });
    let started = Instant::now();
    let group = group(&plan(&address));
    assert_eq!(kinds(&group)[0].0, "timeout");
    // The server holds each call for 5 s; the timeout is 0.25 s.
    assert!(started.elapsed() < Duration::from_secs(3));
    assert!(seen.connections.load(SeqCst) >= 2);
    // Censored: the time after which it was given up stays in the percentiles.
    assert!(group["times"]["response"]["min_ns"].as_u64().unwrap() >= 250_000_000);
}

#[test]
fn a_close_in_mid_reply_is_never_a_success() {
    let (address, _) = server(|stream, seen| {
        each_request(stream, &seen, |s, number| {
            let short = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no";
            if number < 3 {
                return ok(s);
            }
            s.write_all(short)
                .expect("a connection that is still there");
            false
        });
    });
    let group = group(&plan(&address));
    let closed = kinds(&group)[0];
    assert_eq!(closed.0, "closed");
    // Every connection gave two good replies and one cut short.
    let good = group["ok"].as_u64().unwrap();
    assert!(good.abs_diff(2 * closed.1) <= 2, "{group}");
}

/// The connection will end by RST instead of FIN.
fn reset_at_close(stream: &TcpStream) {
    let linger = libc::linger {
        l_onoff: 1,
        // Lingering for 0 s discards what is unsent and sends RST (socket(7)).
        l_linger: 0,
    };
    // SAFETY: `linger` is valid for the duration of the call.
    unsafe {
        libc::setsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_LINGER,
            (&raw const linger).cast(),
            size_of::<libc::linger>() as libc::socklen_t,
        )
    };
}

#[test]
fn a_reset_does_not_complete_a_reply_that_ends_with_its_connection() {
    let (address, _) = server(|stream, seen| {
        each_request(stream, &seen, |s, _| {
            s.write_all(b"HTTP/1.0 200 OK\r\n\r\nhalf")
                .expect("a connection that is still there");
            // Time to be read: a RST discards what the receiver has not read yet.
            std::thread::sleep(Duration::from_millis(20));
            reset_at_close(s);
            false
        });
    });
    let mut plan = plan(&address);
    plan["groups"][0]["stack"]["transport"] = json!("http/1.0");
    plan["groups"][0]["stack"]["connection"] = json!("close");
    let group = group(&plan);
    assert_eq!(group["ok"], 0, "{group}");
    assert_eq!(kinds(&group)[0].0, "reset");
}

#[test]
fn a_reset_is_distinguished_from_a_close() {
    let (address, _) = server(|stream, seen| {
        each_request(stream, &seen, |s, _| {
            reset_at_close(s);
            false
        });
    });
    let group = group(&plan(&address));
    assert_eq!(kinds(&group)[0].0, "reset");
    let example = group["error_examples"][0].as_str().unwrap();
    assert!(example.contains("reset by peer (os error"), "{example}");
}

#[test]
fn garbage_is_a_protocol_error() {
    let (address, _) = server(|stream, seen| {
        each_request(stream, &seen, |s, _| {
            s.write_all(&[0x96, 0x03, 0x01, 0xff, b'\r', b'\n', 0])
                .is_ok()
        });
    });
    let group = group(&plan(&address));
    assert_eq!(kinds(&group)[0].0, "protocol");
    assert!(
        group["error_examples"][0].as_str().unwrap().contains("RFC"),
        "{group}"
    );
}

#[test]
fn a_reply_that_never_ends_times_out() {
    let (address, _) = server(|stream, seen| {
        each_request(stream, &seen, |s, _| {
            let _ = s.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
            while s.write_all(b"1\r\nx\r\n").is_ok() {
                std::thread::sleep(Duration::from_millis(1));
            }
            false
        });
    });
    assert_eq!(kinds(&group(&plan(&address)))[0].0, "timeout");
}

#[test]
fn another_status_is_an_application_error_and_another_length_is_wrong() {
    let (address, _) = server(|stream, seen| {
        each_request(stream, &seen, |s, number| match number % 3 {
            1 => ok(s),
            2 => s
                .write_all(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")
                .is_ok(),
            _ => s
                .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\no")
                .is_ok(),
        });
    });
    let mut plan = plan(&address);
    plan["groups"][0]["workload"]["expect"] = json!({"bytes": {"min": 2, "max": 2}});
    plan["groups"][0]["window"] = json!({"calls": {"calls": 300, "max_s": 20.0}});
    let group = group(&plan);
    assert_eq!(
        kinds(&group),
        [("application", 100), ("wrong", 100)],
        "{group}"
    );
    assert_eq!(group["ok"], 100);
}

#[test]
fn a_server_that_dies_in_mid_run_is_reported_by_kind() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let server = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        drop(listener);
        each_request(stream, &support::engine::Seen::default(), |s, number| {
            number < 20 && ok(s)
        });
    });
    let group = group(&plan(&address));
    server.join().unwrap();
    let found: Vec<&str> = kinds(&group).iter().map(|(kind, _)| *kind).collect();
    assert!(found.contains(&"refused"), "{group}");
    assert_eq!(group["ok"], 19);
}

#[test]
fn calls_under_way_when_the_drain_ends_are_counted() {
    let (address, _) = server(|stream, seen| {
        each_request(stream, &seen, |_, _| {
            std::thread::sleep(Duration::from_secs(5));
            false
        });
    });
    let mut plan = plan(&address);
    plan["groups"][0]["timeout_s"] = json!(60.0);
    plan["groups"][0]["drain_s"] = json!(0.2);
    plan["groups"][0]["load"]["users"] = json!(5);
    let group = group(&plan);
    assert_eq!(kinds(&group), [("unfinished", 5)]);
}

#[test]
fn an_open_load_drops_nothing() {
    let (address, _) = server(|stream, seen| {
        each_request(stream, &seen, |s, _| {
            std::thread::sleep(Duration::from_millis(20));
            ok(s)
        });
    });
    let mut plan = plan(&address);
    plan["groups"][0]["load"] = json!({"kind": "constant", "rate": 200.0, "in_flight_max": 2});
    plan["groups"][0]["timeout_s"] = json!(10.0);
    plan["groups"][0]["drain_s"] = json!(10.0);
    plan["groups"][0]["window"] = json!({"duration_s": 0.5});
    let group = group(&plan);
    // 100 arrivals, about 50 served in the window; the rest waited and was served.
    assert!(
        (99..=101).contains(&group["ok"].as_u64().unwrap()),
        "{group}"
    );
    assert!(group["queue_max"].as_u64().unwrap() >= 40, "{group}");
    let max_ns = |which: &str| group["times"][which]["max_ns"].as_u64().unwrap();
    assert!(max_ns("response") > 5 * max_ns("service"), "{group}");
}

/// The plan's stack with options of its sockets.
fn rest(options: &[(&str, Value)]) -> Value {
    let mut stack = json!({"binding": "rest", "codec": "text", "transport": "http/2"});
    for (name, value) in options {
        stack[*name] = value.clone();
    }
    stack
}

fn unix_with_quickack() -> Value {
    let mut plan = plan("unix:/nowhere");
    plan["groups"][0]["stack"] = rest(&[("client.quickack", json!("on"))]);
    plan
}

fn pool_of_two_for_one_user_in_two_threads() -> Value {
    let mut plan = plan("127.0.0.1:9");
    plan["threads"] = json!(2);
    plan["groups"][0]["stack"]["connection"] = json!("pool=2");
    plan
}

fn two_kinds_of_window() -> Value {
    let (first, mut second) = (
        plan("127.0.0.1:9")["groups"][0].clone(),
        plan("127.0.0.1:9"),
    );
    second["groups"][0]["window"] = json!({"calls": {"calls": 1, "max_s": 1.0}});
    json!([first, second["groups"][0]])
}

#[test]
fn plans_that_cannot_be_run_are_refused_by_option_and_remedy() {
    let change = |path: &str, value: Value| {
        let mut plan = plan("127.0.0.1:9");
        *plan.pointer_mut(path).expect("a path of the plan") = value;
        plan
    };
    let cases = [
        (
            change("/groups/0/target", json!("192.0.2.1:80")),
            "loopback",
        ),
        (
            change("/groups/0/target", json!("nonsense")),
            "ADDRESS:PORT",
        ),
        (change("/groups/0/load/users", json!(0)), "users = 0"),
        (
            change(
                "/groups/0/load",
                json!({"kind": "constant", "rate": 0.0, "in_flight_max": 1}),
            ),
            "rate",
        ),
        (
            change("/groups/0/window", json!({"duration_s": -1.0})),
            "duration_s",
        ),
        (change("/groups/0/timeout_s", json!(0.0)), "timeout_s"),
        (
            change("/groups/0/stack/transport", json!("http/3")),
            "http/3",
        ),
        (
            change(
                "/groups/0/stack",
                json!({"binding": "grpc", "codec": "json", "transport": "http/2"}),
            ),
            "codec",
        ),
        (
            // More connections than this process may have open files.
            change("/groups/0/load/users", json!(1_000_000)),
            "connections",
        ),
        (change("/groups", json!([])), "groups"),
        (change("/cores", json!([0, 100_000])), "core 100000"),
        (unix_with_quickack(), "quickack"),
        (
            change("/groups/0/stack", rest(&[("client.h2_window", json!("0"))])),
            "client.h2_window",
        ),
        (
            change(
                "/groups/0/stack",
                rest(&[("client.tcp_window", json!(i32::MAX.to_string()))]),
            ),
            "tcp_window",
        ),
        (pool_of_two_for_one_user_in_two_threads(), "threads = 2"),
        (change("/groups", two_kinds_of_window()), "window"),
    ];
    for (plan, named) in cases {
        let (code, event, output) = drive(&plan);
        assert!(code == 2 || event["kind"] == "limit", "{code} {event}");
        assert_eq!(event["event"], "error");
        assert!(
            event["message"].as_str().unwrap().contains(named),
            "{named}: {event}"
        );
        assert!(!event["remedy"].as_str().unwrap().is_empty());
        assert!(!output.stderr.is_empty());
    }
}

#[test]
fn an_unknown_key_is_refused_by_name() {
    let mut plan = plan("127.0.0.1:9");
    plan["groups"][0]["wamup"] = json!({});
    let (code, event, _) = drive(&plan);
    assert_eq!(code, 2);
    assert!(
        event["message"].as_str().unwrap().contains("wamup"),
        "{event}"
    );
}
