//! A scripted server on loopback, and the real engine driven against it.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::{Value, json};

/// What the server did.
#[derive(Default)]
pub struct Seen {
    pub connections: AtomicUsize,
    pub requests: AtomicUsize,
}

/// Starts a server whose connections are each given to `serve`; returns its
/// address. It lives as long as the test process.
pub fn server(serve: impl Fn(TcpStream, Arc<Seen>) + Send + Sync + 'static) -> (String, Arc<Seen>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound").to_string();
    let seen = Arc::new(Seen::default());
    let (serve, shared) = (Arc::new(serve), Arc::clone(&seen));
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            shared.connections.fetch_add(1, Ordering::SeqCst);
            let (serve, seen) = (Arc::clone(&serve), Arc::clone(&shared));
            thread::spawn(move || serve(stream, seen));
        }
    });
    (address, seen)
}

/// Reads request heads; calls `reply` for each with its number on this
/// connection, until the peer closes or `reply` returns false.
pub fn each_request(
    mut stream: TcpStream,
    seen: &Seen,
    mut reply: impl FnMut(&mut TcpStream, usize) -> bool,
) {
    let (mut input, mut buffer) = (Vec::new(), [0u8; 4096]);
    let mut number = 0;
    loop {
        while let Some(end) = input.windows(4).position(|w| w == b"\r\n\r\n") {
            input.drain(..end + 4);
            number += 1;
            seen.requests.fetch_add(1, Ordering::SeqCst);
            if !reply(&mut stream, number) {
                return;
            }
        }
        match stream.read(&mut buffer) {
            // A reset is an end like any other: the test is about the engine.
            Ok(0) | Err(_) => return,
            Ok(length) => input.extend_from_slice(&buffer[..length]),
        }
    }
}

/// A correct reply.
pub fn ok(stream: &mut TcpStream) -> bool {
    stream
        .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        .is_ok()
}

/// A plan of one group: GET / in a closed load of one user for 0.3 s.
pub fn plan(target: &str) -> Value {
    json!({
        "progress_ms": 0,
        "threads": 1,
        "cores": [],
        "groups": [{
            "name": "main",
            "target": target,
            "stack": {"binding": "rest", "codec": "text", "transport": "http/1.1"},
            "workload": {"kind": "http", "method": "GET", "path": "/"},
            "load": {"kind": "closed", "users": 1},
            "window": {"duration_s": 0.3},
            "warmup": {"min_s": 0.0, "max_s": 0.0},
            // Short, so that tests of calls that hang end soon.
            "timeout_s": 0.25,
            "drain_s": 5.0
        }]
    })
}

/// Runs the engine on `plan`; returns its exit code, last line, and output.
pub fn drive(plan: &Value) -> (i32, Value, Output) {
    drive_limited(plan, None)
}

/// The same with at most `files` open files; None: the limit of this process.
pub fn drive_limited(plan: &Value, files: Option<u64>) -> (i32, Value, Output) {
    let limit = files.map_or(String::new(), |files| format!("ulimit -n {files} && "));
    let mut engine = Command::new("sh")
        .args(["-c", &format!("{limit}exec \"$0\" drive")])
        .arg(crate::ENGINE)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the engine starts");
    let mut stdin = engine.stdin.take().expect("piped");
    stdin
        .write_all(plan.to_string().as_bytes())
        .expect("the engine reads its plan");
    // The engine reads its plan to the end of standard input.
    drop(stdin);
    let output = engine.wait_with_output().expect("the engine ends");
    let last = String::from_utf8_lossy(&output.stdout)
        .lines()
        .last()
        .unwrap_or("null")
        .to_owned();
    let event = serde_json::from_str(&last).expect("JSON lines");
    (output.status.code().unwrap_or(-1), event, output)
}

/// The first group of a result.
pub fn group(plan: &Value) -> Value {
    let (code, event, output) = drive(plan);
    assert_eq!(code, 0, "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(event["event"], "result");
    event["groups"][0].clone()
}

/// A reply of HTTP/1.1 with that status line and those fields.
pub fn reply(head: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {head}\r\nContent-Length: {length}\r\n\r\n{body}")
}

/// Twenty calls of `workload`, each answered by `answer`; the group of the result.
pub fn run_calls(
    workload: Value,
    answer: impl Fn(usize) -> String + Send + Sync + 'static,
) -> Value {
    let http = json!({"kind": "http", "method": "GET", "path": "/"});
    let mut whole = json!({"workload": http});
    for (key, value) in workload.as_object().expect("an object") {
        whole["workload"][key] = value.clone();
    }
    run_group_calls(whole, answer)
}

/// Twenty calls of a group with these keys, each answered by `answer`; the group of the result.
pub fn run_group_calls(
    keys: Value,
    answer: impl Fn(usize) -> String + Send + Sync + 'static,
) -> Value {
    let (address, _) = server(move |stream, seen| {
        each_request(stream, &seen, |stream, number| {
            stream.write_all(answer(number).as_bytes()).is_ok()
        });
    });
    let mut plan = plan(&address);
    plan["groups"][0]["window"] = json!({"calls": {"calls": 20, "max_s": 20.0}});
    plan["groups"][0]["timeout_s"] = json!(10.0);
    for (key, value) in keys.as_object().expect("an object") {
        plan["groups"][0][key] = value.clone();
    }
    group(&plan)
}

/// Twenty calls whose replies are compared with `expect`, and are all `answer`.
pub fn judge_replies(expect: Value, answer: String) -> Value {
    run_calls(json!({"expect": expect}), move |_| answer.clone())
}
