//! Streams of messages for scripts: what both sides write.

use wirelab_trace::diagnosis::Diagnosis;
use wirelab_trace::output::{Dissection, Messages, Options};
use wirelab_wire::http2::frame::{PREFACE, flag, kind, write_frame};
use wirelab_wire::http2::hpack::{Encoder, Huffman, Indexing};
use wirelab_wire::websocket::{Header, Kind, Opcode, mask};

use super::script::{Client, MS, REQUEST, Script, Server};

pub const EVENTS: &str = "text/event-stream";
const UPGRADE: &[u8] = b"GET /feed HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\n\
    Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
const SWITCHING: &[u8] = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n\
    Upgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

/// A connection that has become WebSocket.
pub fn open_websocket(script: &mut Script) -> usize {
    let connection = script.open(300);
    switch(script, connection);
    connection
}

pub fn switch(script: &mut Script, connection: usize) {
    script.wait(MS).send(connection, Client, UPGRADE);
    script.wait(400).send(connection, Server, SWITCHING);
    script.wait(20).ack(connection, Client);
}

/// A connection with the head of a reply that is a stream.
pub fn open_stream(script: &mut Script, content_type: &str) -> usize {
    let connection = script.open(300);
    ask(script, connection, content_type);
    connection
}

pub fn ask(script: &mut Script, connection: usize, content_type: &str) {
    script.wait(MS).send(connection, Client, REQUEST);
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\n\r\n");
    script.wait(400).send(connection, Server, head.as_bytes());
    script.wait(20).ack(connection, Client);
}

/// Sends bytes of the server after a pause, and acknowledges them.
pub fn push(script: &mut Script, connection: usize, pause_us: u64, bytes: &[u8]) {
    script.wait(pause_us).send(connection, Server, bytes);
    script.wait(20).ack(connection, Client);
}

/// A frame of the server; `first` is its first byte without the opcode's meaning.
pub fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let header = Header {
        is_final: true,
        is_compressed: false,
        opcode: Opcode::Message(Kind::Text),
        key: None,
        length: payload.len() as u64,
    };
    header.write(&mut bytes);
    bytes[0] = first;
    bytes.extend(payload);
    bytes
}

/// A text message of the server.
pub fn text(payload: &[u8]) -> Vec<u8> {
    frame(0x81, payload)
}

/// A text message of the client.
pub fn client_text(payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let header = Header {
        is_final: true,
        is_compressed: false,
        opcode: Opcode::Message(Kind::Text),
        key: Some([7, 9, 11, 13]),
        length: payload.len() as u64,
    };
    header.write(&mut bytes);
    let mut body = payload.to_vec();
    mask(&mut body, [7, 9, 11, 13], 0);
    bytes.extend(body);
    bytes
}

/// An event with a number in its data.
pub fn event(number: u64) -> Vec<u8> {
    format!("data: number {number} {}\n\n", "x".repeat(60)).into_bytes()
}

/// A connection of HTTP/2 with requests for streams of that type on streams 1, 3, ….
pub fn open_http2(script: &mut Script, streams: u32, content_type: &str) -> usize {
    let connection = script.open(300);
    let mut encoder = Encoder::new(4096, Huffman::WhenNotLonger);
    let mut requests = PREFACE.to_vec();
    write_frame(&mut requests, kind::SETTINGS, 0, 0, &[]);
    let whole = flag::END_HEADERS;
    for stream in (0..streams).map(|number| 2 * number + 1) {
        let fields = [
            (":method", "GET"),
            (":scheme", "http"),
            (":path", "/events"),
            ("content-type", content_type),
        ];
        let block = block(&mut encoder, &fields);
        let end = whole | flag::END_STREAM;
        write_frame(&mut requests, kind::HEADERS, end, stream, &block);
    }
    script.wait(MS).send(connection, Client, &requests);
    let mut encoder = Encoder::new(4096, Huffman::WhenNotLonger);
    let mut replies = Vec::new();
    write_frame(&mut replies, kind::SETTINGS, 0, 0, &[]);
    for stream in (0..streams).map(|number| 2 * number + 1) {
        let fields = [(":status", "200"), ("content-type", content_type)];
        let block = block(&mut encoder, &fields);
        write_frame(&mut replies, kind::HEADERS, whole, stream, &block);
    }
    script.wait(400).send(connection, Server, &replies);
    script.wait(20).ack(connection, Client);
    connection
}

fn block(encoder: &mut Encoder, fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    encoder.begin_block(&mut block);
    for (name, value) in fields {
        let (name, value) = (name.as_bytes(), value.as_bytes());
        encoder.field(name, value, Indexing::Incremental, &mut block);
    }
    block
}

/// A DATA frame of a stream.
pub fn data(stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_frame(&mut bytes, kind::DATA, 0, stream, payload);
    bytes
}

pub fn dissect(script: &Script) -> Dissection {
    let diagnosis = Diagnosis::default().with_messages(100);
    script.dissect_with(Options::default(), diagnosis)
}

pub fn messages(dissection: &Dissection) -> &Messages {
    dissection.messages.as_ref().expect("they were asked for")
}

/// A proxy between two hosts: its connections to the service behind it, and from the client.
pub fn open_proxy(script: &mut Script, content_type: &str) -> [usize; 2] {
    let front = script.add();
    script.place(front, 1, 5, 80);
    script.handshake(front, 20, 300);
    let back = script.add();
    script.place(back, 5, 9, 8_000);
    script.handshake(back, 300, 20);
    script.wait(MS).send(front, Client, REQUEST);
    script.wait(200).send(back, Client, REQUEST);
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\n\r\n");
    for connection in [back, front] {
        script.wait(200).send(connection, Server, head.as_bytes());
        script.wait(20).ack(connection, Client);
    }
    [front, back]
}
