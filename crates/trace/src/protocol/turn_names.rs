//! Names of turns, in protocols that are recognised and not parsed.

use super::detect::POSTGRES_SSL;
use crate::protocol::exchange::Protocol;

/// What a client of PostgreSQL or MySQL asks for before it speaks TLS.
pub(super) const TLS_REQUEST: &str = "TLS request";
/// Characters of a name.
const NAME_MAX: usize = 60;

/// What the first bytes of a turn are called; empty where they show nothing.
pub(super) fn turn_name(protocol: Protocol, bytes: &[u8]) -> String {
    match protocol {
        Protocol::Postgresql => postgres_name(bytes),
        Protocol::Mysql => mysql_name(bytes),
        Protocol::Mongodb => mongodb_name(bytes),
        Protocol::Redis => redis_name(bytes),
        Protocol::Mqtt => mqtt_name(bytes).to_owned(),
        Protocol::Thrift => thrift_name(bytes),
        Protocol::Websocket => websocket_name(bytes).to_owned(),
        _ => String::new(),
    }
}

/// Printable ASCII of it, in one line.
fn printable_line(bytes: &[u8]) -> String {
    let printable = bytes.iter().take_while(|byte| **byte != 0).take(NAME_MAX);
    let line: String = printable
        .map(|byte| match byte {
            0x20..=0x7e => char::from(*byte),
            _ => ' ',
        })
        .collect();
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text of a query; a parsed statement follows its name (PostgreSQL documentation,
/// "Message Formats", Query and Parse).
fn postgres_name(bytes: &[u8]) -> String {
    match bytes {
        [b'Q', _, _, _, _, text @ ..] => printable_line(text),
        [b'P', _, _, _, _, rest @ ..] => {
            let name = rest.iter().take_while(|byte| **byte != 0).count();
            printable_line(rest.get(name + 1..).unwrap_or_default())
        }
        [b'B', ..] => "bind, execute".to_owned(),
        [b'p', ..] => "password".to_owned(),
        [b'X', ..] => "terminate".to_owned(),
        [0, 0, _, _, code @ ..] if code.starts_with(&POSTGRES_SSL) => TLS_REQUEST.to_owned(),
        [0, 0, ..] => "startup".to_owned(),
        _ => String::new(),
    }
}

/// Whether a client asks for TLS, which begins with its next byte (MySQL documentation,
/// "Protocol::SSLRequest").
pub(super) fn requests_mysql_tls(bytes: &[u8]) -> bool {
    const TLS_CAPABILITY: u8 = 0x08; // of the second byte
    matches!(bytes, [32, 0, 0, 1, _, capabilities, ..]
        if bytes.len() == 36 && capabilities & TLS_CAPABILITY != 0)
}

/// A length of three bytes, a number, and a command where the number is 0 (MySQL
/// documentation, "Command Phase").
fn mysql_name(bytes: &[u8]) -> String {
    const QUERY: u8 = 3;
    const PREPARE: u8 = 22;
    const NAMES: [&str; 32] = [
        "sleep",
        "quit",
        "use",
        "",
        "field list",
        "create database",
        "drop database",
        "refresh",
        "shutdown",
        "statistics",
        "process info",
        "connect",
        "kill",
        "debug",
        "ping",
        "time",
        "delayed insert",
        "change user",
        "binlog dump",
        "table dump",
        "connect out",
        "register slave",
        "",
        "execute",
        "send long data",
        "close statement",
        "reset statement",
        "set option",
        "fetch",
        "daemon",
        "binlog dump gtid",
        "reset connection",
    ];
    match bytes {
        // Attributes of the query come first: none of them, in one set.
        [_, _, _, 0, QUERY, 0, 1, text @ ..] | [_, _, _, 0, QUERY | PREPARE, text @ ..] => {
            printable_line(text)
        }
        [_, _, _, 0, command, ..] => {
            let name = NAMES.get(usize::from(*command));
            (*name.unwrap_or(&"")).to_owned()
        }
        [_, _, _, 1 | 2, ..] if requests_mysql_tls(bytes) => TLS_REQUEST.to_owned(),
        [_, _, _, 1 | 2, ..] => "login".to_owned(),
        _ => String::new(),
    }
}

/// The first element of the command, and its value where that is text: the collection
/// (MongoDB documentation, "Wire Protocol", OP_MSG and OP_QUERY).
fn mongodb_name(bytes: &[u8]) -> String {
    const MESSAGE: u32 = 2013;
    const QUERY: u32 = 2004;
    const COMPRESSED: u32 = 2012;
    const BEHIND_FLAGS: usize = 20;
    let Some(operation) = little_endian(bytes, 12) else {
        return String::new();
    };
    match operation {
        MESSAGE if bytes.get(BEHIND_FLAGS) == Some(&0) => bson_name(bytes, BEHIND_FLAGS + 1),
        QUERY => {
            let collection = bytes.get(BEHIND_FLAGS..).unwrap_or_default();
            let end = collection.iter().take_while(|byte| **byte != 0).count();
            bson_name(bytes, BEHIND_FLAGS + end + 1 + 8)
        }
        COMPRESSED => "compressed".to_owned(),
        _ => String::new(),
    }
}

fn little_endian(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_le_bytes(*word))
}

/// Of a document (bsonspec.org): its length, the type of its first element, the name of that.
fn bson_name(bytes: &[u8], at: usize) -> String {
    const TEXT: u8 = 2;
    let Some([kind, rest @ ..]) = bytes.get(at + 4..) else {
        return String::new();
    };
    let name = printable_line(rest);
    let end = rest.iter().take_while(|byte| **byte != 0).count();
    match rest.get(end + 5..) {
        Some(value) if *kind == TEXT => {
            printable_line(&[name.as_bytes(), b" ", value_of(value)].concat())
        }
        _ => name,
    }
}

/// Up to its end.
fn value_of(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|byte| *byte == 0);
    &text[..end.unwrap_or(text.len())]
}

/// The first bulk string: the command.
fn redis_name(bytes: &[u8]) -> String {
    let mut lines = bytes.split(|byte| *byte == b'\n').map(|line| {
        let end = line.len() - usize::from(line.ends_with(b"\r"));
        &line[..end]
    });
    match (lines.next(), lines.next(), lines.next()) {
        (Some([b'*', ..]), Some([b'$', ..]), Some(command)) => {
            printable_line(command).to_ascii_uppercase()
        }
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
    printable_line(&name[..name.len().min(length)])
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

    /// OP_MSG with { find: "orders", … }, OP_QUERY on admin.$cmd with { hello: 1 }.
    const FIND: &[u8] = b"\x30\0\0\0\x01\0\0\0\0\0\0\0\xdd\x07\0\0\0\0\0\0\0\
        \x20\0\0\0\x02find\0\x07\0\0\0orders\0";
    const HELLO: &[u8] = b"\x40\0\0\0\x01\0\0\0\0\0\0\0\xd4\x07\0\0\0\0\0\0\
        admin.$cmd\0\0\0\0\0\xff\xff\xff\xff\x10\0\0\0\x10hello\0\x01\0\0\0\0";

    const QUERY: &[u8] = b"Q\0\0\0\x1bSELECT *\nFROM orders;\0";

    #[test]
    fn turns_have_names() {
        let names = [
            (Protocol::Postgresql, QUERY, "SELECT * FROM orders;"),
            (
                Protocol::Postgresql,
                b"\0\0\0\x20\0\x03\0\0user\0app\0\0",
                "startup",
            ),
            (
                Protocol::Postgresql,
                b"P\0\0\0\x20s1\0SELECT 1\0\0\0",
                "SELECT 1",
            ),
            (
                Protocol::Redis,
                b"*2\r\n$3\r\nget\r\n$5\r\norder\r\n",
                "GET",
            ),
            (Protocol::Mysql, b"\x09\0\0\0\x03SELECT 1", "SELECT 1"),
            (Protocol::Mysql, b"\x0b\0\0\0\x03\0\x01SELECT 1", "SELECT 1"),
            (Protocol::Mysql, b"\x09\0\0\0\x16SELECT ?", "SELECT ?"),
            (Protocol::Mysql, b"\x05\0\0\0\x17\x01\0\0\0", "execute"),
            (Protocol::Mysql, b"\x54\0\0\x01\x85\xa6", "login"),
            (Protocol::Mongodb, FIND, "find orders"),
            (Protocol::Mongodb, HELLO, "hello"),
            (Protocol::Mqtt, b"\x10\x13\0\x04MQTT", "CONNECT"),
            (
                Protocol::Thrift,
                b"\x80\x01\0\x01\0\0\0\x05place\0",
                "place",
            ),
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
