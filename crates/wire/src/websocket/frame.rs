//! The header of a frame (RFC 6455 section 5.2).

use wirelab_stack::Codec;

use crate::session::ProtocolError;

/// Bytes of a control frame's payload at most (RFC 6455 section 5.5).
pub const CONTROL_BYTES_MAX: usize = 125;

/// Bytes of the longest header: two, a length of eight, a key of four.
pub(super) const HEADER_BYTES_MAX: usize = 14;

/// What the payload of a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// UTF-8.
    Text,
    /// Any bytes.
    Binary,
}

impl From<Codec> for Kind {
    /// The kind of messages in that codec.
    fn from(codec: Codec) -> Kind {
        match codec {
            Codec::Json | Codec::Text => Kind::Text,
            _ => Kind::Binary,
        }
    }
}

/// What a frame is (RFC 6455 section 11.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opcode {
    /// The next part of a message.
    Continuation,
    /// A message, or its first part.
    Message(Kind),
    /// The end of the connection.
    Close,
    /// A question whether the peer is there.
    Ping,
    /// The answer to it.
    Pong,
}

impl Opcode {
    fn from_number(number: u8) -> Option<Opcode> {
        Some(match number {
            0x0 => Opcode::Continuation,
            0x1 => Opcode::Message(Kind::Text),
            0x2 => Opcode::Message(Kind::Binary),
            0x8 => Opcode::Close,
            0x9 => Opcode::Ping,
            0xa => Opcode::Pong,
            _ => return None,
        })
    }

    fn number(self) -> u8 {
        match self {
            Opcode::Continuation => 0x0,
            Opcode::Message(Kind::Text) => 0x1,
            Opcode::Message(Kind::Binary) => 0x2,
            Opcode::Close => 0x8,
            Opcode::Ping => 0x9,
            Opcode::Pong => 0xa,
        }
    }

    /// Whether it may come between the frames of a message.
    #[must_use]
    pub fn is_control(self) -> bool {
        matches!(self, Opcode::Close | Opcode::Ping | Opcode::Pong)
    }
}

/// The header of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The last frame of its message.
    pub is_final: bool,
    /// The first reserved bit, by which permessage-deflate marks a compressed message (RFC 7692
    /// section 6).
    pub is_compressed: bool,
    /// What it is.
    pub opcode: Opcode,
    /// The key by which the payload is masked; frames of a client have one.
    pub key: Option<[u8; 4]>,
    /// Bytes of the payload.
    pub length: u64,
}

impl Header {
    /// The header that `input` begins with, and its length in bytes; None if it is not whole yet.
    ///
    /// # Errors
    /// When no frame begins like that: reserved bits 2 and 3, unknown opcodes, lengths that are
    /// longer than they need be, control frames that are long or in parts.
    pub fn parse(input: &[u8]) -> Result<Option<(Header, usize)>, ProtocolError> {
        let &[first, second, ref rest @ ..] = input else {
            return Ok(None);
        };
        if first & 0x30 != 0 {
            return Err(violation(
                "reserved bits 2 and 3 of a frame are 0 (RFC 6455 section 5.2)",
                format!("{first:#04x}"),
            ));
        }
        let opcode = Opcode::from_number(first & 0x0f).ok_or_else(|| {
            violation(
                "the opcode of a frame is 0, 1, 2, 8, 9 or 10 (RFC 6455 section 5.2)",
                format!("{}", first & 0x0f),
            )
        })?;
        let Some((length, length_bytes)) = parse_length(second & 0x7f, rest)? else {
            return Ok(None);
        };
        let key = match (second & 0x80 != 0, rest.get(length_bytes..)) {
            (false, _) => None,
            (true, Some(&[a, b, c, d, ..])) => Some([a, b, c, d]),
            (true, _) => return Ok(None),
        };
        let header = Header {
            is_final: first & 0x80 != 0,
            is_compressed: first & 0x40 != 0,
            opcode,
            key,
            length,
        };
        header.check_control()?;
        let key_bytes = if key.is_some() { 4 } else { 0 };
        Ok(Some((header, 2 + length_bytes + key_bytes)))
    }

    fn check_control(&self) -> Result<(), ProtocolError> {
        let is_short = self.length <= CONTROL_BYTES_MAX as u64;
        if !self.opcode.is_control() || (self.is_final && is_short && !self.is_compressed) {
            return Ok(());
        }
        Err(violation(
            "a control frame is whole, not compressed and has at most 125 bytes (RFC 6455 section 5.5)",
            format!("{:?} with {} bytes", self.opcode, self.length),
        ))
    }

    /// Appends its bytes.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.reserve(HEADER_BYTES_MAX);
        let compressed = if self.is_compressed { 0x40 } else { 0 };
        let last = if self.is_final { 0x80 } else { 0 };
        out.push(last | compressed | self.opcode.number());
        let masked = if self.key.is_some() { 0x80 } else { 0 };
        match self.length {
            length @ 0..=125 => out.push(masked | length as u8),
            length @ 126..=0xffff => {
                out.push(masked | 126);
                out.extend((length as u16).to_be_bytes());
            }
            length => {
                out.push(masked | 127);
                out.extend(length.to_be_bytes());
            }
        }
        out.extend(self.key.iter().flatten());
    }
}

/// The length of a payload, and the bytes that it took beyond its first seven bits.
fn parse_length(short: u8, rest: &[u8]) -> Result<Option<(u64, usize)>, ProtocolError> {
    let (length, bytes, least) = match (short, rest) {
        (126, &[a, b, ..]) => (u64::from(u16::from_be_bytes([a, b])), 2, 126),
        (127, rest) => match rest.first_chunk::<8>() {
            Some(bytes) => (u64::from_be_bytes(*bytes), 8, 1 << 16),
            None => return Ok(None),
        },
        (126, _) => return Ok(None),
        (short, _) => (u64::from(short), 0, 0),
    };
    if length < least || length >> 63 != 0 {
        return Err(violation(
            "the length of a frame has the fewest bytes and no sign (RFC 6455 section 5.2)",
            format!("{length} in {bytes} bytes"),
        ));
    }
    Ok(Some((length, bytes)))
}

/// Applies `key` to `payload`, whose first byte is byte `offset` of its frame (RFC 6455 section
/// 5.3). Doing so twice gives the payload again.
pub fn mask(payload: &mut [u8], key: [u8; 4], offset: usize) {
    let mut key = key;
    key.rotate_left(offset % 4);
    let wide = u64::from(u32::from_ne_bytes(key));
    let wide = wide << 32 | wide;
    let mut words = payload.chunks_exact_mut(8);
    for word in &mut words {
        let plain = u64::from_ne_bytes((&*word).try_into().expect("eight bytes"));
        word.copy_from_slice(&(plain ^ wide).to_ne_bytes());
    }
    for (byte, key) in words.into_remainder().iter_mut().zip(key.iter().cycle()) {
        *byte ^= key;
    }
}

pub(super) fn violation(rule: &'static str, found: impl Into<String>) -> ProtocolError {
    ProtocolError {
        rule,
        found: found.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(input: &[u8]) -> Result<Option<(Header, usize)>, ProtocolError> {
        Header::parse(input)
    }

    #[test]
    fn examples_of_the_standard_are_read() {
        // RFC 6455 section 5.7.
        let (header, bytes) = parse(b"\x81\x05Hello").unwrap().unwrap();
        assert_eq!(
            (header.opcode, header.length),
            (Opcode::Message(Kind::Text), 5)
        );
        assert_eq!((header.is_final, header.key, bytes), (true, None, 2));
        let masked = b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58";
        let (header, bytes) = parse(masked).unwrap().unwrap();
        let mut payload = masked[bytes..].to_vec();
        mask(&mut payload, header.key.unwrap(), 0);
        assert_eq!(payload, b"Hello");
        let (first, _) = parse(b"\x01\x03Hel").unwrap().unwrap();
        assert!(!first.is_final);
        let (ping, _) = parse(b"\x89\x05Hello").unwrap().unwrap();
        assert_eq!(ping.opcode, Opcode::Ping);
        let (binary, bytes) = parse(b"\x82\x7E\x01\x00").unwrap().unwrap();
        assert_eq!((binary.length, bytes), (256, 4));
        let (long, bytes) = parse(b"\x82\x7F\x00\x00\x00\x00\x00\x01\x00\x00")
            .unwrap()
            .unwrap();
        assert_eq!((long.length, bytes), (65_536, 10));
    }

    #[test]
    fn a_header_is_read_as_it_was_written_and_never_before_it_is_whole() {
        for length in [0, 1, 125, 126, 65_535, 65_536, 1 << 40] {
            for key in [None, Some([1, 2, 3, 4])] {
                let header = Header {
                    is_final: length % 2 == 0,
                    is_compressed: false,
                    opcode: Opcode::Message(Kind::Binary),
                    key,
                    length,
                };
                let mut bytes = Vec::new();
                header.write(&mut bytes);
                assert_eq!(parse(&bytes), Ok(Some((header, bytes.len()))));
                for end in 0..bytes.len() {
                    assert_eq!(parse(&bytes[..end]), Ok(None), "{end} of {bytes:?}");
                }
            }
        }
    }

    #[test]
    fn headers_that_break_the_standard_are_refused() {
        for input in [
            b"\x91\x00".as_slice(),
            b"\xa1\x00",
            b"\x83\x00",
            b"\x8f\x00",
            b"\x82\x7e\x00\x7d",
            b"\x82\x7f\x00\x00\x00\x00\x00\x00\xff\xff",
            b"\x82\x7f\x80\x00\x00\x00\x00\x00\x00\x00",
            b"\x89\x7e\x00\x7e",
            b"\x09\x00",
            b"\xc9\x00",
        ] {
            assert!(parse(input).is_err(), "{input:x?}");
        }
    }

    #[test]
    fn parts_of_a_payload_are_masked_like_the_whole() {
        let plain: Vec<u8> = (0..100).collect();
        let mut whole = plain.clone();
        mask(&mut whole, [9, 8, 7, 6], 0);
        for at in 0..plain.len() {
            let mut parts = plain.clone();
            let (first, second) = parts.split_at_mut(at);
            mask(first, [9, 8, 7, 6], 0);
            mask(second, [9, 8, 7, 6], at);
            assert_eq!(parts, whole);
        }
        let byte_by_byte = plain.iter().enumerate();
        let expected: Vec<u8> = byte_by_byte
            .map(|(at, byte)| byte ^ [9, 8, 7, 6][at % 4])
            .collect();
        assert_eq!(whole, expected);
    }
}
