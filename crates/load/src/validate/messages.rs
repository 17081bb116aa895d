//! The messages of a stream, as they come.

use serde::de::IgnoredAny;
use wirelab_wire::ProtocolError;
use wirelab_wire::grpc::Frames;
use wirelab_wire::stream::{Unpacker, chat};

use super::stream::{StreamRule, wrong};
use super::{Expectation, Validator, items};
use crate::call::error::ErrorKind;
use crate::call::items::ItemState;
use crate::call::rejection::Rejection;
use crate::call::reply::ReplyState;
use crate::call::stream::{Arrival, MessageCounts, Parser, StreamState};

/// Bytes that a compressed body gives at a time.
const UNPACKED_BYTES: usize = 16 << 10;

/// What the next bytes of a stream are.
enum Next {
    /// The end of a message.
    Message { is_item: bool },
    /// The end of something else: `[DONE]`.
    Other,
    /// No end.
    Part,
}

fn protocol(error: ProtocolError) -> Rejection {
    Rejection::new(ErrorKind::Protocol, error.to_string())
}

impl Validator {
    /// Takes the next bytes of a stream, which were read at `at`; None where nothing more of it
    /// counts. `row` is that of the request.
    pub(crate) fn stream_body(
        &self,
        rule: &StreamRule,
        state: &mut ReplyState,
        chunk: &[u8],
        at: u64,
        row: usize,
    ) -> Option<Arrival> {
        if state.bad.is_some() {
            self.body(state, chunk, None);
            return None;
        }
        if let Expectation::Items(items) = &self.expectation {
            let items = state.items.get_or_insert_with(|| items.begin(row));
            items.read_at = at;
        }
        // Taken out, because the reply is changed too.
        let mut stream = state.stream.take().unwrap_or_else(|| {
            if let Some(frames) = self.frames {
                state.deframer = frames.deframer(rule.message_max);
            }
            rule.begin(state.head.encoding)
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
        let mut counts = MessageCounts::default();
        // Taken out and back, because the rest of the stream is changed.
        match stream.unpacker.take() {
            None => self.take_plain(rule, state, stream, chunk, &mut counts),
            Some(mut unpacker) => {
                self.take_packed(rule, state, stream, (&mut unpacker, chunk), &mut counts);
                stream.unpacker = Some(unpacker);
            }
        }
        let is_within = stream.parser.is_within() || state.deframer.is_within();
        stream.stamps.arrive(at, counts, is_within)
    }

    /// Takes the messages that the next bytes of a compressed body have in them.
    fn take_packed(
        &self,
        rule: &StreamRule,
        state: &mut ReplyState,
        stream: &mut StreamState,
        (unpacker, mut packed): (&mut Unpacker, &[u8]),
        counts: &mut MessageCounts,
    ) {
        let mut room = [0; UNPACKED_BYTES];
        while !stream.is_stopped {
            match unpacker.next(&mut packed, &mut room) {
                Ok(0) => return,
                Ok(given) => self.take_plain(rule, state, stream, &room[..given], counts),
                Err(error) => {
                    state.reject(protocol(error));
                    stream.is_stopped = true;
                }
            }
        }
    }

    fn take_plain(
        &self,
        rule: &StreamRule,
        state: &mut ReplyState,
        stream: &mut StreamState,
        chunk: &[u8],
        counts: &mut MessageCounts,
    ) {
        let (mut rest, before) = (chunk, counts.bytes);
        loop {
            match self.next_message(rule, state, stream, &mut rest) {
                Ok(Next::Message { is_item }) => {
                    counts.messages += 1;
                    counts.items += u64::from(is_item);
                    counts.bytes = before + (chunk.len() - rest.len()) as u64;
                    stream.is_stopped = rule.is_enough(stream.stamps.counts, *counts);
                }
                Ok(Next::Other) => {}
                Ok(Next::Part) => break,
                Err(rejection) => {
                    state.reject(rejection);
                    stream.is_stopped = true;
                }
            }
            // A chunk of these is one message, even if it is empty.
            if stream.is_stopped || matches!(stream.parser, Parser::Messages) {
                break;
            }
        }
        counts.bytes = before + (chunk.len() - rest.len()) as u64;
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
            Parser::Grpc => self.next_framed(self.frames.unwrap_or(Frames::Grpc), state, rest),
            Parser::Messages => {
                let message = std::mem::take(rest);
                return self.take_content(rule, stream, message, state.items.as_deref_mut());
            }
        };
        // Other faults of a message of gRPC wait for the status, which outranks them.
        if let Some(bad) = state.bad.take_if(|bad| bad.kind == ErrorKind::Protocol) {
            return Err(*bad);
        }
        match ended {
            true => self.take_message(rule, stream, state.items.as_deref_mut()),
            false => Ok(Next::Part),
        }
    }

    /// The message that the parser has just ended.
    fn take_message(
        &self,
        rule: &StreamRule,
        stream: &mut StreamState,
        items: Option<&mut ItemState>,
    ) -> Result<Next, Rejection> {
        // Taken out and back, because the rest of the stream is changed.
        let parser = std::mem::replace(&mut stream.parser, Parser::Grpc);
        let taken = match &parser {
            Parser::Events(events) if rule.is_chat() => self.take_chat(rule, stream, events.data()),
            Parser::Events(events) => self.take_content(rule, stream, events.data(), items),
            Parser::Lines(lines) => self
                .check_json(lines.line())
                .and_then(|()| self.take_content(rule, stream, lines.line(), items)),
            Parser::Grpc | Parser::Messages => Ok(Next::Message { is_item: true }),
        };
        stream.parser = parser;
        taken
    }

    fn take_content(
        &self,
        rule: &StreamRule,
        stream: &mut StreamState,
        content: &[u8],
        items: Option<&mut ItemState>,
    ) -> Result<Next, Rejection> {
        self.check_declared(content)?;
        if let (Expectation::Items(rule), Some(items)) = (&self.expectation, items) {
            rule.take(items, content)?;
        }
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

    /// The parser of lines has checked that it is UTF-8.
    fn check_json(&self, line: &[u8]) -> Result<(), Rejection> {
        // Items are parsed in full anyway.
        let is_parsed = matches!(self.expectation, Expectation::Items(_));
        let parsed = match self.decode && !is_parsed {
            true => serde_json::from_slice::<IgnoredAny>(line).map(drop),
            false => Ok(()),
        };
        parsed.map_err(|error| wrong(format!("a line is not JSON: {error}")).with_body(line))
    }

    /// The body has ended, and with it the last line, which came with the last bytes.
    pub(crate) fn take_last_line(
        &self,
        rule: &StreamRule,
        state: &mut ReplyState,
    ) -> Option<Arrival> {
        let mut stream = state.stream.take_if(|stream| !stream.is_stopped)?;
        let last = match &mut stream.parser {
            Parser::Lines(lines) if state.bad.is_none() => lines.finish().map_err(protocol),
            _ => Ok(false),
        };
        let taken = match last {
            Ok(true) => {
                let items = state.items.as_deref_mut();
                self.take_message(rule, &mut stream, items).map(|_| true)
            }
            other => other,
        };
        let line = MessageCounts {
            messages: 1,
            items: 1,
            bytes: 0,
        };
        let at = stream.stamps.last_read;
        let arrival = match taken {
            Ok(true) => Some(stream.stamps.arrive(at, line, false)),
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
        if let Expectation::Items(_) = &self.expectation {
            items::check_end(state.items.as_deref())?;
        }
        let Some(stream) = &state.stream else {
            return rule.check_totals(None);
        };
        if let Some(unpacker) = &stream.unpacker {
            unpacker.finish().map_err(protocol)?;
        }
        if let Parser::Events(events) = &stream.parser {
            events.finish().map_err(protocol)?;
        }
        if rule.is_chat() && !stream.is_done {
            return Err(wrong("the stream ended without [DONE]"));
        }
        rule.check_totals(Some(stream))
    }

    /// The stream was ended from our side.
    ///
    /// # Errors
    /// Why it was wrong until then.
    pub(crate) fn check_stopped(
        &self,
        rule: &StreamRule,
        state: &mut ReplyState,
    ) -> Result<(), Rejection> {
        match state.bad.take() {
            Some(rejection) => Err(*rejection),
            None => rule.check_totals(state.stream.as_deref()),
        }
    }
}
