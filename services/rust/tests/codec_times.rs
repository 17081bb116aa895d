//! `GET /codec-times`: times the bytes that callers are sent.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::harness::{Process, Service, config, grpc, rest};

fn start_keeping(stack: &Value, contract: &str) -> Service {
    Service::start(stack, json!({"contract": contract, "codec_times": true}))
}

/// A status and a body of HTTP.
fn get(address: &str, path: &str) -> (u16, Vec<u8>) {
    let mut stream = TcpStream::connect(address).expect("it listens");
    let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).expect("it answers");
    let end = reply.windows(4).position(|four| four == b"\r\n\r\n");
    let body = reply[end.expect("a head") + 4..].to_vec();
    let status = std::str::from_utf8(&reply[9..12]).expect("a text");
    (status.parse().expect("a status"), body)
}

fn times(service: &Service, query: &str) -> (u16, Value) {
    let metrics = service.ready["metrics"].as_str().expect("an address");
    let (status, body) = get(metrics, &format!("/codec-times?{query}"));
    (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
}

fn assert_timed(service: &Service, operation: &str, path: &str) {
    let (status, body) = get(service.address(), path);
    assert_eq!(status, 200, "{path}");
    let (status, times) = times(service, &format!("operation={operation}&seconds=0.02"));
    assert_eq!(status, 200, "{operation}");
    let digest: String = Sha256::digest(&body)
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    assert_eq!(times["operation"], operation);
    assert_eq!(times["bytes"], body.len());
    assert_eq!(times["sha256"], digest, "{operation}");
    for direction in ["encode", "decode"] {
        let batches = times[direction].as_array().expect("batches");
        assert_eq!(batches[0]["runs"], 1);
        for two in batches.windows(2) {
            let short = two[0]["ns"].as_u64() < Some(5_000_000);
            let runs = two[0]["runs"].as_u64().map(|runs| runs << u32::from(short));
            assert_eq!(two[1]["runs"].as_u64(), runs, "{batches:?}");
        }
        assert!(batches.iter().all(|batch| batch["ns"].as_u64() > Some(0)));
    }
}

#[test]
fn what_is_timed_are_the_bytes_of_the_reply() {
    for codec in ["json", "protobuf", "xml", "cbor", "msgpack", "avro"] {
        let service = start_keeping(&rest(codec), "transfer");
        assert_timed(&service, "Hello", "/transfer/hello");
    }
    for codec in ["json", "protobuf"] {
        let service = start_keeping(&rest(codec), "petclinic");
        assert_timed(&service, "ListOwners", "/petclinic/api/owners");
        assert_timed(&service, "ListPetTypes", "/petclinic/api/pettypes");
        assert_timed(&service, "GetPet", "/petclinic/api/pets/8");
    }
}

#[test]
fn nothing_is_timed_that_is_not_kept() {
    let silent = Service::start(&rest("json"), json!({"contract": "transfer"}));
    let service = start_keeping(&rest("json"), "transfer");
    // Before the first call: the service's own to itself does not count.
    assert_eq!(times(&service, "operation=Hello&seconds=1").0, 404);
    for one in [&silent, &service] {
        assert_eq!(get(one.address(), "/transfer/hello").0, 200);
    }
    assert_eq!(times(&silent, "operation=Hello&seconds=1").0, 404);
    for (query, status) in [
        ("operation=Submit&seconds=1", 404),
        ("operation=Nothing&seconds=1", 404),
        ("operation=Hello&seconds=1e9", 400),
        ("operation=Hello&seconds=-1", 400),
        ("operation=Hello&seconds=NaN", 400),
        ("operation=Hello", 400),
    ] {
        assert_eq!(times(&service, query).0, status, "{query}");
    }
}

#[test]
fn codecs_without_messages_and_other_bindings_are_refused() {
    for stack in [rest("text"), grpc()] {
        let line = config(&stack, json!({"codec_times": true}));
        let refused: Value = serde_json::from_str(&Process::start(&line).line()).expect("JSON");
        assert_eq!(refused["refused"]["option"], "codec_times", "{refused}");
    }
}
