//! Replies of a server that is not of the lab: what a plan expects of them, and how they
//! differ where it expects nothing.

use std::io::Write;

use serde_json::{Value, json};

use crate::support::engine::{judge_replies, reply, run_calls, run_group_calls};
use crate::support::{drive, each_request, group, plan, server};

const JSON: &str = r#"{"id": 7, "user": {"name": "Ada", "tags": ["a", "b"]}, "price": 1.0}"#;

#[test]
fn a_reply_that_is_as_expected_is_a_success() {
    let digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    for (expect, answer) in [
        (json!({"status": 404}), reply("404 Not Found", "no")),
        (json!({"status": 204}), "HTTP/1.1 204 No Content\r\n\r\n".into()),
        (
            json!({"headers": {"X-Version": "2", "cache-control": "no-store"}}),
            reply("200 OK\r\nx-version: 1\r\nX-VERSION: 2\r\nCache-Control: no-store", "ok"),
        ),
        (json!({"json": {"user": {"tags": ["a", "b"]}, "price": 1}}), reply("200 OK", JSON)),
        (json!({"sha256": digest, "bytes": {"min": 4, "max": 4}}), reply("200 OK", "test")),
        (
            json!({"sha256": digest, "bytes": {"max": 4}}),
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\ntes\r\n1\r\nt\r\n0\r\n\r\n".into(),
        ),
        (
            json!({"json": {"a": 1}}),
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{\"a\r\n4\r\n\":1}\r\n0\r\n\r\n"
                .into(),
        ),
    ] {
        let group = judge_replies(expect.clone(), answer);
        assert_eq!((&group["ok"], &group["errors"]), (&json!(20), &json!(0)), "{expect}: {group}");
        assert_eq!(group["error_examples"], json!([]));
    }
}

#[test]
fn a_reply_that_is_not_as_expected_is_an_error_with_reason_and_excerpt() {
    let chunked =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabcdefghi\r\n0\r\n\r\n";
    for (expect, answer, kind, reasons) in [
        (
            json!({"status": 201, "json": {"id": 8}}),
            reply("500 Oops", "out of <b>memory"),
            "application",
            ["HTTP status 500", "out of <b>memory"],
        ),
        (
            json!({"headers": {"x-version": "2"}}),
            reply("200 OK\r\nX-Version: 3", "the body"),
            "wrong",
            ["header x-version: expected \"2\", found \"3\"", "the body"],
        ),
        (
            json!({"headers": {"x-version": "2"}, "json": {"id": 8}}),
            reply("200 OK", JSON),
            "wrong",
            [
                "header x-version: expected \"2\", there is none",
                "{\"id\": 7",
            ],
        ),
        (
            json!({"json": {"user": {"tags": ["a", "c"]}}}),
            reply("200 OK", JSON),
            "wrong",
            [
                "JSON: $.user.tags[1]: expected \"c\", found \"b\"",
                "{\"id\": 7",
            ],
        ),
        (
            json!({"json": {"user": {"age": 7}}}),
            reply("200 OK", JSON),
            "wrong",
            [
                "JSON: $.user.age: expected 7, found no such key",
                "{\"id\": 7",
            ],
        ),
        (
            json!({"json": {"id": "7"}}),
            reply("200 OK", JSON),
            "wrong",
            ["JSON: $.id: expected \"7\", found 7", "{\"id\": 7"],
        ),
        (
            json!({"json": {}}),
            reply("200 OK", "<html>"),
            "wrong",
            ["is not JSON", ": <html>"],
        ),
        (
            json!({"bytes": {"max": 4}}),
            reply("200 OK", "too long"),
            "wrong",
            ["8 bytes or more instead of at most 4", ": too long"],
        ),
        (
            json!({"bytes": {"min": 10, "max": 20}}),
            chunked.into(),
            "wrong",
            ["9 bytes instead of 10 to 20", ": abcdefghi"],
        ),
        (
            json!({"sha256": "0".repeat(64)}),
            reply("200 OK", "test"),
            "wrong",
            ["SHA-256 of the body is 9f86d08", ": test"],
        ),
    ] {
        let group = judge_replies(expect.clone(), answer);
        assert_eq!(group["ok"], 0, "{expect}: {group}");
        assert_eq!(
            group["errors_by_kind"],
            json!({kind: 20}),
            "{expect}: {group}"
        );
        let example = group["error_examples"][0].as_str().expect("an example");
        for reason in reasons {
            assert!(example.contains(reason), "{reason}: {example}");
        }
    }
}

#[test]
fn the_first_ten_different_failures_are_kept() {
    let group = run_calls(json!({"expect": {"json": {"id": 0}}}), |number| {
        reply("200 OK", &format!("{{\"id\": {number}}}"))
    });
    let examples = group["error_examples"].as_array().expect("examples");
    assert_eq!((group["errors"].as_u64(), examples.len()), (Some(20), 10));
    for (at, example) in examples.iter().enumerate() {
        let number = at + 1;
        let words = format!("wrong: JSON: $.id: expected 0, found {number}: {{\"id\": {number}}}");
        assert_eq!(example, &json!(words));
    }
}

#[test]
fn a_wrong_reply_among_right_ones_is_found() {
    let group = run_calls(json!({"expect": {"json": {"id": 1}}}), |number| {
        reply(
            "200 OK",
            if number % 4 == 0 {
                r#"{"id": 2}"#
            } else {
                r#"{"id": 1}"#
            },
        )
    });
    assert_eq!(
        (&group["ok"], &group["errors"]),
        (&json!(15), &json!(5)),
        "{group}"
    );
}

#[test]
fn an_endless_reply_is_an_error_when_it_is_too_long() {
    let (address, _) = server(|stream, seen| {
        each_request(stream, &seen, |stream, _| {
            let head = "HTTP/1.1 200 OK\r\n\r\n".as_bytes();
            let mut open = stream.write_all(head).is_ok();
            while open {
                open = stream.write_all(&[b'x'; 4096]).is_ok();
            }
            false
        });
    });
    let mut plan = plan(&address);
    plan["groups"][0]["workload"]["expect"] = json!({"bytes": {"max": 10_000}, "json": {}});
    let group = group(&plan);
    assert_eq!(group["ok"], 0, "{group}");
    let kinds = group["errors_by_kind"].as_object().expect("an object");
    assert!(kinds.contains_key("wrong"), "{group}");
    assert!(!kinds.contains_key("timeout"), "{group}");
    let example = group["error_examples"][0].as_str().unwrap_or_default();
    assert!(example.contains("instead of at most 10000"), "{group}");
}

#[test]
fn replies_that_nothing_is_expected_of_are_counted_by_their_content() {
    let replies = |answer: fn(usize) -> String| {
        run_calls(json!({"count_replies": true}), answer)["replies"].clone()
    };
    let same = replies(|_| reply("200 OK", "always"));
    assert_eq!(
        (&same["count"], &same["others"]),
        (&json!(20), &json!(0)),
        "{same}"
    );
    assert_eq!(
        same["different"].as_array().map(Vec::len),
        Some(1),
        "{same}"
    );
    assert_eq!(same["different"][0]["status"], 200);
    assert_eq!(
        (&same["bytes_min"], &same["bytes_max"]),
        (&json!(6), &json!(6))
    );
    // Of the same length, and some of the same content in chunks.
    let differing = replies(|number| match number % 4 {
        0 => reply("201 Created", "abcd"),
        1 => reply("200 OK", "abcd"),
        2 => "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n3\r\nbcd\r\n0\r\n\r\n"
            .into(),
        _ => reply("200 OK", "abce"),
    });
    let counts: Vec<_> = differing["different"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| one["count"].as_u64().expect("a number"))
        .collect();
    assert_eq!(counts, [10, 5, 5], "{differing}");
    let each = replies(|number| reply("200 OK", &format!("number {number:04}")));
    assert_eq!(
        each["different"].as_array().map(Vec::len),
        Some(16),
        "{each}"
    );
    assert_eq!(
        (&each["count"], &each["others"]),
        (&json!(20), &json!(4)),
        "{each}"
    );
    let long = replies(|_| reply("200 OK", &"x".repeat(1_000_001)));
    assert_eq!(long["compared_by_length"], 20, "{long}");
    // Nothing is counted where the plan does not ask for it.
    let unasked = run_calls(json!({}), |_| reply("200 OK", "x"));
    assert!(unasked["replies"].is_null(), "{unasked}");
}

#[test]
fn expectations_that_no_reply_can_meet_are_refused() {
    let refused = |expect: Value| {
        let mut plan = plan("127.0.0.1:9");
        plan["groups"][0]["workload"]["expect"] = expect;
        let (code, event, _) = drive(&plan);
        assert_eq!(code, 2, "{event}");
        event["message"].as_str().expect("a message").to_owned()
    };
    for (expect, text) in [
        (json!({"message": {}}), "expect.message"),
        (json!({"grpc_status": 1}), "expect.grpc_status"),
        (json!({"sha256": "12"}), "is not a SHA-256"),
        (
            json!({"bytes": {"min": 2, "max": 1}}),
            "min is more than max",
        ),
        // crates/engine-json is the engine that has them.
        (
            json!({"json_schema": {"type": "object"}}),
            "without JSON Schema and JSONPath",
        ),
        (
            json!({"headers": {"X-A": "1", "x-a": "2"}}),
            "x-a is there twice",
        ),
        (json!({"stauts": 200}), "unknown field `stauts`"),
    ] {
        let message = refused(expect);
        assert!(message.contains(text), "{text}: {message}");
    }
}

/// By contracts/README.md, Caches: of the 14 bytes `Hello, wirelab`.
const HELLO_TAG: &str = "W/\"d817e18f0eab80749853138b46f9c663\"";

#[test]
fn only_the_confirmation_of_a_known_reply_is_right() {
    let not_modified = "HTTP/1.1 304 Not Modified\r\n";
    let whole = reply("200 OK", r#"{"text":"Hello, wirelab"}"#);
    for (answer, errors, reason) in [
        (format!("{not_modified}ETag: {HELLO_TAG}\r\n\r\n"), 0, "[]"),
        (
            format!("{not_modified}ETag: \"other\"\r\n\r\n"),
            20,
            "header etag: expected",
        ),
        (format!("{not_modified}\r\n"), 20, "there is none"),
        (whole, 20, "HTTP status 200"),
    ] {
        let group = run_group_calls(
            json!({
                "stack": {"binding": "rest", "codec": "json", "transport": "http/1.1",
                    "http_cache": "revalidate"},
                "workload": {"kind": "contract", "contract": "transfer", "operation": "Hello",
                    "bytes": 14},
            }),
            move |_| answer.clone(),
        );
        assert_eq!(group["errors"], json!(errors), "{group}");
        let examples = group["error_examples"].to_string();
        assert!(examples.contains(reason), "{examples}");
    }
}

#[test]
fn a_reply_that_no_cache_keeps_is_refused() {
    for cache in ["revalidate", "proxy"] {
        let mut plan = plan("127.0.0.1:9");
        plan["groups"][0]["stack"] = json!({"binding": "rest", "codec": "json",
            "transport": "http/1.1", "http_cache": cache, "via": "nginx"});
        plan["groups"][0]["workload"] = json!({"kind": "contract", "contract": "transfer",
            "operation": "Submit", "bytes": 14});
        let (code, event, _) = drive(&plan);
        assert_eq!(code, 2, "{event}");
        let message = event["message"].to_string();
        assert!(
            message.contains("no cache keeps replies to Submit"),
            "{message}"
        );
    }
}
