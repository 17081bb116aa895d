//! `raw@rust` against the contracts, by messages written by hand.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::json;
use wirelab_contract::charging::CreditControlRequest;
use wirelab_contract::{Operation, charging::CreditControlReply};
use wirelab_wire_own::raw::CONTENT_BYTES_MAX;
use wirelab_wire_own::soap::{FaultCode, Response};
use wirelab_wire_own::token_xml::{Decoder, Document, Encoder, TokenCache};

use crate::harness::{Service, raw, with};

fn envelope(body: &str) -> String {
    format!(
        "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/' \
         xmlns='urn:wirelab:charging:v1'><e:Body>{body}</e:Body></e:Envelope>"
    )
}

fn control(id: i32) -> String {
    envelope(&format!(
        "<CreditControlRequest><id>{id}</id></CreditControlRequest>"
    ))
}

fn frame(content: &[u8]) -> Vec<u8> {
    let mut message = format!("{}\n", content.len()).into_bytes();
    message.extend_from_slice(content);
    message
}

fn start(stack: &serde_json::Value, other: serde_json::Value) -> Service {
    let mut config = json!({"contract": "charging"});
    for (key, value) in other.as_object().unwrap() {
        config[key] = value.clone();
    }
    Service::start(stack, config)
}

/// The next message.
fn message(stream: &mut BufReader<TcpStream>) -> Vec<u8> {
    let mut line = String::new();
    stream.read_line(&mut line).expect("a length");
    assert!(line.ends_with('\n') && !line.starts_with('0'), "{line:?}");
    let mut content = vec![0; line.trim_end().parse().expect("digits")];
    stream.read_exact(&mut content).expect("a content");
    content
}

fn text(stream: &mut BufReader<TcpStream>) -> String {
    String::from_utf8(message(stream)).expect("a text")
}

#[test]
fn calls_are_answered_in_their_order() {
    let service = start(&raw("soap-literal"), json!({}));
    let mut stream = BufReader::new(service.connect());
    let requests: Vec<u8> = [control(1), control(9999), envelope("<Other/>"), control(2)]
        .iter()
        .flat_map(|content| frame(content.as_bytes()))
        .collect();
    // In pieces that end anywhere.
    for piece in requests.chunks(100) {
        stream.get_mut().write_all(piece).unwrap();
    }
    assert!(text(&mut stream).contains("<balance>1000000000</balance>"));
    assert!(text(&mut stream).contains("<faultstring>no such account</faultstring>"));
    assert!(text(&mut stream).contains(":Client</faultcode>"));
    assert!(text(&mut stream).contains("<balance>1000000000</balance>"));
    assert_eq!(
        service.metric("wirelab_calls_total{operation=\"CreditControl\"}"),
        3.0
    );
    assert_eq!(
        service.metric("wirelab_errors_total{operation=\"CreditControl\"}"),
        1.0
    );
}

#[test]
fn a_call_at_the_end_of_input_is_answered() {
    let service = start(&raw("soap-literal"), json!({}));
    let mut stream = service.connect();
    stream.write_all(&frame(control(1).as_bytes())).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    assert!(reply.contains("<balance>"), "{reply}");
}

#[test]
fn contents_are_compressed_both_ways() {
    for compression in ["gzip", "zstd"] {
        let service = start(
            &with(raw("soap-literal"), "compression", compression),
            json!({}),
        );
        let mut stream = BufReader::new(service.connect());
        let plain = control(1).into_bytes();
        let packed = if compression == "zstd" {
            zstd::bulk::compress(&plain, 1).unwrap()
        } else {
            let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(&plain).unwrap();
            encoder.finish().unwrap()
        };
        let unpack = |packed: &[u8]| {
            let mut text = String::new();
            if compression == "zstd" {
                text = String::from_utf8(zstd::decode_all(packed).unwrap()).unwrap();
            } else {
                GzDecoder::new(packed).read_to_string(&mut text).unwrap();
            }
            text
        };
        stream.get_mut().write_all(&frame(&packed)).unwrap();
        assert!(
            unpack(&message(&mut stream)).contains("<balance>"),
            "{compression}"
        );
        stream.get_mut().write_all(&frame(b"not packed")).unwrap();
        assert!(unpack(&message(&mut stream)).contains(":Client</faultcode>"));
        let bomb = zstd::bulk::compress(&vec![b' '; CONTENT_BYTES_MAX + 1], 1).unwrap();
        if compression == "zstd" {
            stream.get_mut().write_all(&frame(&bomb)).unwrap();
            let reply = unpack(&message(&mut stream));
            assert!(reply.contains("when decompressed"), "{reply}");
        }
        stream.get_mut().write_all(&frame(&packed)).unwrap();
        assert!(
            unpack(&message(&mut stream)).contains("<balance>"),
            "{compression}"
        );
    }
}

#[test]
fn tokens_are_read_and_written_with_one_cache_per_connection() {
    for (name, cache) in [
        (None, TokenCache::Names),
        (Some("names"), TokenCache::Names),
        (Some("names+texts"), TokenCache::NamesAndTexts),
    ] {
        let stack = match name {
            None => raw("token-xml"),
            Some(name) => with(raw("token-xml"), "token_cache", name),
        };
        tokens_of(&start(&stack, json!({})), cache);
    }
}

fn tokens_of(service: &Service, cache: TokenCache) {
    let mut stream = BufReader::new(service.connect());
    let (mut encoder, mut decoder) = (Encoder::new(cache), Decoder::new(cache));
    let operation = Operation::CreditControl;
    let mut sizes = Vec::new();
    for (id, known) in [(1, true), (2, true), (9999, false), (3, true)] {
        let request = Document::of_request(operation, &CreditControlRequest { id });
        let mut tokens = Vec::new();
        encoder.encode(&request, &mut tokens);
        sizes.push(tokens.len());
        stream.get_mut().write_all(&frame(&tokens)).unwrap();
        let reply = decoder.decode(&message(&mut stream)).expect("tokens");
        match reply.read_reply::<CreditControlReply>(operation).unwrap() {
            Response::Message(reply) => assert!(known && reply.balance == 1_000_000_000),
            Response::Fault(fault) => assert!(!known && fault.text == "no such account"),
        }
    }
    // The second request sends no name that the first has sent.
    assert!(sizes[1] < sizes[0] - 20, "no cache was used: {sizes:?}");
    // After broken tokens the caches differ, and the connection ends.
    stream.get_mut().write_all(&frame(&[0xFF; 9])).unwrap();
    let fault = decoder.decode(&message(&mut stream)).expect("tokens");
    match fault.read_reply::<CreditControlReply>(operation).unwrap() {
        Response::Fault(fault) => assert_eq!(fault.code, FaultCode::Client),
        other => panic!("{other:?}"),
    }
    assert_eq!(stream.read(&mut [0; 1]).unwrap(), 0);
}

#[test]
fn garbage_ends_its_connection_and_nothing_else() {
    for codec in ["soap-literal", "token-xml"] {
        let service = start(&raw(codec), json!({}));
        for bytes in [
            &b"garbage"[..],
            b"\n",
            // Leading zeros, ten digits, and a length that no message may have.
            b"007\nabc",
            b"9999999999\n",
            b"999999999\n",
        ] {
            assert_eq!(service.exchange(bytes), b"", "{bytes:?}");
        }
        let mut stream = service.connect();
        stream.write_all(b"100\nhalf").unwrap();
        drop(stream);
        assert!(service.metric("wirelab_connections_total") >= 6.0);
    }
    let service = start(&raw("soap-literal"), json!({}));
    let mut stream = BufReader::new(service.connect());
    stream.get_mut().write_all(&frame(b"")).unwrap();
    assert!(text(&mut stream).contains(":Client</faultcode>"));
    stream
        .get_mut()
        .write_all(&frame(control(1).as_bytes()))
        .unwrap();
    assert!(text(&mut stream).contains("<balance>"));
}

/// Reads records until one says that `port` has come to `count`.
fn wait_for(reports: &mut TcpStream, port: u16, count: u64) {
    loop {
        let mut record = [0; 12];
        reports.read_exact(&mut record).expect("a record");
        let reported_port = u32::from_be_bytes(record[..4].try_into().unwrap());
        let reached = u64::from_be_bytes(record[4..].try_into().unwrap());
        assert!(
            reported_port != u32::from(port) || reached <= count,
            "{reached} of {count}"
        );
        if (reported_port, reached) == (u32::from(port), count) {
            return;
        }
    }
}

#[test]
fn one_way_calls_are_reported_and_not_answered() {
    let stack = with(raw("soap-literal"), "reply", "one-way");
    let service = start(&stack, json!({"processors": 2}));
    let address = service.ready["report"].as_str().expect("an address");
    let mut reports = TcpStream::connect(address).unwrap();
    reports
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    let credit = envelope("<CreditRequest><id>1</id><am>5</am></CreditRequest>");
    let mut one = service.connect();
    let mut other = service.connect();
    for round in 1..=3_u64 {
        for _ in 0..100 {
            one.write_all(&frame(credit.as_bytes())).unwrap();
        }
        wait_for(&mut reports, one.local_addr().unwrap().port(), round * 100);
    }
    // What the contract refuses counts too.
    other.write_all(&frame(control(9999).as_bytes())).unwrap();
    wait_for(&mut reports, other.local_addr().unwrap().port(), 1);
    // A late reader receives the counts so far.
    let mut late = TcpStream::connect(address).unwrap();
    late.set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    wait_for(&mut late, one.local_addr().unwrap().port(), 300);
    one.set_read_timeout(Some(Duration::from_millis(50)))
        .unwrap();
    assert!(
        one.read(&mut [0; 1]).is_err(),
        "a one-way call was answered"
    );
    assert_eq!(service.metric("wirelab_money_total"), 1000.0 * 1e9 + 1500.0);
}

#[test]
fn every_fault_switch_works() {
    let committed = |service: &Service, name: &str| {
        service.metric(&format!("wirelab_faults_total{{fault=\"{name}\"}}"))
    };
    for (what, found) in [
        ("content", "<balance>1000000001</balance>"),
        ("length", "<balance>100000000</balance>"),
        ("status", ":Server</faultcode>"),
    ] {
        let faults = json!({"faults": {"wrong": {"every": 2, "what": what}}});
        let service = start(&raw("soap-literal"), faults);
        let mut stream = BufReader::new(service.connect());
        for call in 1..=4 {
            stream
                .get_mut()
                .write_all(&frame(control(1).as_bytes()))
                .unwrap();
            let reply = text(&mut stream);
            let right = reply.contains("<balance>1000000000</balance>");
            assert_eq!(
                (right, reply.contains(found)),
                (call % 2 == 1, call % 2 == 0),
                "{reply}"
            );
        }
        assert_eq!(committed(&service, &format!("wrong_{what}")), 2.0);
    }
    for name in ["close_mid_reply", "reset", "garbage"] {
        let faults = json!({"faults": {name: {"every": 2}}});
        let service = start(&raw("soap-literal"), faults);
        let ask = || {
            let mut stream = service.connect();
            stream.write_all(&frame(control(1).as_bytes())).unwrap();
            let mut reply = Vec::new();
            if name != "close_mid_reply" || committed(&service, name) == 0.0 {
                stream
                    .set_read_timeout(Some(Duration::from_millis(1000)))
                    .unwrap();
            }
            let end = stream.read_to_end(&mut reply);
            (reply, end.map_err(|error| error.kind()))
        };
        let (good, _) = ask();
        let (bad, end) = ask();
        assert!(String::from_utf8_lossy(&good).contains("<balance>"));
        match name {
            "close_mid_reply" => assert_eq!(bad, good[..good.len() / 2]),
            "reset" => assert_eq!(end, Err(std::io::ErrorKind::ConnectionReset)),
            _ => assert_eq!(bad.len(), 4096),
        }
        assert_eq!(committed(&service, name), 1.0);
    }
}

#[test]
fn a_call_may_hang_or_its_reply_never_end() {
    let service = start(
        &raw("soap-literal"),
        json!({"faults": {"hang": {"every": 1}}}),
    );
    let mut stream = service.connect();
    stream.write_all(&frame(control(1).as_bytes())).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_millis(200)))
        .unwrap();
    assert!(stream.read(&mut [0; 1]).is_err());
    assert_eq!(service.metric("wirelab_calls_in_flight"), 1.0);
    // The caller gives up, and the service notices.
    drop(stream);
    service.wait_for_metric("wirelab_calls_in_flight", 0.0);

    let service = start(
        &raw("soap-literal"),
        json!({"faults": {"endless": {"every": 1}}}),
    );
    let mut stream = BufReader::new(service.connect());
    stream
        .get_mut()
        .write_all(&frame(control(1).as_bytes()))
        .unwrap();
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    assert!(
        line.trim_end().parse::<u64>().unwrap() > 10_000_000,
        "{line}"
    );
    let mut begin = vec![0; 3000];
    stream.read_exact(&mut begin).unwrap();
    assert!(String::from_utf8_lossy(&begin).contains("<balance>"));
}
