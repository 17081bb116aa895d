//! Finds where a reply's header ends in the bytes that a library writes, so
//! that header and body can be two sends.

use memchr::memmem;

use wirelab_stack::Transport;

/// Follows the bytes of one connection.
#[derive(Debug, Clone)]
pub(crate) enum Splitter {
    /// HTTP/1.x (RFC 9112).
    Http1(Http1),
    /// HTTP/2 (RFC 9113).
    Http2(Http2),
}

/// How far a send may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reach {
    /// How many of the bytes offered, at least 1 if there were any.
    pub(crate) bytes: usize,
    /// Nothing may follow in this send.
    pub(crate) last: bool,
}

impl Splitter {
    /// One for a connection that has not begun; none where no HTTP is spoken.
    pub(crate) fn of(transport: Transport) -> Option<Self> {
        match transport {
            Transport::Http10 | Transport::Http11 => Some(Splitter::Http1(Http1::new())),
            Transport::Http2 => Some(Splitter::Http2(Http2::default())),
            Transport::Tcp => None,
        }
    }

    /// Follows `bytes` as far as one send may go.
    pub(crate) fn walk(&mut self, bytes: &[u8]) -> Reach {
        match self {
            Splitter::Http1(state) => state.walk(bytes),
            Splitter::Http2(state) => state.walk(bytes),
        }
    }
}

/// Place within a sequence of HTTP/1.x replies.
#[derive(Debug, Clone)]
pub(crate) enum Http1 {
    /// Within a header; what was sent of it.
    Header(Vec<u8>),
    /// Within a body; how much is to come.
    Body(u64),
    /// Within a body whose end cannot be known from its header.
    // Chunked bodies are not parsed: after one the splitter sees no further header.
    Rest,
}

const HEADER_END: &[u8] = b"\r\n\r\n";

impl Http1 {
    /// Before the first reply.
    pub(crate) fn new() -> Self {
        Http1::Header(Vec::new())
    }

    fn walk(&mut self, bytes: &[u8]) -> Reach {
        match self {
            Http1::Header(sent) => match header_end(sent, bytes) {
                Some(end) => {
                    sent.extend_from_slice(&bytes[..end]);
                    *self = Http1::after(sent);
                    Reach {
                        bytes: end,
                        last: true,
                    }
                }
                None => {
                    sent.extend_from_slice(bytes);
                    Reach {
                        bytes: bytes.len(),
                        last: false,
                    }
                }
            },
            Http1::Body(left) => {
                // A body may end within the bytes: the next reply's header follows it when requests are
                // pipelined (RFC 9112 section 9.3.2).
                let taken = bytes
                    .len()
                    .min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= taken as u64;
                let last = *left == 0;
                if last {
                    *self = Http1::new();
                }
                Reach { bytes: taken, last }
            }
            // Chunked or until-close: the rest is body until the connection ends.
            Http1::Rest => Reach {
                bytes: bytes.len(),
                last: false,
            },
        }
    }

    /// What follows a complete header, by RFC 9112 section 6.3.
    fn after(header: &[u8]) -> Self {
        match content_length(header) {
            // Nothing to split from: the next bytes are another header.
            Some(0) => Http1::new(),
            Some(length) => Http1::Body(length),
            None => Http1::Rest,
        }
    }
}

/// How many of `bytes` belong to the header that began with `sent`, if it ends in them.
fn header_end(sent: &[u8], bytes: &[u8]) -> Option<usize> {
    // The end may lie across two writes: at most three of its four bytes are in the first.
    let seam = &sent[sent.len().saturating_sub(HEADER_END.len() - 1)..];
    let mut joined = seam.to_vec();
    joined.extend_from_slice(&bytes[..bytes.len().min(HEADER_END.len() - 1)]);
    match memmem::find(&joined, HEADER_END) {
        Some(at) => Some(at + HEADER_END.len() - seam.len()),
        None => memmem::find(bytes, HEADER_END).map(|at| at + HEADER_END.len()),
    }
}

fn content_length(header: &[u8]) -> Option<u64> {
    // Headers of this service are ASCII; RFC 9110 section 5.5 would allow obs-text.
    let text = std::str::from_utf8(header).ok()?;
    text.split("\r\n").find_map(|field| {
        let (name, value) = field.split_once(':')?;
        let named = name.eq_ignore_ascii_case("content-length");
        if named {
            value.trim().parse().ok()
        } else {
            None
        }
    })
}

/// Place within a sequence of HTTP/2 frames.
#[derive(Debug, Clone, Default)]
pub(crate) struct Http2 {
    /// The frame header so far (RFC 9113 section 4.1).
    header: [u8; FRAME_HEADER],
    /// Bytes of it that are there.
    have: usize,
    /// Bytes of the payload to come.
    left: usize,
}

const FRAME_HEADER: usize = 9;
// Types and flags of frames: RFC 9113 sections 6.2 and 6.10.
const HEADERS: u8 = 0x1;
const CONTINUATION: u8 = 0x9;
const END_STREAM: u8 = 0x1;
const END_HEADERS: u8 = 0x4;

impl Http2 {
    /// Follows `bytes` up to the end of the first header that a body follows.
    fn walk(&mut self, bytes: &[u8]) -> Reach {
        let mut at = 0;
        while at < bytes.len() {
            if self.have < FRAME_HEADER {
                self.header[self.have] = bytes[at];
                self.have += 1;
                at += 1;
                if self.have == FRAME_HEADER {
                    // The length is the first 24 bits, without the header itself (RFC 9113 section 4.1).
                    let [high, middle, low] = [self.header[0], self.header[1], self.header[2]];
                    self.left = u32::from_be_bytes([0, high, middle, low]) as usize;
                }
            } else {
                let taken = self.left.min(bytes.len() - at);
                self.left -= taken;
                at += taken;
            }
            if self.have == FRAME_HEADER && self.left == 0 {
                self.have = 0;
                if self.ends_header() {
                    return Reach {
                        bytes: at,
                        last: true,
                    };
                }
            }
        }
        Reach {
            bytes: at,
            last: false,
        }
    }

    /// True when the frame just passed completes a header that a body follows.
    fn ends_header(&self) -> bool {
        let (kind, flags) = (self.header[3], self.header[4]);
        match kind {
            // END_STREAM marks a header without a body: trailers, or a reply that is a header alone.
            HEADERS => flags & END_HEADERS != 0 && flags & END_STREAM == 0,
            // A CONTINUATION has no END_STREAM flag; that of its HEADERS is not kept, so that a split
            // after trailers is possible. Trailers of this service fit into one frame.
            CONTINUATION => flags & END_HEADERS != 0,
            _ => false,
        }
    }
}

#[cfg(test)]
#[path = "header_split_tests.rs"]
mod tests;
