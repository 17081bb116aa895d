//! Messages of WebSocket (RFC 6455 section 5): one frame or several. Control frames may come
//! between them.

use wirelab_wire::websocket::{Header, Opcode};

use super::step::{End, Role, Step};

/// Bytes of the longest header: two, a length of eight, a key of four.
const HEADER_BYTES_MAX: usize = 14;
/// Of an opcode: a control frame (RFC 6455 section 5.2).
const CONTROL: u8 = 0x08;

/// The position in frames.
#[derive(Debug, Default)]
pub(super) struct Frames {
    header: [u8; HEADER_BYTES_MAX],
    filled: usize,
    /// The frame whose payload comes.
    frame: Option<Header>,
    /// Bytes of it to come.
    left: u64,
    is_in_message: bool,
    /// The message under way, or the last one, is compressed (RFC 7692 section 6).
    is_compressed: bool,
    /// What came is not a frame, or bytes are missing: nothing shows where one begins.
    is_lost: bool,
}

impl Frames {
    pub(super) fn is_compressed(&self) -> bool {
        self.is_compressed
    }

    /// What the next bytes are: of a header, or of the payload behind it.
    pub(super) fn step(&mut self, rest: &[u8]) -> Step {
        if self.is_lost {
            return Step::between(rest.len());
        }
        match self.frame {
            Some(frame) => self.payload(frame, rest),
            None => self.take_header(rest),
        }
    }

    fn take_header(&mut self, rest: &[u8]) -> Step {
        let before = self.filled;
        let taken = rest.len().min(HEADER_BYTES_MAX - before);
        self.header[before..][..taken].copy_from_slice(&rest[..taken]);
        self.filled += taken;
        let role = if self.header[0] & CONTROL != 0 {
            Role::Between
        } else {
            Role::Head
        };
        let (frame, bytes) = match Header::parse(&self.header[..self.filled]) {
            Ok(Some(parsed)) => parsed,
            Ok(None) => {
                return Step {
                    used: taken,
                    role,
                    end: None,
                };
            }
            Err(_) => return self.lose(taken),
        };
        self.filled = 0;
        if !self.accepts(&frame) {
            return self.lose(taken);
        }
        self.left = frame.length;
        self.frame = Some(frame);
        let end = self.end_of(frame);
        Step {
            used: bytes - before,
            role,
            end,
        }
    }

    /// A message begins with a frame of its own, and the next begins behind its end.
    fn accepts(&mut self, frame: &Header) -> bool {
        match (frame.opcode, self.is_in_message) {
            (Opcode::Message(_), false) => {
                (self.is_in_message, self.is_compressed) = (true, frame.is_compressed);
                true
            }
            (Opcode::Continuation, true) => true,
            (opcode, _) => opcode.is_control(),
        }
    }

    fn payload(&mut self, frame: Header, rest: &[u8]) -> Step {
        let used = rest
            .len()
            .min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let role = if frame.opcode.is_control() {
            Role::Between
        } else {
            let place = (frame.length - self.left) % 4;
            Role::Body(frame.key.map(|key| (key, place as usize)))
        };
        self.left -= used as u64;
        let end = self.end_of(frame);
        Step { used, role, end }
    }

    fn end_of(&mut self, frame: Header) -> Option<End> {
        if self.left > 0 {
            return None;
        }
        self.frame = None;
        let ends = frame.is_final && !frame.opcode.is_control();
        ends.then(|| {
            self.is_in_message = false;
            End::Message
        })
    }

    fn lose(&mut self, used: usize) -> Step {
        self.is_lost = true;
        Step {
            used,
            role: Role::Between,
            end: Some(End::Nothing),
        }
    }

    /// True inside a frame whose end is still known.
    pub(super) fn miss(&mut self, bytes: u64) -> bool {
        let is_inside = self.frame.is_some() && bytes < self.left;
        if is_inside {
            self.left -= bytes;
        } else {
            self.is_lost = true;
        }
        is_inside
    }
}
