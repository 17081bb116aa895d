//! The messages of a stream, as they come.

use serde::de::IgnoredAny;
use wirelab_wire::stream::{Events, Lines, chat};
use wirelab_wire::{ProtocolError, grpc};

use super::{Expectation, Validator};
use crate::call::clock::ns;
use crate::call::error::ErrorKind;
use crate::call::fault;
use crate::call::rejection::{MESSAGE_BYTES_MAX, Rejection};
use crate::call::reply::ReplyState;
use crate::call::result::Fault;
use crate::call::stream::{Arrival, Parser, Stamps, StreamState};
use crate::plan::{Stream, StreamFormat};

/// What makes a stream right, and when it is ended from our side.
#[derive(Debug)]
pub(crate) struct StreamRule {
    format: StreamFormat,
    message_max: u32,
    stop_messages: u64,
    stop_bytes: u64,
    /// Since it was sent.
    pub(crate) stop_ns: u64,
    text: Option<Box<[u8]>>,
    messages: Option<u64>,
}

/// What the next bytes of a stream are.
enum Next {
    /// The end of a message.
    Message { is_item: bool },
    /// The end of what is no message.
    Other,
    /// No end.
    Part,
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

    fn begin(&self) -> Box<StreamState> {
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
    fn search(&self, stream: &mut StreamState, content: &[u8]) {
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

fn protocol(error: ProtocolError) -> Rejection {
    Rejection::new(ErrorKind::Protocol, error.to_string())
}

fn wrong(reason: impl Into<String>) -> Rejection {
    Rejection::new(ErrorKind::Wrong, reason)
}

impl Validator {
    /// The next bytes of a stream, which were read `at`; None where nothing more of it counts.
    pub(crate) fn stream_body(
        &self,
        rule: &StreamRule,
        state: &mut ReplyState,
        chunk: &[u8],
        at: u64,
    ) -> Option<Arrival> {
        if state.bad.is_some() {
            self.body(state, chunk, None);
            return None;
        }
        // Taken out, because the reply is changed too.
        let mut stream = state.stream.take().unwrap_or_else(|| {
            state.deframer = grpc::Deframer::new(rule.message_max);
            rule.begin()
        });
        let arrival = match stream.is_stopped {
            true => None,
            false => Some(self.take_messages(rule, state, &mut stream, chunk, at)),
        };
        state.stream = Some(stream);
        arrival
    }

    fn take_messages(
        &self,
        rule: &StreamRule,
        state: &mut ReplyState,
        stream: &mut StreamState,
        chunk: &[u8],
        at: u64,
    ) -> Arrival {
        let (mut rest, mut messages, mut items) = (chunk, 0, 0);
        loop {
            match self.next_message(rule, state, stream, &mut rest) {
                Ok(Next::Message { is_item }) => {
                    messages += 1;
                    items += u64::from(is_item);
                    let bytes = stream.stamps.bytes + (chunk.len() - rest.len()) as u64;
                    stream.is_stopped = stream.stamps.messages + messages >= rule.stop_messages
                        || bytes >= rule.stop_bytes;
                }
                Ok(Next::Other) => {}
                Ok(Next::Part) => break,
                Err(rejection) => {
                    state.reject(rejection);
                    stream.is_stopped = true;
                }
            }
            if stream.is_stopped {
                break;
            }
        }
        let is_within = stream.parser.is_within() || state.deframer.is_within();
        let bytes = (chunk.len() - rest.len()) as u64;
        let ended = (messages, items);
        stream.stamps.arrive(at, ended, bytes, is_within)
    }

    fn next_message(
        &self,
        rule: &StreamRule,
        state: &mut ReplyState,
        stream: &mut StreamState,
        rest: &mut &[u8],
    ) -> Result<Next, Rejection> {
        let ended = match &mut stream.parser {
            Parser::Events(events) => events.next(rest).map_err(protocol)?,
            Parser::Lines(lines) => lines.next(rest).map_err(protocol)?,
            Parser::Grpc => self.next_framed(state, rest),
        };
        if let Some(bad) = state.bad.take_if(|bad| bad.kind == ErrorKind::Protocol) {
            return Err(*bad);
        }
        match ended {
            true => self.take_message(rule, stream),
            false => Ok(Next::Part),
        }
    }

    /// The message that the parser has just ended.
    fn take_message(&self, rule: &StreamRule, stream: &mut StreamState) -> Result<Next, Rejection> {
        // Taken out and back, because the rest of the stream is changed.
        let parser = std::mem::replace(&mut stream.parser, Parser::Grpc);
        let taken = match &parser {
            Parser::Events(events) if rule.is_chat() => self.take_chat(rule, stream, events.data()),
            Parser::Events(events) => self.take_content(rule, stream, events.data()),
            Parser::Lines(lines) => self
                .check_json(lines.line())
                .and_then(|()| self.take_content(rule, stream, lines.line())),
            Parser::Grpc => Ok(Next::Message { is_item: true }),
        };
        stream.parser = parser;
        taken
    }

    fn take_content(
        &self,
        rule: &StreamRule,
        stream: &mut StreamState,
        content: &[u8],
    ) -> Result<Next, Rejection> {
        self.check_declared(content)?;
        rule.search(stream, content);
        Ok(Next::Message { is_item: true })
    }

    fn take_chat(
        &self,
        rule: &StreamRule,
        stream: &mut StreamState,
        data: &[u8],
    ) -> Result<Next, Rejection> {
        if stream.is_done {
            return Err(wrong("an event after [DONE]"));
        }
        let event = chat::read(data, |content| rule.search(stream, content.as_bytes()));
        match event.map_err(|error| wrong(error.to_string()))? {
            chat::Event::Done => {
                stream.is_done = true;
                Ok(Next::Other)
            }
            chat::Event::Error(text) => Err(Rejection::new(
                ErrorKind::Application,
                "an event with an error",
            )
            .with_text(&text)),
            chat::Event::Chunk {
                has_token,
                completion_tokens,
            } => {
                // Some servers repeat the count so far in every chunk.
                stream.stamps.tokens = completion_tokens.unwrap_or(stream.stamps.tokens);
                self.check_declared(data)?;
                Ok(Next::Message { is_item: has_token })
            }
        }
    }

    fn check_declared(&self, message: &[u8]) -> Result<(), Rejection> {
        match &self.expectation {
            Expectation::Declared(declared) if declared.reads_body() => declared
                .check(message)
                .map_err(|reason| wrong(reason).with_body(message)),
            _ => Ok(()),
        }
    }

    /// A line has been found to be UTF-8.
    fn check_json(&self, line: &[u8]) -> Result<(), Rejection> {
        let parsed = match self.decode {
            true => serde_json::from_slice::<IgnoredAny>(line).map(drop),
            false => Ok(()),
        };
        parsed.map_err(|error| wrong(format!("a line is not JSON: {error}")).with_body(line))
    }

    /// The body has ended: its end is that of a last line, which came with the last bytes.
    pub(crate) fn last_line(&self, rule: &StreamRule, state: &mut ReplyState) -> Option<Arrival> {
        let mut stream = state.stream.take_if(|stream| !stream.is_stopped)?;
        let last = match &mut stream.parser {
            Parser::Lines(lines) if state.bad.is_none() => lines.finish().map_err(protocol),
            _ => Ok(false),
        };
        let taken = match last {
            Ok(true) => self.take_message(rule, &mut stream).map(|_| true),
            other => other,
        };
        let at = stream.stamps.last_read;
        let arrival = match taken {
            Ok(true) => Some(stream.stamps.arrive(at, (1, 1), 0, false)),
            Ok(false) => None,
            Err(rejection) => {
                state.reject(rejection);
                None
            }
        };
        state.stream = Some(stream);
        arrival
    }

    /// The stream has ended as far as the protocol goes; of gRPC with status 0.
    pub(super) fn check_ended(
        &self,
        rule: &StreamRule,
        state: &ReplyState,
    ) -> Result<(), Rejection> {
        let Some(stream) = &state.stream else {
            return rule.check_count(None);
        };
        if let Parser::Events(events) = &stream.parser {
            events.finish().map_err(protocol)?;
        }
        if rule.is_chat() && !stream.is_done {
            return Err(wrong("the stream ended without [DONE]"));
        }
        rule.check_count(Some(stream))
    }

    /// The stream was ended from our side.
    ///
    /// # Errors
    /// Why it was wrong until then.
    pub(crate) fn stopped(
        &self,
        rule: &StreamRule,
        state: &mut ReplyState,
    ) -> Result<(), Rejection> {
        match state.bad.take() {
            Some(rejection) => Err(*rejection),
            None => rule.check_count(state.stream.as_deref()),
        }
    }
}

impl StreamRule {
    /// Numbers and texts, once no more will come.
    fn check_count(&self, stream: Option<&StreamState>) -> Result<(), Rejection> {
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
