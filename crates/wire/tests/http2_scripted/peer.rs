//! The other end: builds a server's frames, and takes the client's apart.

use std::sync::Arc;

use wirelab_wire::http2::frame::{FrameHead, PREFACE, flag, kind, write_frame};
use wirelab_wire::http2::hpack::{Decoder, Encoder, Huffman, Indexing};
use wirelab_wire::http2::{Client, Options};
use wirelab_wire::{CallId, End, Failure, Head, ProtocolError, Replies, Request, Session};

/// The events of a session; body chunks that follow each other are joined, so that
/// logs do not depend on how the input was cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    First(CallId),
    Field(CallId, String, Vec<u8>),
    Head(CallId, Head),
    Body(CallId, Vec<u8>),
    End(CallId, End),
    Failed(CallId, Failure),
}

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Log(pub Vec<Event>);

impl Replies for Log {
    fn first(&mut self, call: CallId) {
        self.0.push(Event::First(call));
    }
    fn field(&mut self, call: CallId, name: &str, value: &[u8]) {
        self.0.push(Event::Field(call, name.into(), value.to_vec()));
    }
    fn head(&mut self, call: CallId, head: &Head) {
        self.0.push(Event::Head(call, *head));
    }
    fn body(&mut self, call: CallId, chunk: &[u8]) {
        assert!(!chunk.is_empty());
        match self.0.last_mut() {
            Some(Event::Body(last, body)) if *last == call => body.extend_from_slice(chunk),
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

/// A frame that the client sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

impl Frame {
    /// The payload as a number: an error code or an increment.
    pub fn number(&self) -> u32 {
        u32::from_be_bytes(self.payload[..4].try_into().unwrap())
    }
}

/// A client, the log of its events, and the state of its peer.
pub struct Peer {
    pub client: Client,
    pub log: Log,
    pub encoder: Encoder,
    pub decoder: Decoder,
    preface_due: bool,
}

impl Peer {
    /// Nothing has been exchanged.
    pub fn silent(options: Options) -> Peer {
        Peer {
            client: Client::new(options),
            log: Log::default(),
            encoder: Encoder::new(4_096, Huffman::WhenNotLonger),
            decoder: Decoder::new(4_096, 1 << 20),
            preface_due: true,
        }
    }

    /// Both sides have sent and acknowledged SETTINGS.
    pub fn connect(options: Options, parameters: &[(u16, u32)]) -> Peer {
        let mut peer = Peer::silent(options);
        peer.play(&settings(parameters));
        peer.play(&frame(kind::SETTINGS, flag::ACK, 0, &[]));
        peer.frames();
        peer
    }

    /// The usual case.
    pub fn new() -> Peer {
        Peer::connect(Options::default(), &[])
    }

    /// Feeds bytes that must be accepted.
    pub fn play(&mut self, bytes: &[u8]) {
        self.client.receive(bytes, &mut self.log).unwrap();
    }

    /// Feeds bytes that must end the connection.
    pub fn refuse(&mut self, bytes: &[u8]) -> ProtocolError {
        self.client
            .receive(bytes, &mut self.log)
            .expect_err("a broken rule")
    }

    pub fn call(&mut self, call: CallId, request: &Arc<Request>) {
        assert!(self.client.capacity() > 0);
        self.client.send(call, request);
    }

    /// Everything that has happened since the last time.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.log.0)
    }

    /// The next send, as frames.
    pub fn pump(&mut self) -> Vec<Frame> {
        let mut out = Vec::new();
        self.client.pump(&mut out);
        self.parse(&out)
    }

    /// All that the client has to send, as frames.
    pub fn frames(&mut self) -> Vec<Frame> {
        let mut out = Vec::new();
        while self.client.pump(&mut out) {}
        self.parse(&out)
    }

    fn parse(&mut self, mut out: &[u8]) -> Vec<Frame> {
        if self.preface_due && !out.is_empty() {
            out = out.strip_prefix(PREFACE).expect("the preface");
            self.preface_due = false;
        }
        let mut frames = Vec::new();
        while let Some((head, rest)) = out.split_first_chunk() {
            let FrameHead {
                length,
                kind,
                flags,
                stream,
            } = FrameHead::parse(head);
            let (payload, rest) = rest.split_at(length as usize);
            frames.push(Frame {
                kind,
                flags,
                stream,
                payload: payload.to_vec(),
            });
            out = rest;
        }
        // A send never ends within a frame, or split writes could not be counted.
        assert!(out.is_empty(), "whole frames");
        frames
    }

    /// The fields of a block that the client sent.
    pub fn decode(&mut self, block: &[u8]) -> Vec<(String, String)> {
        let mut fields = Vec::new();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        self.decoder
            .decode(block, |name, value| fields.push((text(name), text(value))))
            .unwrap();
        fields
    }

    /// A field block from this peer.
    pub fn block(&mut self, fields: &[(&str, &str)]) -> Vec<u8> {
        let mut block = Vec::new();
        self.encoder.begin_block(&mut block);
        for (name, value) in fields {
            let (name, value) = (name.as_bytes(), value.as_bytes());
            self.encoder
                .field(name, value, Indexing::Incremental, &mut block);
        }
        block
    }

    /// HEADERS without END_STREAM.
    pub fn head(&mut self, stream: u32, fields: &[(&str, &str)]) -> Vec<u8> {
        let block = self.block(fields);
        frame(kind::HEADERS, flag::END_HEADERS, stream, &block)
    }

    /// HEADERS with END_STREAM: trailers, or a reply without content.
    pub fn last_head(&mut self, stream: u32, fields: &[(&str, &str)]) -> Vec<u8> {
        let block = self.block(fields);
        frame(
            kind::HEADERS,
            flag::END_HEADERS | flag::END_STREAM,
            stream,
            &block,
        )
    }
}

pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    write_frame(&mut out, kind, flags, stream, payload);
    out
}

pub fn settings(parameters: &[(u16, u32)]) -> Vec<u8> {
    let entry =
        |&(name, value): &(u16, u32)| [&name.to_be_bytes()[..], &value.to_be_bytes()].concat();
    frame(
        kind::SETTINGS,
        0,
        0,
        &parameters.iter().flat_map(entry).collect::<Vec<u8>>(),
    )
}

pub fn data(stream: u32, content: &[u8]) -> Vec<u8> {
    frame(kind::DATA, 0, stream, content)
}

pub fn last_data(stream: u32, content: &[u8]) -> Vec<u8> {
    frame(kind::DATA, flag::END_STREAM, stream, content)
}

pub fn pad(kind: u8, flags: u8, stream: u32, content: &[u8], padding: u8) -> Vec<u8> {
    let zeros = vec![0; usize::from(padding)];
    frame(
        kind,
        flags | flag::PADDED,
        stream,
        &[&[padding][..], content, &zeros].concat(),
    )
}

pub fn reset(stream: u32, code: u32) -> Vec<u8> {
    frame(kind::RST_STREAM, 0, stream, &code.to_be_bytes())
}

pub fn window_update(stream: u32, increment: u32) -> Vec<u8> {
    frame(kind::WINDOW_UPDATE, 0, stream, &increment.to_be_bytes())
}

pub fn goaway(last: u32, code: u32) -> Vec<u8> {
    let payload = [last.to_be_bytes(), code.to_be_bytes()].concat();
    frame(kind::GOAWAY, 0, 0, &payload)
}

/// A head with status 200 and no fields.
pub fn ok_head() -> Head {
    Head {
        status: 200,
        ..Head::default()
    }
}

pub fn get(id: u32) -> Arc<Request> {
    request(id, "GET", &[], b"")
}

pub fn post(id: u32, body: &[u8]) -> Arc<Request> {
    request(id, "POST", &[], body)
}

pub fn request(id: u32, method: &str, fields: &[(&str, &str)], body: &[u8]) -> Arc<Request> {
    Arc::new(Request {
        id: id.into(),
        method: method.into(),
        path: format!("/path/{id}"),
        authority: "localhost:80".into(),
        fields: fields
            .iter()
            .map(|&(name, value)| (name.into(), value.into()))
            .collect(),
        body: body.into(),
    })
}

/// The frames of one type.
pub fn of_kind(frames: &[Frame], kind: u8) -> Vec<Frame> {
    frames
        .iter()
        .filter(|frame| frame.kind == kind)
        .cloned()
        .collect()
}
