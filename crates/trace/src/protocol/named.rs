//! Protocols that are recognised and not parsed: their exchanges are turns, with a name where
//! the first bytes of a turn show one.

use super::detect::{Detection, Role};
use crate::protocol::exchange::Protocol;

/// Characters of a name.
const NAME_MAX: usize = 60;
/// PostgreSQL 3.0 (PostgreSQL documentation, "Message Formats", StartupMessage).
const POSTGRES_3: [u8; 4] = [0, 3, 0, 0];
/// The same, SSLRequest.
const POSTGRES_SSL: [u8; 4] = [4, 210, 22, 47];
/// Thrift's binary protocol, version 1, a call (Thrift specification, "Message").
const THRIFT_CALL: [u8; 4] = [0x80, 1, 0, 1];

/// The protocol that these first bytes of a connection begin.
pub(super) fn detect(bytes: &[u8]) -> Detection {
    let found = [postgres(bytes), redis(bytes), mqtt(bytes), thrift(bytes)];
    let known = found.iter().find(|one| matches!(one, Detection::Is(..)));
    let more = found.iter().find(|one| matches!(one, Detection::NeedMore));
    *known.or(more).unwrap_or(&Detection::None)
}

/// A frame of WebSocket (RFC 6455 section 5.2): only behind a switch of HTTP/1.1 to it. The
/// frames of clients are masked.
pub(super) fn websocket(bytes: &[u8]) -> Detection {
    let [first, second, ..] = bytes else {
        return Detection::NeedMore;
    };
    let is_frame = first & 0x70 == 0 && matches!(first & 0x0f, 0..=2 | 8..=10);
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
fn by(found: Option<bool>, protocol: Protocol) -> Detection {
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
    by(
        version.map(|code| code == POSTGRES_3 || code == POSTGRES_SSL),
        Protocol::Postgresql,
    )
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
    by(name.map(|name| name == b"\0\x04MQTT"), Protocol::Mqtt)
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
    by(Some(version == THRIFT_CALL), Protocol::Thrift)
}

/// What the first bytes of a turn are called; empty where they show nothing.
pub(super) fn turn_name(protocol: Protocol, bytes: &[u8]) -> String {
    match protocol {
        Protocol::Postgresql => postgres_name(bytes),
        Protocol::Redis => redis_name(bytes),
        Protocol::Mqtt => mqtt_name(bytes).to_owned(),
        Protocol::Thrift => thrift_name(bytes),
        Protocol::Websocket => websocket_name(bytes).to_owned(),
        _ => String::new(),
    }
}

/// Printable ASCII of it, in one line.
fn shown(bytes: &[u8]) -> String {
    let printable = bytes.iter().take_while(|byte| **byte != 0).take(NAME_MAX);
    let line: String = printable
        .map(|byte| match byte {
            0x20..=0x7e => char::from(*byte),
            _ => ' ',
        })
        .collect();
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text of a query; a parsed statement stands behind its name (PostgreSQL documentation,
/// "Message Formats", Query and Parse).
fn postgres_name(bytes: &[u8]) -> String {
    match bytes {
        [b'Q', _, _, _, _, text @ ..] => shown(text),
        [b'P', _, _, _, _, rest @ ..] => {
            let name = rest.iter().take_while(|byte| **byte != 0).count();
            shown(rest.get(name + 1..).unwrap_or_default())
        }
        [b'B', ..] => "bind, execute".to_owned(),
        [b'p', ..] => "password".to_owned(),
        [b'X', ..] => "terminate".to_owned(),
        [0, 0, _, _, code @ ..] if code.starts_with(&POSTGRES_SSL) => "TLS request".to_owned(),
        [0, 0, ..] => "startup".to_owned(),
        _ => String::new(),
    }
}

/// The first bulk string: the command.
fn redis_name(bytes: &[u8]) -> String {
    let mut lines = bytes.split(|byte| *byte == b'\n').map(|line| {
        let end = line.len() - usize::from(line.ends_with(b"\r"));
        &line[..end]
    });
    match (lines.next(), lines.next(), lines.next()) {
        (Some([b'*', ..]), Some([b'$', ..]), Some(command)) => shown(command).to_ascii_uppercase(),
        _ => String::new(),
    }
}

/// MQTT 3.1.1 section 2.2.1.
fn mqtt_name(bytes: &[u8]) -> &'static str {
    const NAMES: [&str; 16] = [
        "",
        "CONNECT",
        "CONNACK",
        "PUBLISH",
        "PUBACK",
        "PUBREC",
        "PUBREL",
        "PUBCOMP",
        "SUBSCRIBE",
        "SUBACK",
        "UNSUBSCRIBE",
        "UNSUBACK",
        "PINGREQ",
        "PINGRESP",
        "DISCONNECT",
        "AUTH",
    ];
    bytes
        .first()
        .map_or("", |byte| NAMES[usize::from(byte >> 4)])
}

/// The method of a call: a length and its characters.
fn thrift_name(bytes: &[u8]) -> String {
    let at = if bytes.first() == Some(&0) { 4 } else { 0 };
    let Some(rest) = bytes.get(at + 4..) else {
        return String::new();
    };
    let Some((length, name)) = rest.split_first_chunk::<4>() else {
        return String::new();
    };
    let length = u32::from_be_bytes(*length) as usize;
    shown(&name[..name.len().min(length)])
}

/// RFC 6455 section 11.8.
fn websocket_name(bytes: &[u8]) -> &'static str {
    match bytes.first().map(|byte| byte & 0x0f) {
        Some(0) => "continuation",
        Some(1) => "text",
        Some(2) => "binary",
        Some(8) => "close",
        Some(9) => "ping",
        Some(10) => "pong",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STARTUP: &[u8] = b"\0\0\0\x20\0\x03\0\0user\0app\0\0";
    const QUERY: &[u8] = b"Q\0\0\0\x1bSELECT *\nFROM orders;\0";
    const GET: &[u8] = b"*2\r\n$3\r\nget\r\n$5\r\norder\r\n";
    const CONNECT: &[u8] = b"\x10\x13\0\x04MQTT\x04\x02\0\x3c\0\x07sensor1";
    const CALL: &[u8] = b"\x80\x01\0\x01\0\0\0\x05place\0\0\0\x01";

    #[track_caller]
    fn is(bytes: &[u8], protocol: Protocol) {
        assert_eq!(detect(bytes), client(protocol));
        for end in 0..bytes.len() {
            let found = detect(&bytes[..end]);
            assert!(
                found == client(protocol) || found == Detection::NeedMore,
                "{end}: {found:?}"
            );
        }
    }

    #[test]
    fn protocols_are_recognised_by_their_first_bytes() {
        is(STARTUP, Protocol::Postgresql);
        is(b"\0\0\0\x08\x04\xd2\x16\x2f", Protocol::Postgresql);
        is(GET, Protocol::Redis);
        is(CONNECT, Protocol::Mqtt);
        is(CALL, Protocol::Thrift);
        is(&[b"\0\0\0\x11".as_slice(), CALL].concat(), Protocol::Thrift);
        for bytes in [
            &b"SSH-2.0-OpenSSH_9.2"[..],
            b"\0\0\0\0\0\0\0\0",
            b"*abc\r\n",
        ] {
            assert_eq!(detect(bytes), Detection::None, "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn turns_have_names() {
        let names = [
            (Protocol::Postgresql, QUERY, "SELECT * FROM orders;"),
            (Protocol::Postgresql, STARTUP, "startup"),
            (
                Protocol::Postgresql,
                b"P\0\0\0\x20s1\0SELECT 1\0\0\0",
                "SELECT 1",
            ),
            (Protocol::Redis, GET, "GET"),
            (Protocol::Mqtt, CONNECT, "CONNECT"),
            (Protocol::Thrift, CALL, "place"),
            (Protocol::Websocket, b"\x81\x85abcd", "text"),
        ];
        for (protocol, bytes, name) in names {
            assert_eq!(turn_name(protocol, bytes), name);
            for end in 0..bytes.len() {
                let _ = turn_name(protocol, &bytes[..end]);
            }
        }
    }
}
