//! The client of tokio-tungstenite, and frames that are written by hand.

use std::io::{Read, Write};
use std::net::TcpStream;

use futures_util::StreamExt;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, client_async};

use super::Service;

pub type Socket = WebSocketStream<tokio::net::TcpStream>;

pub async fn handshake<S: AsyncRead + AsyncWrite + Unpin>(
    stream: S,
    operation: &str,
) -> WebSocketStream<S> {
    let url = format!("ws://localhost/stream/{operation}");
    client_async(url, stream).await.expect("a handshake").0
}

pub async fn open(service: &Service, operation: &str) -> Socket {
    let stream = tokio::net::TcpStream::connect(service.address()).await;
    handshake(stream.expect("it listens"), operation).await
}

/// A message in either codec, from its JSON.
pub fn encode<M: DeserializeOwned + prost::Message>(codec: &str, value: &Value) -> Message {
    if codec == "json" {
        return Message::text(value.to_string());
    }
    let message: M = serde_json::from_value(value.clone()).expect("a message");
    Message::binary(message.encode_to_vec())
}

/// The JSON of a message, or of an error, in either codec.
pub fn decode<M: Serialize + prost::Message + Default>(codec: &str, message: &Message) -> Value {
    match message {
        Message::Text(text) => {
            let value: Value = serde_json::from_str(text).expect("JSON");
            assert!(codec == "json" || value.get("error").is_some(), "{text}");
            value
        }
        Message::Binary(bytes) => {
            assert_eq!(codec, "protobuf");
            serde_json::to_value(M::decode(bytes.clone()).expect("a message")).expect("JSON")
        }
        other => panic!("{other:?}"),
    }
}

pub fn end() -> Message {
    Message::text("")
}

pub async fn next<S: AsyncRead + AsyncWrite + Unpin>(socket: &mut WebSocketStream<S>) -> Message {
    let message = socket.next().await.expect("the connection is open");
    message.expect("a frame")
}

/// The messages of a reply, without its end.
pub async fn read_reply<S: AsyncRead + AsyncWrite + Unpin>(
    socket: &mut WebSocketStream<S>,
) -> Vec<Message> {
    let mut messages = Vec::new();
    loop {
        match next(socket).await {
            Message::Text(text) if text.is_empty() => return messages,
            message => messages.push(message),
        }
    }
}

/// The status with which the connection ends.
pub async fn read_status(socket: &mut Socket) -> u16 {
    loop {
        if let Message::Close(frame) = next(socket).await {
            return frame.expect("a status").code.into();
        }
    }
}

/// A feed of `count` items, one each `gap_ms`.
pub fn feed(count: u32, gap_ms: u32) -> Message {
    let gap_us = gap_ms * 1000;
    let request = json!({"count": count, "bytes": 8, "gap_us": gap_us, "pattern": "constant"});
    Message::text(request.to_string())
}

pub fn item(index: i32, text: &str) -> Message {
    Message::text(json!({"index": index, "text": text}).to_string())
}

/// A frame of a client (RFC 6455 section 5.2), masked with zeros.
pub fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![first];
    match payload.len() {
        length @ 0..126 => bytes.push(0x80 | length as u8),
        length @ 126..65_536 => {
            bytes.push(0x80 | 126);
            bytes.extend((length as u16).to_be_bytes());
        }
        length => {
            bytes.push(0x80 | 127);
            bytes.extend((length as u64).to_be_bytes());
        }
    }
    bytes.extend([0; 4]);
    bytes.extend(payload);
    bytes
}

/// A connection of bytes that has been upgraded.
pub fn upgrade(service: &Service, operation: &str) -> TcpStream {
    let mut stream = service.connect();
    let request = format!(
        "GET /stream/{operation} HTTP/1.1\r\nhost: x\r\nconnection: keep-alive, Upgrade\r\n\
         upgrade: WebSocket\r\nsec-websocket-version: 13\r\n\
         sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap().to_lowercase();
    assert!(head.starts_with("http/1.1 101 "), "{head}");
    // RFC 6455 section 1.3.
    let accept = "sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo=\r\n";
    assert!(head.contains(accept), "{head}");
    assert!(!head.contains("sec-websocket-extensions"), "{head}");
    stream
}

/// The status of the close with which the service answers, and that nothing follows it.
pub fn read_close(stream: &mut TcpStream) -> u16 {
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).expect("an end and no reset");
    assert_eq!(reply[0], 0x88, "{reply:?}");
    assert_eq!(reply.len(), 2 + usize::from(reply[1]), "{reply:?}");
    u16::from_be_bytes([reply[2], reply[3]])
}
