//! Compressed messages of permessage-deflate (RFC 7692 section 7.2).

use std::cell::RefCell;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::frame::violation;
use crate::session::ProtocolError;

/// An empty stored block, with which the compressed bytes of a message end, and which is not sent
/// (section 7.2.1).
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];

/// The first room for a message, bytes; it doubles up to what is accepted.
const ROOM_BYTES: usize = 512;

thread_local! {
    // One per thread and not per connection: it has some 300 KiB.
    static COMPRESSOR: RefCell<Compress> = RefCell::new(Compress::new(Compression::new(6), false));
}

/// Appends a message compressed by itself, at the usual level 6, as it goes into frames.
pub(super) fn compress(message: &[u8], out: &mut Vec<u8>) {
    const CHECKED: &str = "a stream that was just reset takes any input";
    COMPRESSOR.with_borrow_mut(|compressor| {
        compressor.reset();
        let before = out.len();
        loop {
            let rest = &message[compressor.total_in() as usize..];
            // Room for all but what does not shrink, and for the flush.
            out.reserve(rest.len() / 2 + 64);
            compressor
                .compress_vec(rest, out, FlushCompress::Sync)
                .expect(CHECKED);
            // A flush is over when there was room left.
            if compressor.total_in() as usize == message.len() && out.len() < out.capacity() {
                break;
            }
        }
        debug_assert!(
            out[before..].ends_with(&TAIL),
            "what a sync flush ends with"
        );
        out.truncate(out.len() - TAIL.len());
    });
}

/// The messages of one direction of a connection, decompressed as their frames come.
#[derive(Debug)]
pub(super) struct Inflater {
    inflate: Decompress,
    /// Each message is compressed by itself.
    forgets: bool,
    /// A byte of the message under way has come.
    is_begun: bool,
    /// A block marked as the last one ended with the last byte that came.
    is_over: bool,
}

impl Inflater {
    pub(super) fn new(forgets: bool) -> Inflater {
        Inflater {
            inflate: Decompress::new(false),
            forgets,
            is_begun: false,
            is_over: false,
        }
    }

    /// Appends what is in the next bytes of a message to it, which has at most `most` bytes then.
    ///
    /// # Errors
    /// When it is longer, before memory is taken for the rest, or the bytes are not DEFLATE.
    pub(super) fn take(
        &mut self,
        mut packed: &[u8],
        message: &mut Vec<u8>,
        most: usize,
    ) -> Result<(), ProtocolError> {
        self.is_begun |= !packed.is_empty();
        loop {
            if message.len() == message.capacity() {
                let more = message.len().max(ROOM_BYTES);
                // One byte more than is accepted shows that there is more.
                message.reserve_exact(more.min(most + 1 - message.len()));
            }
            self.is_over &= packed.is_empty();
            let (read, length) = (self.inflate.total_in(), message.len());
            let status = self
                .inflate
                .decompress_vec(packed, message, FlushDecompress::None)
                .map_err(|error| {
                    violation(
                        "a compressed message is DEFLATE (RFC 7692 section 7.2.2)",
                        error.to_string(),
                    )
                })?;
            let read = (self.inflate.total_in() - read) as usize;
            packed = &packed[read..];
            if message.len() > most {
                return Err(violation(
                    "a message stays within the largest size accepted",
                    format!("more than {most} bytes, decompressed"),
                ));
            }
            if status == Status::StreamEnd {
                // More blocks may follow (section 7.2.3.4). They do not refer to those before:
                // a library that ends a stream has lost its window.
                self.inflate.reset(false);
                self.is_over = packed.is_empty();
            }
            let has_room = message.len() < message.capacity();
            let is_stuck = read == 0 && message.len() == length;
            if has_room && (packed.is_empty() || is_stuck) {
                return Ok(());
            }
        }
    }

    /// The message has ended.
    ///
    /// # Errors
    /// As [`Inflater::take`]; also when none of its bytes came.
    pub(super) fn end(&mut self, message: &mut Vec<u8>, most: usize) -> Result<(), ProtocolError> {
        if !std::mem::take(&mut self.is_begun) {
            // With it, the tail would be read as the header of a block that never comes.
            return Err(violation(
                "a compressed message has a block, also an empty one (RFC 7692 section 7.2.3.6)",
                "no byte",
            ));
        }
        // Behind a last block, some senders leave out the byte with which an empty one begins.
        if !std::mem::take(&mut self.is_over) {
            self.take(&TAIL, message, most)?;
            self.is_begun = false;
        }
        if self.forgets {
            self.inflate.reset(false);
        }
        Ok(())
    }
}

/// A message that [`compress`] made.
pub(super) fn decompress(packed: &[u8]) -> Vec<u8> {
    const OWN: &str = "a message that was compressed here";
    let (mut inflater, mut message) = (Inflater::new(true), Vec::new());
    let most = usize::MAX - 1;
    inflater.take(packed, &mut message, most).expect(OWN);
    inflater.end(&mut message, most).expect(OWN);
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: usize = 1000;

    fn inflate(
        inflater: &mut Inflater,
        packed: &[u8],
        piece: usize,
    ) -> Result<Vec<u8>, ProtocolError> {
        let mut message = Vec::new();
        for piece in packed.chunks(piece) {
            inflater.take(piece, &mut message, MOST)?;
        }
        inflater.end(&mut message, MOST)?;
        Ok(message)
    }

    /// Sections 7.2.3.1 to 7.2.3.6: payloads that follow each other on a connection.
    const EXAMPLES: [(&str, &[&[u8]]); 5] = [
        ("one", &[b"\xf2\x48\xcd\xc9\xc9\x07\x00"]),
        (
            "sharing the window",
            &[b"\xf2\x48\xcd\xc9\xc9\x07\x00", b"\xf2\x00\x11\x00\x00"],
        ),
        (
            "a block without compression",
            &[b"\x00\x05\x00\xfa\xff\x48\x65\x6c\x6c\x6f\x00"],
        ),
        (
            "a last block",
            &[
                b"\xf3\x48\xcd\xc9\xc9\x07\x00\x00",
                b"\xf3\x48\xcd\xc9\xc9\x07\x00\x00",
            ],
        ),
        (
            "two blocks",
            &[b"\xf2\x48\x05\x00\x00\x00\xff\xff\xca\xc9\xc9\x07\x00"],
        ),
    ];

    #[test]
    fn examples_of_the_standard_are_read_in_pieces_of_any_length() {
        for (name, payloads) in EXAMPLES {
            for piece in 1..=13 {
                let mut inflater = Inflater::new(false);
                for payload in payloads {
                    let found = inflate(&mut inflater, payload, piece).expect(name);
                    assert_eq!(found, b"Hello", "{name}, pieces of {piece}");
                }
            }
        }
    }

    #[test]
    fn a_window_that_was_not_agreed_is_not_kept() {
        let mut inflater = Inflater::new(true);
        let [first, second] = EXAMPLES[1].1 else {
            panic!("two payloads");
        };
        assert_eq!(inflate(&mut inflater, first, 100).unwrap(), b"Hello");
        let error = inflate(&mut inflater, second, 100).expect_err("a reference to nothing");
        assert!(error.rule.contains("is DEFLATE"), "{error}");
    }

    #[test]
    fn an_empty_message_has_a_block() {
        // Section 7.2.3.6.
        for payload in [
            b"\x00".as_slice(),
            b"\x02\x00",
            b"\x03\x00",
            b"\x01\x00\x00\xff\xff\x00",
        ] {
            let mut inflater = Inflater::new(false);
            assert_eq!(inflate(&mut inflater, payload, 1).unwrap(), b"");
            assert_eq!(
                inflate(&mut inflater, EXAMPLES[0].1[0], 1).unwrap(),
                b"Hello"
            );
        }
        let mut out = Vec::new();
        compress(b"", &mut out);
        assert_eq!(decompress(&out), b"");
        let error = inflate(&mut Inflater::new(false), b"", 1).expect_err("no block");
        assert!(error.rule.contains("has a block"), "{error}");
    }

    #[test]
    fn a_last_block_may_end_the_payload() {
        let mut inflater = Inflater::new(false);
        for _ in 0..3 {
            let found = inflate(&mut inflater, b"\xf3\x48\xcd\xc9\xc9\x07\x00", 3).unwrap();
            assert_eq!(found, b"Hello");
        }
    }

    #[test]
    fn messages_are_read_as_they_were_compressed() {
        let random: Vec<u8> = (0..100_000_u32)
            .map(|number| (number.wrapping_mul(2_654_435_761) >> 13) as u8)
            .collect();
        for message in [b"Hello".as_slice(), &[b'x'; 1 << 20], &random, &[0]] {
            let mut out = b"before".to_vec();
            compress(message, &mut out);
            assert_eq!(&out[..6], b"before");
            assert!(decompress(&out[6..]) == message);
        }
        // Section 7.2.3.1.
        let mut out = Vec::new();
        compress(b"Hello", &mut out);
        assert_eq!(out, EXAMPLES[0].1[0]);
    }

    #[test]
    fn a_bomb_is_refused_with_no_more_memory_than_is_accepted() {
        let mut packed = Vec::new();
        compress(&vec![0; 100 << 20], &mut packed);
        let (mut inflater, mut message) = (Inflater::new(false), Vec::new());
        let error = inflater
            .take(&packed, &mut message, MOST)
            .expect_err("a bomb");
        assert!(error.rule.contains("largest size"), "{error}");
        assert!(message.capacity() <= MOST + 1);
        let mut exact = Vec::new();
        compress(&[b'x'; MOST], &mut exact);
        assert_eq!(
            inflate(&mut Inflater::new(false), &exact, 7).unwrap(),
            [b'x'; MOST]
        );
        let mut longer = Vec::new();
        compress(&[b'x'; MOST + 1], &mut longer);
        assert!(inflate(&mut Inflater::new(false), &longer, 7).is_err());
    }

    #[test]
    fn bytes_that_are_not_deflate_are_refused() {
        for payload in [
            b"\x06".as_slice(),
            b"\xff\xff",
            b"\x00\x05\x00\x05\x00Hello",
        ] {
            let error = inflate(&mut Inflater::new(false), payload, 100);
            assert!(error.is_err(), "{payload:x?}");
        }
    }
}
