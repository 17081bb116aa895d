//! Messages of DNS (RFC 1035 section 4), as far as the time of a lookup needs them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The port of name servers.
pub const PORT: u16 = 53;

const HEADER_BYTES: usize = 12;
/// Longer names are none (RFC 1035 section 2.3.4), bytes.
const NAME_BYTES_MAX: usize = 255;
/// Records of an answer that are looked at.
const RECORDS_MAX: u16 = 64;
/// Addresses of an answer that are kept.
const ADDRESSES_MAX: usize = 16;
/// The two bits that make a length a pointer (RFC 1035 section 4.1.4).
const POINTER: u8 = 0xc0;
const TYPE_A: u16 = 1;
const TYPE_AAAA: u16 = 28;

/// A query or an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its number, the same in query and answer.
    pub id: u16,
    /// It answers.
    pub is_answer: bool,
    /// RCODE: 0 where the name exists.
    pub code: u8,
    /// The name that is asked for, lower case.
    pub name: String,
    /// Type of the record that is asked for.
    pub kind: u16,
    /// Of an answer: the addresses in it.
    pub addresses: Vec<IpAddr>,
}

/// Messages of one direction of a TCP connection, each with its length in front (RFC 1035
/// section 4.2.2).
#[derive(Debug, Default)]
pub struct Stream {
    held: Vec<u8>,
}

impl Stream {
    /// Longer messages are answers to other questions than those for addresses, bytes.
    const BYTES_MAX: usize = 16_384;

    /// Takes the next bytes, and hands out the messages that are whole.
    pub fn take(&mut self, bytes: &[u8], mut message: impl FnMut(&[u8])) {
        self.held.extend_from_slice(bytes);
        while let Some(length) = u16_at(&self.held, 0) {
            let end = 2 + usize::from(length);
            let Some(whole) = self.held.get(2..end) else {
                break;
            };
            message(whole);
            self.held.drain(..end);
        }
        if self.held.len() > Stream::BYTES_MAX {
            self.held = Vec::new();
        }
    }
}

/// Reads a message; None where it is not a message with one question, or cut in that.
pub fn parse(bytes: &[u8]) -> Option<Message> {
    let header = bytes.first_chunk::<HEADER_BYTES>()?;
    let [id, flags, questions, answers] =
        [0, 2, 4, 6].map(|at| u16::from_be_bytes([header[at], header[at + 1]]));
    if questions != 1 {
        return None;
    }
    let (name, at) = name(bytes, HEADER_BYTES)?;
    let kind = u16_at(bytes, at)?;
    let is_answer = flags & 0x8000 != 0;
    Some(Message {
        id,
        is_answer,
        code: (flags & 0x000f) as u8,
        name,
        kind,
        addresses: if is_answer {
            addresses(bytes, at + 4, answers.min(RECORDS_MAX))
        } else {
            Vec::new()
        },
    })
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let pair = bytes.get(at..)?.first_chunk::<2>()?;
    Some(u16::from_be_bytes(*pair))
}

/// The name that begins there, without pointers, and where it ends.
fn name(bytes: &[u8], mut at: usize) -> Option<(String, usize)> {
    let mut name = String::new();
    loop {
        let length = *bytes.get(at)?;
        at += 1;
        if length == 0 {
            return Some((name, at));
        }
        if length & POINTER != 0 || name.len() + usize::from(length) > NAME_BYTES_MAX {
            return None;
        }
        let label = bytes.get(at..at + usize::from(length))?;
        if !name.is_empty() {
            name.push('.');
        }
        name.extend(
            label
                .iter()
                .map(|byte| char::from(byte.to_ascii_lowercase())),
        );
        at += usize::from(length);
    }
}

/// Where the name of a record ends: at its zero, or behind its first pointer.
fn skip_name(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let length = *bytes.get(at)?;
        if length & POINTER == POINTER {
            return Some(at + 2);
        }
        at += 1 + usize::from(length);
        if length == 0 {
            return Some(at);
        }
    }
}

/// As many as the datagram holds: it may be cut.
fn addresses(bytes: &[u8], mut at: usize, records: u16) -> Vec<IpAddr> {
    let mut found = Vec::new();
    for _ in 0..records {
        let Some((address, end)) = record(bytes, at) else {
            break;
        };
        found.extend(address);
        if found.len() >= ADDRESSES_MAX {
            break;
        }
        at = end;
    }
    found
}

/// The address in a record, if it has one, and where the record ends.
fn record(bytes: &[u8], at: usize) -> Option<(Option<IpAddr>, usize)> {
    // Type, class, time to live, length (RFC 1035 section 4.1.3).
    let fixed = skip_name(bytes, at)?;
    let kind = u16_at(bytes, fixed)?;
    let length = usize::from(u16_at(bytes, fixed + 8)?);
    let data = bytes.get(fixed + 10..fixed + 10 + length)?;
    let address = match kind {
        TYPE_A => data
            .first_chunk::<4>()
            .map(|octets| IpAddr::from(Ipv4Addr::from(*octets))),
        TYPE_AAAA => data
            .first_chunk::<16>()
            .map(|octets| IpAddr::from(Ipv6Addr::from(*octets))),
        _ => None,
    };
    Some((address, fixed + 10 + length))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A query for `www.example.com`, and its answer: a CNAME and an address.
    fn messages() -> (Vec<u8>, Vec<u8>) {
        let question = b"\x03www\x07Example\x03com\x00\x00\x01\x00\x01";
        let mut query = vec![0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        query.extend(question);
        let mut answer = vec![0x12, 0x34, 0x81, 0x80, 0, 1, 0, 2, 0, 0, 0, 0];
        answer.extend(question);
        answer.extend(b"\xc0\x0c\x00\x05\x00\x01\x00\x00\x00\x3c\x00\x04\x01a\xc0\x10");
        answer.extend(b"\x01a\xc0\x10\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04\x0a\x00\x00\x07");
        (query, answer)
    }

    #[test]
    fn a_query_and_its_answer_are_read() {
        let (query, answer) = messages();
        let query = parse(&query).expect("a query");
        assert_eq!((query.name.as_str(), query.kind), ("www.example.com", 1));
        assert!(!query.is_answer);
        let answer = parse(&answer).expect("an answer");
        assert_eq!(
            (answer.id, answer.is_answer, answer.code),
            (0x1234, true, 0)
        );
        assert_eq!(
            answer.addresses,
            ["10.0.0.7".parse::<IpAddr>().expect("an address")]
        );
    }

    #[test]
    fn every_prefix_and_every_changed_byte_is_survived() {
        let (_, answer) = messages();
        for end in 0..answer.len() {
            let _ = parse(&answer[..end]);
        }
        for at in 0..answer.len() {
            for value in [0x00, 0x3f, 0xc0, 0xff] {
                let mut changed = answer.clone();
                changed[at] = value;
                let _ = parse(&changed);
            }
        }
    }
}
