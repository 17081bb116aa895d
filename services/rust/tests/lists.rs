//! Lists end at their bound in every binding, before memory is spent on items.

use std::io::{Read, Write};
use std::net::Shutdown;

use serde_json::{Value, json};
use tonic::Code;
use wirelab_contract::lists::{ITEMS_MAX, TooManyItems};
use wirelab_contract::transfer::{Record, SubmitRequest};

use crate::harness::{Service, block_on, grpc, raw, rest, soap};

const ITEMS: usize = ITEMS_MAX + 1;

fn document(records: &str) -> String {
    format!("<SubmitRequest xmlns='urn:wirelab:transfer:v1'>{records}</SubmitRequest>")
}

fn envelope() -> String {
    let body = document(&"<records/>".repeat(ITEMS));
    format!(
        "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body>{body}</e:Body></e:Envelope>"
    )
}

/// The refusal is there, and the service is.
fn refuses(stack: &Value, ask: impl Fn(&Service) -> String) {
    let service = Service::start(stack, json!({}));
    let reply = ask(&service);
    assert!(
        reply.contains(&TooManyItems.to_string()),
        "{stack}: {reply}"
    );
    // A request that was not read is not an error of the operation.
    assert_eq!(
        service.metric("wirelab_errors_total{operation=\"Submit\"}"),
        0.0,
        "{stack}"
    );
    assert!(!ask(&service).is_empty(), "{stack}");
}

#[test]
fn a_list_beyond_its_bound_is_refused_by_rest() {
    let json = format!("{{\"records\":[{}]}}", vec!["{}"; ITEMS].join(","));
    let protobuf = b"\x12\0".repeat(ITEMS);
    let xml = document(&"<records/>".repeat(ITEMS));
    for (codec, media_type, request) in [
        ("json", "application/json", json.as_bytes()),
        ("protobuf", "application/x-protobuf", &protobuf),
        ("xml", "application/xml", xml.as_bytes()),
    ] {
        refuses(&rest(codec), |service| {
            let reply = service.post("/transfer/submit", &[("content-type", media_type)], request);
            assert!(reply.starts_with("HTTP/1.1 400 "), "{codec}: {reply}");
            reply
        });
    }
}

#[test]
fn a_list_beyond_its_bound_is_refused_in_envelopes() {
    let request = envelope();
    refuses(&soap("soap-literal"), |service| {
        let action = "\"urn:wirelab:transfer:v1#Submit\"";
        let fields = [("content-type", "text/xml"), ("soapaction", action)];
        service.post("/transfer/soap", &fields, request.as_bytes())
    });
    refuses(&raw("soap-literal"), |service| {
        let mut stream = service.connect();
        write!(stream, "{}\n{request}", request.len()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        reply
    });
}

#[test]
fn a_list_beyond_its_bound_is_refused_by_grpc() {
    refuses(&grpc(), |service| {
        block_on(async {
            let request = SubmitRequest {
                batch: "b".to_owned(),
                records: vec![Record::default(); ITEMS],
            };
            let status = service.client().await.submit(request).await.unwrap_err();
            assert_eq!(status.code(), Code::ResourceExhausted);
            status.message().to_owned()
        })
    });
}

/// Most memory that a process ever had, in bytes (proc(5), VmHWM).
fn peak_bytes(service: &Service) -> u64 {
    let pid = &service.ready["pid"];
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib: u64 = line
        .unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap();
    kib << 10
}

#[test]
fn items_cost_no_memory_before_they_are_counted() {
    // Made, they would take 64 bytes each: 2.5 GB.
    let request = b"\x12\0".repeat(40_000_000);
    let service = Service::start(&rest("protobuf"), json!({}));
    let fields = [("content-type", "application/x-protobuf")];
    let reply = service.post("/transfer/submit", &fields, &request);
    assert!(reply.contains(&TooManyItems.to_string()), "{reply}");
    let (peak, allowed) = (peak_bytes(&service), 4 * request.len() as u64);
    assert!(peak < allowed, "{peak} bytes, {allowed} allowed");
}
