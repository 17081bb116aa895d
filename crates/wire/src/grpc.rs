//! Length-prefixed messages of gRPC over HTTP/2 (gRPC's PROTOCOL-HTTP2.md,
//! "Length-Prefixed-Message"): one byte that states whether the message is
//! compressed, four bytes of length, the message. Streams of the Connect protocol have the same
//! prefix with one more flag, that of the message which ends the stream (Connect protocol,
//! Enveloped-Message).

use crate::ProtocolError;
use crate::connect::{self, END_BYTES_MAX};

/// Bytes in front of every message.
pub const PREFIX_LEN: usize = 5;

/// How messages lie in the body of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frames {
    /// Those of gRPC, whose trailers have the outcome of the call.
    Grpc,
    /// Those of a stream of Connect, whose last message has the outcome.
    Connect,
}

impl Frames {
    /// Finds the messages of a reply, of which those longer than `message_max` bytes are refused.
    #[must_use]
    pub fn deframer(self, message_max: u32) -> Deframer {
        match self {
            Frames::Grpc => Deframer::new(message_max),
            Frames::Connect => Deframer::of_connect(message_max),
        }
    }

    /// Whether a message has the outcome of the call ([`Piece::Start`]), and no trailers do.
    #[must_use]
    pub fn has_end_message(self) -> bool {
        self == Frames::Connect
    }

    /// The rule that a compressed message breaks where no field names its compression.
    #[must_use]
    pub fn rule_of_compression(self) -> &'static str {
        match self {
            Frames::Grpc => {
                "a compressed message without grpc-encoding (gRPC over HTTP/2, Compressed-Flag)"
            }
            Frames::Connect => {
                "a compressed message without connect-content-encoding (Connect protocol, \
                 Envelope-Flags)"
            }
        }
    }

    /// Reads the message that has the outcome: the error with which the call has failed, if it
    /// has.
    ///
    /// # Errors
    /// When it is not such a message, which none of gRPC is.
    pub fn read_end(self, message: &[u8]) -> Result<Option<String>, ProtocolError> {
        match self {
            Frames::Grpc => Err(ProtocolError {
                rule: "trailers have the status of a call (gRPC over HTTP/2, Responses)",
                found: "a message of it".to_owned(),
            }),
            Frames::Connect => {
                let error = connect::read_end(message)?;
                Ok(error.map(|error| format!("Connect error {error}")))
            }
        }
    }
}

/// The next thing in a call's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A message begins.
    Start {
        /// Its length in bytes, as sent.
        length: u32,
        /// Whether it is compressed by the call's `grpc-encoding`, or `connect-content-encoding`.
        compressed: bool,
        /// Whether it ends a stream of Connect, and is not one of its messages.
        is_end: bool,
    },
    /// The next bytes of the message; never empty.
    Data(&'a [u8]),
    /// The message is complete.
    End,
}

/// What the first byte of a prefix may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flags {
    /// 1: compressed.
    Grpc,
    /// 1: compressed; 2: the end of the stream. A reply has it once, at its end.
    Connect { is_over: bool },
}

const COMPRESSED: u8 = 1;
const END_OF_STREAM: u8 = 2;

/// Finds the messages in the body of one call, whatever its chunks are.
///
/// No input makes it panic; it holds no more than a prefix.
#[derive(Debug, Clone)]
pub struct Deframer {
    flags: Flags,
    // Bytes. Libraries of gRPC have such a limit too, 4 MiB by default.
    message_max: u32,
    prefix: [u8; PREFIX_LEN],
    /// Bytes of the prefix that have come; [`PREFIX_LEN`] within a message.
    prefix_len: usize,
    /// Bytes of the message that are to come.
    left: u32,
}

impl Deframer {
    /// Messages longer than `message_max` bytes are refused.
    pub fn new(message_max: u32) -> Deframer {
        Deframer {
            flags: Flags::Grpc,
            message_max,
            prefix: [0; PREFIX_LEN],
            prefix_len: 0,
            left: 0,
        }
    }

    /// The same of a reply of the Connect protocol, which ends with a message of its own.
    #[must_use]
    pub fn of_connect(message_max: u32) -> Deframer {
        Deframer {
            flags: Flags::Connect { is_over: false },
            ..Deframer::new(message_max)
        }
    }

    /// Takes the next piece off the front of `chunk`; None when `chunk` is used up.
    ///
    /// # Errors
    /// When a prefix is malformed or its message too long; the call has failed.
    #[inline]
    pub fn next<'a>(&mut self, chunk: &mut &'a [u8]) -> Result<Option<Piece<'a>>, ProtocolError> {
        if self.prefix_len < PREFIX_LEN {
            // A prefix may be cut by chunks at any byte, so it is gathered.
            return self.start(chunk);
        }
        // An empty message ends here without a byte of its own: `Start` is followed by `End`.
        if self.left == 0 {
            self.prefix_len = 0;
            if let Flags::Connect { is_over } = &mut self.flags {
                *is_over = self.prefix[0] & END_OF_STREAM != 0;
            }
            return Ok(Some(Piece::End));
        }
        let (data, rest) = chunk.split_at(chunk.len().min(self.left as usize));
        *chunk = rest;
        self.left -= data.len() as u32;
        // Never empty: a consumer that waits for progress must not be called without.
        Ok((!data.is_empty()).then_some(Piece::Data(data)))
    }

    fn start<'a>(&mut self, chunk: &mut &'a [u8]) -> Result<Option<Piece<'a>>, ProtocolError> {
        if self.flags == (Flags::Connect { is_over: true }) && !chunk.is_empty() {
            return Err(ProtocolError {
                rule: "nothing follows the end of a stream (Connect protocol, Streaming-Response)",
                found: format!("{} bytes", chunk.len()),
            });
        }
        let missing = PREFIX_LEN - self.prefix_len;
        let (taken, rest) = chunk.split_at(chunk.len().min(missing));
        *chunk = rest;
        self.prefix[self.prefix_len..][..taken.len()].copy_from_slice(taken);
        self.prefix_len += taken.len();
        if taken.len() < missing {
            return Ok(None);
        }
        // Message-Length is an unsigned 32-bit integer in network byte order.
        let [flags, a, b, c, d] = self.prefix;
        let length = u32::from_be_bytes([a, b, c, d]);
        self.check(flags, length)?;
        self.left = length;
        Ok(Some(Piece::Start {
            length,
            compressed: flags & COMPRESSED != 0,
            is_end: flags & END_OF_STREAM != 0,
        }))
    }

    fn check(&self, flags: u8, length: u32) -> Result<(), ProtocolError> {
        let (known, rule) = match self.flags {
            // Compressed-Flag is 1 bit wide in a byte; other values are reserved.
            Flags::Grpc => (
                COMPRESSED,
                "a message begins with 0 or 1 (gRPC over HTTP/2, Compressed-Flag)",
            ),
            Flags::Connect { .. } => (
                COMPRESSED | END_OF_STREAM,
                "a message begins with 0 to 3 (Connect protocol, Envelope-Flags)",
            ),
        };
        if flags & !known != 0 {
            return Err(ProtocolError {
                rule,
                found: format!("byte {flags}"),
            });
        }
        // Refused by the announced length, before any memory is taken for the message.
        let most = match flags & END_OF_STREAM {
            0 => self.message_max,
            _ => self.message_max.min(END_BYTES_MAX),
        };
        if length > most {
            return Err(ProtocolError {
                rule: "a message stays within the largest size accepted",
                found: format!("{length} bytes, {most} accepted"),
            });
        }
        Ok(())
    }

    /// Counts the messages that end in `chunk`, without handing them out.
    ///
    /// # Errors
    /// As [`Deframer::next`].
    pub fn count(&mut self, mut chunk: &[u8]) -> Result<u32, ProtocolError> {
        let mut ended = 0;
        while let Some(piece) = self.next(&mut chunk)? {
            ended += u32::from(piece == Piece::End);
        }
        Ok(ended)
    }

    /// Whether a part of a message has come, and not its end.
    #[must_use]
    pub fn is_within(&self) -> bool {
        self.prefix_len > 0
    }

    /// To be asked at the end of the body.
    ///
    /// # Errors
    /// When the body ended within a message, or one of Connect before the end of its stream.
    pub fn finish(&self) -> Result<(), ProtocolError> {
        if self.prefix_len == 0 {
            return match self.flags {
                Flags::Grpc | Flags::Connect { is_over: true } => Ok(()),
                Flags::Connect { is_over: false } => Err(ProtocolError {
                    rule: "a stream ends with an end-of-stream message (Connect protocol, \
                           EndStreamResponse)",
                    found: "the body ended without it".to_owned(),
                }),
            };
        }
        // Either the prefix itself was cut, or the message behind a whole prefix.
        let found = match self.prefix_len {
            PREFIX_LEN => format!("{} bytes missing", self.left),
            length => format!("{length} of {PREFIX_LEN} bytes of a prefix"),
        };
        Err(ProtocolError {
            rule: "a body ends at the end of a message (gRPC over HTTP/2, \
                   Length-Prefixed-Message; Connect protocol, Enveloped-Message)",
            found,
        })
    }
}

/// A message with its prefix.
///
/// # Panics
/// When the message has 2^32 bytes or more, which the prefix cannot express.
pub fn frame(message: &[u8], compressed: bool) -> Vec<u8> {
    let length = u32::try_from(message.len()).expect("gRPC messages are shorter than 4 GiB");
    let mut framed = Vec::with_capacity(PREFIX_LEN + message.len());
    framed.push(u8::from(compressed));
    framed.extend_from_slice(&length.to_be_bytes());
    framed.extend_from_slice(message);
    framed
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Messages found when `body` comes in chunks that end at `cuts`.
    fn messages(body: &[u8], cuts: &[usize]) -> Vec<(bool, Vec<u8>)> {
        let mut deframer = Deframer::new(1_000);
        let mut found = Vec::new();
        let mut open = None;
        let mut ends: Vec<usize> = cuts.iter().map(|&cut| cut.min(body.len())).collect();
        ends.push(body.len());
        ends.sort_unstable();
        let mut from = 0;
        for to in ends {
            let mut chunk = &body[from..to];
            from = to;
            while let Some(piece) = deframer.next(&mut chunk).unwrap() {
                match (piece, &mut open) {
                    (
                        Piece::Start {
                            length, compressed, ..
                        },
                        None,
                    ) => {
                        open = Some((length, compressed, Vec::new()));
                    }
                    (Piece::Data(data), Some((_, _, bytes))) => bytes.extend_from_slice(data),
                    (Piece::End, Some(_)) => {
                        let (length, compressed, bytes) = open.take().unwrap();
                        assert_eq!(bytes.len() as u32, length);
                        found.push((compressed, bytes));
                    }
                    (piece, open) => panic!("{piece:?} after {open:?}"),
                }
            }
        }
        deframer.finish().unwrap();
        found
    }

    proptest! {
        #[test]
        fn any_split_into_chunks_gives_the_same_messages(
            sent in prop::collection::vec((any::<bool>(), prop::collection::vec(any::<u8>(), 0..40)), 0..6),
            cuts in prop::collection::vec(0_usize..300, 0..20),
        ) {
            let body: Vec<u8> = sent.iter().flat_map(|(flag, bytes)| frame(bytes, *flag)).collect();
            prop_assert_eq!(&messages(&body, &cuts), &sent);
            let mut deframer = Deframer::new(1_000);
            prop_assert_eq!(deframer.count(&body).unwrap() as usize, sent.len());
        }

        #[test]
        fn garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Deframer::new(100).count(&bytes);
        }
    }

    #[test]
    fn an_empty_message_starts_and_ends_within_its_prefix() {
        let mut deframer = Deframer::new(0);
        let mut chunk = &[0, 0, 0, 0, 0][..];
        let start = Piece::Start {
            length: 0,
            compressed: false,
            is_end: false,
        };
        assert_eq!(deframer.next(&mut chunk).unwrap(), Some(start));
        assert_eq!(deframer.next(&mut chunk).unwrap(), Some(Piece::End));
        assert_eq!(deframer.next(&mut chunk).unwrap(), None);
        deframer.finish().unwrap();
    }

    #[test]
    fn a_body_cut_within_a_message_is_detected() {
        let body = frame(b"hello", false);
        for cut in 1..body.len() {
            let mut deframer = Deframer::new(100);
            assert_eq!(deframer.count(&body[..cut]).unwrap(), 0);
            assert!(deframer.finish().is_err(), "cut at {cut}");
        }
    }

    #[test]
    fn other_flags_and_long_messages_are_refused() {
        assert!(Deframer::new(100).count(&[2, 0, 0, 0, 0]).is_err());
        assert!(Deframer::new(100).count(&[0, 0, 0, 0, 101]).is_err());
        assert!(Deframer::new(100).count(&[0, 0, 0, 0, 100]).is_ok());
    }
}
