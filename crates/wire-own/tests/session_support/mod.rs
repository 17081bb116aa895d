//! A client that records every event of a session.

#![allow(dead_code, reason = "each test file uses its part")]

use wirelab_wire_own::{CallId, End, Failure, Head, Replies};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    First(CallId),
    Field(CallId, String, Vec<u8>),
    FramingConflict(CallId),
    Head(CallId, Head),
    Body(CallId, Vec<u8>),
    End(CallId, End),
    Failed(CallId, Failure),
}

pub fn first(call: CallId) -> Event {
    Event::First(call)
}

pub fn field(call: CallId, name: &str, value: &[u8]) -> Event {
    Event::Field(call, name.into(), value.to_vec())
}

pub fn head(call: CallId, head: Head) -> Event {
    Event::Head(call, head)
}

pub fn body(call: CallId, bytes: &[u8]) -> Event {
    Event::Body(call, bytes.to_vec())
}

pub fn end(call: CallId) -> Event {
    Event::End(call, End::default())
}

pub fn fail(call: CallId, failure: Failure) -> Event {
    Event::Failed(call, failure)
}

/// Joins the pieces of a body, so that events do not depend on splits.
#[derive(Debug, Default)]
pub struct RecordedEvents(pub Vec<Event>);

impl Replies for RecordedEvents {
    fn first(&mut self, call: CallId) {
        self.0.push(Event::First(call));
    }

    fn field(&mut self, call: CallId, name: &str, value: &[u8]) {
        self.0.push(field(call, name, value));
    }

    fn framing_conflict(&mut self, call: CallId) {
        self.0.push(Event::FramingConflict(call));
    }

    fn head(&mut self, call: CallId, head: &Head) {
        self.0.push(Event::Head(call, *head));
    }

    fn body(&mut self, call: CallId, chunk: &[u8]) {
        assert!(!chunk.is_empty(), "an empty piece of a body");
        match self.0.last_mut() {
            Some(Event::Body(last, bytes)) if *last == call => bytes.extend_from_slice(chunk),
            _ => self.0.push(Event::Body(call, chunk.to_vec())),
        }
    }

    fn end(&mut self, call: CallId, end: End) {
        self.0.push(Event::End(call, end));
    }

    fn failed(&mut self, call: CallId, failure: Failure) {
        self.0.push(Event::Failed(call, failure));
    }
}
