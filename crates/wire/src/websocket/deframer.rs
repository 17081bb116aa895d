//! The messages of a server, whatever parts they come in (RFC 6455 section 5.4).

use super::deflate::Inflater;
use super::extension::Deflate;
use super::frame::{HEADER_BYTES_MAX, Header, Kind, Opcode, violation};
use crate::session::ProtocolError;

/// Memory of a message in parts that is kept for the next one, bytes.
const KEPT_BYTES_MAX: usize = 4 << 10;

/// What a server sent.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A whole message.
    Message(Kind, &'a [u8]),
    /// A control frame with its payload.
    Control(Opcode, &'a [u8]),
}

/// Finds messages and control frames in the bytes that a server sends. It copies a message only if
/// it comes in several reads or frames, decompresses it as it comes, and never keeps more bytes
/// than the largest one accepted has.
#[derive(Debug)]
pub struct Deframer {
    message_max: usize,
    /// The message under way, as far as it has come.
    message: Vec<u8>,
    /// Its kind, from its first frame on.
    kind: Option<Kind>,
    /// It is compressed.
    is_compressed: bool,
    /// Where compression was agreed on.
    inflater: Option<Box<Inflater>>,
    /// Of the frame under way: what its header says, and the bytes still to come.
    frame: Option<(Header, usize)>,
    /// A part of a header, or of a control frame, which may come between the frames of a message.
    partial: Vec<u8>,
    /// The last piece lies in `message` or `partial`, and goes before the next one.
    is_spent: bool,
}

/// Where the next piece lies.
enum Found {
    Input { kind: Kind, from: usize, to: usize },
    Kept(Kind),
    Control(Opcode),
}

impl Deframer {
    /// One that accepts messages of at most `message_max` bytes.
    #[must_use]
    pub fn new(message_max: usize) -> Deframer {
        Deframer {
            message_max,
            message: Vec::new(),
            kind: None,
            is_compressed: false,
            inflater: None,
            frame: None,
            partial: Vec::new(),
            is_spent: false,
        }
    }

    /// Messages may be compressed from now on, as was agreed.
    pub fn accept_deflate(&mut self, agreed: Deflate) {
        let forgets = agreed.server_no_context_takeover;
        self.inflater = Some(Box::new(Inflater::new(forgets)));
    }

    /// Whether the header of a message has come, and not its end. Control frames do not count.
    #[must_use]
    pub fn is_within(&self) -> bool {
        self.kind.is_some()
    }

    /// The next piece; takes its bytes from `input`, or all of them if it is not whole.
    ///
    /// # Errors
    /// When the server broke the protocol; the deframer must not be used any more.
    pub fn next<'s, 'i: 's>(
        &'s mut self,
        input: &mut &'i [u8],
    ) -> Result<Option<Piece<'s>>, ProtocolError> {
        self.forget_spent();
        let all = *input;
        loop {
            let found = self.find(input, all.len())?;
            let piece = match found {
                None if input.is_empty() && !self.ends_without_bytes() => return Ok(None),
                None => continue,
                Some(Found::Input { kind, from, to }) => Piece::Message(kind, &all[from..to]),
                Some(Found::Kept(kind)) => {
                    self.is_spent = true;
                    Piece::Message(kind, &self.message)
                }
                Some(Found::Control(opcode)) => {
                    self.is_spent = true;
                    Piece::Control(opcode, &self.partial)
                }
            };
            if let Piece::Message(Kind::Text, text) = &piece {
                check_text(text)?;
            }
            return Ok(Some(piece));
        }
    }

    /// A frame whose header has come needs no further byte.
    fn ends_without_bytes(&self) -> bool {
        matches!(self.frame, Some((_, 0)))
    }

    fn forget_spent(&mut self) {
        if !std::mem::take(&mut self.is_spent) {
            return;
        }
        // A control frame leaves the message under way as it is.
        self.partial.clear();
        if self.kind.is_none() {
            self.message.clear();
            if self.message.capacity() > KEPT_BYTES_MAX {
                self.message = Vec::new();
            }
        }
    }

    /// Takes one header, or what has come of one payload.
    fn find(&mut self, input: &mut &[u8], all: usize) -> Result<Option<Found>, ProtocolError> {
        let Some((header, rest)) = self.frame else {
            self.take_header(input)?;
            return Ok(None);
        };
        let taken = rest.min(input.len());
        let from = all - input.len();
        let (payload, after) = input.split_at(taken);
        *input = after;
        let is_whole = taken == rest;
        if header.opcode.is_control() {
            self.partial.extend_from_slice(payload);
            self.frame = Some((header, rest - taken)).filter(|_| !is_whole);
            return Ok(is_whole.then_some(Found::Control(header.opcode)));
        }
        let kind = self.kind.expect("a frame of a message has set it");
        self.frame = Some((header, rest - taken)).filter(|_| !is_whole);
        let ends = is_whole && header.is_final;
        if ends {
            self.kind = None;
        }
        if self.is_compressed {
            self.inflate(payload, ends)?;
            return Ok(ends.then_some(Found::Kept(kind)));
        }
        if ends && self.message.is_empty() {
            let to = from + taken;
            return Ok(Some(Found::Input { kind, from, to }));
        }
        self.message.extend_from_slice(payload);
        Ok(ends.then_some(Found::Kept(kind)))
    }

    fn inflate(&mut self, payload: &[u8], ends: bool) -> Result<(), ProtocolError> {
        let inflater = self.inflater.as_mut().expect("compression was agreed on");
        inflater.take(payload, &mut self.message, self.message_max)?;
        match ends {
            true => inflater.end(&mut self.message, self.message_max),
            false => Ok(()),
        }
    }

    /// Takes a header, or a part of one.
    fn take_header(&mut self, input: &mut &[u8]) -> Result<(), ProtocolError> {
        let kept = self.partial.len();
        let parsed = match kept {
            0 => Header::parse(input)?,
            _ => {
                let more = input.len().min(HEADER_BYTES_MAX - kept);
                self.partial.extend_from_slice(&input[..more]);
                Header::parse(&self.partial)?
            }
        };
        let Some((header, bytes)) = parsed else {
            if kept == 0 {
                self.partial.extend_from_slice(input);
            }
            *input = &[];
            return Ok(());
        };
        self.partial.clear();
        *input = &input[bytes - kept..];
        self.begin(header)
    }

    fn begin(&mut self, header: Header) -> Result<(), ProtocolError> {
        if header.key.is_some() {
            return Err(violation(
                "a server does not mask its frames (RFC 6455 section 5.1)",
                "a masked frame",
            ));
        }
        if header.is_compressed && self.inflater.is_none() {
            return Err(violation(
                "reserved bit 1 is 0 without an extension (RFC 6455 section 5.2)",
                "a compressed frame, though no compression was agreed on",
            ));
        }
        if header.is_compressed && header.opcode == Opcode::Continuation {
            return Err(violation(
                "the first frame of a message alone has reserved bit 1 (RFC 7692 section 6.1)",
                "a continuation with it",
            ));
        }
        match (header.opcode, self.kind) {
            (Opcode::Continuation, None) => {
                return Err(violation(
                    "a continuation follows a part of a message (RFC 6455 section 5.4)",
                    "a continuation of nothing",
                ));
            }
            (Opcode::Message(_), Some(_)) => {
                return Err(violation(
                    "a message ends before the next one begins (RFC 6455 section 5.4)",
                    "a message within another",
                ));
            }
            (Opcode::Message(kind), None) => {
                (self.kind, self.is_compressed) = (Some(kind), header.is_compressed);
            }
            _ => {}
        }
        let room = self.message_max - self.message.len();
        // Of a compressed message the length is known when it has been decompressed.
        let is_measured = !header.opcode.is_control() && !self.is_compressed;
        if is_measured && header.length > room as u64 {
            return Err(violation(
                "a message stays within the largest size accepted",
                format!("more than {} bytes", self.message_max),
            ));
        }
        self.frame = Some((header, header.length as usize));
        Ok(())
    }
}

fn check_text(text: &[u8]) -> Result<(), ProtocolError> {
    simdutf8::basic::from_utf8(text).map(drop).map_err(|_| {
        violation(
            "a text message is UTF-8 (RFC 6455 section 8.1)",
            crate::excerpt::excerpt(text),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes of input that arrives in reads of `size` bytes.
    fn pieces(input: &[u8], size: usize) -> Result<Vec<String>, ProtocolError> {
        pieces_of(None, input, size)
    }

    fn pieces_of(
        agreed: Option<Deflate>,
        input: &[u8],
        size: usize,
    ) -> Result<Vec<String>, ProtocolError> {
        let mut deframer = Deframer::new(300);
        if let Some(agreed) = agreed {
            deframer.accept_deflate(agreed);
        }
        let mut found = Vec::new();
        for mut read in input.chunks(size) {
            while let Some(piece) = deframer.next(&mut read)? {
                found.push(match piece {
                    Piece::Message(kind, bytes) => {
                        format!("{kind:?} {}", String::from_utf8_lossy(bytes))
                    }
                    Piece::Control(opcode, bytes) => {
                        format!("{opcode:?} {}", String::from_utf8_lossy(bytes))
                    }
                });
            }
        }
        assert!(!deframer.is_within());
        Ok(found)
    }

    #[test]
    fn messages_are_found_in_reads_of_any_length() {
        let long = [b"\x82\x7e\x01\x2c".as_slice(), &[b'x'; 300]].concat();
        let input = [
            b"\x81\x05Hello".as_slice(),
            b"\x01\x03Hel\x89\x02hi\x00\x00\x80\x02lo",
            b"\x81\x00",
            b"\x8a\x00",
            b"\x01\x00\x80\x00",
            &long,
            b"\x88\x04\x03\xe8ok",
        ]
        .concat();
        let expected = [
            "Message Text Hello".replace("Message ", ""),
            "Ping hi".into(),
            "Text Hello".into(),
            "Text ".into(),
            "Pong ".into(),
            "Text ".into(),
            format!("Binary {}", "x".repeat(300)),
            "Close \u{3}\u{fffd}ok".into(),
        ];
        for size in 1..=input.len() {
            assert_eq!(pieces(&input, size).unwrap(), expected, "reads of {size}");
        }
    }

    const AGREED: Deflate = Deflate {
        server_no_context_takeover: false,
        client_no_context_takeover: true,
        server_max_window_bits: 15,
    };

    #[test]
    fn compressed_messages_are_found_in_reads_of_any_length() {
        // RFC 7692 sections 7.2.3.1 to 7.2.3.5, a control frame between two fragments, and a
        // message that is not compressed between two that share their window.
        let input = [
            b"\xc1\x07\xf2\x48\xcd\xc9\xc9\x07\x00".as_slice(),
            b"\x41\x03\xf2\x48\xcd\x89\x02hi\x80\x04\xc9\xc9\x07\x00",
            b"\x81\x05plain",
            b"\xc1\x05\xf2\x00\x11\x00\x00",
            b"\xc2\x0b\x00\x05\x00\xfa\xff\x48\x65\x6c\x6c\x6f\x00",
            b"\xc1\x08\xf3\x48\xcd\xc9\xc9\x07\x00\x00",
            b"\xc1\x0d\xf2\x48\x05\x00\x00\x00\xff\xff\xca\xc9\xc9\x07\x00",
            b"\xc1\x01\x00",
            b"\x41\x00\x00\x00\x80\x01\x00",
        ]
        .concat();
        let expected = [
            "Text Hello",
            "Ping hi",
            "Text Hello",
            "Text plain",
            "Text Hello",
            "Binary Hello",
            "Text Hello",
            "Text Hello",
            "Text ",
            "Text ",
        ];
        for size in 1..=input.len() {
            let found = pieces_of(Some(AGREED), &input, size).unwrap();
            assert_eq!(found, expected, "reads of {size}");
        }
    }

    #[test]
    fn compressed_frames_that_break_the_protocol_are_refused_with_the_rule() {
        for (input, rule) in [
            (
                b"\x01\x01a\xc0\x01\x00".as_slice(),
                "first frame of a message alone",
            ),
            (
                b"\x41\x01\xf2\xc0\x01\x00",
                "first frame of a message alone",
            ),
            (b"\xc9\x00", "a control frame"),
            (b"\xc8\x02\x03\xe8", "a control frame"),
            (b"\xc1\x00", "has a block"),
            (b"\xc1\x02\xff\xff", "is DEFLATE"),
            (b"\xc1\x05\xf2\x00\x11\x00\x00", "is DEFLATE"),
            (b"\xe1\x01\x00", "reserved bits 2 and 3"),
            (b"\xc1\x07\x00\x01\x00\xfe\xff\xff\x00", "is UTF-8"),
            (b"\x82\x7e\x01\x2d", "largest size"),
        ] {
            for size in [1, input.len()] {
                let error = pieces_of(Some(AGREED), input, size).expect_err(rule);
                assert!(error.rule.contains(rule), "{error} instead of {rule}");
            }
        }
    }

    #[test]
    fn a_message_in_one_read_is_not_copied() {
        let input = b"\x81\x05Hello".as_slice();
        let mut deframer = Deframer::new(300);
        let mut rest = input;
        let Some(Piece::Message(Kind::Text, text)) = deframer.next(&mut rest).unwrap() else {
            panic!("a message");
        };
        assert!(std::ptr::eq(text, &raw const input[2..]));
    }

    #[test]
    fn frames_that_break_the_protocol_are_refused_with_the_rule() {
        for (input, rule) in [
            (b"\x81\x85abcdHello".as_slice(), "does not mask"),
            (b"\xc1\x00", "without an extension"),
            (b"\x80\x00", "a continuation follows"),
            (b"\x01\x00\x81\x00", "before the next one begins"),
            (b"\x81\x01\xff", "is UTF-8"),
            (b"\x01\x01\xc3\x80\x01x", "is UTF-8"),
            (b"\x82\x7e\x01\x2d", "largest size"),
            (b"\x82\x7f\x7f\xff\xff\xff\xff\xff\xff\xff", "largest size"),
        ] {
            for size in [1, input.len()] {
                let error = pieces(input, size).expect_err(rule);
                assert!(error.rule.contains(rule), "{error} instead of {rule}");
            }
        }
        let parts = [b"\x02\x7e\x00\xc8".as_slice(), &[0; 200], b"\x80\x65"].concat();
        assert!(pieces(&parts, parts.len()).is_err());
    }
}
