//! Messages and their bytes in every codec.

use prost::Message;
use serde::Serialize;
use serde_json::{Value, json};
use wirelab_contract::transfer::{
    DownloadChunk, DownloadRequest, HelloBytesReply, HelloReply, HelloRequest, Record, Refusal,
    SubmitReply, SubmitRequest, UploadChunk, UploadReply, UploadRequest,
};
use wirelab_contract::{model, texts};

/// Everything in `messages.json`.
#[derive(Debug, Serialize)]
pub struct Messages {
    accepted: Vec<Accepted>,
    refused_json: Vec<Refused>,
    refused_protobuf: Vec<Refused>,
}

/// One value and its encodings.
#[derive(Debug, Serialize)]
struct Accepted {
    message: &'static str,
    name: &'static str,
    /// What a writer writes without spaces and needless escapes.
    json: String,
    /// Other texts that say the same.
    json_variants: Vec<String>,
    /// Hexadecimal, fields in the order of their numbers.
    protobuf: String,
    /// Other bytes that say the same.
    protobuf_variants: Vec<String>,
}

/// Bytes that no reader may take for a message.
#[derive(Debug, Serialize)]
struct Refused {
    message: &'static str,
    why: &'static str,
    /// The text, or the bytes in hexadecimal.
    input: &'static str,
}

pub fn vectors() -> Messages {
    let accepted = [hellos(), records(), submits(), replies(), transfers()]
        .into_iter()
        .flatten()
        .collect();
    Messages {
        accepted,
        refused_json: list_refused_json(),
        refused_protobuf: list_refused_protobuf(),
    }
}

// Two to four bytes of UTF-8, what JSON and XML must escape, and U+2028, which JSON allows
// as it is but JavaScript before 2019 did not.
const UNICODE: &str = "é ナット гайка 🔩 \"q\" C:\\dir a/b <&> \n\t \u{2028}";

fn hellos() -> Vec<Accepted> {
    let hello = |text: &str| HelloReply {
        text: text.to_owned(),
    };
    let bytes = |text: &[u8]| HelloBytesReply {
        text: text.to_vec(),
    };
    let all: Vec<u8> = (0..=255).collect();
    vec![
        accept("HelloRequest", "no fields", &HelloRequest {}),
        accept("HelloReply", "empty", &hello("")),
        accept("HelloReply", "the greeting", &hello(&texts::text(14))),
        accept("HelloReply", "base64 alphabet", &hello(&texts::text(150))),
        accept(
            "HelloReply",
            "several scripts and characters to escape",
            &hello(UNICODE),
        ),
        accept("HelloBytesReply", "empty", &bytes(b"")),
        // Each length modulo 3 has its own padding in base64 (RFC 4648 section 4).
        accept("HelloBytesReply", "one byte, two paddings", &bytes(b"\xFF")),
        accept(
            "HelloBytesReply",
            "two bytes, one padding",
            &bytes(b"\xFB\xF0"),
        ),
        accept("HelloBytesReply", "every byte", &bytes(&all)),
    ]
}

fn record(id: i64, quantity: i32, item: &str, remark: &str) -> Record {
    Record {
        id,
        quantity,
        item: item.to_owned(),
        remark: remark.to_owned(),
    }
}

fn records() -> Vec<Accepted> {
    vec![
        accept("Record", "empty", &Record::default()),
        accept("Record", "usual", &record(7, 3, "bolt M8", "urgent")),
        accept(
            "Record",
            "largest integers",
            &record(i64::MAX, i32::MAX, "a", ""),
        ),
        accept(
            "Record",
            "smallest integers",
            &record(i64::MIN, i32::MIN, "", "b"),
        ),
        accept(
            "Record",
            // 2^53 + 1: a reader that goes by way of a double gets 2^53.
            "beyond a double",
            &record((1 << 53) + 1, -1, "x", ""),
        ),
        accept("Record", "several scripts", &record(-1, 1, "🔩", UNICODE)),
    ]
}

fn submits() -> Vec<Accepted> {
    let request = |batch: &str, records| SubmitRequest {
        batch: batch.to_owned(),
        records,
    };
    let mixed = vec![
        record(1, 5, "écrou", ""),
        Record::default(),
        record(i64::MAX, -2, "nut", UNICODE),
        record(4, 1, "", "no item"),
    ];
    vec![
        accept("SubmitRequest", "empty", &SubmitRequest::default()),
        accept("SubmitRequest", "no records", &request("batch 1", vec![])),
        accept(
            "SubmitRequest",
            "empty record",
            &request("", vec![Record::default()]),
        ),
        accept("SubmitRequest", "mixed", &request("Größe", mixed)),
    ]
}

fn replies() -> Vec<Accepted> {
    let refusal = |id, reason: &str| Refusal {
        id,
        reason: reason.to_owned(),
    };
    let refused = vec![
        refusal(i64::MIN, "quantity must be positive"),
        refusal(0, "item must not be empty"),
        refusal((1 << 53) + 1, "quantity must be positive"),
    ];
    let total = SubmitReply {
        batch: "Größe".into(),
        accepted: 100_000,
        // The largest total that there can be: it needs int64.
        quantity_total: 100_000 * i64::from(i32::MAX),
        refused: vec![],
    };
    let mixed = SubmitReply {
        accepted: 1,
        quantity_total: 5,
        refused,
        ..total.clone()
    };
    vec![
        accept("Refusal", "empty", &Refusal::default()),
        accept("Refusal", "usual", &refusal(-9, "item must not be empty")),
        accept("SubmitReply", "empty", &SubmitReply::default()),
        accept("SubmitReply", "all accepted", &total),
        accept("SubmitReply", "some refused", &mixed),
    ]
}

fn transfers() -> Vec<Accepted> {
    let data = texts::pattern(20);
    let uploaded = model::upload(&data).expect("20 bytes are within the limit");
    let largest = DownloadRequest {
        length: 67_108_864,
        chunk_bytes: 1_048_576,
    };
    // Codecs carry every value of the type. That an operation refuses it is not their
    // affair.
    let impossible = DownloadRequest {
        length: i64::MIN,
        chunk_bytes: i32::MIN,
    };
    vec![
        accept("UploadRequest", "empty", &UploadRequest::default()),
        accept(
            "UploadRequest",
            "20 bytes",
            &UploadRequest { data: data.clone() },
        ),
        accept(
            "UploadChunk",
            "20 bytes",
            &UploadChunk { data: data.clone() },
        ),
        accept("UploadReply", "empty", &UploadReply::default()),
        accept("UploadReply", "20 bytes", &uploaded),
        accept("DownloadRequest", "empty", &DownloadRequest::default()),
        accept("DownloadRequest", "largest", &largest),
        accept("DownloadRequest", "impossible, but a message", &impossible),
        accept("DownloadChunk", "20 bytes", &DownloadChunk { data }),
    ]
}

fn accept<M: Message + Serialize>(
    message: &'static str,
    name: &'static str,
    value: &M,
) -> Accepted {
    let json = serde_json::to_string(value).expect("messages have string keys");
    let mut tree = serde_json::to_value(value).expect("messages have string keys");
    // By name, whatever order this build's maps keep.
    tree.sort_all_objects();
    let protobuf = value.encode_to_vec();
    Accepted {
        message,
        name,
        json_variants: json_variants(&json, &tree),
        protobuf_variants: protobuf_variants(&protobuf)
            .iter()
            .map(|bytes| hex(bytes))
            .collect(),
        protobuf: hex(&protobuf),
        json,
    }
}

/// Spaced and ordered by name; with every escape there is; without zeros but
/// with an unknown field.
fn json_variants(json: &str, tree: &Value) -> Vec<String> {
    let spaced = serde_json::to_string_pretty(tree).expect("a tree has string keys");
    let mut sparse = remove_zeros(tree.clone());
    // A brace within a text, which a reader that only counts braces would take for the end.
    sparse["unknown_field"] = json!({"a": [1, null, "}"]});
    vec![spaced, escape(json), sparse.to_string()]
}

fn escape(json: &str) -> String {
    let mut text = String::new();
    for character in json.chars() {
        match character {
            // Allowed, though never needed (RFC 8259 section 7).
            '/' => text.push_str("\\/"),
            ' '..='~' => text.push(character),
            _ => {
                // Characters beyond the basic plane are two escapes, a surrogate pair.
                for unit in character.encode_utf16(&mut [0; 2]) {
                    text.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    text
}

fn remove_zeros(tree: Value) -> Value {
    match tree {
        Value::Object(fields) => fields
            .into_iter()
            // A reader treats an absent field as its zero (contracts/README.md, JSON).
            .filter(|(_, value)| ![json!(0), json!(""), json!([])].contains(value))
            .map(|(name, value)| (name, remove_zeros(value)))
            .collect(),
        Value::Array(elements) => elements.into_iter().map(remove_zeros).collect(),
        scalar => scalar,
    }
}

/// Field 1000 as varint 5; field 1001 as two bytes that are not UTF-8.
const UNKNOWN_FIELDS: [u8; 8] = [0xC0, 0x3E, 0x05, 0xCA, 0x3E, 0x02, 0xFF, 0xFE];

/// Fields in the reverse order; between unknown fields.
fn protobuf_variants(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut fields = top_level_fields(bytes);
    // Stable, so that the elements of repeated fields keep their order.
    fields.sort_by_key(|field| std::cmp::Reverse(field[0]));
    vec![
        fields.concat(),
        [&UNKNOWN_FIELDS, bytes, &UNKNOWN_FIELDS].concat(),
    ]
}

/// Cuts a message of this contract, where tags have one byte and only the
/// wire types 0 and 2 occur.
fn top_level_fields(mut bytes: &[u8]) -> Vec<&[u8]> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let mut rest = &bytes[1..];
        let number = prost::encoding::decode_varint(&mut rest).expect("just encoded");
        // Wire type 2 is a length and that number of bytes, 0 a varint alone.
        let content = if bytes[0] & 7 == 2 {
            number as usize
        } else {
            0
        };
        let (field, behind) = bytes.split_at(bytes.len() - rest.len() + content);
        fields.push(field);
        bytes = behind;
    }
    fields
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn list_refused_json() -> Vec<Refused> {
    let refused = |message, why, input| Refused {
        message,
        why,
        input,
    };
    vec![
        refused("SubmitRequest", "nothing", ""),
        refused(
            "SubmitRequest",
            "cut off",
            r#"{"batch":"b","records":[{"id":1}"#,
        ),
        refused("SubmitRequest", "an array", r#"["b",[]]"#),
        refused(
            "SubmitRequest",
            "a record that is an array",
            r#"{"records":[[1,2,"x",""]]}"#,
        ),
        refused(
            "SubmitRequest",
            "records that are not an array",
            r#"{"records":{}}"#,
        ),
        refused("SubmitRequest", "more behind it", r#"{"batch":"b"}}"#),
        refused("Record", "more than int64", r#"{"id":9223372036854775808}"#),
        refused(
            "Record",
            "less than int64",
            r#"{"id":-9223372036854775809}"#,
        ),
        refused("Record", "more than int32", r#"{"quantity":2147483648}"#),
        refused("Record", "a fraction", r#"{"id":1.5}"#),
        refused("Record", "a string for a number", r#"{"quantity":"5"}"#),
        refused("Record", "a number for a string", r#"{"item":5}"#),
        refused("Record", "a bad escape", r#"{"item":"\x"}"#),
        refused("UploadRequest", "not base64", r#"{"data":"!!!!"}"#),
        refused("UploadRequest", "base64 cut off", r#"{"data":"AAAAA"}"#),
    ]
}

fn list_refused_protobuf() -> Vec<Refused> {
    let refused = |message, why, input| Refused {
        message,
        why,
        input,
    };
    vec![
        refused("SubmitRequest", "a tag without content", "0a"),
        refused(
            "SubmitRequest",
            "a string longer than the message",
            "0a056162",
        ),
        refused(
            "SubmitRequest",
            "a record longer than the message",
            "120508",
        ),
        refused(
            "SubmitRequest",
            "a field within a record longer than it",
            "12031a0261",
        ),
        // The encoding reserves number 0 and the wire types 6 and 7.
        refused("SubmitRequest", "field number 0", "0000"),
        refused("SubmitRequest", "wire type 7", "0f"),
        refused("SubmitRequest", "the end of a group that never began", "0c"),
        refused("HelloReply", "a string that is not UTF-8", "0a02c328"),
        refused(
            "HelloReply",
            // RFC 3629 section 3 forbids surrogates in UTF-8.
            "a string with an encoded surrogate",
            "0a03eda080",
        ),
        // 64 bits take ten bytes at most.
        refused("Record", "a varint of 11 bytes", "08ffffffffffffffffffff01"),
        refused("UploadReply", "a varint without an end", "08ffff"),
    ]
}
