//! Requests and what they must be answered.

use serde::Serialize;
use serde_json::{Value, json};
use wirelab_contract::model::{self, sha256_hex};
use wirelab_contract::transfer::{DownloadRequest, Record, SubmitRequest, UploadRequest};
use wirelab_contract::{ApplicationError, texts, workload};

/// One call.
#[derive(Debug, Serialize)]
pub struct OperationVector {
    operation: &'static str,
    name: &'static str,
    /// In the JSON mapping.
    request: Value,
    /// The request's only record is repeated that many times.
    #[serde(skip_serializing_if = "Option::is_none")]
    records_repeated: Option<usize>,
    /// The request's data are a pattern of that length.
    #[serde(skip_serializing_if = "Option::is_none")]
    data_pattern_bytes: Option<usize>,
    #[serde(flatten)]
    answer: Answer,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    /// In the JSON mapping; of a download, what its chunks come to.
    Reply(Value),
    /// The text of the application error.
    Error(String),
}

impl Answer {
    fn of<T>(answer: Result<T, ApplicationError>, value: impl FnOnce(T) -> Value) -> Self {
        match answer {
            Ok(reply) => Answer::Reply(value(reply)),
            Err(error) => Answer::Error(error.to_string()),
        }
    }
}

pub fn vectors() -> Vec<OperationVector> {
    [submits(), uploads(), downloads()]
        .into_iter()
        .flatten()
        .collect()
}

/// Fields ordered by name, whatever order this build's maps keep.
fn value(message: impl Serialize) -> Value {
    let mut value = serde_json::to_value(message).expect("messages have string keys");
    // serde_json keeps insertion order once any crate of the build asks for its feature
    // preserve_order. The files must not depend on that.
    value.sort_all_objects();
    value
}

fn submits() -> Vec<OperationVector> {
    let record = |id, quantity, item: &str| Record {
        id,
        quantity,
        item: item.to_owned(),
        remark: String::new(),
    };
    let request = |batch: &str, records| SubmitRequest {
        batch: batch.to_owned(),
        records,
    };
    let extremes = vec![
        record(i64::MIN, i32::MIN, "a"),
        record(i64::MAX, i32::MAX, "b"),
        // Accepted quantities together exceed int32.
        record((1 << 53) + 1, i32::MAX, "🔩"),
        record(0, 0, ""),
        record(-1, 1, ""),
    ];
    let generated = workload::submit_request(2_000, 1).expect("2000 bytes are possible");
    vec![
        submit("no records", request("b", vec![]), None),
        submit("empty batch", request("", vec![record(1, 1, "a")]), None),
        submit("extremes", request("Größe", extremes), None),
        submit("a workload of 2000 bytes, seed 1", generated, None),
        submit(
            // One record and a count, or the file would hold megabytes.
            "most records",
            request("b", vec![record(1, 2, "a")]),
            Some(100_000),
        ),
        submit(
            "too many records",
            request("b", vec![record(1, 2, "a")]),
            Some(100_001),
        ),
        submit(
            "both errors",
            request("", vec![record(1, 2, "a")]),
            Some(100_001),
        ),
    ]
}

fn submit(
    name: &'static str,
    request: SubmitRequest,
    records_repeated: Option<usize>,
) -> OperationVector {
    let shown = value(&request);
    let mut request = request;
    if let Some(times) = records_repeated {
        request.records = vec![request.records[0].clone(); times];
    }
    OperationVector {
        operation: "Submit",
        name,
        request: shown,
        records_repeated,
        data_pattern_bytes: None,
        answer: Answer::of(model::submit(&request), value),
    }
}

fn uploads() -> Vec<OperationVector> {
    vec![
        upload("nothing", UploadRequest::default(), None),
        upload(
            "three bytes",
            UploadRequest {
                data: b"abc".to_vec(),
            },
            None,
        ),
        upload("1 MB", UploadRequest::default(), Some(1_000_000)),
        upload("too much", UploadRequest::default(), Some(67_108_865)),
    ]
}

fn upload(
    name: &'static str,
    request: UploadRequest,
    data_pattern_bytes: Option<usize>,
) -> OperationVector {
    let data = data_pattern_bytes.map_or_else(|| request.data.clone(), texts::pattern);
    OperationVector {
        operation: "Upload",
        name,
        request: value(&request),
        records_repeated: None,
        data_pattern_bytes,
        answer: Answer::of(model::upload(&data), value),
    }
}

fn downloads() -> Vec<OperationVector> {
    vec![
        download("nothing", 0, 1),
        download("one chunk that is not full", 10, 1_048_576),
        download("chunks that fit", 12, 4),
        download("a last chunk that is shorter", 1_000_000, 65_536),
        download("too long", 67_108_865, 4),
        download("below zero", -1, 4),
        download("chunks of nothing", 1, 0),
        download("chunks too large", 1, 1_048_577),
        download("both errors", i64::MIN, i32::MIN),
    ]
}

fn download(name: &'static str, length: i64, chunk_bytes: i32) -> OperationVector {
    let request = DownloadRequest {
        length,
        chunk_bytes,
    };
    OperationVector {
        operation: "Download",
        name,
        request: value(request),
        records_repeated: None,
        data_pattern_bytes: None,
        answer: Answer::of(model::download(&request), |chunks| {
            let count = chunks.len();
            let chunks: Vec<_> = chunks.map(|chunk| chunk.data).collect();
            value(json!({
                "chunks": count,
                "last_chunk_bytes": chunks.last().map_or(0, Vec::len),
                // A digest stands for chunks that would not fit into the file.
                "sha256": sha256_hex(&chunks.concat()),
            }))
        }),
    }
}
