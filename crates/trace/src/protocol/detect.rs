//! Recognises protocols by their first bytes.

use wirelab_wire::giop::MessageHeader;
use wirelab_wire::http2::frame::PREFACE;
use wirelab_wire::http2::frame::{FrameHead, MAX_FRAME_SIZE_MIN, flag, kind};

use crate::protocol::exchange::Protocol;

pub(super) const DETECTION_BYTES_MAX: usize = 24;

/// PostgreSQL 3.0 (PostgreSQL documentation, "Message Formats", StartupMessage).
const POSTGRES_3: [u8; 4] = [0, 3, 0, 0];
/// The same, SSLRequest.
pub(super) const POSTGRES_SSL: [u8; 4] = [4, 210, 22, 47];
/// Thrift's binary protocol, version 1, a call (Thrift specification, "Message").
const THRIFT_CALL: [u8; 4] = [0x80, 1, 0, 1];

/// Bytes that the name of a method has at most (PROPPATCH and its like).
const METHOD_BYTES_MAX: usize = 17;
/// A request line that is longer is not waited for: what every recipient should take (RFC
/// 9112 section 3).
pub(super) const REQUEST_LINE_MAX: usize = 8000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detection {
    /// That protocol; the sender asks, answers, or may do either.
    Is(Protocol, Role),
    NeedMore,
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Client,
    Server,
    Either,
}

/// The protocol of the first bytes of a direction; `beginning` is false when there may
/// have been some before them.
pub(super) fn detect(bytes: &[u8], beginning: bool) -> Detection {
    // All of them, because prefixes overlap: the letters of the HTTP/2 preface are a
    // method. The first definite answer in this order holds.
    let detections = [
        match_prefix(bytes, PREFACE, Detection::Is(Protocol::Http2, Role::Client)),
        status_line(bytes),
        request_line(bytes),
        giop(bytes),
        tls(bytes),
        raw(bytes),
        frame(bytes, beginning),
        if beginning {
            detect_unparsed(bytes)
        } else {
            Detection::None
        },
    ];
    let known = detections.iter().find(|v| matches!(v, Detection::Is(..)));
    let more = detections.iter().find(|v| matches!(v, Detection::NeedMore));
    match (known, more) {
        (Some(known), _) => *known,
        // 24 bytes are the HTTP/2 preface, the longest prefix here (RFC 9113 section
        // 3.4). Only a request line may be longer.
        (None, Some(_)) if bytes.len() < DETECTION_BYTES_MAX => Detection::NeedMore,
        _ if begins_request(bytes) && bytes.len() < REQUEST_LINE_MAX => request_line(bytes),
        _ => Detection::None,
    }
}

fn match_prefix(bytes: &[u8], prefix: &[u8], detection: Detection) -> Detection {
    if bytes.starts_with(prefix) {
        detection
    } else if prefix.starts_with(bytes) {
        Detection::NeedMore
    } else {
        Detection::None
    }
}

/// The protocol of first bytes behind which the capture lacks some: a request line without
/// its end is one if it begins with a method that is registered.
pub(super) fn detect_cut(bytes: &[u8]) -> Detection {
    // The methods of RFC 9110 section 9.3 and RFC 5789.
    const METHODS: [&[u8]; 9] = [
        b"GET /",
        b"POST /",
        b"PUT /",
        b"PATCH /",
        b"DELETE /",
        b"HEAD /",
        b"OPTIONS /",
        b"TRACE /",
        b"CONNECT ",
    ];
    let is_request = METHODS.iter().any(|method| bytes.starts_with(method));
    match request_line(bytes) {
        Detection::NeedMore if is_request => Detection::Is(Protocol::Http1, Role::Client),
        other => other,
    }
}

/// Version, blank, three digits, and a blank or the end of the line (RFC 9112 section 4).
fn status_line(bytes: &[u8]) -> Detection {
    const VERSION: &[u8] = b"HTTP/1.";
    const BYTES: usize = VERSION.len() + b"1 200 ".len();
    if bytes.len() < BYTES {
        let (version, rest) = bytes.split_at(bytes.len().min(VERSION.len()));
        let is_beginning = VERSION.starts_with(version) && rest.iter().all(is_digit_or_blank);
        return if is_beginning {
            Detection::NeedMore
        } else {
            Detection::None
        };
    }
    match &bytes[VERSION.len()..BYTES] {
        [
            b'0'..=b'9',
            b' ',
            b'1'..=b'9',
            b'0'..=b'9',
            b'0'..=b'9',
            b' ' | b'\r' | b'\n',
        ] if bytes.starts_with(VERSION) => Detection::Is(Protocol::Http1, Role::Server),
        _ => Detection::None,
    }
}

fn is_digit_or_blank(byte: &u8) -> bool {
    byte.is_ascii_digit() || byte.is_ascii_whitespace()
}

/// A method, a blank, a target, a blank, and a version (RFC 9112 section 3). Many protocols
/// begin with capital letters: only the version distinguishes them.
fn request_line(bytes: &[u8]) -> Detection {
    const VERSION: &[u8] = b" HTTP/1.";
    if !begins_request(bytes) {
        return Detection::None;
    }
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
        return Detection::NeedMore;
    };
    let line = bytes[..end].strip_suffix(b"\r").unwrap_or(&bytes[..end]);
    let is_request = line
        .split_last()
        .is_some_and(|(minor, line)| minor.is_ascii_digit() && line.ends_with(VERSION));
    if is_request {
        Detection::Is(Protocol::Http1, Role::Client)
    } else {
        Detection::None
    }
}

/// A method in capitals, a blank, and what a target begins with (RFC 9112 section 3.2): the
/// absolute form of proxies and the authority form of CONNECT among them. Or a beginning of
/// that.
fn begins_request(bytes: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_uppercase() || *byte == b'-';
    let letters = bytes.iter().take_while(|byte| is_letter(byte)).count();
    if letters > METHOD_BYTES_MAX || bytes.starts_with(&PREFACE[..4]) {
        return false;
    }
    match (letters, bytes.get(letters), bytes.get(letters + 1)) {
        (_, None, _) | (3.., Some(b' '), None) => true,
        (3.., Some(b' '), Some(byte)) => {
            byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'*' | b'[')
        }
        _ => false,
    }
}

fn giop(bytes: &[u8]) -> Detection {
    match bytes.first_chunk() {
        Some(head) if MessageHeader::parse(head).is_ok() => {
            Detection::Is(Protocol::Giop, Role::Either)
        }
        Some(_) => Detection::None,
        None => match_prefix(&bytes[..bytes.len().min(4)], b"GIOP", Detection::NeedMore),
    }
}

/// A record of handshakes, alerts, ciphers or data (RFC 8446 section 5.1).
fn tls(bytes: &[u8]) -> Detection {
    match bytes {
        // Version 3.x, and a length of at most 2^14 + 2048 = 0x4800 (RFC 5246 section
        // 6.2.3).
        [20..=23, 3, 0..=4, high, _, ..] if *high <= 0x48 => {
            Detection::Is(Protocol::Tls, Role::Either)
        }
        [] | [20..=23] | [20..=23, 3] | [20..=23, 3, 0..=4] | [20..=23, 3, 0..=4, _] => {
            Detection::NeedMore
        }
        _ => Detection::None,
    }
}

/// A length in decimal digits and a line feed (contracts/README.md, Raw).
fn raw(bytes: &[u8]) -> Detection {
    let digits = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
    match (digits, bytes.get(digits)) {
        // Lengths have no leading zeros.
        (2.., _) if bytes[0] == b'0' => Detection::None,
        (1..=9, Some(b'\n')) => Detection::Is(Protocol::Raw, Role::Either),
        (0..=9, None) => Detection::NeedMore,
        _ => Detection::None,
    }
}

/// A frame of HTTP/2: of a server that begins, its SETTINGS; in the middle of a
/// connection any.
fn frame(bytes: &[u8], beginning: bool) -> Detection {
    let Some(head) = bytes.first_chunk().map(FrameHead::parse) else {
        return Detection::NeedMore;
    };
    // A server begins with SETTINGS that acknowledge nothing (RFC 9113 section 3.4).
    // 240 bytes are 40 settings; the RFC has six.
    let first = head.kind == kind::SETTINGS && head.flags == 0 && head.length <= 240;
    if is_frame(bytes) && (first || !beginning) {
        let role = if beginning {
            Role::Server
        } else {
            Role::Either
        };
        return Detection::Is(Protocol::Http2, role);
    }
    Detection::None
}

/// Whether a frame may begin here: its head fulfils the rules of RFC 9113
/// section 6 for its type, and so does the next one's where it can be seen.
pub(super) fn is_frame(bytes: &[u8]) -> bool {
    let Some(raw) = bytes.first_chunk() else {
        return false;
    };
    let head = FrameHead::parse(raw);
    let next = bytes.get(FrameHead::LEN + head.length as usize..);
    let next = next.and_then(|rest| rest.first_chunk());
    // The reserved bit is sent as 0 (RFC 9113 section 4.1).
    raw[5] < 0x80
        && is_valid_head(head)
        && next.is_none_or(|raw| is_valid_head(FrameHead::parse(raw)))
}

fn is_valid_head(head: FrameHead) -> bool {
    let known = match head.kind {
        kind::DATA => flag::END_STREAM | flag::PADDED,
        kind::HEADERS => flag::END_STREAM | flag::END_HEADERS | flag::PADDED | flag::PRIORITY,
        kind::SETTINGS | kind::PING => flag::ACK,
        kind::PUSH_PROMISE => flag::END_HEADERS | flag::PADDED,
        kind::CONTINUATION => flag::END_HEADERS,
        _ => 0,
    };
    let length = match head.kind {
        kind::SETTINGS => head.length.is_multiple_of(6) && (head.length == 0 || head.flags == 0),
        kind::PING => head.length == 8,
        kind::WINDOW_UPDATE | kind::RST_STREAM => head.length == 4,
        kind::PRIORITY => head.length == 5,
        kind::GOAWAY => head.length >= 8,
        _ => true,
    };
    let stream = match head.kind {
        kind::SETTINGS | kind::PING | kind::GOAWAY => head.stream == 0,
        kind::WINDOW_UPDATE => true,
        _ => head.stream != 0,
    };
    head.kind <= kind::CONTINUATION
        // A peer may allow larger frames. In the middle of a connection a missed frame
        // costs less than a wrong one.
        && head.length <= MAX_FRAME_SIZE_MIN
        && head.flags & !known == 0
        && length
        && stream
}

/// Of protocols that are not parsed, the one that these first bytes of a connection begin.
fn detect_unparsed(bytes: &[u8]) -> Detection {
    let found = [
        postgres(bytes),
        mysql(bytes),
        mongodb(bytes),
        redis(bytes),
        mqtt(bytes),
        thrift(bytes),
    ];
    let known = found.iter().find(|one| matches!(one, Detection::Is(..)));
    let more = found.iter().find(|one| matches!(one, Detection::NeedMore));
    *known.or(more).unwrap_or(&Detection::None)
}

/// A frame of WebSocket (RFC 6455 section 5.2): only behind a switch of HTTP/1.1 to it. The
/// frames of clients are masked.
pub(super) fn websocket(bytes: &[u8], is_agreed: bool) -> Detection {
    let [first, second, ..] = bytes else {
        return Detection::NeedMore;
    };
    // The first reserved bit marks a compressed message (RFC 7692 section 6).
    let reserved = if is_agreed { 0x30 } else { 0x70 };
    let is_frame = first & reserved == 0 && matches!(first & 0x0f, 0..=2 | 8..=10);
    let role = if second & 0x80 != 0 {
        Role::Client
    } else {
        Role::Server
    };
    if is_frame {
        Detection::Is(Protocol::Websocket, role)
    } else {
        Detection::None
    }
}

fn client(protocol: Protocol) -> Detection {
    Detection::Is(protocol, Role::Client)
}

/// As [`client`] where `found`; needs more where the bytes are a beginning of what could be.
fn client_if(found: Option<bool>, protocol: Protocol) -> Detection {
    match found {
        Some(true) => client(protocol),
        Some(false) => Detection::None,
        None => Detection::NeedMore,
    }
}

/// A length, and the version or the request for TLS.
fn postgres(bytes: &[u8]) -> Detection {
    // A StartupMessage has at most 10,000 bytes (MAX_STARTUP_PACKET_LENGTH).
    if bytes.first().is_some_and(|byte| *byte != 0) || bytes.get(1).is_some_and(|byte| *byte != 0) {
        return Detection::None;
    }
    let version = bytes.get(4..8);
    client_if(
        version.map(|code| code == POSTGRES_3 || code == POSTGRES_SSL),
        Protocol::Postgresql,
    )
}

/// The server begins: a length, packet 0, protocol 10, and a version in text that ends with 0
/// (MySQL documentation, "Protocol::HandshakeV10").
fn mysql(bytes: &[u8]) -> Detection {
    const BEGIN: [u8; 4] = [0, 0, 0, 10];
    // One salt, flags and the name of a plugin: longer versions have no such greeting.
    const LENGTH: std::ops::RangeInclusive<u8> = 40..=250;
    let (length, rest) = match bytes {
        [] => return Detection::NeedMore,
        [length, rest @ ..] => (length, rest),
    };
    let known = rest.len().min(BEGIN.len());
    if !LENGTH.contains(length) || rest[..known] != BEGIN[..known] {
        return Detection::None;
    }
    let version = rest.get(BEGIN.len()..).unwrap_or_default();
    match version
        .iter()
        .position(|byte| !matches!(byte, b'0'..=b'9' | b'.'))
    {
        Some(end) if end >= 5 && matches!(version[end], 0 | b'-' | b'a'..=b'z') => {
            Detection::Is(Protocol::Mysql, Role::Server)
        }
        Some(_) => Detection::None,
        None => Detection::NeedMore,
    }
}

/// A header: length, request, the request that it answers (none), operation (MongoDB
/// documentation, "Wire Protocol"). All are little-endian.
fn mongodb(bytes: &[u8]) -> Detection {
    const HEADER_BYTES: usize = 16;
    // A header, and the largest message that a server takes.
    const LENGTH: std::ops::RangeInclusive<u32> = 26..=48_000_000;
    const OPERATIONS: [u32; 3] = [2004, 2012, 2013]; // query, compressed, message
    let word = |at: usize| {
        bytes
            .get(at..)?
            .first_chunk()
            .map(|word| u32::from_le_bytes(*word))
    };
    let is_possible = word(0).is_none_or(|length| LENGTH.contains(&length))
        && word(8).is_none_or(|answered| answered == 0)
        && word(12).is_none_or(|operation| OPERATIONS.contains(&operation));
    match (is_possible, bytes.len()) {
        (false, _) => Detection::None,
        (true, HEADER_BYTES..) => client(Protocol::Mongodb),
        (true, _) => Detection::NeedMore,
    }
}

/// An array of bulk strings (RESP, Redis serialization protocol specification).
fn redis(bytes: &[u8]) -> Detection {
    if bytes.first().is_some_and(|byte| *byte != b'*') {
        return Detection::None;
    }
    let digits = bytes.iter().skip(1).take_while(|b| b.is_ascii_digit());
    let behind = 1 + digits.count();
    let rest = bytes.get(behind..).unwrap_or_default();
    let expected = b"\r\n$";
    let is_beginning = expected.starts_with(&rest[..rest.len().min(expected.len())]);
    match (behind, rest.len()) {
        (1, 1..) | (8.., _) => Detection::None,
        _ if !is_beginning => Detection::None,
        (_, 3..) => client(Protocol::Redis),
        _ => Detection::NeedMore,
    }
}

/// CONNECT with its protocol name (MQTT 3.1.1 section 3.1.2.1, MQTT 5 section 3.1.2.1).
fn mqtt(bytes: &[u8]) -> Detection {
    if bytes.first().is_some_and(|byte| *byte != 0x10) {
        return Detection::None;
    }
    let length = bytes.iter().skip(1).take_while(|byte| **byte >= 0x80);
    let behind = 2 + length.count();
    if behind > 5 {
        return Detection::None;
    }
    let name = bytes.get(behind..behind + 6);
    client_if(name.map(|name| name == b"\0\x04MQTT"), Protocol::Mqtt)
}

/// A call, framed or not.
fn thrift(bytes: &[u8]) -> Detection {
    let at = if bytes.first() == Some(&0) { 4 } else { 0 };
    let Some(version) = bytes.get(at..at + 4) else {
        let is_possible = matches!(bytes.first(), None | Some(0) | Some(0x80));
        return if is_possible {
            Detection::NeedMore
        } else {
            Detection::None
        };
    };
    client_if(Some(version == THRIFT_CALL), Protocol::Thrift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn is(bytes: &[u8], protocol: Protocol, role: Role) {
        assert_eq!(detect(bytes, true), Detection::Is(protocol, role));
        for length in 0..bytes.len() {
            let detection = detect(&bytes[..length], true);
            let known = detection == Detection::Is(protocol, role);
            assert!(
                known || detection == Detection::NeedMore,
                "{length}: {detection:?}"
            );
        }
    }

    #[test]
    fn frames_of_an_open_connection_have_the_lengths_of_their_kinds() {
        let frame = |kind: u8, length: usize, stream: u8| {
            let mut bytes = vec![0, 0, length as u8, kind, 0, 0, 0, 0, stream];
            bytes.resize(FrameHead::LEN + length, 0);
            bytes
        };
        // RFC 9113 sections 6.3 to 6.9: PRIORITY, RST_STREAM, SETTINGS, PING, GOAWAY with and
        // without debug data, WINDOW_UPDATE.
        for (kind, length, stream, is_right) in [
            (kind::PRIORITY, 5, 1, true),
            (kind::PRIORITY, 6, 1, false),
            (kind::RST_STREAM, 4, 1, true),
            (kind::RST_STREAM, 8, 1, false),
            (kind::SETTINGS, 12, 0, true),
            (kind::SETTINGS, 8, 0, false),
            (kind::PING, 8, 0, true),
            (kind::PING, 9, 0, false),
            (kind::GOAWAY, 8, 0, true),
            (kind::GOAWAY, 40, 0, true),
            (kind::GOAWAY, 7, 0, false),
            (kind::GOAWAY, 8, 1, false),
            (kind::WINDOW_UPDATE, 4, 0, true),
            (kind::WINDOW_UPDATE, 5, 0, false),
        ] {
            let bytes = frame(kind, length, stream);
            let head = FrameHead::parse(bytes.first_chunk().expect("a head"));
            assert_eq!(is_valid_head(head), is_right, "{kind} {length} {stream}");
        }
    }

    #[test]
    fn every_protocol_is_known_by_its_first_bytes_and_not_refused_before() {
        is(PREFACE, Protocol::Http2, Role::Client);
        is(
            b"POST /charging/soap HTTP/1.1\r\n",
            Protocol::Http1,
            Role::Client,
        );
        is(b"M-SEARCH * HTTP/1.1\r\n", Protocol::Http1, Role::Client);
        is(b"GET http://a/ HTTP/1.0\r\n", Protocol::Http1, Role::Client);
        is(b"HTTP/1.0 200 OK\r\n", Protocol::Http1, Role::Server);
        is(
            b"GIOP\x01\x02\x01\x00\x10\0\0\0",
            Protocol::Giop,
            Role::Either,
        );
        is(b"\x16\x03\x01\x02\x00\x01", Protocol::Tls, Role::Either);
        is(b"655\n<?xml", Protocol::Raw, Role::Either);
        is(
            b"\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x64",
            Protocol::Http2,
            Role::Server,
        );
    }

    #[test]
    fn other_protocols_are_unknown() {
        for bytes in [
            &b"220 mail.example ESMTP ready\r\n"[..],
            b"SSH-2.0-OpenSSH_9.2\r\n and more",
            b"0123456789 and so on, and on",
            b"get / http in small letters.",
            b"NICK guest\r\nUSER guest 0 * :Guest\r\n",
            b"RFB 003.008\n",
            b"USER anonymous\r\n",
            b"OPTIONS rtsp://example/stream RTSP/1.0\r\n",
            b"INVITE sip:bob@example SIP/2.0\r\n",
            b"HTTP/1.x is not a status line",
            b"GET /index.html of HTTP 0.9\r\n",
            &[0; 24],
        ] {
            assert_eq!(
                detect(bytes, true),
                Detection::None,
                "{}",
                bytes.escape_ascii()
            );
        }
    }

    #[test]
    fn a_long_request_line_is_waited_for_and_a_cut_one_needs_its_method() {
        let line = [b"GET /".as_slice(), &[b'a'; 3000]].concat();
        assert_eq!(detect(&line, true), Detection::NeedMore);
        let is_request = Detection::Is(Protocol::Http1, Role::Client);
        assert_eq!(detect_cut(&line), is_request);
        assert_eq!(detect_cut(b"NICK guest"), Detection::NeedMore);
        assert_eq!(detect_cut(b"NICK guest\r\n"), Detection::None);
        let endless = [b"GET /".as_slice(), &[b'a'; REQUEST_LINE_MAX]].concat();
        assert_eq!(detect(&endless, true), Detection::None);
        let whole = [&line, b" HTTP/1.1\r\n".as_slice()].concat();
        assert_eq!(detect(&whole, true), is_request);
    }

    #[test]
    fn in_the_middle_a_frame_is_enough_and_at_the_beginning_it_is_not() {
        let data = b"\0\0\x03\0\x01\0\0\0\x05abc";
        assert_eq!(detect(data, true), Detection::None);
        assert_eq!(
            detect(data, false),
            Detection::Is(Protocol::Http2, Role::Either)
        );
    }

    #[test]
    fn protocols_that_are_not_parsed_are_recognised() {
        let call = b"\x80\x01\0\x01\0\0\0\x05place\0\0\0\x01";
        let framed = [b"\0\0\0\x11".as_slice(), call].concat();
        for (bytes, protocol) in [
            (
                &b"\0\0\0\x20\0\x03\0\0user\0app\0\0"[..],
                Protocol::Postgresql,
            ),
            (b"\0\0\0\x08\x04\xd2\x16\x2f", Protocol::Postgresql),
            (
                b"\x30\0\0\0\x01\0\0\0\0\0\0\0\xdd\x07\0\0\0\0\0\0\0",
                Protocol::Mongodb,
            ),
            (b"*2\r\n$3\r\nget\r\n$5\r\norder\r\n", Protocol::Redis),
            (
                b"\x10\x13\0\x04MQTT\x04\x02\0\x3c\0\x07sensor1",
                Protocol::Mqtt,
            ),
            (call, Protocol::Thrift),
            (&framed, Protocol::Thrift),
        ] {
            is(bytes, protocol, Role::Client);
        }
        let greeting = b"\x4a\0\0\0\x0a8.0.33\0\x08\0\0\0";
        is(greeting, Protocol::Mysql, Role::Server);
        assert_eq!(
            detect(b"*abc\r\n and so on, and so on", true),
            Detection::None
        );
    }
}
