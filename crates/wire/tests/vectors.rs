//! The validation of replies against the golden vectors.

use prost::Message;
use serde_json::Value;
use wirelab_contract::transfer::{
    DownloadRequest, HelloBytesReply, HelloReply, SubmitReply, SubmitRequest, UploadReply,
    UploadRequest,
};
use wirelab_contract::{Call, Operation, Reply, texts};
use wirelab_wire::codec::{Codec, Expected, Mismatch, supports};

fn messages() -> Value {
    serde_json::from_str(include_str!("../../../contracts/vectors/messages.json")).unwrap()
}

fn operations() -> Vec<Value> {
    serde_json::from_str(include_str!("../../../contracts/vectors/operations.json")).unwrap()
}

fn unhex(hex: &str) -> Vec<u8> {
    (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
        .collect()
}

/// The reply that a vector holds, if its message is one.
fn reply_of(vector: &Value) -> Option<(Operation, Reply)> {
    let bytes = unhex(vector["protobuf"].as_str().unwrap());
    let reply = match vector["message"].as_str().unwrap() {
        "HelloReply" => Reply::Hello(HelloReply::decode(&bytes[..]).unwrap()),
        "HelloBytesReply" => Reply::HelloBytes(HelloBytesReply::decode(&bytes[..]).unwrap()),
        "SubmitReply" => Reply::Submit(SubmitReply::decode(&bytes[..]).unwrap()),
        "UploadReply" => Reply::Upload(UploadReply::decode(&bytes[..]).unwrap()),
        _ => return None,
    };
    let operation = match reply {
        Reply::Hello(_) => Operation::Hello,
        Reply::HelloBytes(_) => Operation::HelloBytes,
        Reply::Submit(_) => Operation::Submit,
        _ => Operation::Upload,
    };
    Some((operation, reply))
}

/// A vector's encodings, the plain one first.
fn encodings(vector: &Value, codec: Codec) -> Vec<Vec<u8>> {
    let (plain, variants) = match codec {
        Codec::Json => (&vector["json"], &vector["json_variants"]),
        _ => (&vector["protobuf"], &vector["protobuf_variants"]),
    };
    let texts = std::iter::once(plain).chain(variants.as_array().unwrap());
    let texts = texts.map(|text| text.as_str().unwrap());
    match codec {
        Codec::Json => texts.map(|text| text.as_bytes().to_vec()).collect(),
        _ => texts.map(unhex).collect(),
    }
}

#[test]
fn validation_accepts_every_encoding_of_its_reply_and_of_no_other() {
    let messages = messages();
    let vectors = messages["accepted"].as_array().unwrap();
    let mut validated = 0;
    for codec in [Codec::Json, Codec::Protobuf] {
        for (k, vector) in vectors.iter().enumerate() {
            let Some((operation, reply)) = reply_of(vector) else {
                continue;
            };
            let expected = Expected::of_response(codec, operation, Ok(reply)).unwrap();
            for (other_k, other) in vectors.iter().enumerate() {
                // Another message may have the same bytes: protobuf has no names.
                if other["message"] != vector["message"] {
                    continue;
                }
                for body in encodings(other, codec) {
                    let accepted = expected.check(&body).is_ok();
                    assert_eq!(
                        accepted,
                        k == other_k,
                        "{} by {vector}",
                        body.escape_ascii()
                    );
                    validated += 1;
                }
            }
        }
    }
    // Empty vector files would pass without it.
    assert!(validated > 200, "only {validated} validations");
}

#[test]
fn validation_refuses_messages_of_another_kind() {
    let messages = messages();
    let expected = |operation, reply| Expected::of_response(Codec::Protobuf, operation, Ok(reply));
    let mut validated = 0;
    for vector in messages["refused_protobuf"].as_array().unwrap() {
        let expected = match vector["message"].as_str().unwrap() {
            "HelloReply" => expected(Operation::Hello, Reply::Hello(HelloReply::default())),
            "UploadReply" => expected(Operation::Upload, Reply::Upload(UploadReply::default())),
            // Requests are read by services.
            _ => continue,
        };
        let error = expected
            .unwrap()
            .check(&unhex(vector["input"].as_str().unwrap()))
            .unwrap_err();
        assert!(
            matches!(error, Mismatch::Malformed { .. }),
            "{vector}: {error}"
        );
        validated += 1;
    }
    assert_eq!(validated, 3);
}

fn call_of(vector: &Value) -> Call {
    let request = vector["request"].to_string();
    match vector["operation"].as_str().unwrap() {
        "Submit" => {
            let mut request: SubmitRequest = serde_json::from_str(&request).unwrap();
            if let Some(times) = vector["records_repeated"].as_u64() {
                request.records = vec![request.records[0].clone(); times as usize];
            }
            Call::Submit(request)
        }
        "Upload" => {
            let mut request: UploadRequest = serde_json::from_str(&request).unwrap();
            if let Some(bytes) = vector["data_pattern_bytes"].as_u64() {
                request.data = texts::pattern(bytes as usize);
            }
            Call::Upload(request)
        }
        _ => Call::Download(serde_json::from_str::<DownloadRequest>(&request).unwrap()),
    }
}

#[test]
fn operations_are_answered_as_the_vectors_say() {
    for vector in operations() {
        let call = call_of(&vector);
        let codec = if supports(Codec::Json, call.operation()) {
            Codec::Json
        } else {
            Codec::Protobuf
        };
        let expected = Expected::of(codec, &call).unwrap();
        if let Some(text) = vector["error"].as_str() {
            assert_eq!(expected.application_error().unwrap().to_string(), text);
        } else if codec == Codec::Json {
            assert_eq!(
                expected.check(vector["reply"].to_string().as_bytes()),
                Ok(()),
                "{vector}"
            );
        } else {
            let chunks = vector["reply"]["chunks"].as_u64().unwrap();
            assert_eq!(expected.messages() as u64, chunks, "{vector}");
        }
    }
}
