//! The program that a user of quick-xml writes for the same documents.

use serde::Deserialize;

#[derive(Deserialize)]
#[expect(dead_code, reason = "what is read is not looked at")]
pub struct Record {
    id: i64,
    quantity: i32,
    item: String,
    remark: String,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "what is read is not looked at")]
pub struct SubmitRequest {
    batch: String,
    records: Vec<Record>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Body {
    #[expect(dead_code, reason = "what is read is not looked at")]
    submit_request: SubmitRequest,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Envelope {
    #[expect(dead_code, reason = "what is read is not looked at")]
    body: Body,
}
