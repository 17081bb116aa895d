//! Connections, from both ends. The first byte is the size of the pieces, in
//! bytes the rest arrives.

use std::collections::BTreeMap;
use std::sync::Arc;

use wirelab_contract::transfer::{SubmitRequest, UploadRequest};

use crate::giop::{self, ClientMessage, Giop};
use crate::http1::{self, Http1};
use crate::http2;
use crate::raw::report::Records;
use crate::raw::{self, Raw};
use crate::session::{CallId, End, Failure, Head, Replies, Request, Session};
use crate::websocket::{self, DeflateOffer, Kind, WebSocket, append_compressed};

/// Calls in flight at the beginning.
const CALLS: u32 = 3;

/// The stage that a call has reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Stage {
    Sent,
    First,
    Head,
    Ended,
}

/// Holds a session to the order of [`Replies`].
#[derive(Debug, Default)]
struct EventOrder(BTreeMap<CallId, Stage>);

impl EventOrder {
    fn advance(&mut self, call: CallId, from: &[Stage], to: Stage) {
        let stage = self.0.get_mut(&call).expect("a call that was made");
        assert!(
            from.contains(stage),
            "{to:?} of call {call} after {stage:?}"
        );
        *stage = to;
    }
}

impl Replies for EventOrder {
    fn first(&mut self, call: CallId) {
        self.advance(call, &[Stage::Sent], Stage::First);
    }

    fn head(&mut self, call: CallId, _: &Head) {
        self.advance(call, &[Stage::First], Stage::Head);
    }

    fn body(&mut self, call: CallId, chunk: &[u8]) {
        assert!(!chunk.is_empty(), "an empty piece of a body");
        self.advance(call, &[Stage::Head], Stage::Head);
    }

    fn end(&mut self, call: CallId, _: End) {
        self.advance(call, &[Stage::Head], Stage::Ended);
    }

    fn failed(&mut self, call: CallId, _: Failure) {
        self.advance(
            call,
            &[Stage::Sent, Stage::First, Stage::Head],
            Stage::Ended,
        );
    }
}

/// Three calls, then `data` as the peer's bytes, then the end: every call
/// ends once, whatever came.
fn run_session(mut session: impl Session, data: &[u8]) {
    // The fuzzer controls how the bytes are cut, since many faults need a cut at one place.
    let Some((step, input)) = data.split_first() else {
        return;
    };
    let request = request();
    let mut order = EventOrder::default();
    let mut out = Vec::new();
    for call in 0..CALLS.min(session.capacity() as u32) {
        order.0.insert(call, Stage::Sent);
        session.send(call, &request);
    }
    while session.pump(&mut out) {}
    for piece in input.chunks(usize::from(*step).max(1)) {
        let received = session.receive(piece, &mut order);
        out.clear();
        while session.pump(&mut out) {}
        // The trait demands that a broken session takes no call.
        if received.is_err() {
            assert_eq!(session.capacity(), 0, "a broken session takes no call");
            break;
        }
    }
    // Calls without a reply must end here, and exactly once.
    session.closed(&mut order);
    let over = order.0.values().all(|stage| *stage == Stage::Ended);
    assert!(over, "{order:?}");
}

fn request() -> Arc<Request> {
    Arc::new(Request {
        id: 1,
        method: "GET".to_owned(),
        path: "/a".to_owned(),
        authority: "localhost".to_owned(),
        body: Arc::from(&b"<a></a>"[..]),
        ..Request::default()
    })
}

/// Replies of HTTP/1.x, pipelined.
pub fn fuzz_http1(data: &[u8]) {
    let options = http1::Options {
        pipeline: CALLS,
        ..http1::Options::default()
    };
    run_session(Http1::new(options).expect("options that agree"), data);
}

/// Of the first byte of an input of WebSocket: compression is agreed on, and the server's messages
/// have windows of their own. The rest is the length of a read.
const IS_DEFLATE: u8 = 1 << 7;
const FORGETS: u8 = 1 << 6;

/// Frames of WebSocket, after a handshake that is right; also an answer to an offer.
pub fn fuzz_websocket(data: &[u8]) {
    let Some((first, input)) = data.split_first() else {
        return;
    };
    let step = first & !(IS_DEFLATE | FORGETS);
    if let Ok(field) = std::str::from_utf8(input) {
        let _ = DeflateOffer::default().answered_by(field);
    }
    let extension = match (first & IS_DEFLATE, first & FORGETS) {
        (0, _) => "",
        (_, 0) => "sec-websocket-extensions: permessage-deflate\r\n",
        _ => "sec-websocket-extensions: permessage-deflate; server_no_context_takeover\r\n",
    };
    let mut body = Vec::new();
    append_compressed(&mut body, Kind::Text, b"{}");
    let mut session = WebSocket::new(websocket::Options {
        ending: websocket::Ending::EmptyText,
        kind: Some(Kind::Text),
        close: false,
        head_limits: http1::HeadLimits::default(),
        message_bytes_max: 1 << 16,
        deflate: Some(DeflateOffer::default()),
    });
    let request = Request {
        body: body.into(),
        ..(*request()).clone()
    };
    session.send(0, &Arc::new(request));
    let mut order = EventOrder(BTreeMap::from([(0, Stage::Sent)]));
    let mut out = Vec::new();
    session.pump(&mut out);
    let asked = String::from_utf8(out).expect("a head is ASCII");
    let (_, key) = asked.split_once("sec-websocket-key: ").expect("a key");
    let accept = websocket::accept_of(key.lines().next().expect("a line"));
    let head = format!(
        "HTTP/1.1 101 \r\nupgrade: websocket\r\nconnection: upgrade\r\n\
         sec-websocket-accept: {accept}\r\n{extension}\r\n"
    );
    let switched = session.receive(head.as_bytes(), &mut order);
    switched.expect("a handshake that is right");
    for piece in input.chunks(usize::from(step).max(1)) {
        let mut out = Vec::new();
        while session.pump(&mut out) {}
        if session.receive(piece, &mut order).is_err() {
            break;
        }
    }
    session.closed(&mut order);
    assert_eq!(order.0[&0], Stage::Ended);
}

/// Frames of HTTP/2.
pub fn fuzz_http2(data: &[u8]) {
    run_session(http2::Client::new(http2::Options::default()), data);
}

/// Replies of GIOP.
pub fn fuzz_giop_client(data: &[u8]) {
    let options = giop::Options {
        object_key: b"key".to_vec(),
        in_flight: CALLS,
        ..giop::Options::default()
    };
    run_session(Giop::new(options).expect("options that agree"), data);
}

/// Raw replies.
pub fn fuzz_raw_client(data: &[u8]) {
    let options = raw::Options {
        pipeline: CALLS,
        ..raw::Options::default()
    };
    run_session(Raw::new(options).expect("options that agree"), data);
}

/// Requests of GIOP, and their arguments.
pub fn fuzz_giop_server(data: &[u8]) {
    let Some((step, input)) = data.split_first() else {
        return;
    };
    let mut deframer = giop::Deframer::new();
    for mut piece in input.chunks(usize::from(*step).max(1)) {
        loop {
            match deframer.next(&mut piece) {
                Err(_) => return,
                Ok(None) => break,
                Ok(Some(inbound)) => read_message(&inbound),
            }
        }
        assert!(piece.is_empty(), "a deframer takes all that it is given");
    }
}

fn read_message(inbound: &ClientMessage) {
    let ClientMessage::Request(request) = inbound else {
        return;
    };
    let _ = request.body.bytes();
    let _ = request.body.read::<UploadRequest>();
    if let Ok(message) = request.body.read::<SubmitRequest>() {
        let mut out = Vec::new();
        request
            .reply_to
            .result(&mut out, &message)
            .expect("a message that was read");
    }
}

/// Raw requests, and the report of what has been processed.
pub fn fuzz_raw_server(data: &[u8]) {
    let Some((step, input)) = data.split_first() else {
        return;
    };
    let (mut deframer, mut records) = (raw::Deframer::new(), Records::new());
    for piece in input.chunks(usize::from(*step).max(1)) {
        let (mut requests, mut report) = (piece, piece);
        while let Ok(Some(content)) = deframer.next(&mut requests) {
            assert!(content.len() <= input.len());
        }
        while let Ok(Some(record)) = records.next(&mut report) {
            assert_eq!(
                Records::new().next(&mut &record.bytes()[..]),
                Ok(Some(record))
            );
        }
    }
}
