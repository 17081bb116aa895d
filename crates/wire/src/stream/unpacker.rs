//! Bodies under a content coding, decompressed as they come, so that the messages in them are
//! seen when they arrive. Whatever a body claims or holds, the memory is that of one window and of
//! the caller's buffer.

use std::fmt;

use flate2::{Crc, Decompress, FlushDecompress, Status};
use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation as _, OutBuffer};

use super::violation;
use crate::zstd::WINDOW_LOG_MAX;
use crate::{Encoding, ProtocolError};

const GZIP: &str = "a body under content-encoding gzip is of members of RFC 1952";
const ZSTD: &str = "a body under content-encoding zstd is of frames of RFC 8878";

/// One compressed body.
#[derive(Debug)]
pub struct Unpacker(Coding);

enum Coding {
    Gzip(Gzip),
    Zstd(Zstd),
}

impl fmt::Debug for Coding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The libraries' states have no text.
        f.write_str(match self {
            Coding::Gzip(_) => "gzip",
            Coding::Zstd(_) => "zstd",
        })
    }
}

impl Unpacker {
    /// A body of that encoding; None where its bytes are those of the messages.
    #[must_use]
    pub fn new(encoding: Encoding) -> Option<Unpacker> {
        match encoding {
            Encoding::Gzip => Some(Unpacker(Coding::Gzip(Gzip::new()))),
            Encoding::Zstd => Some(Unpacker(Coding::Zstd(Zstd::new()))),
            Encoding::Identity | Encoding::Other => None,
        }
    }

    /// Takes bytes off the front of `packed` and puts what is in them to the front of `room`,
    /// whose length it returns; 0: all that has come was returned.
    ///
    /// # Errors
    /// When the body is not what its encoding says.
    pub fn next(&mut self, packed: &mut &[u8], room: &mut [u8]) -> Result<usize, ProtocolError> {
        match &mut self.0 {
            Coding::Gzip(gzip) => gzip.next(packed, room),
            Coding::Zstd(zstd) => zstd.next(packed, room),
        }
    }

    /// The body has ended.
    ///
    /// # Errors
    /// When it should not have.
    pub fn finish(&self) -> Result<(), ProtocolError> {
        let (rule, is_whole) = match &self.0 {
            Coding::Gzip(gzip) => (GZIP, gzip.is_whole()),
            Coding::Zstd(zstd) => (ZSTD, zstd.is_whole),
        };
        match is_whole {
            true => Ok(()),
            false => Err(violation(rule, "a body that ends too early")),
        }
    }
}

/// What of a member comes next (RFC 1952 section 2.3).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Fixed,
    ExtraLength,
    Extra,
    Name,
    Comment,
    HeaderCheck,
    Content,
    Trailer,
}

/// Flags of a header (section 2.3.1).
const HAS_HEADER_CHECK: u8 = 1 << 1;
const HAS_EXTRA: u8 = 1 << 2;
const HAS_NAME: u8 = 1 << 3;
const HAS_COMMENT: u8 = 1 << 4;
const RESERVED: u8 = 0b1110_0000;

/// ID1, ID2 and CM: gzip with deflate.
const BEGIN: [u8; 3] = [0x1F, 0x8B, 8];

struct Gzip {
    part: Part,
    /// Bytes of the part that have come; its length is at most that of the array where they are
    /// looked at.
    bytes: [u8; 10],
    count: usize,
    flags: u8,
    /// Bytes of the field FEXTRA.
    extra: usize,
    inflate: Decompress,
    check: Crc,
    has_member: bool,
}

impl Gzip {
    fn new() -> Gzip {
        Gzip {
            part: Part::Fixed,
            bytes: [0; 10],
            count: 0,
            flags: 0,
            extra: 0,
            inflate: Decompress::new(false),
            check: Crc::new(),
            has_member: false,
        }
    }

    fn is_whole(&self) -> bool {
        self.has_member && self.part == Part::Fixed && self.count == 0
    }

    fn next(&mut self, packed: &mut &[u8], room: &mut [u8]) -> Result<usize, ProtocolError> {
        loop {
            if self.part == Part::Content {
                let given = self.inflate(packed, room)?;
                if given > 0 || self.part == Part::Content {
                    return Ok(given);
                }
            }
            let Some((byte, rest)) = packed.split_first() else {
                return Ok(0);
            };
            *packed = rest;
            self.take(*byte)?;
        }
    }

    /// 0 while the content goes on: all of `packed` was taken.
    fn inflate(&mut self, packed: &mut &[u8], room: &mut [u8]) -> Result<usize, ProtocolError> {
        loop {
            let (read, written) = (self.inflate.total_in(), self.inflate.total_out());
            let status = self
                .inflate
                .decompress(packed, room, FlushDecompress::None)
                .map_err(|error| violation(GZIP, error))?;
            // Of what was given to it, so that both fit.
            let read = (self.inflate.total_in() - read) as usize;
            let given = (self.inflate.total_out() - written) as usize;
            *packed = &packed[read..];
            self.check.update(&room[..given]);
            if status == Status::StreamEnd {
                self.begin(Part::Trailer);
            }
            if given > 0 || read == 0 || status == Status::StreamEnd {
                return Ok(given);
            }
        }
    }

    fn begin(&mut self, part: Part) {
        (self.part, self.count) = (part, 0);
    }

    /// Takes a byte outside the content.
    fn take(&mut self, byte: u8) -> Result<(), ProtocolError> {
        if let Some(place) = self.bytes.get_mut(self.count) {
            *place = byte;
        }
        self.count += 1;
        let is_over = match self.part {
            Part::Fixed => {
                if BEGIN
                    .get(self.count - 1)
                    .is_some_and(|begin| *begin != byte)
                {
                    return Err(violation(GZIP, "no header of a member"));
                }
                self.count == 10
            }
            Part::ExtraLength | Part::HeaderCheck => self.count == 2,
            Part::Extra => self.count == self.extra,
            Part::Name | Part::Comment => byte == 0,
            Part::Trailer => self.count == 8,
            Part::Content => false,
        };
        match is_over {
            true => self.end_part(),
            false => Ok(()),
        }
    }

    fn end_part(&mut self) -> Result<(), ProtocolError> {
        match self.part {
            Part::Fixed => {
                self.flags = self.bytes[3];
                if self.flags & RESERVED != 0 {
                    return Err(violation(GZIP, "a reserved flag"));
                }
            }
            Part::ExtraLength => {
                self.extra = usize::from(u16::from_le_bytes([self.bytes[0], self.bytes[1]]));
            }
            Part::Trailer => return self.end_member(),
            _ => {}
        }
        let next = self.part_after();
        self.begin(next);
        Ok(())
    }

    /// The next part of a header that there is.
    fn part_after(&self) -> Part {
        let parts = [
            (Part::Fixed, true),
            (Part::ExtraLength, self.flags & HAS_EXTRA != 0),
            (Part::Extra, self.extra > 0),
            (Part::Name, self.flags & HAS_NAME != 0),
            (Part::Comment, self.flags & HAS_COMMENT != 0),
            (Part::HeaderCheck, self.flags & HAS_HEADER_CHECK != 0),
        ];
        let mut rest = parts.iter().skip_while(|(part, _)| *part != self.part);
        rest.next();
        rest.find(|(_, is_there)| *is_there)
            .map_or(Part::Content, |(part, _)| *part)
    }

    fn end_member(&mut self) -> Result<(), ProtocolError> {
        let words = self.bytes[..8].as_chunks::<4>().0;
        let [check, length] = [words[0], words[1]].map(u32::from_le_bytes);
        if (check, length) != (self.check.sum(), self.check.amount()) {
            return Err(violation(GZIP, "a member with another checksum or length"));
        }
        self.inflate.reset(false);
        self.check.reset();
        (self.has_member, self.extra) = (true, 0);
        self.begin(Part::Fixed);
        Ok(())
    }
}

struct Zstd {
    decoder: Decoder<'static>,
    /// Frames have ended, and no other has begun.
    is_whole: bool,
    /// There was no room for more.
    is_full: bool,
}

impl Zstd {
    fn new() -> Zstd {
        let mut decoder = Decoder::new().expect("memory is enough");
        decoder
            .set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX))
            .expect("a parameter that exists");
        Zstd {
            decoder,
            is_whole: false,
            is_full: false,
        }
    }

    fn next(&mut self, packed: &mut &[u8], room: &mut [u8]) -> Result<usize, ProtocolError> {
        // Of an empty piece the decoder makes an error after a while.
        while !packed.is_empty() || self.is_full {
            let (mut from, mut to) = (InBuffer::around(packed), OutBuffer::around(&mut *room));
            let left = self.decoder.run(&mut from, &mut to);
            let left = left.map_err(|error| violation(ZSTD, error))?;
            let (read, given) = (from.pos(), to.pos());
            *packed = &packed[read..];
            self.is_whole = left == 0;
            self.is_full = given == room.len() && !self.is_whole;
            if given > 0 {
                return Ok(given);
            }
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{gzip, zstd};

    const TEXT: &[u8] = b"data: one\n\ndata: two\n\ndata: two\n\ndata: two\n\n";

    /// What is in pieces of that length, read into a room of `room` bytes.
    fn unpack(
        encoding: Encoding,
        packed: &[u8],
        piece: usize,
        room: usize,
    ) -> Result<Vec<u8>, ProtocolError> {
        let mut unpacker = Unpacker::new(encoding).expect("a coding");
        let (mut room, mut content) = (vec![0; room], Vec::new());
        for mut piece in packed.chunks(piece) {
            loop {
                match unpacker.next(&mut piece, &mut room)? {
                    0 => break,
                    given => content.extend_from_slice(&room[..given]),
                }
            }
            assert!(piece.is_empty());
        }
        unpacker.finish().map(|()| content)
    }

    fn pack_text() -> [(Encoding, Vec<u8>); 2] {
        [
            (Encoding::Gzip, gzip::compress(TEXT)),
            (Encoding::Zstd, zstd::compress(TEXT)),
        ]
    }

    #[test]
    fn content_is_the_same_in_pieces_of_any_length() {
        for (encoding, packed) in pack_text() {
            let twice = packed.repeat(2);
            for (piece, room) in [(1, 1), (2, 3), (7, 64), (1000, 1), (1000, 1000)] {
                let found = unpack(encoding, &twice, piece, room).unwrap();
                assert_eq!(found, TEXT.repeat(2), "{encoding:?} {piece} {room}");
            }
        }
    }

    #[test]
    fn flushed_bytes_are_read_before_the_end() {
        use std::io::Write as _;
        let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        let mut unpacker = Unpacker::new(Encoding::Gzip).unwrap();
        let mut room = [0; 64];
        for line in TEXT.split_inclusive(|byte| *byte == b'\n') {
            writer.write_all(line).unwrap();
            writer.flush().unwrap();
            let flushed = std::mem::take(writer.get_mut());
            let given = unpacker.next(&mut flushed.as_slice(), &mut room).unwrap();
            assert_eq!(&room[..given], line);
        }
    }

    #[test]
    fn every_field_of_a_header_is_skipped() {
        let plain = gzip::compress(TEXT);
        let mut long = plain[..10].to_vec();
        long[3] = HAS_EXTRA | HAS_NAME | HAS_COMMENT | HAS_HEADER_CHECK;
        long.extend_from_slice(b"\x03\0abcname\0comment\0xx");
        long.extend_from_slice(&plain[10..]);
        assert_eq!(unpack(Encoding::Gzip, &long, 1, 100).unwrap(), TEXT);
        // An empty FEXTRA.
        let mut empty = plain[..10].to_vec();
        empty[3] = HAS_EXTRA;
        empty.extend_from_slice(b"\0\0");
        empty.extend_from_slice(&plain[10..]);
        assert_eq!(unpack(Encoding::Gzip, &empty, 5, 100).unwrap(), TEXT);
    }

    #[test]
    fn bodies_that_are_cut_or_changed_are_refused() {
        for (encoding, packed) in pack_text() {
            for end in 0..packed.len() {
                assert!(unpack(encoding, &packed[..end], 3, 100).is_err(), "{end}");
            }
            let mut changed = packed.clone();
            let last = changed.len() - 5;
            changed[last] ^= 1;
            assert!(unpack(encoding, &changed, 3, 100).is_err());
            let behind = [packed.as_slice(), b"more"].concat();
            assert!(unpack(encoding, &behind, 3, 100).is_err());
        }
        let mut flagged = gzip::compress(TEXT);
        flagged[3] = 0x80;
        let error = unpack(Encoding::Gzip, &flagged, 3, 100).unwrap_err();
        assert!(error.to_string().contains("reserved flag"), "{error}");
    }

    #[test]
    fn a_window_beyond_that_of_http_is_refused() {
        // A frame header with a window of 2^24 bytes (RFC 8878 section 3.1.1.1.2), and a block.
        let frame = b"\x28\xb5\x2f\xfd\x00\x70\x01\x00\x00";
        let error = unpack(Encoding::Zstd, frame, 100, 100).unwrap_err();
        assert!(error.to_string().contains("RFC 8878"), "{error}");
    }

    #[test]
    fn a_bomb_gives_no_more_than_there_is_room_for() {
        let zeros = vec![0; 10 << 20];
        for (encoding, packed) in [
            (Encoding::Gzip, gzip::compress(&zeros)),
            (Encoding::Zstd, zstd::compress(&zeros)),
        ] {
            let mut unpacker = Unpacker::new(encoding).unwrap();
            let (mut rest, mut room, mut length) = (packed.as_slice(), [1; 1000], 0);
            loop {
                let given = unpacker.next(&mut rest, &mut room).unwrap();
                assert!(room[..given].iter().all(|byte| *byte == 0));
                length += given;
                if given == 0 {
                    break;
                }
            }
            assert_eq!(length, zeros.len());
        }
    }
}
