//! What makes a reply that is a stream of messages right.

use wirelab_wire::Encoding;
use wirelab_wire::stream::{Events, Lines, Unpacker};

use crate::call::clock::ns;
use crate::call::error::ErrorKind;
use crate::call::fault;
use crate::call::rejection::{MESSAGE_BYTES_MAX, Rejection};
use crate::call::result::Fault;
use crate::call::stream::{MessageCounts, Parser, Stamps, StreamState};
use crate::plan::{Stream, StreamFormat};

/// What makes a stream right, and when it is ended from our side.
#[derive(Debug)]
pub(crate) struct StreamRule {
    format: StreamFormat,
    pub(super) message_max: u32,
    stop_messages: u64,
    stop_bytes: u64,
    /// Since it was sent.
    pub(crate) stop_ns: u64,
    expected_text: Option<Box<str>>,
    expected_messages: Option<u64>,
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
                "stream.expect_text: messages of gRPC are not text".into(),
                "use expect.message",
            );
        }
        Ok(StreamRule {
            format: stream.format,
            message_max: stream.message_bytes_max,
            stop_messages: stream.stop_messages.unwrap_or(u64::MAX),
            stop_bytes: stream.stop_bytes.unwrap_or(u64::MAX),
            stop_ns: seconds.map_or(u64::MAX, ns),
            expected_text: stream.expect_text.as_deref().map(Into::into),
            expected_messages: stream.expect_messages,
        })
    }

    /// Whether tokens are counted.
    pub(crate) fn is_chat(&self) -> bool {
        self.format == StreamFormat::OpenAi
    }

    /// Whether these messages and those before them end the stream from our side.
    pub(super) fn is_enough(&self, mut before: MessageCounts, counts: MessageCounts) -> bool {
        before += counts;
        before.messages >= self.stop_messages || before.bytes >= self.stop_bytes
    }

    /// The stream of a reply, whose body has that encoding where it has no frames.
    pub(crate) fn begin(&self, encoding: Encoding) -> Box<StreamState> {
        let most = self.message_max as usize;
        Box::new(StreamState {
            stamps: Stamps::default(),
            parser: match self.format {
                StreamFormat::Sse | StreamFormat::OpenAi => Parser::Events(Events::new(most)),
                StreamFormat::Ndjson => Parser::Lines(Lines::new(most)),
                StreamFormat::Grpc => Parser::Grpc,
                StreamFormat::Websocket => Parser::Messages,
            },
            unpacker: match self.format {
                // Their messages are compressed one by one.
                StreamFormat::Grpc | StreamFormat::Websocket => None,
                _ => Unpacker::new(encoding).map(Box::new),
            },
            tail: Vec::new(),
            has_text: self
                .expected_text
                .as_ref()
                .is_none_or(|text| text.is_empty()),
            is_done: false,
            is_stopped: false,
        })
    }

    /// Searches the next bytes of the content for the expected text.
    pub(super) fn search(&self, stream: &mut StreamState, content: &[u8]) {
        let Some(text) = self.expected_text.as_ref().filter(|_| !stream.has_text) else {
            return;
        };
        let text = text.as_bytes();
        stream.tail.extend_from_slice(content);
        stream.has_text = stream.tail.windows(text.len()).any(|part| part == text);
        // The text may begin in the last bytes that are fewer than it has.
        let searched = stream.tail.len().saturating_sub(text.len() - 1);
        stream.tail.drain(..searched);
        stream.tail.shrink_to(2 * text.len());
    }

    /// Checks numbers and text once no more will come.
    pub(super) fn check_totals(&self, stream: Option<&StreamState>) -> Result<(), Rejection> {
        let MessageCounts {
            messages, items, ..
        } = stream.map_or_else(MessageCounts::default, |stream| stream.stamps.counts);
        let expected = self.expected_messages;
        if let Some(expected) = expected.filter(|expected| *expected != messages) {
            return Err(wrong(format!("{messages} messages instead of {expected}")));
        }
        if messages == 0 && self.format != StreamFormat::Grpc {
            return Err(wrong("no message came"));
        }
        if items == 0 && self.is_chat() {
            return Err(wrong("no token came"));
        }
        match (
            stream.is_none_or(|stream| stream.has_text),
            &self.expected_text,
        ) {
            (false, Some(text)) => {
                Err(wrong("the text that is expected did not come").with_text(text))
            }
            _ => Ok(()),
        }
    }
}

pub(super) fn wrong(reason: impl Into<String>) -> Rejection {
    Rejection::new(ErrorKind::Wrong, reason)
}
