//! Every fault switch does what it says, on both stacks, to the calls it names.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::http::Request;
use serde_json::{Value, json};
use tonic::Code;
use wirelab_contract::transfer::{DownloadRequest, HelloRequest, SubmitRequest, UploadRequest};
use wirelab_contract::{model, texts};

use crate::harness::frames::{self, frames};
use crate::harness::{Service, block_on, grpc, rest, rest2};

fn start(stack: &Value, faults: Value) -> Service {
    Service::start(stack, json!({ "faults": faults }))
}

fn count_faults(service: &Service, fault: &str) -> f64 {
    service.metric(&format!("wirelab_faults_total{{fault=\"{fault}\"}}"))
}

/// A connection on which Hello was called by hand.
fn call_by_hand(service: &Service, stack: &Value) -> TcpStream {
    let mut stream = service.connect();
    if stack["transport"] == "http/2" {
        stream.write_all(&frames::preface()).unwrap();
        stream.write_all(&frames::grpc_hello(1)).unwrap();
    } else {
        stream
            .write_all(b"GET /transfer/hello HTTP/1.1\r\nhost: x\r\n\r\n")
            .unwrap();
    }
    stream
}

const TEXT: &str = "Hello, wirelab";

/// Texts of nine calls of Hello on a service that has a fault every third call.
fn nine_calls(service: &Service) -> Vec<Result<String, String>> {
    block_on(async {
        let mut replies = Vec::new();
        for _ in 0..9 {
            replies.push(service.hello().await);
        }
        replies
    })
}

#[test]
fn wrong_content_has_one_letter_changed_in_every_nth_reply() {
    for stack in [rest("text"), rest("json"), rest2("json"), grpc()] {
        let service = start(&stack, json!({"wrong": {"every": 3, "what": "content"}}));
        for (number, text) in (1..).zip(nine_calls(&service)) {
            let text = text.unwrap();
            let changed = text
                .bytes()
                .zip(TEXT.bytes())
                .filter(|(a, b)| a != b)
                .count();
            assert_eq!(text.len(), TEXT.len());
            assert_eq!(
                changed,
                usize::from(number % 3 == 0),
                "call {number}, {stack}"
            );
        }
        assert_eq!(count_faults(&service, "wrong_content"), 3.0);
    }
}

#[test]
fn wrong_length_lacks_one_byte_in_every_nth_reply() {
    for stack in [rest("text"), rest("json"), rest2("text"), grpc()] {
        let service = start(&stack, json!({"wrong": {"every": 3, "what": "length"}}));
        for (number, text) in (1..).zip(nine_calls(&service)) {
            let lacking = usize::from(number % 3 == 0);
            assert_eq!(
                text.unwrap(),
                TEXT[..TEXT.len() - lacking],
                "call {number}, {stack}"
            );
        }
        assert_eq!(count_faults(&service, "wrong_length"), 3.0);
    }
}

#[test]
fn wrong_status_fails_every_nth_call() {
    for stack in [rest("text"), rest("json"), grpc()] {
        let service = start(&stack, json!({"wrong": {"every": 3, "what": "status"}}));
        for (number, text) in (1..).zip(nine_calls(&service)) {
            assert_eq!(text.is_ok(), number % 3 != 0, "call {number}, {stack}");
        }
        assert_eq!(count_faults(&service, "wrong_status"), 3.0);
        assert_eq!(
            service.metric("wirelab_errors_total{operation=\"Hello\"}"),
            0.0
        );
    }
    let service = start(&grpc(), json!({"wrong": {"every": 1, "what": "status"}}));
    let status = block_on(async { service.client().await.hello(HelloRequest {}).await });
    assert_eq!(status.unwrap_err().code(), Code::Unknown);
}

#[test]
fn wrong_trailers_lack_the_status() {
    let service = start(&grpc(), json!({"wrong": {"every": 2, "what": "trailers"}}));
    block_on(async {
        let mut http = service.http().await;
        for number in 1..=4 {
            let builder = Request::post("/wirelab.transfer.v1.Transfer/Hello")
                .header("content-type", "application/grpc");
            let reply = http
                .send(builder, Bytes::from_static(&[0; 5]))
                .await
                .unwrap();
            let status = reply
                .trailers
                .as_ref()
                .and_then(|fields| fields.get("grpc-status"));
            assert_eq!(status.is_none(), number % 2 == 0, "call {number}");
            assert!(reply.body.ends_with(TEXT.as_bytes()));
        }
    });
    assert_eq!(count_faults(&service, "wrong_trailers"), 2.0);
}

#[test]
fn every_operation_can_be_wrong() {
    let pattern = texts::pattern(1000);
    let submission = SubmitRequest {
        batch: "batch".to_owned(),
        records: Vec::new(),
    };
    let download = DownloadRequest {
        length: 1000,
        chunk_bytes: 300,
    };
    for (what, length) in [("content", 1000), ("length", 999)] {
        let service = start(&grpc(), json!({"wrong": {"every": 1, "what": what}}));
        block_on(async {
            let mut client = service.client().await;
            let reply = client
                .hello_bytes(HelloRequest {})
                .await
                .unwrap()
                .into_inner();
            assert_ne!(reply.text, TEXT.as_bytes());
            let reply = client
                .submit(submission.clone())
                .await
                .unwrap()
                .into_inner();
            assert_ne!(reply, model::submit(&submission).unwrap());
            let reply = client
                .upload(UploadRequest {
                    data: pattern.clone(),
                })
                .await
                .unwrap();
            assert_ne!(reply.into_inner(), model::upload(&pattern).unwrap());
            let mut chunks = client.download(download).await.unwrap().into_inner();
            let mut data = Vec::new();
            while let Some(chunk) = chunks.message().await.unwrap() {
                data.extend(chunk.data);
            }
            assert!(data.len() == length && data != pattern);
            let refused = client.submit(SubmitRequest::default()).await.unwrap_err();
            assert_ne!(refused.message(), "batch must not be empty");
        });
        assert_eq!(count_faults(&service, &format!("wrong_{what}")), 5.0);
    }
}

#[test]
fn the_thousandth_call_is_the_one_that_is_wrong() {
    let service = start(
        &rest("text"),
        json!({"wrong": {"every": 1000, "what": "content"}}),
    );
    let wrong: Vec<usize> = block_on(async {
        let mut http = service.http().await;
        let mut wrong = Vec::new();
        for number in 1..=2100 {
            if http.get("/transfer/hello").await.unwrap().body != TEXT {
                wrong.push(number);
            }
        }
        wrong
    });
    assert_eq!(wrong, [1000, 2000]);
}

#[test]
fn a_connection_closes_after_half_of_the_reply() {
    let faults = json!({"close_mid_reply": {"every": 2}});
    let service = start(&rest("text"), faults.clone());
    assert_eq!(block_on(service.hello()).unwrap(), TEXT);
    let mut reply = String::new();
    call_by_hand(&service, &rest("text"))
        .read_to_string(&mut reply)
        .unwrap();
    assert!(reply.contains("content-length: 14\r\n"), "{reply}");
    assert!(reply.ends_with("\r\n\r\nHello, "), "{reply}");

    let service = start(&grpc(), faults);
    for processors in [1, 2] {
        assert_eq!(block_on(service.hello()).unwrap(), TEXT);
        let mut bytes = Vec::new();
        call_by_hand(&service, &grpc())
            .read_to_end(&mut bytes)
            .unwrap();
        let found = frames(&bytes);
        assert!(
            found.iter().any(|frame| frame.kind == 1),
            "no HEADERS: {found:?}"
        );
        let data: usize = found
            .iter()
            .filter(|f| f.kind == 0)
            .map(|f| f.payload.len())
            .sum();
        // gRPC's prefix of 5 bytes, and tag and length of the field.
        assert_eq!(data, (5 + 2 + TEXT.len()) / 2, "{found:?}, {processors}");
        assert_eq!(
            count_faults(&service, "close_mid_reply"),
            f64::from(processors)
        );
    }
}

#[test]
fn half_of_a_large_reply_arrives_before_the_close() {
    for stack in [rest("text"), grpc()] {
        let store = json!({"hello_bytes": 3_000_000});
        let faults = json!({"close_mid_reply": {"every": 1}});
        let service = Service::start(&stack, json!({"store": store, "faults": faults}));
        assert!(block_on(service.hello()).is_err(), "{stack}");
        if stack["binding"] == "rest" {
            let mut bytes = Vec::new();
            call_by_hand(&service, &stack)
                .read_to_end(&mut bytes)
                .unwrap();
            let head = bytes
                .windows(4)
                .position(|four| four == b"\r\n\r\n")
                .unwrap()
                + 4;
            assert_eq!(bytes.len() - head, 1_500_000);
        }
    }
}

#[test]
fn a_connection_is_reset_instead_of_a_reply() {
    for stack in [rest("text"), grpc()] {
        let service = start(&stack, json!({"reset": {"every": 2}}));
        assert_eq!(block_on(service.hello()).unwrap(), TEXT);
        let mut stream = call_by_hand(&service, &stack);
        let mut bytes = Vec::new();
        let error = stream.read_to_end(&mut bytes).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{stack}");
        assert!(
            !frames(&bytes).iter().any(|frame| frame.kind < 2),
            "{bytes:?}"
        );
        assert_eq!(block_on(service.hello()).unwrap(), TEXT);
        assert!(block_on(service.hello()).is_err());
        assert_eq!(count_faults(&service, "reset"), 2.0);
    }
}

#[test]
fn garbage_comes_instead_of_a_reply() {
    for stack in [rest("text"), grpc()] {
        let service = start(&stack, json!({"garbage": {"every": 2}}));
        assert_eq!(block_on(service.hello()).unwrap(), TEXT);
        let mut bytes = Vec::new();
        let mut stream = call_by_hand(&service, &stack);
        // The close that follows may find unread bytes and become a reset.
        if let Err(error) = stream.read_to_end(&mut bytes) {
            assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        }
        assert!(bytes.len() >= 4096, "{} bytes", bytes.len());
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("HTTP/1.1") && !text.contains(TEXT));
        assert_eq!(block_on(service.hello()).unwrap(), TEXT);
        assert!(block_on(service.hello()).is_err());
        assert_eq!(count_faults(&service, "garbage"), 2.0);
    }
}

#[test]
fn a_call_hangs_while_others_are_answered() {
    for stack in [rest("text"), rest2("text"), grpc()] {
        let service = start(&stack, json!({"hang": {"every": 2}}));
        assert_eq!(block_on(service.hello()).unwrap(), TEXT);
        block_on(async {
            let mut hanging = std::pin::pin!(service.hello());
            let limit = Duration::from_millis(200);
            assert!(tokio::time::timeout(limit, &mut hanging).await.is_err());
            assert_eq!(service.hello().await.unwrap(), TEXT);
            assert_eq!(service.metric("wirelab_calls_in_flight"), 1.0);
        });
        // The caller gave up, and the service notices.
        service.wait_for_metric("wirelab_calls_in_flight", 0.0);
        assert_eq!(count_faults(&service, "hang"), 1.0);
    }
}

#[test]
fn an_endless_reply_begins_and_does_not_end() {
    for stack in [rest("text"), rest("json"), rest2("text"), grpc()] {
        let service = start(&stack, json!({"endless": {"every": 1}}));
        let limit = Duration::from_millis(1000);
        let reply = block_on(async { tokio::time::timeout(limit, service.hello()).await });
        assert!(reply.is_err(), "{stack}: {reply:?}");
        assert_eq!(count_faults(&service, "endless"), 1.0);
    }
    let service = start(&rest("text"), json!({"endless": {"every": 1}}));
    let mut stream = call_by_hand(&service, &rest("text"));
    let mut bytes = vec![0; 5000];
    stream.read_exact(&mut bytes).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    assert!(
        text.contains(TEXT) && !text.contains("content-length"),
        "{text}"
    );

    let service = start(&grpc(), json!({"endless": {"every": 1}}));
    let mut stream = call_by_hand(&service, &grpc());
    stream
        .set_read_timeout(Some(Duration::from_millis(1000)))
        .unwrap();
    let mut bytes = Vec::new();
    let kind = stream.read_to_end(&mut bytes).unwrap_err().kind();
    assert_eq!(kind, ErrorKind::WouldBlock);
    let found = frames(&bytes);
    let message = found.iter().find(|frame| frame.kind == 0).expect("DATA");
    assert!(message.payload.ends_with(TEXT.as_bytes()));
    assert!(
        found
            .iter()
            .all(|frame| frame.kind > 1 || frame.flags & 1 == 0),
        "END_STREAM"
    );
}

#[test]
fn the_process_exits_at_the_call_that_was_named() {
    for stack in [rest("json"), grpc()] {
        let mut service = start(&stack, json!({"exit_at_call": 3}));
        assert_eq!(block_on(service.hello()).unwrap(), TEXT);
        assert_eq!(block_on(service.hello()).unwrap(), TEXT);
        assert!(block_on(service.hello()).is_err());
        let status = service
            .process
            .wait(Duration::from_secs(10))
            .expect("it ends");
        assert_eq!(status.code(), Some(70), "{stack}");
    }
}

#[test]
#[ignore = "judges times: make test-rust-alone"]
fn a_freeze_stops_every_connection() {
    for (stack, processors) in [(rest("text"), 1), (rest("text"), 2), (grpc(), 2)] {
        let faults = json!({"freeze": {"at_call": 2, "ms": 400}});
        let service = Service::start(&stack, json!({"processors": processors, "faults": faults}));
        assert_eq!(block_on(service.hello()).unwrap(), TEXT);
        let start = Instant::now();
        std::thread::scope(|scope| {
            let frozen = scope.spawn(|| block_on(service.hello()));
            std::thread::sleep(Duration::from_millis(100));
            for _ in 0..2 {
                // These arrive in mid-freeze and wait for its end.
                assert_eq!(block_on(service.hello()).unwrap(), TEXT);
            }
            let waited = start.elapsed();
            assert!(waited >= Duration::from_millis(400), "{waited:?}, {stack}");
            // Room for a loaded machine, yet less than two freezes.
            assert!(waited < Duration::from_millis(700), "{waited:?}, {stack}");
            assert_eq!(frozen.join().unwrap().unwrap(), TEXT);
        });
        let start = Instant::now();
        assert_eq!(block_on(service.hello()).unwrap(), TEXT);
        assert!(
            start.elapsed() < Duration::from_millis(200),
            "it froze again"
        );
        assert_eq!(count_faults(&service, "freeze"), 1.0);
    }
}

#[test]
#[ignore = "judges times: make test-rust-alone"]
fn long_delays_pass_side_by_side() {
    for stack in [rest("text"), grpc()] {
        let service = start(&stack, json!({"delay_us": 100_000}));
        let waited = block_on(async {
            let calls: Vec<_> = (0..50).map(|_| service.hello()).collect();
            let start = Instant::now();
            for reply in futures_util::future::join_all(calls).await {
                assert_eq!(reply.unwrap(), TEXT);
            }
            start.elapsed()
        });
        assert!(
            waited < Duration::from_millis(1000),
            // One after the other they would take 5 s.
            "50 x 100 ms took {waited:?}"
        );
    }
}

#[test]
fn the_text_check_slows_hello_and_nothing_else() {
    for stack in [rest("json"), grpc()] {
        let faults = json!({"text_check_ns_per_kb": 20_000});
        let store = json!({"hello_bytes": 5_000_000});
        let service = Service::start(&stack, json!({"store": store, "faults": faults}));
        let spent = || service.metric("wirelab_call_seconds_total");
        block_on(service.hello()).unwrap();
        let hello = spent();
        assert!(hello >= 0.1, "{hello} s for 5,000 kB at 20 us each");
        block_on(async {
            if stack["binding"] == "rest" {
                service
                    .http()
                    .await
                    .get("/transfer/hello-bytes")
                    .await
                    .unwrap();
            } else {
                service
                    .client()
                    .await
                    .hello_bytes(HelloRequest {})
                    .await
                    .unwrap();
            }
        });
        let hello_bytes = spent() - hello;
        assert_eq!(
            service.metric("wirelab_calls_total{operation=\"HelloBytes\"}"),
            1.0
        );
        assert!(
            stack["binding"] == "rest" || hello_bytes < 0.1,
            "{hello_bytes} s for HelloBytes"
        );
    }
}
