//! Replies that are streams of messages.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wirelab_contract::streams::Pattern;

/// How messages lie in a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum StreamFormat {
    /// Server-Sent Events (WHATWG HTML, section 9.2).
    Sse,
    /// Lines, each a JSON value.
    Ndjson,
    /// Server-Sent Events of a chat completion, up to `[DONE]`.
    OpenAi,
    /// Length-prefixed messages; only with kind `grpc`.
    Grpc,
    /// Messages of WebSocket; only with binding websocket. Each reply has `expect_messages` of
    /// them, 1 if it is absent.
    Websocket,
}

/// A reply that is a stream of messages: each is stamped when it arrives. Keys of `expect` about
/// the body apply to each message. A stream without a message is an error, except with gRPC.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// How messages lie in the body.
    pub format: StreamFormat,
    /// Number of messages after which the engine ends the stream, which is not an error; absent:
    /// the server ends it.
    #[serde(default)]
    pub stop_messages: Option<u64>,
    /// The same by bytes of the body, at the end of a message.
    #[serde(default)]
    pub stop_bytes: Option<u64>,
    /// The same by seconds since the request was sent, to within 20 ms.
    #[serde(default)]
    pub stop_s: Option<f64>,
    /// Bytes of the longest message that is accepted, 1 to 268,435,456.
    #[serde(default = "message_bytes_default")]
    pub message_bytes_max: u32,
    /// A text that the messages together contain: of a chat completion its content, of events
    /// their data. Not with gRPC.
    #[serde(default)]
    pub expect_text: Option<String>,
    /// Number of messages that the stream has.
    #[serde(default)]
    pub expect_messages: Option<u64>,
}

/// The items that Feed of the contract stream is asked for, or that Push and Chat send at once
/// (contracts/stream.proto). Requests of Feed and Chat have 64 seeds in turn, from `seed` on.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FeedItems {
    /// Number of items, 1 to 1,000,000.
    #[serde(default = "items_default")]
    pub count: i32,
    /// Mean gap between two items in microseconds, 0 to 60,000,000.
    #[serde(default = "gap_us_default")]
    pub gap_us: i64,
    /// `constant`, `bursts`, `pause` or `tokens`.
    #[serde(default = "pattern_default")]
    pub pattern: String,
    /// The first seed.
    #[serde(default)]
    pub seed: i64,
}

impl Default for FeedItems {
    fn default() -> Self {
        FeedItems {
            count: items_default(),
            gap_us: gap_us_default(),
            pattern: pattern_default(),
            seed: 0,
        }
    }
}

fn items_default() -> i32 {
    100
}

fn gap_us_default() -> i64 {
    10_000
}

fn pattern_default() -> String {
    Pattern::Constant.name().to_owned()
}

impl Stream {
    /// A stream of that format, ended by the server.
    #[must_use]
    pub fn new(format: StreamFormat) -> Stream {
        Stream {
            format,
            stop_messages: None,
            stop_bytes: None,
            stop_s: None,
            message_bytes_max: message_bytes_default(),
            expect_text: None,
            expect_messages: None,
        }
    }
}

/// The limit of libraries of gRPC.
fn message_bytes_default() -> u32 {
    4 << 20
}
