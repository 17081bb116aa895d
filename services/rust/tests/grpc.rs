//! `grpc@rust` against the contract, by tonic's client.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures_util::stream;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tonic::codec::CompressionEncoding;
use tonic::{Code, Status};
use wirelab_contract::texts;
use wirelab_contract::transfer::{
    DownloadRequest, HelloRequest, SubmitRequest, UploadChunk, UploadRequest,
};

use crate::harness::{Client, Service, block_on, grpc};

fn vectors() -> Vec<Value> {
    let text = include_str!("../../../contracts/vectors/operations.json");
    serde_json::from_str(text).expect("the vectors are JSON")
}

/// The data of an upload's vector.
fn data(vector: &Value) -> Vec<u8> {
    match vector["data_pattern_bytes"].as_u64() {
        Some(bytes) => texts::pattern(bytes as usize),
        None => STANDARD
            .decode(vector["request"]["data"].as_str().unwrap())
            .unwrap(),
    }
}

fn submission(vector: &Value) -> SubmitRequest {
    let mut request: SubmitRequest = serde_json::from_value(vector["request"].clone()).unwrap();
    if let Some(times) = vector["records_repeated"].as_u64() {
        request.records = vec![request.records[0].clone(); times as usize];
    }
    request
}

fn chunks(data: &[u8], chunk_bytes: usize) -> Vec<UploadChunk> {
    data.chunks(chunk_bytes)
        .map(|data| UploadChunk {
            data: data.to_vec(),
        })
        .collect()
}

/// A download as the vectors tell it: chunks, the last one's length, digest.
async fn download(client: &mut Client, request: DownloadRequest) -> Result<Value, Status> {
    let mut stream = client.download(request).await?.into_inner();
    let (mut digest, mut count, mut last) = (Sha256::new(), 0, 0);
    while let Some(chunk) = stream.message().await? {
        digest.update(&chunk.data);
        count += 1;
        last = chunk.data.len();
    }
    let sha256: String = digest
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    Ok(json!({"chunks": count, "last_chunk_bytes": last, "sha256": sha256}))
}

async fn answer(client: &mut Client, vector: &Value) -> Result<Value, Status> {
    let value = |reply| Ok(serde_json::to_value(reply).unwrap());
    match vector["operation"].as_str().unwrap() {
        "Submit" => {
            let reply = client.submit(submission(vector)).await?.into_inner();
            Ok(serde_json::to_value(reply).unwrap())
        }
        "Upload" => {
            let whole = client.upload(UploadRequest { data: data(vector) }).await;
            let parts = client
                // Both ways of uploading must agree, errors included.
                .upload_stream(stream::iter(chunks(&data(vector), 70_000)))
                .await;
            match (whole, parts) {
                (Ok(whole), Ok(parts)) => {
                    assert_eq!(whole.get_ref(), parts.get_ref(), "{}", vector["name"]);
                    value(whole.into_inner())
                }
                (Err(whole), Err(parts)) => {
                    assert_eq!(whole.message(), parts.message(), "{}", vector["name"]);
                    Err(whole)
                }
                (whole, parts) => panic!("{}: {whole:?} but {parts:?}", vector["name"]),
            }
        }
        _ => {
            let request: DownloadRequest =
                serde_json::from_value(vector["request"].clone()).unwrap();
            download(client, request).await
        }
    }
}

#[test]
fn every_vector_is_answered_as_the_contract_demands() {
    let service = Service::start(&grpc(), json!({"processors": 2}));
    block_on(async {
        let mut client = service.client().await;
        for vector in vectors() {
            let name = &vector["name"];
            match (answer(&mut client, &vector).await, vector["error"].as_str()) {
                (Ok(reply), None) => assert_eq!(reply, vector["reply"], "{name}"),
                (Err(status), Some(error)) => {
                    assert_eq!(
                        (status.code(), status.message()),
                        (Code::InvalidArgument, error),
                        "{name}"
                    );
                }
                (found, _) => panic!("{name}: {found:?}"),
            }
        }
    });
    let refused = vectors()
        .iter()
        .filter(|vector| vector["operation"] == "Download" && vector["error"].is_string())
        .count();
    assert_eq!(
        service.metric("wirelab_errors_total{operation=\"Download\"}"),
        refused as f64
    );
}

#[test]
fn hello_answers_its_text_in_every_size() {
    for bytes in [0, 1, 14, 150_000, 3_000_000] {
        let service = Service::start(&grpc(), json!({"store": {"hello_bytes": bytes}}));
        block_on(async {
            let mut client = service.client().await;
            let text = texts::text(bytes);
            assert!(
                client
                    .hello(HelloRequest {})
                    .await
                    .unwrap()
                    .into_inner()
                    .text
                    == text
            );
            let reply = client
                .hello_bytes(HelloRequest {})
                .await
                .unwrap()
                .into_inner();
            assert!(reply.text == text.as_bytes());
        });
    }
}

#[test]
fn calls_share_one_connection() {
    let service = Service::start(&grpc(), json!({}));
    block_on(async {
        let client = service.client().await;
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..100 {
            let mut client = client.clone();
            calls.spawn(async move {
                client
                    .hello(HelloRequest {})
                    .await
                    .unwrap()
                    .into_inner()
                    .text
            });
        }
        while let Some(text) = calls.join_next().await {
            assert_eq!(text.unwrap(), "Hello, wirelab");
        }
    });
    assert_eq!(service.metric("wirelab_connections_total"), 1.0);
    assert_eq!(
        service.metric("wirelab_calls_total{operation=\"Hello\"}"),
        100.0
    );
}

#[test]
fn gzip_goes_both_ways_where_it_is_configured() {
    let mut stack = grpc();
    stack["compression"] = "gzip".into();
    let packed = Service::start(&stack, json!({"store": {"hello_bytes": 10_000}}));
    let plain = Service::start(&grpc(), json!({}));
    block_on(async {
        let gzip = CompressionEncoding::Gzip;
        let mut client = packed
            .client()
            .await
            .send_compressed(gzip)
            .accept_compressed(gzip);
        let reply = client.hello(HelloRequest {}).await.unwrap();
        assert_eq!(reply.metadata().get("grpc-encoding").unwrap(), "gzip");
        assert_eq!(reply.into_inner().text, texts::text(10_000));
        let request = SubmitRequest {
            batch: "b".repeat(1000),
            records: Vec::new(),
        };
        assert_eq!(
            client
                .submit(request)
                .await
                .unwrap()
                .into_inner()
                .batch
                .len(),
            1000
        );

        let mut client = plain
            .client()
            .await
            .send_compressed(gzip)
            .accept_compressed(gzip);
        let refused = client.hello(HelloRequest {}).await.unwrap_err();
        assert_eq!(refused.code(), Code::Unimplemented);
        let reply = plain
            .client()
            .await
            .accept_compressed(gzip)
            .hello(HelloRequest {})
            .await;
        assert!(reply.unwrap().metadata().get("grpc-encoding").is_none());
    });
}

#[test]
fn what_is_not_served_is_unimplemented_and_no_call() {
    let service = Service::start(&grpc(), json!({}));
    block_on(async {
        let mut http = service.http().await;
        for path in [
            "/wirelab.transfer.v1.Transfer/Nothing",
            "/other.Service/Hello",
            "/",
        ] {
            let builder =
                axum::http::Request::post(path).header("content-type", "application/grpc");
            let reply = http.send(builder, vec![0; 5].into()).await.unwrap();
            assert_eq!(reply.header("grpc-status"), Some("12"), "{path}");
        }
    });
    assert!(!service.metrics().contains("Nothing"));
    assert_eq!(service.metric("wirelab_call_seconds_total"), 0.0);
}
