//! The messages of a stream, as they come.

use serde::de::IgnoredAny;
use wirelab_wire::stream::chat;
use wirelab_wire::{ProtocolError, grpc};

use super::stream::{StreamRule, wrong};
use super::{Expectation, Validator};
use crate::call::error::ErrorKind;
use crate::call::rejection::Rejection;
use crate::call::reply::ReplyState;
use crate::call::stream::{Arrival, Parser, StreamState};

/// What the next bytes of a stream are.
enum Next {
    /// The end of a message.
    Message { is_item: bool },
    /// The end of what is no message.
    Other,
    /// No end.
    Part,
}

fn protocol(error: ProtocolError) -> Rejection {
    Rejection::new(ErrorKind::Protocol, error.to_string())
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
