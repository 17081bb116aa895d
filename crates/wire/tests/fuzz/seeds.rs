//! Inputs to begin with, from the golden vectors and our own writers.

use std::sync::Arc;

use serde_json::Value;
use wirelab_contract::{Operation, transfer};
use wirelab_wire::cdr::ByteOrder;
use wirelab_wire::giop::{
    Giop, Ior, Options, ReplyStatus, ReplyTo, SystemException, UserException, Version,
    close_connection, fragment,
};
use wirelab_wire::http2::frame::kind;
use wirelab_wire::http2::hpack::{Encoder, Huffman, Indexing};
use wirelab_wire::raw::report::Record;
use wirelab_wire::soap::{self, EnvelopeFormat, Style};
use wirelab_wire::token_xml::{self, Document, TokenCache};
use wirelab_wire::{Request, Session, grpc, gzip, raw, zstd};

use super::corpus::Seed;

/// Bytes per piece that the connections' seeds ask for.
const STEP: u8 = 64;

/// Every seed.
pub fn all() -> Vec<Seed> {
    let mut seeds = Vec::new();
    encodings(&mut seeds);
    envelopes(&mut seeds);
    add_compressed(&mut seeds);
    references(&mut seeds);
    http(&mut seeds);
    giop(&mut seeds);
    raw_streams(&mut seeds);
    message_streams(&mut seeds);
    connect(&mut seeds);
    seeds
}

/// Adds an input, unless the target has it already.
fn add(seeds: &mut Vec<Seed>, target: &'static str, name: &str, bytes: Vec<u8>) {
    // Some values have one form in several codecs or versions.
    let known = |seed: &Seed| seed.target == target && seed.bytes == bytes;
    if !seeds.iter().any(known) {
        let name = name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
        seeds.push(Seed {
            target,
            name,
            bytes,
        });
    }
}

fn add_stream(seeds: &mut Vec<Seed>, target: &'static str, name: &str, bytes: &[u8]) {
    add(seeds, target, name, [&[STEP], bytes].concat());
}

fn unhex(hex: &str) -> Vec<u8> {
    let pairs = (0..hex.len()).step_by(2);
    pairs
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
        .collect()
}

/// Every message of the vectors in every codec.
fn encodings(seeds: &mut Vec<Seed>) {
    let vectors = include_str!("../../../../contracts/vectors/encodings.json");
    let vectors: Value = serde_json::from_str(vectors).unwrap();
    for vector in vectors["accepted"].as_array().unwrap() {
        let text = |key: &str| vector[key].as_str().unwrap();
        let name = format!("{} {}", text("message"), text("name"));
        add(seeds, "json", &name, text("json").as_bytes().to_vec());
        add(seeds, "protobuf", &name, unhex(text("protobuf")));
        add(seeds, "avro", &name, unhex(text("avro")));
        add(seeds, "cdr", &format!("{name} big"), unhex(text("cdr_big")));
        add(
            seeds,
            "cdr",
            &format!("{name} little"),
            unhex(text("cdr_little")),
        );
        add(seeds, "xml", &name, text("xml").as_bytes().to_vec());
        add(
            seeds,
            "token_xml_text",
            &name,
            text("xml").as_bytes().to_vec(),
        );
        for (index, variant) in vector["xml_variants"]
            .as_array()
            .unwrap()
            .iter()
            .enumerate()
        {
            let variant = variant.as_str().unwrap().as_bytes().to_vec();
            add(seeds, "xml", &format!("{name} variant {index}"), variant);
        }
    }
}

fn submit() -> transfer::SubmitRequest {
    let record = transfer::Record {
        id: 1,
        quantity: -2,
        item: "<&>".into(),
        remark: String::new(),
    };
    transfer::SubmitRequest {
        batch: "batch".into(),
        records: vec![record; 2],
    }
}

fn make_submit_reply() -> transfer::SubmitReply {
    let refusal = transfer::Refusal {
        id: 1,
        reason: "quantity must be positive".into(),
    };
    transfer::SubmitReply {
        batch: "batch".into(),
        refused: vec![refusal; 2],
        ..Default::default()
    }
}

/// Envelopes of every style and version, as text and as tokens.
fn envelopes(seeds: &mut Vec<Seed>) {
    for style in [Style::Literal, Style::Rpc, Style::Encoded] {
        for version in soap::Version::ALL {
            let Ok(form) = EnvelopeFormat::new(version, style) else {
                continue;
            };
            let (mut request, mut reply) = (Vec::new(), Vec::new());
            soap::write_request(form, Operation::Submit, &submit(), None, &mut request);
            soap::write_reply(form, Operation::Submit, &make_submit_reply(), &mut reply);
            add(
                seeds,
                "soap",
                &format!("request {style:?} {version:?}"),
                request,
            );
            add(
                seeds,
                "soap",
                &format!("reply {style:?} {version:?}"),
                reply,
            );
        }
    }
    let request = Document::of_request(Operation::Submit, &submit());
    let reply = Document::of_reply(Operation::Submit, &make_submit_reply());
    for (name, document) in [("request", request), ("reply", reply)] {
        add(seeds, "token_xml_text", name, token_xml::to_xml(&document));
        let mut tokens = Vec::new();
        let mut encoder = token_xml::Encoder::new(TokenCache::NamesAndTexts);
        encoder.encode(&document, &mut tokens);
        add(seeds, "token_xml", name, tokens.clone());
        tokens.push(0x0F);
        encoder.encode(&document, &mut tokens);
        add(seeds, "token_xml", &format!("{name} twice"), tokens);
    }
}

fn add_compressed(seeds: &mut Vec<Seed>) {
    let texts = [
        ("empty", Vec::new()),
        ("text", b"abcabcabc".repeat(20)),
        ("zeros", vec![0; 9000]),
    ];
    for (name, content) in texts {
        add(seeds, "gzip", name, gzip::compress(&content));
        add(seeds, "zstd", name, zstd::compress(&content));
        let packed = [gzip::compress(&content), zstd::compress(&content)];
        for (coding, body) in (0..).zip(packed) {
            let bytes = [&[STEP, coding], body.as_slice()].concat();
            add(seeds, "unpacker", &format!("{name} {coding}"), bytes);
        }
        let framed = [
            grpc::frame(&content[..content.len().min(100)], false),
            grpc::frame(b"x", true),
        ];
        add(seeds, "grpc", name, framed.concat());
    }
}

/// Streams of Connect and their ends.
fn connect(seeds: &mut Vec<Seed>) {
    let end = br#"{"error":{"code":"unavailable","message":"overloaded"},"metadata":{"a":["1"]}}"#;
    let mut last = grpc::frame(b"{}", false);
    last[0] = 2;
    let stream = [grpc::frame(b"hello", false), grpc::frame(b"x", true), last];
    add(seeds, "connect", "stream", stream.concat());
    add(seeds, "connect", "end", end.to_vec());
    let error = br#"{"code":"not_found","details":[{"type":"a.B","value":"CgIIPA"}]}"#;
    add(seeds, "connect", "error", error.to_vec());
}

fn references(seeds: &mut Vec<Seed>) {
    let ior = Ior::new(
        "IDL:wirelab/charging_v1/Charging:1.0",
        "127.0.0.1",
        4711,
        b"charging",
    );
    add(seeds, "ior", "ior", ior.to_text().unwrap().into_bytes());
    for (name, text) in [
        ("corbaloc", "corbaloc:iiop:1.2@localhost:4711/charging"),
        ("corbaloc list", "corbaloc::[::1]:1,iiop:1.1@b/k%2F%00"),
    ] {
        add(seeds, "ior", name, text.into());
    }
}

/// A frame of HTTP/2 (RFC 9113 section 4.1).
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    let head = [&length[1..], &[kind, flags], &stream.to_be_bytes()].concat();
    [&head[..], payload].concat()
}

fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = Encoder::new(4096, Huffman::WhenNotLonger);
    for (name, value) in fields {
        encoder.field(
            name.as_bytes(),
            value.as_bytes(),
            Indexing::Incremental,
            &mut out,
        );
    }
    out
}

fn http(seeds: &mut Vec<Seed>) {
    let replies: [(&str, &[u8]); 3] = [
        ("length", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Type: text/plain\r\n\r\nhello"),
        (
            "chunked",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nx: y\r\n\r\n",
        ),
        ("until close", b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 404 No\r\n\r\nnothing"),
    ];
    for (name, reply) in replies {
        add_stream(seeds, "http1", name, &reply.repeat(2));
    }
    let ok = block(&[(":status", "200"), ("content-type", "application/grpc")]);
    let last = block(&[("grpc-status", "0"), ("grpc-message", "fine")]);
    // Twice: the second block meets the table that the first has filled.
    add(seeds, "hpack", "reply", [ok.clone(), ok.clone()].concat());
    add(
        seeds,
        "hpack",
        "trailers",
        [last.clone(), last.clone()].concat(),
    );
    let opening = [
        frame(kind::SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 100]),
        frame(kind::SETTINGS, 1, 0, &[]),
    ];
    let call = [
        frame(kind::HEADERS, 4, 1, &ok),
        frame(kind::DATA, 0, 1, &grpc::frame(b"hello", false)),
        frame(kind::HEADERS, 5, 1, &last),
    ];
    add_stream(
        seeds,
        "http2",
        "call",
        &[opening.concat(), call.concat()].concat(),
    );
    let ends = [
        frame(kind::RST_STREAM, 0, 1, &[0, 0, 0, 8]),
        frame(kind::WINDOW_UPDATE, 0, 0, &[0, 0, 1, 0]),
        frame(kind::PING, 0, 0, &[7; 8]),
        frame(kind::GOAWAY, 0, 0, &[0; 8]),
    ];
    add_stream(
        seeds,
        "http2",
        "ends",
        &[opening.concat(), ends.concat()].concat(),
    );
}

fn to(id: u32, order: ByteOrder) -> ReplyTo {
    ReplyTo {
        version: Version::V12,
        order,
        id,
    }
}

fn giop(seeds: &mut Vec<Seed>) {
    let mut replies = Vec::new();
    to(2, ByteOrder::Big)
        .result(&mut replies, &make_submit_reply())
        .unwrap();
    let application = UserException {
        id: UserException::application_error_id("charging"),
        message: Some("no".into()),
    };
    to(0, ByteOrder::Little)
        .user_exception(&mut replies, &application)
        .unwrap();
    to(1, ByteOrder::Big)
        .system_exception(&mut replies, &SystemException::marshal())
        .unwrap();
    add_stream(seeds, "giop_client", "replies", &replies);
    let mut large = Vec::new();
    to(1, ByteOrder::Big)
        .reply(&mut large, ReplyStatus::NoException, &[7; 100])
        .unwrap();
    add_stream(
        seeds,
        "giop_client",
        "fragments",
        &fragment(&large, 48).concat(),
    );
    let mut ends = Vec::new();
    to(0, ByteOrder::Big)
        .forward(&mut ends, &Ior::new("", "h", 1, b"k"), true)
        .unwrap();
    to(1, ByteOrder::Big)
        .reply(&mut ends, ReplyStatus::NeedsAddressingMode, &[0, 2])
        .unwrap();
    close_connection(&mut ends, Version::V12);
    add_stream(seeds, "giop_client", "ends", &ends);
    for order in [ByteOrder::Big, ByteOrder::Little] {
        let sent = requests(order);
        add_stream(seeds, "giop_server", &format!("requests {order:?}"), &sent);
        add_stream(
            seeds,
            "giop_server",
            &format!("fragments {order:?}"),
            &fragment(&sent, 64).concat(),
        );
        for exception in ["BAD_OPERATION", "MARSHAL"] {
            let mut out = Vec::new();
            SystemException::named(exception)
                .write(order, &mut out)
                .unwrap();
            add(seeds, "cdr", &format!("{exception} {order:?}"), out);
        }
        let mut out = Vec::new();
        application.write(order, &mut out).unwrap();
        add(seeds, "cdr", &format!("ApplicationError {order:?}"), out);
    }
    let old = b"GIOP\x01\x00\x00\x00\0\0\0\x20\0\0\0\0\0\0\0\x05\x01\0\0\0\0\0\0\x03key\0\0\0\0\x03op\0\0\0\0\0\0";
    add_stream(seeds, "giop_server", "version 1.0", old);
    let small = b"GIOP\x01\x02\0\x03\0\0\0\x0F\0\0\0\x04\0\0\0\0\0\0\0\x03keyGIOP\x01\x02\0\x02\0\0\0\x04\0\0\0\x04";
    add_stream(seeds, "giop_server", "locate and cancel", small);
}

/// What our client sends.
fn requests(order: ByteOrder) -> Vec<u8> {
    let options = Options {
        object_key: b"key".to_vec(),
        byte_order: order,
        ..Options::default()
    };
    let mut session = Giop::new(options).unwrap();
    let body = wirelab_wire::cdr::to_vec(order, &submit()).unwrap();
    let request = Request {
        path: "submit".into(),
        body: body.into(),
        ..Request::default()
    };
    session.send(0, &Arc::new(request));
    let mut out = Vec::new();
    while session.pump(&mut out) {}
    out
}

fn raw_streams(seeds: &mut Vec<Seed>) {
    let form = EnvelopeFormat::new(soap::Version::V11, Style::Literal).unwrap();
    let mut request = Vec::new();
    soap::write_request(form, Operation::Submit, &submit(), None, &mut request);
    let mut tokens = Vec::new();
    let document = Document::of_reply(Operation::Submit, &make_submit_reply());
    token_xml::Encoder::new(TokenCache::NamesAndTexts).encode(&document, &mut tokens);
    for (name, content) in [
        ("envelope", request),
        ("tokens", tokens),
        ("empty", Vec::new()),
    ] {
        let mut stream = Vec::new();
        raw::write(&content, &mut stream);
        raw::write(b"<a></a>", &mut stream);
        add_stream(seeds, "raw_client", name, &stream);
        add_stream(seeds, "raw_server", name, &stream);
    }
    let records = [1, 2].map(|count| Record { port: 4711, count }.bytes());
    add_stream(seeds, "raw_server", "report", &records.concat());
}

/// Messages of streams over HTTP.
fn message_streams(seeds: &mut Vec<Seed>) {
    for (name, body) in [
        (
            "data",
            "\u{feff}: begin\nretry: 10\n\nid: 1\nevent: add\ndata: a\ndata: b\n\ndata\n\n",
        ),
        (
            "line-ends",
            "data: a\r\n\r\ndata: b\r\rid: a\0b\ndata:ä\n\n",
        ),
    ] {
        add_stream(seeds, "sse", name, body.as_bytes());
        add(
            seeds,
            "sse",
            &format!("{name} cut"),
            [&[3], body.as_bytes()].concat(),
        );
    }
    let frames = b"\x81\x07{\"a\":1}\x01\x01{\x89\x02hi\x80\x01}\x81\x00\x88\x02\x03\xe8";
    add_stream(seeds, "websocket", "frames", frames);
    add(
        seeds,
        "websocket",
        "frames cut",
        [&[1], &frames[..]].concat(),
    );
    // Compressed: the examples of RFC 7692 section 7.2.3, a ping within one, an empty one.
    let compressed = b"\xc1\x07\xf2\x48\xcd\xc9\xc9\x07\x00\x41\x03\xf2\x48\xcd\x89\x02hi\x80\x04\xc9\xc9\x07\x00\
\xc1\x05\xf2\x00\x11\x00\x00\xc1\x08\xf3\x48\xcd\xc9\xc9\x07\x00\x00\
\xc1\x0d\xf2\x48\x05\x00\x00\x00\xff\xff\xca\xc9\xc9\x07\x00\xc1\x01\x00\x88\x02\x03\xe8";
    for (name, first) in [
        ("compressed", 0xbf),
        ("compressed cut", 0x81),
        ("apart", 0xc2),
    ] {
        let input = [&[first], &compressed[..]].concat();
        add(seeds, "websocket", name, input);
    }
    let answer =
        b"\x3fpermessage-deflate; server_max_window_bits=\"10\"; server_no_context_takeover";
    add(seeds, "websocket", "answer", answer.to_vec());
    let lines = b"{\"a\":1}\r\n\n [\"b\"]\n3";
    add_stream(seeds, "ndjson", "lines", lines);
    add(seeds, "ndjson", "lines cut", [&[2], &lines[..]].concat());
    for (name, data) in [
        (
            "content",
            r#"{"id":"1","choices":[{"index":0,"delta":{"content":"a\u00e4"}}]}"#,
        ),
        (
            "reasoning",
            r#"{"choices":[{"delta":{"reasoning_content":"b","reasoning":null}}]}"#,
        ),
        (
            "tool",
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0}]}}]}"#,
        ),
        (
            "usage",
            r#"{"choices":[],"usage":{"completion_tokens":17}}"#,
        ),
        ("error", r#"{"error":{"message":"busy"}}"#),
        ("done", "[DONE]"),
    ] {
        add(seeds, "chat", name, data.into());
    }
}
