//! A session of HTTP/1.x whose events are recorded.

#[path = "../../../wire-own/tests/session_support/mod.rs"]
mod events;

use std::sync::Arc;

use wirelab_wire::http1::{Http1, Options};
use wirelab_wire::{CallId, ProtocolError, Request, Session};

pub use events::*;

pub fn get(id: u32) -> Request {
    Request {
        id: id.into(),
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
        let mut recorded = RecordedEvents(std::mem::take(&mut self.events));
        let result = self.session.receive(input, &mut recorded);
        self.events = recorded.0;
        result
    }

    pub fn close(&mut self) {
        let mut recorded = RecordedEvents(std::mem::take(&mut self.events));
        self.session.closed(&mut recorded);
        self.events = recorded.0;
    }

    pub fn capacity(&self) -> usize {
        self.session.capacity()
    }

    pub fn session_is_finished(&self) -> bool {
        self.session.finished()
    }
}
