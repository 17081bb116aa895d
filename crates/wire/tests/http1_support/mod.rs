//! A client with a pencil: writes down every event of a session.

#![allow(dead_code, reason = "each test file uses its part")]

use std::sync::Arc;

use wirelab_wire::http1::{Http1, Options};
use wirelab_wire::{CallId, End, Failure, Head, ProtocolError, Replies, Request, Session};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    First(CallId),
    Head(CallId, Head),
    Body(CallId, Vec<u8>),
    End(CallId, End),
    Failed(CallId, Failure),
}

pub fn first(call: CallId) -> Event {
    Event::First(call)
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

pub fn failed(call: CallId, failure: Failure) -> Event {
    Event::Failed(call, failure)
}

/// Joins the pieces of a body, so that events do not depend on splits.
#[derive(Debug, Default)]
pub struct Notes(pub Vec<Event>);

impl Replies for Notes {
    fn first(&mut self, call: CallId) {
        self.0.push(Event::First(call));
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

pub fn get(id: u32) -> Request {
    Request {
        id,
        method: "GET".into(),
        path: format!("/item/{id}"),
        authority: "localhost:80".into(),
        fields: vec![("accept".into(), "text/plain".into())],
        body: Arc::from([]),
    }
}

pub fn post(id: u32, body: &[u8]) -> Request {
    Request {
        method: "POST".into(),
        body: Arc::from(body),
        ..get(id)
    }
}

pub struct Wire {
    pub session: Http1,
    pub events: Vec<Event>,
}

impl Wire {
    pub fn new(options: Options) -> Self {
        Wire {
            session: Http1::new(options).unwrap(),
            events: Vec::new(),
        }
    }

    /// Calls 0 to `calls` - 1 sent, their bytes pumped.
    pub fn with_calls(options: Options, calls: u32) -> Self {
        let mut wire = Wire::new(options);
        for call in 0..calls {
            wire.send(call, get(1));
        }
        wire
    }

    pub fn send(&mut self, call: CallId, request: Request) -> Vec<u8> {
        assert!(self.session.capacity() > 0);
        self.session.send(call, &Arc::new(request));
        let mut out = Vec::new();
        while self.session.pump(&mut out) {}
        assert!(self.session.flushed(call));
        out
    }

    /// A call that is still on its way out.
    pub fn session_send_without_pump(&mut self) {
        self.session.send(0, &Arc::new(get(0)));
    }

    pub fn receive(&mut self, input: &[u8]) {
        self.try_receive(input).unwrap();
    }

    pub fn try_receive(&mut self, input: &[u8]) -> Result<(), ProtocolError> {
        let mut notes = Notes(std::mem::take(&mut self.events));
        let result = self.session.receive(input, &mut notes);
        self.events = notes.0;
        result
    }

    pub fn close(&mut self) {
        let mut notes = Notes(std::mem::take(&mut self.events));
        self.session.closed(&mut notes);
        self.events = notes.0;
    }

    pub fn capacity(&self) -> usize {
        self.session.capacity()
    }

    pub fn session_is_finished(&self) -> bool {
        self.session.finished()
    }
}
