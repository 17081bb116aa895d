//! Lets HTTP/2 requests pass whose authority is the path of a Unix socket.
//!
//! gRPC's core (C++, Python, Ruby, …) names a target `unix:/run/x` by
//! `:authority: %2Frun%2Fx`. RFC 3986 section 3.2.2 allows that, but the crate
//! `http` takes no percent sign in a host, and h2 then resets the stream.
//! Nothing here looks at the authority, so each percent sign of it becomes an
//! underscore where it lies: no length changes, hence no frame and no table of
//! HPACK. Only strings without Huffman's code are mended; the core writes no
//! other.

/// Frame headers (RFC 9113 section 4.1), and what connections begin with (section 3.4).
const FRAME_HEADER: usize = 9;
const PREFACE: usize = 24;

/// Frames that hold fields (RFC 9113 sections 6.2 and 6.10), and their flags.
const HEADERS: u8 = 0x1;
const CONTINUATION: u8 = 0x9;
const PADDED: u8 = 0x8;
const PRIORITY: u8 = 0x20;
const PRIORITY_BYTES: usize = 5;

/// The field: its name, and its place in HPACK's static table (RFC 7541 appendix A).
const AUTHORITY: &[u8] = b":authority";
const AUTHORITY_INDEX: u8 = 1;

/// Follows the requests of one connection.
#[derive(Debug, Clone)]
pub(crate) struct Authorities {
    /// The frame header so far.
    header: [u8; FRAME_HEADER],
    have: usize,
    /// The length of a frame's padding comes next.
    padded: bool,
    /// Bytes before a block of fields, of it, and behind it.
    before: usize,
    block: usize,
    behind: usize,
    field: Field,
}

impl Authorities {
    /// Before the first byte of a connection.
    pub(crate) fn new() -> Self {
        Authorities {
            header: [0; FRAME_HEADER],
            have: 0,
            padded: false,
            before: PREFACE,
            block: 0,
            behind: 0,
            field: Field::default(),
        }
    }

    /// Mends what came in next.
    pub(crate) fn mend(&mut self, mut bytes: &mut [u8]) {
        while let Some(first) = bytes.first().copied() {
            let taken = self.take(first, bytes);
            bytes = &mut bytes[taken..];
        }
    }

    /// Takes one part of a frame, or as much of it as is there.
    fn take(&mut self, first: u8, bytes: &mut [u8]) -> usize {
        if self.padded {
            self.padded = false;
            self.behind = self.block.min(usize::from(first));
            self.block -= self.behind;
            return 1;
        }
        if self.before > 0 {
            return pass(&mut self.before, bytes.len());
        }
        if self.block > 0 {
            let taken = pass(&mut self.block, bytes.len());
            bytes[..taken]
                .iter_mut()
                .for_each(|byte| self.field.mend(byte));
            return taken;
        }
        if self.behind > 0 {
            return pass(&mut self.behind, bytes.len());
        }
        self.header[self.have] = first;
        self.have += 1;
        if self.have == FRAME_HEADER {
            self.have = 0;
            self.open();
        }
        1
    }

    /// A frame begins, whose header is complete.
    fn open(&mut self) {
        let [a, b, c, kind, flags, ..] = self.header;
        let length = u32::from_be_bytes([0, a, b, c]) as usize;
        match kind {
            HEADERS => {
                self.field = Field::default();
                self.padded = flags & PADDED != 0 && length > 0;
                let rest = length - usize::from(self.padded);
                if flags & PRIORITY != 0 {
                    self.before = PRIORITY_BYTES.min(rest);
                }
                self.block = rest - self.before;
            }
            CONTINUATION => self.block = length,
            _ => self.before = length,
        }
    }
}

/// Takes at most `left` of `there` bytes.
fn pass(left: &mut usize, there: usize) -> usize {
    let taken = there.min(*left);
    *left -= taken;
    taken
}

/// Place within a field (RFC 7541 sections 5 and 6).
#[derive(Debug, Clone, Copy, Default)]
enum Place {
    /// It begins.
    #[default]
    Start,
    /// In a number that does not matter, before a value or the field's end.
    Number {
        value: bool,
    },
    /// Before the length of a string, or in it: what is known, and its next bits.
    Length(Part),
    More(Part, usize, u32),
    /// In a string of which so many bytes are to come.
    Text(Part, usize),
}

/// A string of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Name,
    Value,
}

/// Follows the fields of a block.
#[derive(Debug, Clone, Default)]
struct Field {
    place: Place,
    /// It is, as far as is known, the authority.
    authority: bool,
    /// The string is written as it is.
    plain: bool,
}

impl Field {
    fn mend(&mut self, byte: &mut u8) {
        match self.place {
            Place::Start => self.begin(*byte),
            Place::Number { value } if *byte < 0x80 => self.place = after_number(value),
            Place::Number { .. } => {}
            Place::Length(part) => {
                self.plain = *byte & 0x80 == 0;
                match *byte & 0x7F {
                    0x7F => self.place = Place::More(part, 0x7F, 0),
                    length => self.open(part, usize::from(length)),
                }
            }
            Place::More(part, length, shift) => self.lengthen(part, length, shift, *byte),
            Place::Text(part, left) => {
                self.letter(part, left, byte);
                self.rest(part, left - 1);
            }
        }
    }

    /// A field by the bits that it begins with.
    fn begin(&mut self, byte: u8) {
        match byte {
            0x80.. => self.number(byte & 0x7F == 0x7F),
            0x40.. => self.literal(byte & 0x3F, 0x3F),
            0x20.. => self.number(byte & 0x1F == 0x1F),
            _ => self.literal(byte & 0x0F, 0x0F),
        }
    }

    /// An indexed field, or a size of the table: nothing but a number.
    fn number(&mut self, more: bool) {
        if more {
            self.place = Place::Number { value: false };
        }
    }

    fn literal(&mut self, index: u8, all_ones: u8) {
        self.authority = index == AUTHORITY_INDEX;
        self.place = match index {
            0 => Place::Length(Part::Name),
            _ if index == all_ones => Place::Number { value: true },
            _ => Place::Length(Part::Value),
        };
    }

    /// More of a length (RFC 7541 section 5.1).
    fn lengthen(&mut self, part: Part, length: usize, shift: u32, byte: u8) {
        let more = usize::from(byte & 0x7F).checked_shl(shift);
        let length = length.saturating_add(more.unwrap_or(usize::MAX));
        if byte < 0x80 {
            self.open(part, length);
        } else {
            self.place = Place::More(part, length, shift.saturating_add(7));
        }
    }

    /// A string begins.
    fn open(&mut self, part: Part, length: usize) {
        if part == Part::Name {
            self.authority = self.plain && length == AUTHORITY.len();
        }
        self.rest(part, length);
    }

    fn letter(&mut self, part: Part, left: usize, byte: &mut u8) {
        match part {
            Part::Name if self.authority => {
                self.authority = AUTHORITY[AUTHORITY.len() - left] == *byte;
            }
            Part::Value if self.authority && self.plain && *byte == b'%' => *byte = b'_',
            _ => {}
        }
    }

    /// So much of a string is to come.
    fn rest(&mut self, part: Part, left: usize) {
        self.place = match (part, left) {
            (Part::Name, 0) => Place::Length(Part::Value),
            (Part::Value, 0) => Place::Start,
            _ => Place::Text(part, left),
        };
    }
}

fn after_number(value: bool) -> Place {
    if value {
        Place::Length(Part::Value)
    } else {
        Place::Start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &[u8] = b"%2Frun%2Fx";
    const MENDED: &[u8] = b"_2Frun_2Fx";

    fn frame(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
        let length = (payload.len() as u32).to_be_bytes();
        [&length[1..], &[kind, flags, 0, 0, 0, 1], payload].concat()
    }

    fn string(text: &[u8]) -> Vec<u8> {
        [&[text.len() as u8], text].concat()
    }

    /// A connection's bytes, whole and byte by byte.
    fn mended(frames: &[Vec<u8>]) -> Vec<u8> {
        let all = [&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], &frames.concat()].concat();
        let (mut whole, mut slowly) = (all.clone(), all);
        Authorities::new().mend(&mut whole);
        let mut state = Authorities::new();
        slowly.chunks_mut(1).for_each(|byte| state.mend(byte));
        assert_eq!(whole, slowly);
        whole.split_off(PREFACE)
    }

    /// Fields of all kinds around the authority, with `value`.
    fn block(head: &[u8], value: &[u8]) -> Vec<u8> {
        let long = vec![b'%'; 300];
        [
            // :method POST; a size of the table; an indexed field above 126.
            &[0x83, 0x3F, 0xE1, 0x1F, 0xFF, 0x00][..],
            // :path, by its index, then a field of a name of its own, both with percent signs.
            &[0x44],
            &string(b"/%2F"),
            &[0x40],
            &string(b":authoritx"),
            &string(b"%"),
            head,
            &string(value),
            // A value of 300 bytes, whose length takes three; an index that takes two.
            &[0x0F, 0x20, 0x7F, 0xAD, 0x01],
            &long,
        ]
        .concat()
    }

    #[test]
    fn the_authority_is_mended_however_its_name_is_written() {
        let literal = [&[0x40][..], &string(AUTHORITY)].concat();
        let never = [&[0x10][..], &string(AUTHORITY)].concat();
        for head in [&[0x41][..], &[0x01], &[0x11], &literal, &never] {
            let asked = frame(HEADERS, 0x4, &block(head, PATH));
            let expected = frame(HEADERS, 0x4, &block(head, MENDED));
            assert_eq!(
                mended(&[asked.clone(), asked]),
                [&expected[..], &expected].concat()
            );
        }
    }

    #[test]
    fn padding_priority_and_continuations_are_no_fields() {
        let asked = |value: &[u8]| {
            let fields = block(&[0x41], value);
            let (first, second) = fields.split_at(35);
            let padded = [&[3][..], b"%%%%%", first, b"\x41%%"].concat();
            [
                frame(0x0, 0, b"\x41\x02%2"),
                frame(HEADERS, PADDED | PRIORITY, &padded),
                frame(CONTINUATION, 0x4, second),
                frame(0x6, 0, b"\x41\x02%%....\0"),
            ]
        };
        assert_eq!(mended(&asked(PATH)), asked(MENDED).concat());
    }

    #[test]
    fn nothing_else_is_touched() {
        let huffman = [&[0x41, 0x85][..], b"%%%%%"].concat();
        let plain = [&[0x41][..], &string(b"localhost:80")].concat();
        let cut = frame(HEADERS, PADDED | PRIORITY, &[]);
        for payload in [&huffman, &plain] {
            let asked = frame(HEADERS, 0x4, payload);
            assert_eq!(
                mended(&[cut.clone(), asked.clone()]),
                [cut.clone(), asked].concat()
            );
        }
    }
}
