//! `rest@rust` against the contract, by hyper's client and by hand.

use std::io::{Read, Write};

use axum::body::Bytes;
use axum::http::{Request, StatusCode};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use wirelab_contract::texts;

use crate::harness::{Http, Service, block_on, rest, rest2};

fn vectors() -> Vec<Value> {
    let text = include_str!("../../../contracts/vectors/operations.json");
    serde_json::from_str(text).expect("the vectors are JSON")
}

/// A vector's request with its shorthands written out.
fn request(vector: &Value) -> Value {
    let mut request = vector["request"].clone();
    if let Some(times) = vector["records_repeated"].as_u64() {
        let record = request["records"][0].clone();
        request["records"] = Value::Array(vec![record; times as usize]);
    }
    if let Some(bytes) = vector["data_pattern_bytes"].as_u64() {
        request["data"] = STANDARD.encode(texts::pattern(bytes as usize)).into();
    }
    request
}

async fn answers_vector(http: &mut Http, vector: &Value) {
    let path = match vector["operation"].as_str().unwrap() {
        "Submit" => "/transfer/submit",
        "Upload" => "/transfer/upload",
        _ => return,
    };
    let reply = http.post(path, request(vector).to_string()).await.unwrap();
    let name = &vector["name"];
    assert_eq!(
        reply.header("content-type"),
        Some("application/json"),
        "{name}"
    );
    if vector["error"].is_string() {
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{name}");
        assert_eq!(reply.json(), json!({"error": vector["error"]}), "{name}");
    } else {
        assert_eq!(reply.status, StatusCode::OK, "{name}");
        assert_eq!(reply.json(), vector["reply"], "{name}");
    }
}

#[test]
fn every_vector_is_answered_as_the_contract_demands() {
    let service = Service::start(&rest("json"), json!({}));
    block_on(async {
        let mut http = service.http().await;
        for vector in vectors() {
            answers_vector(&mut http, &vector).await;
        }
    });
    let refused = vectors()
        .iter()
        .filter(|vector| vector["operation"] == "Submit" && vector["error"].is_string())
        .count();
    let counted = service.metric("wirelab_errors_total{operation=\"Submit\"}");
    assert_eq!(counted, refused as f64);
}

#[test]
fn http2_answers_the_vectors_too() {
    let service = Service::start(&rest2("json"), json!({}));
    block_on(async {
        let mut http = service.http().await;
        for vector in vectors() {
            // The largest ones differ from the others in nothing but time.
            if vector["data_pattern_bytes"].as_u64() < Some(10_000_000) {
                answers_vector(&mut http, &vector).await;
            }
        }
    });
}

#[test]
fn hello_answers_its_text_in_every_size() {
    for bytes in [0, 1, 14, 150_000, 3_000_000] {
        let text = texts::text(bytes);
        let store = json!({"store": {"hello_bytes": bytes}});
        let plain = Service::start(&rest("text"), store.clone());
        let coded = Service::start(&rest("json"), store);
        block_on(async {
            let reply = plain.http().await.get("/transfer/hello").await.unwrap();
            assert_eq!(
                reply.header("content-type"),
                Some("text/plain; charset=utf-8")
            );
            assert!(reply.body == text.as_bytes());
            let mut http = coded.http().await;
            let reply = http.get("/transfer/hello").await.unwrap();
            assert_eq!(reply.header("content-type"), Some("application/json"));
            assert!(reply.json() == json!({ "text": text }));
            let reply = http.get("/transfer/hello-bytes").await.unwrap();
            assert!(reply.json() == json!({ "text": STANDARD.encode(&text) }));
        });
    }
}

/// Entries of the message vectors for `message`.
fn messages(list: &str, message: &str) -> Vec<Value> {
    let text = include_str!("../../../contracts/vectors/messages.json");
    let vectors: Value = serde_json::from_str(text).unwrap();
    let entries = vectors[list].as_array().unwrap().iter();
    let found: Vec<Value> = entries
        .filter(|entry| entry["message"] == message)
        .cloned()
        .collect();
    assert!(!found.is_empty(), "{list} has no {message}");
    found
}

#[test]
fn every_way_to_write_a_message_is_read_alike() {
    let service = Service::start(&rest("json"), json!({}));
    block_on(async {
        let mut http = service.http().await;
        for entry in messages("accepted", "SubmitRequest") {
            let plain = entry["json"].as_str().unwrap().to_owned();
            let expected = http.post("/transfer/submit", plain).await.unwrap();
            for variant in entry["json_variants"].as_array().unwrap() {
                let body = variant.as_str().unwrap().to_owned();
                let reply = http.post("/transfer/submit", body).await.unwrap();
                assert_eq!(reply.status, expected.status, "{variant}");
                assert_eq!(reply.body, expected.body, "{variant}");
            }
        }
    });
}

#[test]
fn bodies_that_cannot_be_parsed_are_bad_requests() {
    let refused = messages("refused_json", "SubmitRequest");
    let service = Service::start(&rest("json"), json!({}));
    block_on(async {
        let mut http = service.http().await;
        for entry in refused {
            let body = entry["input"].as_str().unwrap().to_owned();
            let reply = http.post("/transfer/submit", body).await.unwrap();
            assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{entry}");
            assert!(reply.json()["error"].is_string());
        }
        for body in ["", "{", "[]", "nonsense", "{\"batch\": \"\\ud800\"}"] {
            let reply = http.post("/transfer/submit", body).await.unwrap();
            assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{body}");
        }
    });
}

/// Sends a request with these fields and returns the status.
async fn status(http: &mut Http, method: &str, path: &str, fields: &[(&str, &str)]) -> u16 {
    let builder = Request::builder().method(method).uri(path);
    let builder = fields
        .iter()
        .fold(builder, |b, (name, value)| b.header(*name, *value));
    http.send(builder, Bytes::from_static(b"{\"batch\": \"b\"}"))
        .await
        .unwrap()
        .status
        .as_u16()
}

#[test]
fn only_what_is_served_can_be_asked_for() {
    let json_type = ("content-type", "application/json");
    for stack in [rest("json"), rest2("json")] {
        let service = Service::start(&stack, json!({}));
        block_on(async {
            let mut http = service.http().await;
            for (method, path, fields, expected) in [
                ("GET", "/", &[][..], 404),
                ("GET", "/transfer/hello/", &[], 404),
                ("POST", "/transfer/hello", &[], 405),
                ("HEAD", "/transfer/hello", &[], 405),
                ("DELETE", "/transfer/submit", &[], 405),
                ("GET", "/transfer/upload", &[], 405),
                ("GET", "/transfer/hello", &[("accept", "text/plain")], 406),
                (
                    "GET",
                    "/transfer/hello",
                    &[("accept", "text/plain, */*;q=0.1")],
                    200,
                ),
                (
                    "POST",
                    "/transfer/submit",
                    &[json_type, ("accept", "text/html")],
                    406,
                ),
                (
                    "POST",
                    "/transfer/submit",
                    &[("content-type", "text/plain")],
                    415,
                ),
                ("POST", "/transfer/submit", &[], 415),
                (
                    "POST",
                    "/transfer/submit",
                    &[json_type, ("content-encoding", "gzip")],
                    415,
                ),
                (
                    "POST",
                    "/transfer/submit",
                    &[("content-type", "application/json; charset=utf-8")],
                    200,
                ),
            ] {
                let found = status(&mut http, method, path, fields).await;
                assert_eq!(found, expected, "{method} {path} {fields:?}");
            }
        });
    }
}

#[test]
fn a_wrong_method_gets_the_right_one_in_allow() {
    let service = Service::start(&rest("json"), json!({}));
    block_on(async {
        let mut http = service.http().await;
        for (method, path, right) in [
            ("POST", "/transfer/hello", "GET"),
            ("HEAD", "/transfer/hello-bytes", "GET"),
            ("PUT", "/transfer/upload", "POST"),
        ] {
            let builder = Request::builder().method(method).uri(path);
            let reply = http.send(builder, Bytes::new()).await.unwrap();
            assert_eq!(reply.status, StatusCode::METHOD_NOT_ALLOWED);
            let allowed: Vec<_> = reply.headers.get_all("allow").iter().collect();
            assert_eq!(allowed, [right], "{method} {path}");
        }
    });
    assert_eq!(
        service.metric("wirelab_calls_total{operation=\"Hello\"}"),
        0.0
    );
}

#[test]
fn a_text_service_has_hello_only() {
    let service = Service::start(&rest("text"), json!({}));
    block_on(async {
        let mut http = service.http().await;
        assert_eq!(
            status(&mut http, "GET", "/transfer/hello-bytes", &[]).await,
            404
        );
        assert_eq!(
            status(&mut http, "POST", "/transfer/submit", &[]).await,
            404
        );
        let json_only = [("accept", "application/json")];
        let reply = status(&mut http, "GET", "/transfer/hello", &json_only).await;
        assert_eq!(reply, 406);
        let reply = http.get("/nowhere").await.unwrap();
        assert_eq!(reply.text(), "no such path");
    });
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn gzip_goes_both_ways_where_it_is_configured() {
    let mut stack = rest("json");
    stack["compression"] = "gzip".into();
    let service = Service::start(&stack, json!({"store": {"hello_bytes": 10_000}}));
    block_on(async {
        let mut http = service.http().await;
        let reply = http.get("/transfer/hello").await.unwrap();
        assert_eq!(reply.header("content-encoding"), None);
        let whole = reply.body;
        let builder = Request::get("/transfer/hello").header("accept-encoding", "gzip");
        let reply = http.send(builder, Bytes::new()).await.unwrap();
        assert_eq!(reply.header("content-encoding"), Some("gzip"));
        assert_eq!(
            reply.header("content-length"),
            Some(&*reply.body.len().to_string())
        );
        let mut plain = Vec::new();
        GzDecoder::new(&reply.body[..])
            .read_to_end(&mut plain)
            .unwrap();
        assert!(plain == whole && reply.body.len() < whole.len());

        let submit = |body: Vec<u8>, coding: &'static str| {
            let builder =
                Request::post("/transfer/submit").header("content-type", "application/json");
            (
                builder.header("content-encoding", coding),
                Bytes::from(body),
            )
        };
        let (builder, body) = submit(gzip(b"{\"batch\": \"packed\"}"), "gzip");
        let reply = http.send(builder, body).await.unwrap();
        assert_eq!(reply.json()["batch"], "packed");
        let (builder, body) = submit(b"not packed".to_vec(), "gzip");
        assert_eq!(
            http.send(builder, body).await.unwrap().status,
            StatusCode::BAD_REQUEST
        );
        let (builder, body) = submit(b"{}".to_vec(), "br");
        let status = http.send(builder, body).await.unwrap().status;
        assert_eq!(status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    });
}

#[test]
fn a_small_body_that_grows_beyond_the_limit_is_refused() {
    let mut stack = rest("json");
    stack["compression"] = "gzip".into();
    let service = Service::start(&stack, json!({}));
    let bomb = gzip(&vec![b' '; (128 << 20) + 1]);
    block_on(async {
        let builder = Request::post("/transfer/submit")
            .header("content-type", "application/json")
            .header("content-encoding", "gzip");
        let reply = service
            .http()
            .await
            .send(builder, bomb.into())
            .await
            .unwrap();
        assert_eq!(reply.status, StatusCode::PAYLOAD_TOO_LARGE);
    });
}

#[test]
fn http_1_0_is_answered_and_closed() {
    let service = Service::start(&rest("text"), json!({}));
    let mut stream = service.connect();
    stream
        .write_all(b"GET /transfer/hello HTTP/1.0\r\n\r\n")
        .unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    assert!(reply.starts_with("HTTP/1.0 200 OK\r\n"), "{reply}");
    assert!(reply.ends_with("\r\n\r\nHello, wirelab"), "{reply}");
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let service = Service::start(&rest("json"), json!({}));
    let mut stream = service.connect();
    let mut requests = Vec::new();
    for batch in 0..20 {
        let body = format!("{{\"batch\": \"b{batch}\"}}");
        write!(
            requests,
            "POST /transfer/submit HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
    }
    requests.extend_from_slice(b"GET /end HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    stream.write_all(&requests).unwrap();
    let mut replies = String::new();
    stream.read_to_string(&mut replies).unwrap();
    let found: Vec<&str> = replies
        .split("\"batch\":\"")
        .skip(1)
        .map(|r| r.split('"').next().unwrap())
        .collect();
    let expected: Vec<String> = (0..20).map(|batch| format!("b{batch}")).collect();
    assert_eq!(found, expected);
}
