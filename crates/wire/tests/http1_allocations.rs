//! The common path neither allocates nor copies: counted, not believed.

use std::sync::Arc;

use wirelab_contract::transfer::HelloReply;
use wirelab_contract::{Call, ops};
use wirelab_wire::codec::{Codec, Expected, MessageFormat};
use wirelab_wire::http1::{Http1, Options};
use wirelab_wire::{CallId, End, Failure, Head, Replies, Request, Session};

use crate::fuzz::memory::measure_allocations;

/// Notes where bodies lie, and that they came.
#[derive(Default)]
struct BodyOffsets {
    ends: usize,
    bodies: Vec<(usize, usize)>,
}

impl Replies for BodyOffsets {
    fn first(&mut self, _: CallId) {}
    fn head(&mut self, _: CallId, _: &Head) {}
    fn body(&mut self, _: CallId, chunk: &[u8]) {
        self.bodies.push((chunk.as_ptr() as usize, chunk.len()));
    }
    fn end(&mut self, _: CallId, _: End) {
        self.ends += 1;
    }
    fn failed(&mut self, call: CallId, failure: Failure) {
        panic!("call {call}: {failure}");
    }
}

#[test]
fn a_call_whose_reply_comes_whole_allocates_nothing() {
    let request = Arc::new(Request {
        id: 1,
        method: "POST".into(),
        path: "/".into(),
        authority: "localhost".into(),
        fields: vec![],
        body: Arc::from(&b"body"[..]),
    });
    let reply =
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\nhello";
    let mut session = Http1::new(Options::default()).unwrap();
    let mut out = Vec::with_capacity(1024);
    let mut offsets = BodyOffsets {
        bodies: Vec::with_capacity(2_000),
        ..BodyOffsets::default()
    };
    let mut round = |offsets: &mut BodyOffsets| {
        out.clear();
        session.send(0, &request);
        assert!(!session.pump(&mut out));
        session.receive(reply, offsets).unwrap();
    };
    round(&mut offsets);
    let allocated = measure_allocations(|| (0..1_000).for_each(|_| round(&mut offsets)));
    assert_eq!(allocated, (0, 0));
    assert_eq!(offsets.ends, 1_001);
    let lies_at = reply.as_ptr() as usize + reply.len() - 5;
    assert!(
        offsets.bodies.iter().all(|&offset| offset == (lies_at, 5)),
        "bodies are not copied"
    );
}

#[test]
fn a_large_text_is_validated_without_a_copy() {
    const BYTES: u64 = 3_000_000;
    for codec in [
        Codec::Text,
        Codec::Json,
        Codec::Protobuf,
        Codec::Xml,
        Codec::SoapLiteral,
        Codec::SoapRpc,
        Codec::SoapEncoded,
    ] {
        let call = Call::Hello { hello_bytes: BYTES };
        let expected = Expected::of(codec, &call).unwrap();
        let text = wirelab_contract::texts::text(BYTES as usize);
        let body = match codec {
            Codec::Text => text.into_bytes(),
            Codec::Json => format!("{{\"text\":\"{text}\"}}").into_bytes(),
            Codec::Protobuf => [&b"\x0A\xC0\x8D\xB7\x01"[..], text.as_bytes()].concat(),
            other => MessageFormat::from(other).write_reply::<ops::Hello>(&HelloReply { text }),
        };
        // What is made once for the life of the process does not count.
        expected.check(&body).unwrap();
        let (_, bytes) = measure_allocations(|| expected.check(&body).unwrap());
        assert!(bytes < 2_000, "{codec}: {bytes} bytes");
    }
}
