//! Every contract over REST and gRPC: representations, errors, compression,
//! seeded mistakes, Unix sockets, and money that is neither lost nor made.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use axum::body::Bytes;
use axum::http::Request;
use prost::Message;
use serde_json::{Value, json};
use tonic::Code;
use tonic::codec::CompressionEncoding;
use wirelab_contract::calendar::{BookRequest, EntriesRequest};
use wirelab_contract::charging::{
    ConfirmActionRequest, CreditControlReply, CreditControlRequest, CreditRequest,
    DebitReservationRequest, DirectDebitRequest, ReserveRequest,
};
use wirelab_service_clients::calendar::calendar_client::CalendarClient;
use wirelab_service_clients::charging::charging_client::ChargingClient;

use crate::harness;
use crate::harness::{Service, block_on, grpc, iiop, raw, rest, rest2, soap, with};

fn charging(stack: &Value, other: Value) -> Service {
    let mut config = json!({"contract": "charging", "store": {"accounts": 3, "balance": 1000}});
    for (key, value) in other.as_object().unwrap() {
        config[key] = value.clone();
    }
    Service::start(stack, config)
}

#[test]
fn each_representation_is_read_and_written() {
    let control = CreditControlRequest { id: 2 }.encode_to_vec();
    let reply = CreditControlReply {
        balance: 100,
        reserved: 0,
    };
    let reply = String::from_utf8(reply.encode_to_vec()).unwrap();
    let xml = "<c:CreditControlRequest xmlns:c='urn:wirelab:charging:v1'><c:id>2</c:id>\
               </c:CreditControlRequest>";
    let document = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><CreditControlReply \
                    xmlns=\"urn:wirelab:charging:v1\"><balance>100</balance>\
                    <reserved>0</reserved></CreditControlReply>";
    for (codec, media_type, request, expected) in [
        (
            "json",
            "application/json",
            &b"{\"id\": 2}"[..],
            r#"{"balance":100,"reserved":0}"#,
        ),
        ("protobuf", "application/x-protobuf", &control, &reply),
        ("xml", "application/xml", xml.as_bytes(), document),
        ("xml", "text/xml; charset=utf-8", xml.as_bytes(), document),
    ] {
        let service = charging(&rest(codec), json!({"store": {"balance": 100}}));
        let path = "/charging/credit-control";
        let found = service.post(path, &[("content-type", media_type)], request);
        let (head, body) = found.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 "), "{codec}: {head}");
        let own = media_type.replace("text/xml; charset=utf-8", "application/xml");
        assert!(
            head.contains(&format!("content-type: {own}")),
            "{codec}: {head}"
        );
        assert_eq!(body, expected, "{codec}");
        let found = service.post(path, &[("content-type", "text/plain")], request);
        assert!(found.starts_with("HTTP/1.1 415 "), "{codec}: {found}");
        let found = service.post(path, &[("content-type", media_type)], b"\xff<{");
        assert!(found.starts_with("HTTP/1.1 400 "), "{codec}: {found}");
        assert_eq!(
            service.metric("wirelab_errors_total{operation=\"CreditControl\"}"),
            0.0
        );
    }
}

#[test]
fn each_representation_has_its_errors() {
    let unknown = CreditControlRequest { id: 99 }.encode_to_vec();
    let xml = "<CreditControlRequest xmlns='urn:wirelab:charging:v1'><id>99</id>\
               </CreditControlRequest>";
    let document = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Error \
                    xmlns=\"urn:wirelab:charging:v1\"><error>no such account</error></Error>";
    for (codec, media_type, request, expected) in [
        (
            "json",
            "application/json",
            &b"{\"id\":99}"[..],
            r#"{"error":"no such account"}"#,
        ),
        (
            "protobuf",
            "application/x-protobuf",
            &unknown,
            "\n\u{f}no such account",
        ),
        ("xml", "application/xml", xml.as_bytes(), document),
    ] {
        let service = charging(&rest(codec), json!({}));
        let fields = [("content-type", media_type)];
        let found = service.post("/charging/credit-control", &fields, request);
        let (head, body) = found.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 400 "), "{codec}: {head}");
        assert_eq!(body, expected, "{codec}");
        assert_eq!(
            service.metric("wirelab_errors_total{operation=\"CreditControl\"}"),
            1.0
        );
        assert!(
            !service.metrics().contains("Submit"),
            "another contract's operations"
        );
    }
}

#[test]
fn grpc_serves_charging_and_calendar() {
    let service = charging(&grpc(), json!({}));
    let calendar = Service::start(&grpc(), json!({"contract": "calendar"}));
    block_on(async {
        let endpoint = format!("http://{}", service.address());
        let mut client = ChargingClient::connect(endpoint).await.unwrap();
        let reply = client.reserve(ReserveRequest { id: 1, am: 520 }).await;
        let res = reply.unwrap().into_inner().res;
        let held = client.credit_control(CreditControlRequest { id: 1 }).await;
        let held = held.unwrap().into_inner();
        assert_eq!((held.balance, held.reserved), (1000, 520));
        let debit = DebitReservationRequest {
            id: 1,
            am: 500,
            res,
        };
        let cn = client
            .debit_reservation(debit)
            .await
            .unwrap()
            .into_inner()
            .cn;
        let confirmed = client.confirm_action(ConfirmActionRequest { cn }).await;
        assert_eq!(confirmed.unwrap().into_inner().cn, cn);
        let refused = client.debit_reservation(debit).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument);
        assert_eq!(refused.message(), "unknown reservation");

        let endpoint = format!("http://{}", calendar.address());
        let mut client = CalendarClient::connect(endpoint).await.unwrap();
        let booking = BookRequest {
            owner: "öwner".to_owned(),
            day: 2,
            slot: 5,
            title: "<títle>".to_owned(),
            open: true,
            weight: -0.25,
            note: String::new(),
        };
        let booked = client.book(booking.clone()).await.unwrap().into_inner();
        assert_eq!(booked.number, 53);
        let day = EntriesRequest {
            owner: booking.owner.clone(),
            day: 2,
        };
        let entries = client.entries(day).await.unwrap().into_inner().entries;
        assert_eq!((entries[0].slot, entries[0].weight), (5, -0.25));
        assert_eq!(entries[0].title, booking.title);
    });
    // Three accounts of 1,000 less the 500 that were debited.
    assert_eq!(service.metric("wirelab_money_total"), 2500.0);
    assert!(!calendar.metrics().contains("wirelab_money_total"));
}

#[test]
fn money_is_neither_lost_nor_made_under_concurrency() {
    let service = charging(&rest2("protobuf"), json!({"processors": 2}));
    let credited: i64 = block_on(async {
        let mut users = tokio::task::JoinSet::new();
        for user in 0..8 {
            let mut http = service.http().await;
            users.spawn(async move {
                let mut credited = 0_i64;
                for round in 0..40 {
                    // All users on all three accounts, so that calls to one account meet.
                    let (id, am) = (1 + (user + round) % 3, 7);
                    let post = async |http: &mut harness::Http, path: &str, body: Vec<u8>| {
                        let builder =
                            Request::post(path).header("content-type", "application/x-protobuf");
                        http.send(builder, Bytes::from(body)).await.unwrap()
                    };
                    let body = CreditRequest { id, am }.encode_to_vec();
                    let reply = post(&mut http, "/charging/credit", body).await;
                    credited += i64::from(reply.status == 200) * 7;
                    let body = DirectDebitRequest { id, am: 11 }.encode_to_vec();
                    let reply = post(&mut http, "/charging/direct-debit", body).await;
                    credited -= i64::from(reply.status == 200) * 11;
                }
                credited
            });
        }
        users.join_all().await.into_iter().sum()
    });
    assert_eq!(
        service.metric("wirelab_money_total"),
        (3000 + credited) as f64
    );
    assert_eq!(
        service.metric("wirelab_calls_total{operation=\"Credit\"}"),
        320.0
    );
}

#[test]
fn zstd_goes_both_ways_where_it_is_configured() {
    let store = json!({"store": {"hello_bytes": 10_000}});
    let service = Service::start(&with(rest("json"), "compression", "zstd"), store.clone());
    assert_eq!(service.ready["set"]["compression_level"], 3);
    let binary = Service::start(&with(grpc(), "compression", "zstd"), store);
    block_on(async {
        let mut http = service.http().await;
        let builder = Request::get("/transfer/hello").header("accept-encoding", "gzip, zstd");
        let reply = http.send(builder, Bytes::new()).await.unwrap();
        assert_eq!(reply.header("content-encoding"), Some("zstd"));
        let plain = zstd::decode_all(&reply.body[..]).unwrap();
        assert_eq!(plain.len(), 10_000 + "{\"text\":\"\"}".len());
        let builder = Request::get("/transfer/hello").header("accept-encoding", "gzip");
        let reply = http.send(builder, Bytes::new()).await.unwrap();
        assert_eq!(reply.header("content-encoding"), None);
        for (body, coding, status) in [
            (
                zstd::bulk::compress(b"{\"batch\":\"b\"}", 1).unwrap(),
                "zstd",
                200,
            ),
            (b"{\"batch\":\"b\"}".to_vec(), "zstd", 400),
            (b"{\"batch\":\"b\"}".to_vec(), "gzip", 415),
            (
                zstd::bulk::compress(&vec![b' '; (128 << 20) + 1], 1).unwrap(),
                "zstd",
                413,
            ),
        ] {
            let builder = Request::post("/transfer/submit")
                .header("content-type", "application/json")
                .header("content-encoding", coding);
            let reply = http.send(builder, body.into()).await.unwrap();
            assert_eq!(reply.status, status, "{coding}: {}", reply.text());
        }
        let mut client = binary
            .client()
            .await
            .send_compressed(CompressionEncoding::Zstd)
            .accept_compressed(CompressionEncoding::Zstd);
        let reply = client
            .hello(wirelab_contract::transfer::HelloRequest {})
            .await
            .unwrap();
        assert_eq!(reply.metadata().get("grpc-encoding").unwrap(), "zstd");
        assert_eq!(reply.into_inner().text.len(), 10_000);
    });
}

#[test]
fn a_mutant_makes_its_mistake_and_is_named_in_the_ready_line() {
    let ask = |service: &Service| {
        let request = b"{\"batch\":\" b \",\"records\":[{\"id\":9,\"quantity\":1,\"item\":\"i\"}]}";
        let fields = [("content-type", "application/json")];
        service.post("/transfer/submit", &fields, request)
    };
    for (mutant, found) in [
        ("total-off-by-one", "\"quantity_total\":2"),
        ("batch-trimmed", "\"batch\":\"b\""),
        ("json-int64-as-string", "\"quantity_total\":\"1\""),
    ] {
        let service = Service::start(&rest("json"), json!({"faults": {"mutant": mutant}}));
        assert_eq!(service.ready["set"]["mutant"], mutant);
        let reply = ask(&service);
        assert!(reply.contains(found), "{mutant}: {reply}");
    }
    let faults = json!({"faults": {"mutant": "error-status-200"}});
    let service = charging(&rest("json"), faults);
    let fields = [("content-type", "application/json")];
    let reply = service.post("/charging/credit-control", &fields, b"{\"id\":99}");
    assert!(
        reply.starts_with("HTTP/1.1 200 ") && reply.contains("no such account"),
        "{reply}"
    );
}

#[test]
fn a_unix_socket_carries_every_binding() {
    let envelope = "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body>\
                    <HelloRequest xmlns='urn:wirelab:transfer:v1'/></e:Body></e:Envelope>";
    let posted = format!(
        "POST /transfer/soap HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: text/xml\r\n\
         soapaction: \"urn:wirelab:transfer:v1#Hello\"\r\ncontent-length: {}\r\n\r\n{envelope}",
        envelope.len()
    );
    let framed = format!("{}\n{envelope}", envelope.len());
    let get = "GET /transfer/hello HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    for (stack, request, part) in [
        (rest("text"), get, "Hello, wirelab"),
        (soap("soap-literal"), &posted, "Hello, wirelab"),
        (raw("soap-literal"), &framed, "Hello, wirelab"),
        // MessageError is an answer too: the socket carries it.
        (iiop(), "no message of GIOP at all", "GIOP"),
    ] {
        let name = stack["binding"].as_str().unwrap();
        let path = std::env::temp_dir().join(format!("wl-{}-{name}.sock", std::process::id()));
        let listen = format!("unix:{}", path.display());
        let service = Service::start(&stack, json!({"listen": listen}));
        let mut stream = UnixStream::connect(&path).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        if name == "raw" {
            stream.shutdown(std::net::Shutdown::Write).unwrap();
        }
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply).unwrap();
        let reply = String::from_utf8_lossy(&reply);
        assert!(reply.contains(part), "{name}: {reply}");
        assert_eq!(service.address(), listen);
    }
}

#[test]
fn what_is_too_large_is_refused_and_others_are_served() {
    let service = charging(&soap("soap-literal"), json!({}));
    let header = |path: &str, bytes: usize| {
        format!(
            "POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: text/xml\r\n\
             content-length: {bytes}\r\n\r\n"
        )
    };
    let mut stream = service.connect();
    stream
        .write_all(header("/charging/soap", (128 << 20) + 1).as_bytes())
        .unwrap();
    // The reply may come before the whole body, or the close may break it.
    let chunk = vec![b' '; 1 << 20];
    let whole = (0..129).all(|_| stream.write_all(&chunk).is_ok());
    let mut begin = [0; 12];
    if whole && stream.read_exact(&mut begin).is_ok() {
        assert_eq!(&begin, b"HTTP/1.1 413");
    }
    let large_header = format!(
        "GET / HTTP/1.1\r\nhost: x\r\nx: {}\r\n\r\n",
        "y".repeat(1 << 20)
    );
    let reply = service.exchange(large_header.as_bytes());
    let reply = String::from_utf8_lossy(&reply);
    assert!(
        reply.is_empty() || reply.starts_with("HTTP/1.1 431 "),
        "{reply}"
    );
    let reply = service.post("/charging/soap", &[("content-type", "text/xml")], b"");
    assert!(reply.starts_with("HTTP/1.1 500 "), "{reply}");
}
