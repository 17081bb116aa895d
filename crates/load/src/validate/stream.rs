//! What makes a reply that is a stream of messages right.

use wirelab_wire::stream::{Events, Lines};

use crate::call::clock::ns;
use crate::call::error::ErrorKind;
use crate::call::fault;
use crate::call::rejection::{MESSAGE_BYTES_MAX, Rejection};
use crate::call::result::Fault;
use crate::call::stream::{Parser, Stamps, StreamState};
use crate::plan::{Stream, StreamFormat};

/// What makes a stream right, and when it is ended from our side.
#[derive(Debug)]
pub(crate) struct StreamRule {
    format: StreamFormat,
    pub(super) message_max: u32,
    pub(super) stop_messages: u64,
    pub(super) stop_bytes: u64,
    /// Since it was sent.
    pub(crate) stop_ns: u64,
    text: Option<Box<[u8]>>,
    messages: Option<u64>,
}

impl StreamRule {
    /// # Errors
    /// When it cannot be kept.
    pub(crate) fn of(stream: &Stream) -> Result<StreamRule, Fault> {
        let refuse = |message: String, remedy: &str| Err(fault::plan(message, remedy));
        if !(1..=MESSAGE_BYTES_MAX).contains(&stream.message_bytes_max) {
            return refuse(
                format!("stream.message_bytes_max = {}", stream.message_bytes_max),
                "use 1 to 268,435,456 bytes",
            );
        }
        let seconds = stream.stop_s;
        if seconds.is_some_and(|seconds| !(seconds > 0.0 && seconds <= 1e6)) {
            return refuse(
                format!("stream.stop_s = {seconds:?}"),
                "use seconds above 0, at most 1,000,000",
            );
        }
        let counts = [
            stream.stop_messages,
            stream.stop_bytes,
            stream.expect_messages,
        ];
        if counts.contains(&Some(0)) {
            return refuse(
                "stream: a number of 0".into(),
                "use 1 or more, or leave it out",
            );
        }
        if stream.format == StreamFormat::Grpc && stream.expect_text.is_some() {
            return refuse(
                "stream.expect_text: messages of gRPC are no text".into(),
                "use expect.message",
            );
        }
        Ok(StreamRule {
            format: stream.format,
            message_max: stream.message_bytes_max,
            stop_messages: stream.stop_messages.unwrap_or(u64::MAX),
            stop_bytes: stream.stop_bytes.unwrap_or(u64::MAX),
            stop_ns: seconds.map_or(u64::MAX, ns),
            text: stream
                .expect_text
                .as_ref()
                .map(|text| text.as_bytes().into()),
            messages: stream.expect_messages,
        })
    }

    /// Whether tokens are counted.
    pub(crate) fn is_chat(&self) -> bool {
        self.format == StreamFormat::OpenAi
    }

    pub(super) fn begin(&self) -> Box<StreamState> {
        let most = self.message_max as usize;
        Box::new(StreamState {
            stamps: Stamps::default(),
            parser: match self.format {
                StreamFormat::Sse | StreamFormat::OpenAi => Parser::Events(Events::new(most)),
                StreamFormat::Ndjson => Parser::Lines(Lines::new(most)),
                StreamFormat::Grpc => Parser::Grpc,
            },
            tail: Vec::new(),
            has_text: self.text.as_ref().is_none_or(|text| text.is_empty()),
            is_done: false,
            is_stopped: false,
        })
    }

    /// The next bytes of the content, in which a text is expected.
    pub(super) fn search(&self, stream: &mut StreamState, content: &[u8]) {
        let Some(text) = self.text.as_ref().filter(|_| !stream.has_text) else {
            return;
        };
        stream.tail.extend_from_slice(content);
        stream.has_text = stream.tail.windows(text.len()).any(|part| part == &**text);
        // What is longer than a part of the text is of no use any more.
        let useless = stream.tail.len().saturating_sub(text.len() - 1);
        stream.tail.drain(..useless);
        stream.tail.shrink_to(2 * text.len());
    }
}

impl StreamRule {
    /// Numbers and texts, once no more will come.
    pub(super) fn check_count(&self, stream: Option<&StreamState>) -> Result<(), Rejection> {
        let messages = stream.map_or(0, |stream| stream.stamps.messages);
        if let Some(expected) = self.messages.filter(|expected| *expected != messages) {
            return Err(wrong(format!("{messages} messages instead of {expected}")));
        }
        if messages == 0 && self.format != StreamFormat::Grpc {
            return Err(wrong("no message came"));
        }
        let items = stream.map_or(0, |stream| stream.stamps.items);
        if items == 0 && self.is_chat() {
            return Err(wrong("no token came"));
        }
        match (stream.is_none_or(|stream| stream.has_text), &self.text) {
            (false, Some(text)) => Err(wrong("the text that is expected did not come")
                .with_text(&String::from_utf8_lossy(text))),
            _ => Ok(()),
        }
    }
}

pub(super) fn wrong(reason: impl Into<String>) -> Rejection {
    Rejection::new(ErrorKind::Wrong, reason)
}
