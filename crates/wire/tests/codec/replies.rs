//! Replies are validated by their content, not by their encoding, and no
//! change of their content goes unnoticed.

use proptest::prelude::*;
use prost::Message;
use serde::de::DeserializeOwned;
use wirelab_contract::transfer::{
    DownloadChunk, DownloadRequest, HelloBytesReply, HelloReply, Record, SubmitReply,
    SubmitRequest, UploadReply, UploadRequest,
};
use wirelab_contract::{ApplicationError, Call, MessageVisitor, Operation, Reply, model, workload};
use wirelab_wire::codec::{Codec, Expected, MessageFormat, Mismatch, supports};

fn submit_call() -> Call {
    let mut request = workload::submit_request(300, 5).unwrap();
    request.records.push(Record {
        id: i64::MIN,
        ..Record::default()
    });
    Call::Submit(request)
}

fn calls() -> Vec<Call> {
    vec![
        Call::Hello { hello_bytes: 0 },
        Call::Hello { hello_bytes: 14 },
        Call::Hello { hello_bytes: 333 },
        Call::HelloBytes { hello_bytes: 14 },
        Call::HelloBytes {
            hello_bytes: 10_001,
        },
        submit_call(),
        Call::Upload(UploadRequest {
            data: vec![1, 2, 3],
        }),
        Call::UploadStream {
            data: vec![1, 2, 3],
            chunk_bytes: 2,
        },
    ]
}

fn json_of(reply: &Reply) -> String {
    String::from_utf8(write(Codec::Json, reply)).unwrap()
}

fn protobuf_of(reply: &Reply) -> Vec<u8> {
    write(Codec::Protobuf, reply)
}

fn write(codec: Codec, reply: &Reply) -> Vec<u8> {
    reply.visit(Write(codec)).expect("one message")
}

/// Writes without the code under test.
struct Write(Codec);

impl MessageVisitor for Write {
    type Output = Vec<u8>;

    fn visit<M: wirelab_contract::Message>(self, message: &M) -> Vec<u8> {
        match self.0 {
            Codec::Json => serde_json::to_vec(message).unwrap(),
            _ => message.encode_to_vec(),
        }
    }
}

#[test]
fn what_a_conforming_writer_writes_is_accepted() {
    for call in calls() {
        let reply = call.answer().unwrap();
        let protobuf = Expected::of(Codec::Protobuf, &call).unwrap();
        assert_eq!(protobuf.messages(), 1);
        protobuf.check(&protobuf_of(&reply)).unwrap();
        if supports(Codec::Json, call.operation()) {
            Expected::of(Codec::Json, &call)
                .unwrap()
                .check(json_of(&reply).as_bytes())
                .unwrap();
        }
        if let Reply::Hello(reply) = reply {
            Expected::of(Codec::Text, &call)
                .unwrap()
                .check(reply.text.as_bytes())
                .unwrap();
        }
    }
}

#[test]
fn json_may_be_ordered_spaced_and_escaped_otherwise() {
    let request = SubmitRequest {
        batch: "ü/\"🔩".into(),
        records: vec![Record {
            id: i64::MAX,
            ..Record::default()
        }],
    };
    let expected = Expected::of(Codec::Json, &Call::Submit(request)).unwrap();
    // No double holds 1e400, but it is JSON and only passed over here.
    let body = r#" {
        "more": [{"x": null}, 1e400, "\u0000"], "refused": [ {"reason": "quantity must b\u0065 positive",
        "z": 1, "id": 9223372036854775807} ],
        "batch": "\u00fc\/\"\ud83d\udd29" }
    "#;
    assert_eq!(expected.check(body.as_bytes()), Ok(()));
}

#[test]
fn protobuf_may_be_ordered_otherwise_and_hold_unknown_fields() {
    let call = submit_call();
    let Ok(Reply::Submit(reply)) = call.answer() else {
        panic!("a batch is accepted")
    };
    let expected = Expected::of(Codec::Protobuf, &call).unwrap();
    let only = |part: SubmitReply| part.encode_to_vec();
    let refused = only(SubmitReply {
        refused: reply.refused.clone(),
        ..Default::default()
    });
    let batch = only(SubmitReply {
        batch: reply.batch.clone(),
        ..Default::default()
    });
    // Comes first in the body, so that the later values must win.
    let overruled = only(SubmitReply {
        batch: "earlier".into(),
        accepted: 9,
        ..Default::default()
    });
    let total = only(SubmitReply {
        quantity_total: reply.quantity_total,
        ..Default::default()
    });
    // Field 2 with the number written in ten bytes, as for negative values.
    let accepted = vec![
        0x10,
        0x80 | reply.accepted as u8,
        0x80,
        0x80,
        0x80,
        0x80,
        0x80,
        0x80,
        0x80,
        0x80,
        0,
    ];
    // Fields 15 (varint), 16 (64 bits), 17 (bytes), 18 (32 bits).
    let unknown = b"\x78\x05\x81\x01abcdefgh\x8A\x01\x02\xFF\xFE\x95\x01wxyz".to_vec();
    let body = [overruled, unknown, total, refused, accepted, batch].concat();
    assert_eq!(SubmitReply::decode(&body[..]).unwrap(), reply);
    assert_eq!(expected.check(&body), Ok(()));
}

#[test]
fn malformed_protobuf_is_refused_with_its_place() {
    let expected = Expected::of(Codec::Protobuf, &submit_call()).unwrap();
    for (body, why) in [
        (&b"\x0A"[..], "a varint without an end"),
        (b"\x0A\x05ab", "longer than its message"),
        (
            b"\x10\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02",
            "more than 64 bits",
        ),
        (
            b"\x10\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01",
            "more than 64 bits",
        ),
        (b"\x0B\x0C", "a group"),
        (b"\x0C", "a group"),
        (b"\x0E", "wire type"),
        (b"\x02\x00", "field numbers"),
        (b"\x08\x01", "another wire type"),
        (b"\x12\x01a", "another wire type"),
        (b"\x0A\x02\xC3\x28", "UTF-8"),
        (b"\x22\x03\x12\x01\xFF", "UTF-8"),
        (b"\x22\x03\x12\x02\x61", "longer than its message"),
        (b"\x81\x01short", "longer than its message"),
    ] {
        let error = expected.check(body).unwrap_err();
        assert!(matches!(&error, Mismatch::Malformed { .. }), "{error}");
        assert!(error.to_string().contains(why), "{body:?}: {error}");
    }
}

#[test]
fn malformed_json_is_refused_with_its_place() {
    let expected = Expected::of(Codec::Json, &submit_call()).unwrap();
    for body in [
        "",
        "null",
        "[]",
        "{",
        "{}x",
        r#"["b",1,2,[]]"#,
        r#"{"refused":[[1,"x"]]}"#,
        r#"{"refused":null}"#,
        r#"{"accepted":1.0}"#,
        r#"{"accepted":"1"}"#,
        r#"{"quantity_total":9223372036854775808}"#,
        // RFC 8259 section 4 leaves equal names open; taking one of two values in silence
        // would hide a fault.
        r#"{"batch":"a","batch":"a"}"#,
        r#"{"batch":"\ud83d"}"#,
        "{\"batch\":\"\n\"}",
        "{'batch':''}",
        // RFC 8259 section 8.1: a JSON text has no byte order mark.
        "\u{FEFF}{}",
    ] {
        let error = expected.check(body.as_bytes()).unwrap_err();
        assert!(
            matches!(&error, Mismatch::Malformed { .. }),
            "{body}: {error}"
        );
    }
    let error = expected.check(b"{\n\n  \"accepted\": x}").unwrap_err();
    assert!(
        matches!(error, Mismatch::Malformed { offset: 17, .. }),
        "{error}"
    );
    for body in [&b"{\"batch\":\"\xFF\"}"[..], b"{\"other\":\"\xC0\x80\"}"] {
        let error = expected.check(body).unwrap_err();
        assert!(
            matches!(error, Mismatch::Malformed { offset: 10, .. }),
            "{error}"
        );
    }
    // A recursive parser without a bound would exhaust the stack here.
    let deep = "[".repeat(100_000);
    assert!(
        expected
            .check(format!("{{\"x\":{deep}").as_bytes())
            .is_err()
    );
}

#[test]
fn base64_must_be_padded_at_its_end_and_nowhere_else() {
    let call = Call::HelloBytes { hello_bytes: 9_001 };
    let Ok(Reply::HelloBytes(reply)) = call.answer() else {
        panic!("a text is answered")
    };
    let expected = Expected::of(Codec::Json, &call).unwrap();
    let json = serde_json::to_string(&reply).unwrap();
    assert!(json.ends_with("=\"}"));
    assert_eq!(expected.check(json.replace('/', "\\/").as_bytes()), Ok(()));
    for (from, to) in [("=\"}", "\"}"), ("=\"}", "==\"}"), ("=\"}", "=AAAA\"}")] {
        assert!(expected.check(json.replace(from, to).as_bytes()).is_err());
    }
    // A writer that encodes pieces by themselves pads in the middle.
    let pieces = |bytes: &[u8]| {
        let json = serde_json::to_string(&HelloBytesReply {
            text: bytes.to_vec(),
        })
        .unwrap();
        json[9..json.len() - 2].to_owned()
    };
    let (front, back) = reply.text.split_at(4096 / 4 * 3 - 1);
    let padded = format!("{{\"text\":\"{}{}\"}}", pieces(front), pieces(back));
    let error = expected.check(padded.as_bytes()).unwrap_err();
    assert!(
        error.to_string().contains("padding before the end"),
        "{error}"
    );
}

#[test]
fn lengths_that_differ_by_one_are_found() {
    for bytes in [1, 13, 15, 3071, 3072, 3073, 6144, 20_000] {
        for call in [
            Call::Hello { hello_bytes: bytes },
            Call::HelloBytes { hello_bytes: bytes },
        ] {
            for codec in [Codec::Json, Codec::Protobuf] {
                let expected = Expected::of(codec, &call).unwrap();
                for other in [bytes - 1, bytes + 1] {
                    let Ok(Reply::Hello(reply)) = (Call::Hello { hello_bytes: other }).answer()
                    else {
                        panic!("a text is answered")
                    };
                    let reply = if call.operation() == Operation::Hello {
                        Reply::Hello(reply)
                    } else {
                        Reply::HelloBytes(HelloBytesReply {
                            text: reply.text.into_bytes(),
                        })
                    };
                    let body = match codec {
                        Codec::Json => json_of(&reply).into_bytes(),
                        _ => protobuf_of(&reply),
                    };
                    let error = expected.check(&body).unwrap_err();
                    assert!(matches!(error, Mismatch::Differs { .. }), "{error}");
                }
            }
        }
    }
}

/// Changes every byte of `body` to every other value and asks whether the
/// verdict is that of an independent decoder.
fn assert_mutants_die(expected: &Expected, body: &[u8], is_equivalent: impl Fn(&[u8]) -> bool) {
    assert!(is_equivalent(body));
    let mut mutant = body.to_vec();
    let mut survivors = 0;
    for at in 0..body.len() {
        for value in 0..=u8::MAX {
            mutant[at] = value;
            let accepted = expected.check(&mutant).is_ok();
            assert_eq!(accepted, is_equivalent(&mutant), "byte {at} = {value:#04x}");
            survivors += usize::from(accepted && value != body[at]);
        }
        mutant[at] = body[at];
    }
    // What survives has the same content: an unknown name for a zero, an escape, a space.
    let mutants = body.len() * 255;
    assert!(survivors * 4 <= mutants, "{survivors} of {mutants} survive");
}

fn assert_message_mutants_die<M>(call: &Call, reply: &M)
where
    M: Message + Default + PartialEq + DeserializeOwned + serde::Serialize,
{
    let expected = Expected::of(Codec::Protobuf, call).unwrap();
    let body = reply.encode_to_vec();
    assert_mutants_die(&expected, &body, |mutant| {
        M::decode(mutant).is_ok_and(|found| found == *reply)
    });
    if supports(Codec::Json, call.operation()) {
        let expected = Expected::of(Codec::Json, call).unwrap();
        let body = serde_json::to_vec(reply).unwrap();
        assert_mutants_die(&expected, &body, |mutant| {
            std::str::from_utf8(mutant).is_ok_and(|text| {
                serde_json::from_str::<M>(text).is_ok_and(|found| found == *reply)
            })
        });
    }
}

#[test]
fn every_change_of_one_byte_is_validated_as_by_prost_and_serde() {
    for call in calls() {
        match call.answer().unwrap() {
            // 10,001 bytes x 256 values would take minutes unoptimised.
            Reply::HelloBytes(reply) if reply.text.len() > 100 => {}
            Reply::Hello(reply) => assert_message_mutants_die::<HelloReply>(&call, &reply),
            Reply::HelloBytes(reply) => assert_message_mutants_die(&call, &reply),
            Reply::Submit(reply) => assert_message_mutants_die::<SubmitReply>(&call, &reply),
            Reply::Upload(reply) => assert_message_mutants_die::<UploadReply>(&call, &reply),
            _ => unreachable!("not among the calls"),
        }
    }
}

#[test]
fn every_changed_byte_of_a_text_is_found() {
    let expected = Expected::of(Codec::Text, &Call::Hello { hello_bytes: 333 }).unwrap();
    let text = model::hello(333).text.into_bytes();
    for at in 0..text.len() {
        let mut mutant = text.clone();
        for bit in 0..8 {
            mutant[at] = text[at] ^ (1 << bit);
            assert!(expected.check(&mutant).is_err());
        }
    }
    assert!(expected.check(&text[..332]).is_err());
    assert!(expected.check(&[&text[..], b"\n"].concat()).is_err());
    let error = expected.check(&[&text[..5], b"\xFF"].concat()).unwrap_err();
    assert!(
        matches!(error, Mismatch::Malformed { offset: 5, .. }),
        "{error}"
    );
}

#[test]
fn a_download_is_validated_chunk_by_chunk() {
    let call = Call::Download(DownloadRequest {
        length: 10,
        chunk_bytes: 4,
    });
    let expected = Expected::of(Codec::Protobuf, &call).unwrap();
    assert_eq!(expected.messages(), 3);
    let Ok(Reply::Download(chunks)) = call.answer() else {
        panic!("within the limits")
    };
    let chunks: Vec<_> = chunks.map(|chunk| chunk.encode_to_vec()).collect();
    for (index, chunk) in chunks.iter().enumerate() {
        assert_eq!(expected.check_message(index, chunk), Ok(()));
        assert!(expected.check_message((index + 1) % 3, chunk).is_err());
    }
    let surplus = Mismatch::Surplus {
        index: 3,
        messages: 3,
    };
    assert_eq!(
        expected.check_message(3, &DownloadChunk::default().encode_to_vec()),
        Err(surplus)
    );
    let nothing = Call::Download(DownloadRequest {
        length: 0,
        chunk_bytes: 4,
    });
    assert_eq!(
        Expected::of(Codec::Protobuf, &nothing).unwrap().messages(),
        0
    );
}

#[test]
fn application_errors_are_validated_by_their_texts() {
    let call = Call::Submit(SubmitRequest::default());
    let json = Expected::of(Codec::Json, &call).unwrap();
    assert_eq!(
        json.check(br#"{"error":"batch must not be empty"}"#),
        Ok(())
    );
    assert!(
        json.check(br#"{"error":"batch must not be empty."}"#)
            .is_err()
    );
    assert!(json.check(br#"{"batch":""}"#).is_err());
    let protobuf = Expected::of(Codec::Protobuf, &call).unwrap();
    assert_eq!(
        protobuf.application_error(),
        Some(ApplicationError::EmptyBatch)
    );
    assert_eq!(protobuf.messages(), 0);
    assert!(protobuf.check(b"").is_err());
}

#[test]
fn a_mismatch_is_short_for_any_input() {
    let expected = Expected::of(Codec::Json, &submit_call()).unwrap();
    let huge = "\u{7F}ü".repeat(1 << 20);
    for body in [
        format!(r#"{{"batch":"{huge}"}}"#),
        format!(r#"{{"accepted":"{huge}"}}"#),
        format!(r#"{{"refused":"{huge}"}}"#),
        huge.clone(),
    ] {
        let error = expected.check(body.as_bytes()).unwrap_err().to_string();
        assert!(error.len() < 500, "{} bytes", error.len());
    }
}

#[test]
fn a_mismatch_names_the_field_and_the_place() {
    let call = submit_call();
    let Ok(Reply::Submit(mut reply)) = call.answer() else {
        panic!("a batch is accepted")
    };
    let expected = Expected::of(Codec::Protobuf, &call).unwrap();
    let last = reply.refused.len() - 1;
    reply.refused[last].reason.replace_range(9..10, "M");
    let error = expected
        .check(&reply.encode_to_vec())
        .unwrap_err()
        .to_string();
    let start = format!("refused[{last}].reason: expected \"must be positive\", found \"Must");
    assert!(error.starts_with(&start), "{error}");
}

#[test]
fn a_codec_refuses_what_it_has_no_form_for() {
    let call = Call::Download(DownloadRequest::default());
    let message = MessageFormat::from(Codec::Json)
        .encode(&call)
        .unwrap_err()
        .to_string();
    assert_eq!(
        message,
        "codec json has no form for Download; use codec=protobuf"
    );
    assert!(Expected::of(Codec::Text, &submit_call()).is_err());
    assert!(
        MessageFormat::from(Codec::Text)
            .encode(&submit_call())
            .is_err()
    );
}

#[test]
fn requests_are_written_in_their_codec() {
    let hello = Call::Hello { hello_bytes: 14 };
    assert_eq!(
        MessageFormat::from(Codec::Text).encode(&hello).unwrap(),
        [b""]
    );
    assert_eq!(
        MessageFormat::from(Codec::Json).encode(&hello).unwrap(),
        [b"{}"]
    );
    let Call::Submit(request) = submit_call() else {
        panic!("a Submit")
    };
    let json = MessageFormat::from(Codec::Json)
        .encode(&submit_call())
        .unwrap();
    assert_eq!(
        serde_json::from_slice::<SubmitRequest>(&json[0]).unwrap(),
        request
    );
    let protobuf = MessageFormat::from(Codec::Protobuf)
        .encode(&submit_call())
        .unwrap();
    assert_eq!(SubmitRequest::decode(&protobuf[0][..]).unwrap(), request);
    let stream = Call::UploadStream {
        data: vec![1, 2, 3],
        chunk_bytes: 2,
    };
    assert_eq!(
        MessageFormat::from(Codec::Protobuf)
            .encode(&stream)
            .unwrap(),
        [&b"\x0A\x02\x01\x02"[..], b"\x0A\x01\x03"]
    );
}

proptest! {
    #[test]
    fn any_reply_is_accepted_and_any_other_refused(
        bytes in workload::SUBMIT_BYTES_MIN..3_000, seed in any::<u64>(), other in any::<u64>()
    ) {
        let call = workload::call(Operation::Submit, bytes, 1, seed).unwrap();
        let reply = call.answer().unwrap();
        let another = workload::call(Operation::Submit, bytes, 1, other).unwrap().answer().unwrap();
        let json = Expected::of(Codec::Json, &call).unwrap();
        let protobuf = Expected::of(Codec::Protobuf, &call).unwrap();
        prop_assert_eq!(json.check(json_of(&reply).as_bytes()), Ok(()));
        prop_assert_eq!(protobuf.check(&protobuf_of(&reply)), Ok(()));
        prop_assert_eq!(json.check(json_of(&another).as_bytes()).is_ok(), seed == other);
        prop_assert_eq!(protobuf.check(&protobuf_of(&another)).is_ok(), seed == other);
    }

    #[test]
    fn garbage_never_panics_and_is_validated_as_by_prost(
        body in proptest::collection::vec(any::<u8>(), 0..60)
    ) {
        let call = submit_call();
        let Ok(Reply::Submit(reply)) = call.answer() else { panic!("a batch is accepted") };
        for codec in [Codec::Json, Codec::Protobuf] {
            let validated = Expected::of(codec, &call).unwrap().check(&body);
            prop_assert!(validated.is_err());
        }
        prop_assert!(SubmitReply::decode(&body[..]).map_or(true, |found| found != reply));
    }
}
