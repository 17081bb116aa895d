//! Values that JSONPath selects in replies, for later requests.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::engine::{drive, group, plan, reply, server};

const LIST: &str = r#"{"items": [{"id": 7}, {"id": 8}], "user": {"name": "Ada"}}"#;

/// Two requests of which the second needs a value of the first one's reply.
fn steps(path: &str) -> Value {
    json!({"kind": "requests", "steps": [
        {"request": {"kind": "http", "method": "GET", "path": "/list", "name": "list"}},
        {"request": {"kind": "http", "method": "GET", "path": "/items/${id}", "name": "item"},
            "carry": [{"from": path, "to": "id"}]},
    ]})
}

/// Answers every request with `LIST`, and keeps the request lines.
fn serve(stream: TcpStream, lines: &Mutex<Vec<String>>) {
    let mut output = stream.try_clone().expect("a second handle");
    let mut input = BufReader::new(stream);
    let mut first = true;
    let mut line = String::new();
    while input.read_line(&mut line).is_ok_and(|length| length > 0) {
        if first {
            lines
                .lock()
                .expect("one thread")
                .push(line.trim().to_owned());
        }
        first = line == "\r\n";
        if first && output.write_all(reply("200 OK", LIST).as_bytes()).is_err() {
            return;
        }
        line.clear();
    }
}

#[test]
fn the_first_value_that_a_path_selects_is_sent() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let shared = Arc::clone(&lines);
    let (address, _) = server(move |stream, _| serve(stream, &shared));
    let mut plan = plan(&address);
    plan["groups"][0]["window"] = json!({"calls": {"calls": 20, "max_s": 20.0}});
    plan["groups"][0]["workload"] = steps("$.items[*].id");
    let group = group(&plan);
    assert_eq!(group["errors"], 0, "{group}");
    let lines = lines.lock().expect("the connection is over");
    assert!(
        lines.iter().any(|line| line == "GET /items/7 HTTP/1.1"),
        "{lines:?}"
    );
    assert!(
        !lines.iter().any(|line| line.contains("/items/8")),
        "{lines:?}"
    );
}

#[test]
fn a_path_that_selects_nothing_makes_an_error_of_the_call() {
    let (address, _) = server(|stream, _| serve(stream, &Mutex::default()));
    let mut plan = plan(&address);
    plan["groups"][0]["window"] = json!({"calls": {"calls": 10, "max_s": 20.0}});
    plan["groups"][0]["workload"] = steps("$.nothing");
    let group = group(&plan);
    let example = group["error_examples"][0].as_str().expect("an example");
    assert!(
        example.contains("carry: $.nothing finds nothing"),
        "{example}"
    );
}

#[test]
fn a_text_that_is_not_a_path_is_refused() {
    let mut plan = plan("127.0.0.1:9");
    plan["groups"][0]["workload"] = steps("items");
    let (code, event, _) = drive(&plan);
    assert_eq!(code, 2, "{event}");
    let message = event["message"].as_str().expect("a message");
    assert!(message.contains("\"items\" is not a JSONPath"), "{message}");
}
