//! A session with the bytes it sent and the events it reported.

use std::sync::Arc;

use wirelab_wire_own::cdr::ByteOrder;
use wirelab_wire_own::giop::{Giop, Options, ReplyStatus, ReplyTo, Version};
use wirelab_wire_own::{CallId, Head, ProtocolError, Request, Session};

use crate::session_support::{Event, RecordedEvents};

pub const ORDERS: [ByteOrder; 2] = [ByteOrder::Big, ByteOrder::Little];

/// As long as the keys of common ORBs.
pub const KEY: &[u8] = b"wirelab/charging/abc";

pub fn options(in_flight: u32) -> Options {
    Options {
        object_key: KEY.to_vec(),
        in_flight,
        ..Options::default()
    }
}

pub fn request(id: u32, operation: &str, body: &[u8]) -> Arc<Request> {
    Arc::new(Request {
        id: id.into(),
        path: operation.into(),
        body: Arc::from(body),
        ..Request::default()
    })
}

pub struct Wire {
    pub session: Giop,
    pub events: Vec<Event>,
}

impl Wire {
    pub fn new(options: Options) -> Wire {
        Wire {
            session: Giop::new(options).unwrap(),
            events: Vec::new(),
        }
    }

    /// Calls 0 to `calls` - 1 sent, which are requests 0 to `calls` - 1.
    pub fn with_calls(calls: u32) -> Wire {
        let mut wire = Wire::new(options(calls));
        for call in 0..calls {
            wire.send(call, &request(1, "ping", &[]));
        }
        wire
    }

    pub fn send(&mut self, call: CallId, request: &Arc<Request>) -> Vec<u8> {
        assert!(self.session.capacity() > 0);
        self.session.send(call, request);
        let mut out = Vec::new();
        while self.session.pump(&mut out) {}
        assert!(self.session.started(call) && self.session.flushed(call));
        out
    }

    pub fn receive(&mut self, input: &[u8]) -> Result<(), ProtocolError> {
        let mut recorded = RecordedEvents(std::mem::take(&mut self.events));
        let result = self.session.receive(input, &mut recorded);
        self.events = recorded.0;
        result
    }

    pub fn closed(&mut self) {
        let mut recorded = RecordedEvents(std::mem::take(&mut self.events));
        self.session.closed(&mut recorded);
        self.events = recorded.0;
    }
}

pub fn to(id: u32, order: ByteOrder) -> ReplyTo {
    ReplyTo {
        version: Version::V12,
        order,
        id,
    }
}

pub fn reply(id: u32, order: ByteOrder, status: ReplyStatus, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    to(id, order).reply(&mut out, status, body).unwrap();
    out
}

pub fn head(status: u16, order: ByteOrder, length: Option<u64>) -> Head {
    Head {
        status,
        content_length: length,
        byte_order: Some(order),
        ..Head::default()
    }
}
