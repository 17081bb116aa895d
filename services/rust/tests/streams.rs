//! `stream` over lines of JSON and events, by hyper's client.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::http::{Request, StatusCode, header};
use serde_json::{Value, json};

use crate::harness::{Http, Reply, Service, block_on, rest, rest2};

pub fn vectors(kind: &str) -> Vec<Value> {
    let text = include_str!("../../../contracts/vectors/streams.json");
    let mut all: Value = serde_json::from_str(text).expect("the vectors are JSON");
    serde_json::from_value(all[kind].take()).expect("a list")
}

/// The feeds that end within a second; the schedules of the others are tested without a clock.
pub fn short_feeds() -> Vec<Value> {
    let mut feeds = vectors("feeds");
    feeds.retain(|vector| {
        let items = vector["items"].as_array().expect("a list");
        let due = items.iter().filter_map(|item| item["due_ns"].as_u64());
        due.max() < Some(1_000_000_000)
    });
    assert!(feeds.len() > 5);
    feeds
}

fn start(stack: &Value) -> Service {
    Service::start(stack, json!({"contract": "stream"}))
}

async fn push(http: &mut Http, media_type: &str, lines: impl Into<Bytes>) -> Reply {
    let request = Request::post("/stream/push").header(header::CONTENT_TYPE, media_type);
    http.send(request, lines.into()).await.expect("a reply")
}

fn lines(items: &Value) -> String {
    let items = items.as_array().expect("a list");
    items.iter().map(|item| format!("{item}\n")).collect()
}

/// Of an item: what does not depend on when the service was asked.
pub fn keep_without_times(item: &Value) -> Value {
    json!({"index": item["index"], "due_ns": item["due_ns"], "text": item["text"]})
}

/// The items of a reply, which are lines or events.
fn items(reply: &Reply, prefix: &str) -> Vec<Value> {
    let text = reply.text();
    let data = text.lines().filter_map(|line| line.strip_prefix(prefix));
    data.map(|item| serde_json::from_str(item).expect("JSON"))
        .collect()
}

#[test]
fn feeds_are_those_of_the_vectors() {
    let mut events = rest("json");
    events["binding"] = "sse".into();
    for (stack, media_type, prefix) in [
        (rest("json"), "application/x-ndjson", ""),
        (rest2("json"), "application/x-ndjson", ""),
        (events, "text/event-stream", "data: "),
    ] {
        let service = start(&stack);
        block_on(async {
            let mut http = service.http().await;
            for vector in short_feeds() {
                let request = vector["request"].to_string();
                let reply = http.post("/stream/feed", request).await.expect("a reply");
                assert_eq!(reply.header("content-type"), Some(media_type), "{vector}");
                let found: Vec<Value> = items(&reply, prefix)
                    .iter()
                    .map(keep_without_times)
                    .collect();
                for expected in vector["items"].as_array().expect("a list") {
                    assert!(
                        found.contains(&keep_without_times(expected)),
                        "{vector}: {expected}"
                    );
                }
                assert_eq!(
                    found.len() as u64,
                    vector["request"]["count"].as_u64().unwrap()
                );
            }
            for vector in vectors("refused") {
                let request = vector["request"].to_string();
                let reply = http.post("/stream/feed", request).await.expect("a reply");
                assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{vector}");
                assert_eq!(reply.json()["error"], vector["error"], "{vector}");
            }
        });
    }
}

/// A feed of ten short items with that flush and compression: how long its first bytes and its
/// last took, and what came.
fn time_feed(flush: &str, compression: &str) -> (Duration, Duration, Vec<u8>) {
    let mut stack = rest("json");
    stack["flush"] = flush.into();
    stack["compression"] = compression.into();
    let service = start(&stack);
    let body = json!({"count": 10, "gap_us": 20_000, "pattern": "constant"}).to_string();
    let head = format!(
        "POST /stream/feed HTTP/1.0\r\ncontent-type: application/json\r\naccept-encoding: \
         {compression}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut connection = TcpStream::connect(service.address()).expect("it listens");
    connection.write_all(head.as_bytes()).expect("a request");
    let begin = Instant::now();
    let (mut found, mut buffer) = (Vec::new(), [0; 4096]);
    let mut first = None;
    loop {
        let read = connection.read(&mut buffer).expect("a reply");
        found.extend_from_slice(&buffer[..read]);
        // Of the body, behind the head.
        let end = found.windows(4).position(|part| part == b"\r\n\r\n");
        if end.is_some_and(|end| found.len() > end + 4) {
            first.get_or_insert(begin.elapsed());
        }
        if read == 0 {
            let body = found.split_off(end.expect("a head") + 4);
            return (first.expect("a body"), begin.elapsed(), body);
        }
    }
}

#[test]
fn items_come_when_they_are_due_with_either_flush_and_compressed() {
    for (flush, compression) in [
        ("item", "identity"),
        ("library", "identity"),
        ("item", "gzip"),
        ("item", "zstd"),
    ] {
        let compression = compression.replace("identity", "none");
        let (first, last, body) = time_feed(flush, &compression);
        // hyper sends what it has when the next item is not due, also by itself.
        assert!(
            first < Duration::from_millis(100),
            "{flush} {compression}: {first:?}"
        );
        assert!(
            last >= Duration::from_millis(180),
            "{flush} {compression}: {last:?}"
        );
        let plain = match compression.as_str() {
            "gzip" => {
                let mut plain = Vec::new();
                let mut reader = flate2::read::GzDecoder::new(body.as_slice());
                reader.read_to_end(&mut plain).expect("gzip with its end");
                plain
            }
            "zstd" => zstd::decode_all(body.as_slice()).expect("zstd with its end"),
            _ => body,
        };
        let lines = String::from_utf8(plain).expect("text");
        assert_eq!(lines.lines().count(), 10, "{flush} {compression}");
    }
}

#[test]
fn pushes_are_those_of_the_vectors() {
    let service = start(&rest("json"));
    block_on(async {
        let mut http = service.http().await;
        for vector in vectors("pushes") {
            let reply = push(&mut http, "application/x-ndjson", lines(&vector["items"])).await;
            match vector.get("error") {
                None => assert_eq!(reply.json(), vector["reply"], "{vector}"),
                Some(error) => assert_eq!(reply.json()["error"], *error, "{vector}"),
            }
        }
    });
}

#[test]
fn lines_that_no_item_has_are_refused() {
    let service = start(&rest("json"));
    // The longest text in which JSON escapes every character.
    let longest = format!(
        "{{\"index\":0,\"text\":\"{}\"}}\n",
        "\\u0001".repeat(65_536)
    );
    let item = "{\"index\":0}\n";
    for (media_type, body, status) in [
        ("application/x-ndjson", longest.as_str(), StatusCode::OK),
        (
            "application/x-ndjson",
            &"x".repeat(394_241),
            StatusCode::PAYLOAD_TOO_LARGE,
        ),
        ("application/x-ndjson", "\n", StatusCode::BAD_REQUEST),
        (
            "application/x-ndjson",
            "{\"index\":0",
            StatusCode::BAD_REQUEST,
        ),
        ("application/json", item, StatusCode::UNSUPPORTED_MEDIA_TYPE),
    ] {
        block_on(async {
            let mut http = service.http().await;
            let reply = push(&mut http, media_type, body.to_owned()).await;
            assert_eq!(reply.status, status, "{media_type}: {}", reply.text());
        });
    }
}
