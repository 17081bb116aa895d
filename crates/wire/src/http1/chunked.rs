//! The chunked transfer coding (RFC 9112 section 7.1).

use memchr::memchr;

use super::head::FIELDS_USUAL;
use crate::excerpt::excerpt;
use crate::session::ProtocolError;

/// Bytes that the line with a chunk's size may have, extensions included.
const SIZE_LINE_BYTES_MAX: usize = 4 << 10;

/// Bytes that the trailer section may have.
const TRAILER_BYTES_MAX: usize = 64 << 10;

/// Decodes one body.
#[derive(Debug, Default)]
pub struct Chunked {
    state: State,
    /// Bytes of the size line so far.
    line_bytes: usize,
    /// The trailer section so far.
    trailers: Vec<u8>,
    /// Where the trailer line under way begins in `trailers`.
    line_start: usize,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Size { size: u64, digits: u8 },
    Extension { size: u64 },
    SizeLf { size: u64 },
    Data { left: u64 },
    DataCr,
    DataLf,
    Trailers,
}

impl Default for State {
    fn default() -> Self {
        State::Size { size: 0, digits: 0 }
    }
}

/// What one piece of input came to.
#[derive(Debug, PartialEq, Eq)]
pub struct Step {
    /// Bytes of input that belong to the body, framing included.
    pub used: usize,
    /// The body ends there.
    pub complete: bool,
}

fn violation(rule: &'static str, found: &[u8]) -> ProtocolError {
    ProtocolError {
        rule,
        found: excerpt(found),
    }
}

impl Chunked {
    /// Hands on the data in `input` until the body ends.
    ///
    /// # Errors
    /// When RFC 9112 section 7.1 is violated, or a limit of this crate.
    pub fn decode(
        &mut self,
        input: &[u8],
        mut sink: impl FnMut(&[u8]),
    ) -> Result<Step, ProtocolError> {
        let mut used = 0;
        // Data is handed on in slices; only the framing between pieces is read byte by byte.
        while let Some(&byte) = input.get(used) {
            match self.state {
                State::Data { left } => {
                    let rest = &input[used..];
                    let piece =
                        &rest[..rest.len().min(usize::try_from(left).unwrap_or(usize::MAX))];
                    sink(piece);
                    used += piece.len();
                    self.state = match left - piece.len() as u64 {
                        0 => State::DataCr,
                        left => State::Data { left },
                    };
                }
                State::Trailers => {
                    let (taken, complete) = self.take_trailers(&input[used..])?;
                    used += taken;
                    if complete {
                        return Ok(Step { used, complete });
                    }
                }
                _ => {
                    self.state = self
                        .step(byte)
                        .map_err(|rule| violation(rule, &input[used..]))?;
                    used += 1;
                }
            }
        }
        Ok(Step {
            used,
            complete: false,
        })
    }

    /// The state after a byte between pieces of data.
    fn step(&mut self, byte: u8) -> Result<State, &'static str> {
        // The limit covers extensions too, which RFC 9112 section 7.1.1 lets a recipient bound.
        self.line_bytes += 1;
        if self.line_bytes > SIZE_LINE_BYTES_MAX {
            return Err("chunk size lines of at most 4096 bytes (limit of this client)");
        }
        match (self.state, byte) {
            (State::Size { size, digits }, _) => step_size(size, digits, byte),
            (State::Extension { size }, b'\r') => Ok(State::SizeLf { size }),
            (State::Extension { size }, b'\t' | b' '..=b'~' | 0x80..) => {
                Ok(State::Extension { size })
            }
            (State::Extension { .. }, _) => {
                Err("chunk extensions hold no control character (RFC 9112 section 7.1.1)")
            }
            // RFC 9112 section 7.1: a chunk of size 0 is the last, behind it comes the trailer
            // section.
            (State::SizeLf { size }, b'\n') => {
                self.line_bytes = 0;
                Ok(if size == 0 {
                    State::Trailers
                } else {
                    State::Data { left: size }
                })
            }
            (State::SizeLf { .. }, _) => Err("chunk sizes end with CRLF (RFC 9112 section 7.1)"),
            (State::DataCr, b'\r') => Ok(State::DataLf),
            (State::DataLf, b'\n') => {
                self.line_bytes = 0;
                Ok(State::default())
            }
            _ => Err("chunk data end with CRLF (RFC 9112 section 7.1)"),
        }
    }

    /// Takes trailer fields up to the empty line; they are checked and dropped.
    fn take_trailers(&mut self, input: &[u8]) -> Result<(usize, bool), ProtocolError> {
        // A line may be cut anywhere between two reads, so the section is collected first.
        let end = memchr(b'\n', input).map_or(input.len(), |at| at + 1);
        if self.trailers.len() + end > TRAILER_BYTES_MAX {
            return Err(violation(
                "trailers of at most 65536 bytes (limit of this client)",
                input,
            ));
        }
        self.trailers.extend_from_slice(&input[..end]);
        if !self.trailers.ends_with(b"\n") {
            return Ok((end, false));
        }
        let line = &self.trailers[self.line_start..];
        if !line.ends_with(b"\r\n") {
            return Err(violation(
                "trailer lines end with CRLF (RFC 9112 section 7.1.2)",
                line,
            ));
        }
        // The empty line ends the trailer section and with it the body.
        let complete = line == b"\r\n";
        self.line_start = self.trailers.len();
        if complete {
            self.check_trailers()?;
        }
        Ok((end, complete))
    }

    fn check_trailers(&self) -> Result<(), ProtocolError> {
        // RFC 9112 section 7.1.2: trailers may be discarded, but must be field lines.
        let mut fields = [httparse::EMPTY_HEADER; FIELDS_USUAL];
        match httparse::parse_headers(&self.trailers, &mut fields) {
            Ok(httparse::Status::Complete(_)) => Ok(()),
            _ => Err(violation(
                "trailers are field lines (RFC 9112 section 7.1.2)",
                &self.trailers,
            )),
        }
    }
}

/// The state after a byte where the digits of a size are allowed.
fn step_size(size: u64, digits: u8, byte: u8) -> Result<State, &'static str> {
    if let Some(digit) = char::from(byte).to_digit(16) {
        // 16 digits fill 64 bits.
        return if digits < 16 {
            Ok(State::Size {
                size: size << 4 | u64::from(digit),
                digits: digits + 1,
            })
        } else {
            Err("chunk sizes of at most 16 digits (RFC 9112 section 7.1)")
        };
    }
    match byte {
        // Also covers an empty line where a size was due.
        _ if digits == 0 => Err("chunk sizes are hexadecimal digits (RFC 9112 section 7.1)"),
        b'\r' => Ok(State::SizeLf { size }),
        // Blanks before an extension are "bad whitespace", which RFC 9112 section 7.1.1 lets
        // through.
        b';' | b' ' | b'\t' => Ok(State::Extension { size }),
        _ => Err("chunk sizes are hexadecimal digits (RFC 9112 section 7.1)"),
    }
}
