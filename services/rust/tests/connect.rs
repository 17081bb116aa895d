//! `connect@rust` against requests written by hand (connectrpc.com/docs/protocol).

use axum::body::Bytes;
use axum::http::{Request, StatusCode};
use prost::Message as _;
use serde_json::{Value, json};
use wirelab_contract::charging::{CreditControlReply, CreditControlRequest};
use wirelab_contract::stream::{FeedRequest, Item, PushReply};
use wirelab_contract::transfer::{HelloReply, Record, SubmitRequest};

use crate::harness::{Reply, Service, block_on, with};
use crate::streams::{keep_without_times, short_feeds, vectors};

fn connect(transport: &str) -> Value {
    json!({"binding": "connect", "codec": "protobuf", "transport": transport})
}

const TRANSPORTS: [&str; 2] = ["http/1.1", "http/2"];

const UNARY: &str = "application/proto";
const STREAM: &str = "application/connect+proto";

fn envelop(flags: u8, message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap();
    [&[flags][..], &length.to_be_bytes(), message].concat()
}

/// Makes one call on a connection of its own.
fn call(service: &Service, path: &str, fields: &[(&str, &str)], body: impl Into<Bytes>) -> Reply {
    block_on(async {
        let mut http = service.http().await;
        let mut request = Request::post(path);
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        http.send(request, body.into()).await.expect("a reply")
    })
}

/// The messages of a stream, and what ended it.
fn messages(reply: &Reply) -> (Vec<Vec<u8>>, Value) {
    assert_eq!(reply.status, StatusCode::OK, "{}", reply.text());
    assert_eq!(reply.header("content-type"), Some(STREAM));
    let (mut rest, mut found) = (&reply.body[..], Vec::new());
    loop {
        let length = u32::from_be_bytes(rest[1..5].try_into().unwrap()) as usize;
        let message = &rest[5..5 + length];
        match rest[0] {
            0 => found.push(message.to_vec()),
            2 => {
                assert_eq!(rest.len(), 5 + length, "nothing follows the end");
                return (found, serde_json::from_slice(message).expect("JSON"));
            }
            flags => panic!("flags {flags}"),
        }
        rest = &rest[5 + length..];
    }
}

fn start(transport: &str, contract: &str) -> Service {
    Service::start(&connect(transport), json!({"contract": contract}))
}

#[test]
fn unary_calls_are_messages_without_a_frame() {
    for transport in TRANSPORTS {
        let service = Service::start(&connect(transport), json!({"store": {"hello_bytes": 14}}));
        let path = "/wirelab.transfer.v1.Transfer/Hello";
        let fields = [("content-type", UNARY), ("connect-protocol-version", "1")];
        let reply = call(&service, path, &fields, "");
        assert_eq!(reply.status, StatusCode::OK, "{}", reply.text());
        assert_eq!(reply.header("content-type"), Some(UNARY));
        let hello = HelloReply::decode(&reply.body[..]).unwrap();
        assert_eq!(hello.text, "Hello, wirelab");
    }
}

#[test]
fn errors_of_contracts_have_a_code_and_its_status() {
    let service = start("http/1.1", "charging");
    let path = "/wirelab.charging.v1.Charging/CreditControl";
    let fields = [("content-type", UNARY)];
    let good = CreditControlRequest { id: 1 }.encode_to_vec();
    let reply = call(&service, path, &fields, good);
    let found = CreditControlReply::decode(&reply.body[..]).unwrap();
    assert_eq!(found.reserved, 0);
    let nobody = CreditControlRequest { id: -1 }.encode_to_vec();
    let reply = call(&service, path, &fields, nobody);
    assert_eq!(reply.status, StatusCode::BAD_REQUEST);
    assert_eq!(reply.header("content-type"), Some("application/json"));
    let expected = json!({"code": "invalid_argument", "message": "no such account"});
    assert_eq!(reply.json(), expected);
    service.wait_for_metric("wirelab_errors_total{operation=\"CreditControl\"}", 1.0);
}

#[test]
fn other_content_types_are_refused() {
    let service = start("http/1.1", "stream");
    let path = "/wirelab.stream.v1.Stream/Push";
    for other in [
        "application/proto",
        "application/json",
        "application/connect+json",
        "application/grpc",
        "application/grpc-web+proto",
        "text/plain",
    ] {
        let reply = call(&service, path, &[("content-type", other)], "");
        assert_eq!(reply.status, StatusCode::UNSUPPORTED_MEDIA_TYPE, "{other}");
        assert_eq!(reply.header("accept-post"), Some(STREAM));
    }
    assert_eq!(
        call(&service, path, &[], "").status,
        StatusCode::UNSUPPORTED_MEDIA_TYPE
    );
    let unknown = "/wirelab.stream.v1.Stream/Pull";
    let reply = call(&service, unknown, &[("content-type", UNARY)], "");
    assert_eq!(reply.status, StatusCode::NOT_FOUND);
}

#[test]
fn feeds_are_those_of_the_vectors() {
    for transport in TRANSPORTS {
        let service = start(transport, "stream");
        let path = "/wirelab.stream.v1.Stream/Feed";
        let feed = |vector: &Value| {
            let request: FeedRequest = serde_json::from_value(vector["request"].clone()).unwrap();
            let body = envelop(0, &request.encode_to_vec());
            call(&service, path, &[("content-type", STREAM)], body)
        };
        for vector in short_feeds() {
            let (items, end) = messages(&feed(&vector));
            let items = items.iter().map(|item| Item::decode(&item[..]).unwrap());
            let items: Vec<Value> = items
                .map(|item| keep_without_times(&serde_json::to_value(item).unwrap()))
                .collect();
            for expected in vector["items"].as_array().expect("a list") {
                assert!(
                    items.contains(&keep_without_times(expected)),
                    "{vector}: {expected}"
                );
            }
            assert_eq!(
                items.len() as u64,
                vector["request"]["count"].as_u64().unwrap()
            );
            assert_eq!(end.get("error"), None);
        }
        for vector in vectors("refused") {
            let (items, end) = messages(&feed(&vector));
            assert!(items.is_empty());
            let expected = json!({"code": "invalid_argument", "message": vector["error"]});
            assert_eq!(end["error"], expected, "{vector}");
        }
    }
}

#[test]
fn pushes_are_those_of_the_vectors() {
    let service = start("http/1.1", "stream");
    for vector in vectors("pushes") {
        let items: Vec<Item> = serde_json::from_value(vector["items"].clone()).unwrap();
        let items = items.iter().map(|item| envelop(0, &item.encode_to_vec()));
        let body: Vec<u8> = items.flatten().collect();
        let path = "/wirelab.stream.v1.Stream/Push";
        let reply = call(&service, path, &[("content-type", STREAM)], body);
        let (messages, end) = messages(&reply);
        match vector.get("error") {
            None => {
                let found = PushReply::decode(&messages[0][..]).unwrap();
                assert_eq!(serde_json::to_value(found).unwrap(), vector["reply"]);
                assert_eq!((messages.len(), end.get("error")), (1, None));
            }
            Some(error) => {
                let expected = json!({"code": "invalid_argument", "message": error});
                assert_eq!(end["error"], expected, "{vector}");
            }
        }
    }
}

#[test]
fn hostile_streams_end_with_an_error_and_the_next_one_is_served() {
    let service = start("http/1.1", "stream");
    let path = "/wirelab.stream.v1.Stream/Push";
    let fields = [("content-type", STREAM)];
    let cut_off = [&[0][..], &100_000_000_u32.to_be_bytes(), b"x"].concat();
    let too_long = [&[0][..], &200_000_000_u32.to_be_bytes(), b"x"].concat();
    for (name, body) in [
        ("a message cut off", cut_off),
        ("a prefix cut off", vec![0, 0]),
        ("200 MB", too_long),
        ("compressed without a name", envelop(1, b"x")),
        ("not a message", envelop(0, b"\x0a\x7fa")),
    ] {
        let (items, end) = messages(&call(&service, path, &fields, body));
        assert!(items.is_empty(), "{name}");
        assert!(end["error"]["code"].is_string(), "{name}: {end}");
    }
    let (items, end) = messages(&call(&service, path, &fields, ""));
    assert_eq!((items.len(), end.get("error")), (1, None));
}

#[test]
fn lists_and_compression_have_the_bounds_of_other_bindings() {
    let service = start("http/2", "transfer");
    let path = "/wirelab.transfer.v1.Transfer/Submit";
    let request = SubmitRequest {
        batch: "b".to_owned(),
        records: vec![Record::default(); 200_001],
    };
    let body = request.encode_to_vec();
    let reply = call(&service, path, &[("content-type", UNARY)], body.clone());
    assert_eq!(reply.status, StatusCode::BAD_REQUEST);
    assert!(reply.text().contains("200000 items"), "{}", reply.text());
    // Without compression none is read.
    let fields = [("content-type", UNARY), ("content-encoding", "gzip")];
    let reply = call(&service, path, &fields, body);
    assert_eq!(reply.json()["code"], "unimplemented");
    let gzip = with(connect("http/1.1"), "compression", "gzip");
    let service = Service::start(&gzip, json!({"store": {"hello_bytes": 100_000}}));
    let fields = [("content-type", UNARY), ("accept-encoding", "gzip")];
    let reply = call(&service, "/wirelab.transfer.v1.Transfer/Hello", &fields, "");
    assert_eq!(reply.header("content-encoding"), Some("gzip"));
    assert!(reply.body.len() < 100_000);
}
