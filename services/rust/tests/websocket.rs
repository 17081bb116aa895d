//! `stream` over WebSocket, by the client of tokio-tungstenite and by bytes that are written by
//! hand.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::http::{Request, StatusCode};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{CloseCode, Data, OpCode};
use wirelab_contract::stream::{FeedRequest, Item, PushReply};

use crate::harness::websocket::{
    decode, encode, end, feed, frame, handshake, item, next, open, read_close, read_reply,
    read_status, upgrade,
};
use crate::harness::{Process, Service, block_on, config, with};
use crate::streams::{keep_without_times, short_feeds, vectors};

/// Bytes of the longest message that is read.
const LONGEST: usize = 394_240;

fn websocket(codec: &str) -> Value {
    json!({"binding": "websocket", "codec": codec, "transport": "http/1.1"})
}

fn start(codec: &str, other: Value) -> Service {
    let mut all = json!({"contract": "stream"});
    for (key, value) in other.as_object().expect("keys and values") {
        all[key] = value.clone();
    }
    Service::start(&websocket(codec), all)
}

#[test]
fn feeds_follow_one_another_on_a_connection_and_are_those_of_the_vectors() {
    for codec in ["json", "protobuf"] {
        let service = start(codec, json!({}));
        assert_eq!(
            service.libraries("server"),
            ["tokio-tungstenite", "axum", "hyper", "tokio"]
        );
        let (feeds, refused) = (short_feeds(), vectors("refused"));
        block_on(async {
            let mut socket = open(&service, "feed").await;
            for vector in feeds.iter().chain(&refused) {
                let request = encode::<FeedRequest>(codec, &vector["request"]);
                socket.send(request).await.expect("it reads");
                let reply = read_reply(&mut socket).await;
                let reply = reply.iter().map(|message| decode::<Item>(codec, message));
                if let Some(error) = vector.get("error") {
                    assert_eq!(reply.collect::<Vec<_>>(), [json!({"error": error})]);
                    continue;
                }
                let found: Vec<Value> = reply.map(|item| keep_without_times(&item)).collect();
                for expected in vector["items"].as_array().expect("a list") {
                    let expected = keep_without_times(expected);
                    assert!(found.contains(&expected), "{vector}: {expected}");
                }
                assert_eq!(found.len(), vector["request"]["count"]);
            }
            let calls = (feeds.len() + refused.len()) as f64;
            for (name, count) in [
                ("wirelab_calls_total{operation=\"Feed\"}", calls),
                (
                    "wirelab_errors_total{operation=\"Feed\"}",
                    refused.len() as f64,
                ),
                ("wirelab_calls_in_flight", 0.0),
                ("wirelab_stream_cancelled_total", 0.0),
                ("wirelab_connections_total", 1.0),
            ] {
                service.wait_for_metric(name, count);
            }
        });
    }
}

#[test]
fn pushes_are_those_of_the_vectors_and_a_refused_one_is_read_to_its_end() {
    for codec in ["json", "protobuf"] {
        let service = start(codec, json!({}));
        block_on(async {
            let mut socket = open(&service, "push").await;
            for vector in vectors("pushes") {
                for item in vector["items"].as_array().expect("a list") {
                    let item = encode::<Item>(codec, item);
                    socket.feed(item).await.expect("it reads");
                }
                socket.send(end()).await.expect("it reads");
                let reply = read_reply(&mut socket).await;
                assert_eq!(reply.len(), 1, "{vector}");
                let reply = decode::<PushReply>(codec, &reply[0]);
                match vector.get("error") {
                    None => assert_eq!(reply, vector["reply"], "{vector}"),
                    Some(error) => assert_eq!(reply, json!({"error": error}), "{vector}"),
                }
            }
        });
    }
}

#[test]
fn each_item_of_a_chat_is_answered_before_the_next_is_sent() {
    for codec in ["json", "protobuf"] {
        let service = start(codec, json!({}));
        block_on(async {
            let mut socket = open(&service, "chat").await;
            for _ in 0..2 {
                for (index, text) in ["first", "", "ünd"].into_iter().enumerate() {
                    let item = json!({"index": index, "text": text});
                    socket.send(encode::<Item>(codec, &item)).await.unwrap();
                    let answer = decode::<Item>(codec, &next(&mut socket).await);
                    assert_eq!(
                        (&answer["index"], &answer["text"]),
                        (&json!(index), &json!(text))
                    );
                    assert!(answer["sent_ns"].as_i64() >= answer["received_ns"].as_i64());
                    assert!(answer["received_ns"].as_i64() > Some(0));
                }
                socket.send(end()).await.unwrap();
                assert!(read_reply(&mut socket).await.is_empty());
            }
        });
        service.wait_for_metric("wirelab_stream_items_total", 6.0);
        service.wait_for_metric("wirelab_calls_total{operation=\"Chat\"}", 2.0);
        service.wait_for_metric("wirelab_stream_cancelled_total", 0.0);
    }
}

#[test]
fn a_chat_that_is_refused_ends_and_the_next_one_is_served() {
    let service = start("json", json!({}));
    block_on(async {
        let mut socket = open(&service, "chat").await;
        let wrong = [
            item(0, "a"),
            item(2, "b"),
            item(3, "c"),
            end(),
            item(0, "d"),
            end(),
        ];
        for message in wrong {
            socket.feed(message).await.unwrap();
        }
        socket.flush().await.unwrap();
        let reply = read_reply(&mut socket).await;
        let error = json!({"error": "items must be numbered from 0 without gaps"});
        assert_eq!(decode::<Item>("json", &reply[0])["text"], "a");
        assert_eq!(decode::<Item>("json", &reply[1]), error);
        assert_eq!(reply.len(), 2);
        let next = read_reply(&mut socket).await;
        assert_eq!(decode::<Item>("json", &next[0])["text"], "d");
    });
    service.wait_for_metric("wirelab_errors_total{operation=\"Chat\"}", 1.0);
}

#[test]
fn a_message_that_is_not_of_the_codec_is_answered_with_an_error() {
    for (codec, message) in [
        ("json", Message::text("{\"index\":")),
        ("json", Message::text("[]")),
        ("protobuf", Message::binary(&b"\xff"[..])),
    ] {
        let service = start(codec, json!({}));
        block_on(async {
            for operation in ["feed", "push", "chat"] {
                let mut socket = open(&service, operation).await;
                socket.send(message.clone()).await.unwrap();
                let reply = read_reply(&mut socket).await;
                let error = decode::<Item>(codec, &reply[0]);
                assert!(error["error"].is_string(), "{operation}: {error}");
                assert_eq!(reply.len(), 1);
            }
            // A feed has no end of its own.
            let mut socket = open(&service, "feed").await;
            socket.send(end()).await.unwrap();
            let reply = read_reply(&mut socket).await;
            assert!(decode::<Item>(codec, &reply[0])["error"].is_string());
        });
        let errors = "wirelab_errors_total{operation=\"Push\"}";
        assert_eq!(service.metric(errors), 0.0);
    }
}

#[test]
fn a_message_may_come_in_fragments_with_a_ping_between_them() {
    let service = start("json", json!({}));
    block_on(async {
        let mut socket = open(&service, "push").await;
        let bytes = json!({"index": 0, "text": "ü"}).to_string().into_bytes();
        // The second cut is within the letter.
        let cuts = [0, 3, bytes.len() - 3, bytes.len()];
        for (number, cut) in cuts.windows(2).enumerate() {
            let kind = match number {
                0 => Data::Text,
                _ => Data::Continue,
            };
            let fragment = Bytes::copy_from_slice(&bytes[cut[0]..cut[1]]);
            let frame = Frame::message(fragment, OpCode::Data(kind), number == 2);
            socket.send(Message::Frame(frame)).await.unwrap();
            socket.send(Message::Ping("hi".into())).await.unwrap();
            assert_eq!(next(&mut socket).await, Message::Pong("hi".into()));
        }
        socket.send(end()).await.unwrap();
        let reply = read_reply(&mut socket).await;
        let reply = decode::<PushReply>("json", &reply[0]);
        assert_eq!((&reply["count"], &reply["bytes"]), (&json!(1), &json!(2)));
    });
}

#[test]
fn a_connection_that_breaks_a_rule_ends_with_the_status_of_the_rule() {
    const PROTOCOL: u16 = 1002;
    let long = vec![b'x'; LONGEST + 1];
    let unmasked = |mut bytes: Vec<u8>| {
        bytes[1] &= 0x7f;
        bytes.drain(2..6);
        bytes
    };
    let join = |frames: &[Vec<u8>]| frames.concat();
    for (codec, bytes, status) in [
        ("json", frame(0x81, &long), 1009),
        ("protobuf", frame(0x82, &long), 1009),
        // In two fragments that are short enough each.
        (
            "json",
            join(&[frame(0x01, &long[1..]), frame(0x80, b"x")]),
            1009,
        ),
        ("json", frame(0x82, b"{}"), 1003),
        ("json", frame(0x82, b""), 1003),
        ("protobuf", frame(0x81, b"{}"), 1003),
        ("json", frame(0x81, b"{\"text\":\"\xff\"}"), 1007),
        ("protobuf", frame(0x81, b"\xc3"), 1007),
        (
            "json",
            join(&[frame(0x01, b"\"\xc3"), frame(0x80, b"\"")]),
            1007,
        ),
        ("json", unmasked(frame(0x81, b"{}")), PROTOCOL),
        // Reserved bits and opcodes.
        ("json", frame(0xc1, b"{}"), PROTOCOL),
        ("json", frame(0x83, b"{}"), PROTOCOL),
        ("json", frame(0x8b, b""), PROTOCOL),
        // Continuation without a begin, and a begin within a message.
        ("json", frame(0x80, b"{}"), PROTOCOL),
        (
            "json",
            join(&[frame(0x01, b"{"), frame(0x81, b"}")]),
            PROTOCOL,
        ),
        // Control frames in fragments and too long, closes without a status that may be sent.
        ("json", frame(0x09, b"x"), PROTOCOL),
        ("json", frame(0x89, &[b'x'; 126]), PROTOCOL),
        ("json", frame(0x88, b"\x03"), PROTOCOL),
        ("json", frame(0x88, &1005_u16.to_be_bytes()), PROTOCOL),
        ("json", frame(0x88, &999_u16.to_be_bytes()), PROTOCOL),
        // A close is answered with its own status.
        ("json", frame(0x88, &1000_u16.to_be_bytes()), 1000),
    ] {
        let service = start(codec, json!({}));
        for operation in ["feed", "push", "chat"] {
            let mut stream = upgrade(&service, operation);
            stream.write_all(&bytes).expect("it is read to its end");
            let found = read_close(&mut stream);
            assert_eq!(
                found,
                status,
                "{codec} {operation} {:?}",
                &bytes[..8.min(bytes.len())]
            );
        }
        assert_eq!(service.metric("wirelab_calls_in_flight"), 0.0);
    }
}

#[test]
fn the_longest_message_is_read() {
    let service = start("json", json!({}));
    let text = "\\u0001".repeat(65_536);
    let mut longest = format!("{{\"index\":0,\"text\":\"{text}\"}}");
    longest += &" ".repeat(LONGEST - longest.len());
    block_on(async {
        let mut socket = open(&service, "chat").await;
        socket.send(Message::text(longest)).await.unwrap();
        let answer = decode::<Item>("json", &next(&mut socket).await);
        assert_eq!(answer["text"], "\u{1}".repeat(65_536));
    });
}

#[test]
fn a_request_that_is_not_a_handshake_is_refused_in_http() {
    let service = start("protobuf", json!({}));
    let upgrade = [
        ("connection", "upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];
    let missing = StatusCode::UPGRADE_REQUIRED;
    block_on(async {
        let mut http = service.http().await;
        for (method, path, left_out, status) in [
            ("GET", "/stream/feed", 0, missing),
            ("GET", "/stream/push", 1, missing),
            ("GET", "/stream/chat", 2, missing),
            ("GET", "/stream/feed", 3, StatusCode::BAD_REQUEST),
            ("POST", "/stream/feed", 9, StatusCode::METHOD_NOT_ALLOWED),
            ("GET", "/stream/other", 9, StatusCode::NOT_FOUND),
        ] {
            let mut request = Request::builder().method(method).uri(path);
            for (number, (name, value)) in upgrade.into_iter().enumerate() {
                if number != left_out {
                    request = request.header(name, value);
                }
            }
            let reply = http.send(request, Bytes::new()).await.expect("a reply");
            assert_eq!(reply.status, status, "{method} {path} {left_out}");
            assert_eq!(reply.header("content-type"), Some("application/json"));
            assert!(reply.json()["error"].is_string(), "{}", reply.text());
            let is_upgrade = reply.header("upgrade") == Some("websocket");
            assert_eq!(is_upgrade, left_out <= 3);
            assert_eq!(reply.header("allow"), (method == "POST").then_some("GET"));
        }
    });
}

#[test]
fn a_feed_that_the_client_leaves_ends_at_once_and_is_counted() {
    for codec in ["json", "protobuf"] {
        let service = start(codec, json!({}));
        let request =
            json!({"count": 100, "bytes": 8, "gap_us": 10_000_000, "pattern": "constant"});
        let request = encode::<FeedRequest>(codec, &request);
        block_on(async {
            let mut socket = open(&service, "feed").await;
            socket.send(request.clone()).await.unwrap();
            next(&mut socket).await;
            service.wait_for_metric("wirelab_calls_in_flight", 1.0);
            let code = CloseCode::Normal;
            let reason = "enough".into();
            socket
                .close(Some(CloseFrame { code, reason }))
                .await
                .unwrap();
            assert_eq!(read_status(&mut socket).await, 1000);
            assert!(socket.next().await.is_none(), "the connection is closed");
            service.wait_for_metric("wirelab_stream_cancelled_total", 1.0);

            let mut socket = open(&service, "feed").await;
            socket.send(request).await.unwrap();
            next(&mut socket).await;
            drop(socket);
            service.wait_for_metric("wirelab_stream_cancelled_total", 2.0);

            let mut socket = open(&service, "chat").await;
            let item = encode::<Item>(codec, &json!({"index": 0}));
            socket.send(item).await.unwrap();
            next(&mut socket).await;
            drop(socket);
            service.wait_for_metric("wirelab_stream_cancelled_total", 3.0);
        });
        service.wait_for_metric("wirelab_calls_in_flight", 0.0);
    }
}

#[test]
fn a_feed_without_gaps_ends_when_its_reader_closes() {
    let service = start("json", json!({}));
    block_on(async {
        let mut socket = open(&service, "feed").await;
        let request = json!({"count": 1_000_000, "bytes": 1000, "pattern": "constant"});
        socket
            .send(Message::text(request.to_string()))
            .await
            .unwrap();
        next(&mut socket).await;
        socket.close(None).await.unwrap();
        // Reads all the time, so that the service is never blocked.
        while let Some(Ok(message)) = socket.next().await {
            if message.is_close() {
                break;
            }
        }
    });
    service.wait_for_metric("wirelab_stream_cancelled_total", 1.0);
    assert!(service.metric("wirelab_stream_items_total") < 900_000.0);
}

#[test]
fn pings_are_answered_while_a_feed_runs() {
    let service = start("json", json!({}));
    block_on(async {
        let mut socket = open(&service, "feed").await;
        socket.send(feed(2, 300)).await.unwrap();
        assert!(next(&mut socket).await.is_text());
        socket
            .send(Message::Ping("are you there".into()))
            .await
            .unwrap();
        assert_eq!(
            next(&mut socket).await,
            Message::Pong("are you there".into())
        );
        assert_eq!(read_reply(&mut socket).await.len(), 1);
    });
}

#[test]
fn a_request_that_comes_early_is_answered_after_the_feed_under_way() {
    let service = start("json", json!({}));
    block_on(async {
        let mut socket = open(&service, "feed").await;
        for request in [feed(3, 50), feed(2, 0), feed(4, 0)] {
            socket.feed(request).await.unwrap();
        }
        socket.flush().await.unwrap();
        for count in [3, 2, 4] {
            assert_eq!(read_reply(&mut socket).await.len(), count);
        }
    });
}

#[test]
fn a_service_that_ends_closes_its_connections_with_a_status() {
    let mut service = start("json", json!({}));
    block_on(async {
        let mut idle = open(&service, "feed").await;
        let mut short = open(&service, "feed").await;
        let mut long = open(&service, "feed").await;
        long.send(feed(100, 10_000)).await.unwrap();
        next(&mut long).await;
        let mut pushing = open(&service, "push").await;
        pushing.send(item(0, "a")).await.unwrap();
        service.wait_for_metric("wirelab_calls_in_flight", 2.0);
        short.send(feed(10, 20)).await.unwrap();
        next(&mut short).await;
        service.process.signal(libc::SIGTERM);
        assert_eq!(read_status(&mut idle).await, 1001);
        assert_eq!(
            read_reply(&mut short).await.len(),
            9,
            "the grace is for calls in flight"
        );
        for socket in [&mut short, &mut long, &mut pushing] {
            assert_eq!(read_status(socket).await, 1001);
            assert!(socket.next().await.is_none());
        }
    });
    let status = service
        .process
        .wait(Duration::from_secs(2))
        .expect("an end");
    assert_eq!(status.code(), Some(0));
}

#[test]
fn a_client_that_is_silent_does_not_hold_up_the_end_of_a_service() {
    let mut service = start("json", json!({}));
    let mut silent = upgrade(&service, "feed");
    let mut slow = upgrade(&service, "feed");
    let request = json!({"count": 16_384, "bytes": 65_536, "pattern": "constant"});
    slow.write_all(&frame(0x81, request.to_string().as_bytes()))
        .unwrap();
    service.wait_for_metric("wirelab_calls_in_flight", 1.0);
    let stopped = Instant::now();
    service.process.signal(libc::SIGTERM);
    let status = service
        .process
        .wait(Duration::from_secs(2))
        .expect("an end");
    assert_eq!(status.code(), Some(0));
    assert!(
        stopped.elapsed() < Duration::from_millis(900),
        "the grace was waited for"
    );
    assert_eq!(read_close(&mut silent), 1001);
}

#[test]
fn a_slow_reader_stops_its_feed_and_not_the_memory_of_the_service() {
    let service = start("json", json!({}));
    let before = service.metric("process_resident_memory_max_bytes");
    let mut stream = upgrade(&service, "feed");
    // 1 GiB.
    let request = json!({"count": 16_384, "bytes": 65_536, "pattern": "constant"});
    stream
        .write_all(&frame(0x81, request.to_string().as_bytes()))
        .unwrap();
    let mut sent = service.metric("wirelab_stream_items_total");
    let start = Instant::now();
    loop {
        std::thread::sleep(Duration::from_millis(300));
        let now = service.metric("wirelab_stream_items_total");
        // Blocked, once the buffers of the kernel are full.
        if now == sent && now > 0.0 {
            break;
        }
        sent = now;
        assert!(start.elapsed() < Duration::from_secs(20), "{now} items");
    }
    assert!(sent < 1_000.0, "{sent} items");
    let grown = service.metric("process_resident_memory_max_bytes") - before;
    assert!(grown < 4e6, "{grown} bytes");
    // Pings that nobody reads the answers of are not kept either.
    let pings = frame(0x89, &[b'x'; 125]).repeat(100_000);
    stream
        .set_write_timeout(Some(Duration::from_secs(1)))
        .unwrap();
    let _blocked = stream.write_all(&pings);
    let grown = service.metric("process_resident_memory_max_bytes") - before;
    assert!(grown < 4e6, "{grown} bytes");
}

#[test]
fn a_feed_goes_over_a_unix_socket() {
    let path = std::env::temp_dir().join(format!("wirelab-{}-ws.sock", std::process::id()));
    let service = start(
        "json",
        json!({"listen": format!("unix:{}", path.display())}),
    );
    assert!(service.address().starts_with("unix:"));
    block_on(async {
        let stream = tokio::net::UnixStream::connect(&path).await.unwrap();
        let mut socket = handshake(stream, "feed").await;
        socket.send(feed(5, 1)).await.unwrap();
        assert_eq!(read_reply(&mut socket).await.len(), 5);
    });
}

fn with_fault(switch: &str, value: Value) -> Service {
    start("json", json!({"faults": {switch: value}}))
}

fn count_faults(service: &Service, fault: &str) -> f64 {
    service.metric(&format!("wirelab_faults_total{{fault=\"{fault}\"}}"))
}

#[test]
fn every_second_reply_is_wrong_as_it_was_ordered() {
    for what in ["content", "length", "status"] {
        let service = with_fault("wrong", json!({"every": 2, "what": what}));
        block_on(async {
            for (operation, request) in [
                ("feed", vec![feed(3, 0)]),
                ("push", vec![item(0, "abc"), end()]),
                ("chat", vec![item(0, "abc"), end()]),
            ] {
                let mut socket = open(&service, operation).await;
                let mut texts = Vec::new();
                for _ in 0..2 {
                    for message in &request {
                        socket.send(message.clone()).await.unwrap();
                    }
                    let reply = read_reply(&mut socket).await;
                    let reply = decode::<Item>("json", &reply[0]);
                    let text = ["error", "sha256", "text"].map(|name| reply[name].as_str());
                    texts.push(text.into_iter().flatten().collect::<String>());
                }
                let [right, wrong] = &texts[..] else {
                    panic!("{texts:?}");
                };
                let is_shorter = right.len() == wrong.len() + 1;
                assert_ne!(right, wrong, "{what} {operation}");
                assert_eq!(is_shorter, what == "length", "{right} {wrong}");
                assert_eq!(wrong == "wrong on purpose", what == "status", "{wrong}");
            }
        });
        assert_eq!(count_faults(&service, &format!("wrong_{what}")), 3.0);
    }
}

#[test]
fn a_connection_ends_after_half_of_a_reply() {
    let service = with_fault("close_mid_reply", json!({"every": 1}));
    block_on(async {
        for (operation, request, messages) in [
            ("feed", vec![feed(10, 0)], 5),
            ("push", vec![item(0, "a"), end()], 1),
            ("chat", vec![item(0, "a"), item(1, "b"), end()], 2),
        ] {
            let mut socket = open(&service, operation).await;
            for message in request {
                socket.send(message).await.unwrap();
            }
            for _ in 0..messages {
                assert_ne!(next(&mut socket).await, end(), "{operation}");
            }
            assert!(
                socket.next().await.expect("an error").is_err(),
                "{operation}"
            );
        }
    });
    assert_eq!(count_faults(&service, "close_mid_reply"), 3.0);
}

#[test]
fn connections_are_reset_or_filled_with_garbage_instead_of_a_reply() {
    for fault in ["reset", "garbage"] {
        let service = with_fault(fault, json!({"every": 1}));
        let mut stream = upgrade(&service, "push");
        stream.write_all(&frame(0x81, b"{\"index\":0}")).unwrap();
        let mut reply = Vec::new();
        let read = stream.read_to_end(&mut reply);
        match fault {
            "reset" => assert!(read.is_err() && reply.is_empty(), "{reply:?}"),
            _ => assert_eq!(reply.len(), 4096),
        }
        assert_eq!(count_faults(&service, fault), 1.0);
    }
}

#[test]
fn a_reply_that_hangs_or_has_no_end_lasts_as_long_as_its_connection() {
    for (fault, messages) in [("hang", 0), ("endless", 2)] {
        let service = with_fault(fault, json!({"every": 1}));
        block_on(async {
            let mut socket = open(&service, "feed").await;
            socket.send(feed(2, 0)).await.unwrap();
            for _ in 0..messages {
                assert_ne!(next(&mut socket).await, end());
            }
            let silence = tokio::time::timeout(Duration::from_millis(200), socket.next());
            assert!(silence.await.is_err(), "{fault}");
            assert_eq!(service.metric("wirelab_calls_in_flight"), 1.0);
        });
        service.wait_for_metric("wirelab_calls_in_flight", 0.0);
        assert_eq!(count_faults(&service, fault), 1.0);
    }
}

#[test]
fn a_delay_comes_before_the_first_message_of_a_reply() {
    let service = with_fault("delay_us", json!(100_000));
    block_on(async {
        for (operation, request) in [
            ("feed", vec![feed(2, 0)]),
            ("push", vec![item(0, "a"), end()]),
            ("chat", vec![item(0, "a"), end()]),
        ] {
            let mut socket = open(&service, operation).await;
            let start = Instant::now();
            for message in request {
                socket.send(message).await.unwrap();
            }
            next(&mut socket).await;
            let elapsed = start.elapsed();
            assert!(
                elapsed >= Duration::from_millis(100),
                "{operation}: {elapsed:?}"
            );
        }
    });
    assert_eq!(service.metric("wirelab_delay_seconds_count"), 3.0);
}

#[test]
fn options_that_websocket_lacks_are_refused() {
    for (stack, other, option) in [
        (("transport", "http/2"), json!({}), "stack.transport"),
        (("codec", "cbor"), json!({}), "stack.codec"),
        (("compression", "gzip"), json!({}), "stack.compression"),
        (
            ("codec", "json"),
            json!({"contract": "transfer"}),
            "contract",
        ),
        (
            ("codec", "json"),
            json!({"socket": {"writes": "split"}}),
            "socket.writes",
        ),
    ] {
        let mut all = json!({"contract": "stream"});
        for (key, value) in other.as_object().unwrap() {
            all[key] = value.clone();
        }
        let stack = with(websocket("json"), stack.0, stack.1);
        let mut process = Process::start(&config(&stack, all));
        let line = process.line();
        let answer: Value = serde_json::from_str(&line).expect(&line);
        assert_eq!(answer["refused"]["option"], option, "{line}");
    }
}
