//! Replies as they lie in the bytes they came in.

use std::borrow::Cow;

use serde::Deserialize;

/// HelloReply, and the parts of HelloBytesReply and DownloadChunk that are
/// text in their codec (base64 in JSON).
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct HelloView<'a> {
    #[serde(borrow)]
    // Borrowed where the text has no escapes; else serde has to make a new one.
    pub(super) text: Cow<'a, str>,
}

/// SubmitReply.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SubmitView<'a> {
    #[serde(borrow)]
    pub(super) batch: Cow<'a, str>,
    pub(super) accepted: i32,
    pub(super) quantity_total: i64,
    #[serde(borrow, deserialize_with = "wirelab_contract::json::objects")]
    pub(super) refused: Vec<RefusalView<'a>>,
}

/// Refusal.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RefusalView<'a> {
    pub(super) id: i64,
    #[serde(borrow)]
    pub(super) reason: Cow<'a, str>,
}

/// UploadReply.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct UploadView<'a> {
    pub(super) length: i64,
    #[serde(borrow)]
    pub(super) sha256: Cow<'a, str>,
}
