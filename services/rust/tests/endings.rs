//! How replies end in HTTP/1.x, byte by byte: HTTP/1.0, chunks, the end of the
//! connection, and how long the service waits before it.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Service, rest, soap, with};

/// Header and body of the reply to Hello, read until the connection ends.
fn hello(service: &Service, version: &str) -> (String, String) {
    let request = format!("GET /transfer/hello HTTP/{version}\r\nhost: x\r\n\r\n");
    let reply = String::from_utf8(service.exchange(request.as_bytes())).expect("a text");
    let (head, body) = reply.split_once("\r\n\r\n").expect("a header");
    (head.to_lowercase(), body.to_owned())
}

fn old(stack: Value) -> Value {
    with(stack, "transport", "http/1.0")
}

#[test]
fn in_http_1_0_every_reply_names_its_version_and_ends_the_connection() {
    for split in ["joined", "split"] {
        let socket = json!({"socket": {"writes": split}});
        let service = Service::start(&old(rest("text")), socket);
        for version in ["1.0", "1.1"] {
            let (head, body) = hello(&service, version);
            assert!(head.starts_with("http/1.0 200 ok\r\n"), "{head}");
            assert!(head.contains("content-length: 14"), "{head}");
            assert_eq!(body, "Hello, wirelab");
        }
        // A client may ask to keep the connection; the stack says that it closes.
        let keep = b"GET /nowhere HTTP/1.0\r\nconnection: keep-alive\r\n\r\n";
        let reply = String::from_utf8(service.exchange(keep)).unwrap();
        assert!(reply.starts_with("HTTP/1.0 404 "), "{reply}");
    }
}

#[test]
fn until_close_sends_no_length_in_either_version() {
    for (stack, label) in [(rest("text"), "http/1.1"), (old(rest("text")), "http/1.0")] {
        for bytes in [0, 14, 150_000] {
            for split in ["joined", "split"] {
                let other = json!({"store": {"hello_bytes": bytes}, "socket": {"writes": split}});
                let stack = with(stack.clone(), "end_of_message", "until-close");
                let service = Service::start(&stack, other);
                let (head, body) = hello(&service, "1.1");
                assert!(head.starts_with(&format!("{label} 200 ok\r\n")), "{head}");
                assert!(!head.contains("content-length"), "{head}");
                assert!(!head.contains("transfer-encoding"), "{head}");
                assert!(
                    body == wirelab_contract::texts::text(bytes),
                    "{bytes} bytes"
                );
            }
        }
    }
}

#[test]
fn chunked_sends_no_length_and_keeps_the_connection() {
    let stack = with(rest("text"), "end_of_message", "chunked");
    let service = Service::start(&stack, json!({}));
    let mut stream = service.connect();
    for _ in 0..3 {
        stream
            .write_all(b"GET /transfer/hello HTTP/1.1\r\nhost: x\r\n\r\n")
            .unwrap();
        let mut reply = Vec::new();
        while !reply.ends_with(b"\r\n0\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            reply.push(byte[0]);
        }
        let reply = String::from_utf8(reply).unwrap().to_lowercase();
        assert!(reply.contains("transfer-encoding: chunked\r\n"), "{reply}");
        assert!(!reply.contains("content-length"), "{reply}");
        assert!(
            reply.ends_with("\r\n\r\ne\r\nhello, wirelab\r\n0\r\n\r\n"),
            "{reply}"
        );
    }
}

/// When the reply was there, and when the connection ended.
fn times(service: &Service, request: &str, end: &str) -> (Duration, Duration) {
    let mut stream = service.connect();
    let start = Instant::now();
    stream.write_all(request.as_bytes()).unwrap();
    let mut reply = Vec::new();
    while !String::from_utf8_lossy(&reply).contains(end) {
        let mut buffer = [0; 1024];
        let read = stream.read(&mut buffer).unwrap();
        assert!(read > 0, "{}", String::from_utf8_lossy(&reply));
        reply.extend_from_slice(&buffer[..read]);
    }
    let there = start.elapsed();
    assert_eq!(stream.read(&mut [0; 16]).unwrap(), 0, "more than the reply");
    (there, start.elapsed())
}

#[test]
fn the_service_waits_before_it_closes() {
    const DELAY_MS: u64 = 700;
    let get = "GET /transfer/hello HTTP/1.1\r\nhost: x\r\n\r\n";
    for (stack, request) in [
        (old(rest("text")), get),
        (with(rest("text"), "end_of_message", "until-close"), get),
        (
            with(old(rest("text")), "end_of_message", "until-close"),
            get,
        ),
    ] {
        let stack = with(stack, "close_delay_ms", DELAY_MS);
        let service = Service::start(&stack, json!({}));
        assert_eq!(service.ready["set"]["close_delay_ms"], DELAY_MS);
        let (there, closed) = times(&service, request, "Hello, wirelab");
        let delay = Duration::from_millis(DELAY_MS);
        assert!(closed >= delay, "closed after {closed:?}, {stack}");
        assert!(there < closed, "{there:?} {closed:?}");
        // A reply that waited for the close would not be there before it.
        assert!(there < delay, "the reply took {there:?}, {stack}");
    }
}

#[test]
fn soap_ends_its_replies_in_the_same_ways() {
    let document = "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body>\
                    <HelloRequest xmlns='urn:wirelab:transfer:v1'/></e:Body></e:Envelope>";
    for (stack, label, length) in [
        (old(soap("soap-literal")), "HTTP/1.0 200", true),
        (
            with(soap("soap-literal"), "end_of_message", "until-close"),
            "HTTP/1.1 200",
            false,
        ),
    ] {
        let service = Service::start(
            &stack,
            json!({"socket": {"writes": "split", "nagle": true}}),
        );
        let action = ("soapaction", "\"urn:wirelab:transfer:v1#Hello\"");
        let fields = [("content-type", "text/xml"), action];
        let reply = service.post("/transfer/soap", &fields, document.as_bytes());
        assert!(reply.starts_with(label), "{reply}");
        assert_eq!(
            reply.to_lowercase().contains("content-length"),
            length,
            "{reply}"
        );
        assert!(
            reply.contains(">Hello, wirelab<") && reply.ends_with("Envelope>"),
            "{reply}"
        );
    }
}
