//! Messages that are lines, as of newline-delimited JSON (ndjson.org, section 3.1: a line feed
//! ends each, before which a carriage return is white space; blank lines may be ignored).

use std::mem;

use memchr::memchr;

use super::{clear, not_text, too_long};
use crate::ProtocolError;

/// Finds the lines in the body of one call, whatever its chunks are.
#[derive(Debug)]
pub struct Lines {
    // Bytes.
    line_max: usize,
    line: Vec<u8>,
    ended: bool,
}

impl Lines {
    /// Lines longer than `line_max` bytes are refused.
    #[must_use]
    pub fn new(line_max: usize) -> Lines {
        Lines {
            line_max,
            line: Vec::new(),
            ended: false,
        }
    }

    /// Takes bytes off the front of `chunk` up to the end of the next line that is not blank;
    /// false when `chunk` is used up before.
    ///
    /// # Errors
    /// When a line is not UTF-8 or too long; the call has failed.
    pub fn next(&mut self, chunk: &mut &[u8]) -> Result<bool, ProtocolError> {
        if mem::take(&mut self.ended) {
            clear(&mut self.line);
        }
        while !chunk.is_empty() {
            let end = memchr(b'\n', chunk);
            let mut part = &chunk[..end.unwrap_or(chunk.len())];
            // White space in front does not belong to a message.
            if self.line.is_empty() {
                part = part.trim_ascii_start();
            }
            if self.line.len() + part.len() > self.line_max {
                return Err(too_long(self.line_max));
            }
            self.line.extend_from_slice(part);
            let Some(end) = end else {
                *chunk = &[];
                return Ok(false);
            };
            *chunk = &chunk[end + 1..];
            if !self.line.is_empty() {
                return self.end_line().map(|()| true);
            }
        }
        Ok(false)
    }

    /// The line that ended, without white space around it.
    #[must_use]
    pub fn line(&self) -> &[u8] {
        self.line.trim_ascii_end()
    }

    /// Whether a part of a line has come, and not its end.
    #[must_use]
    pub fn is_within(&self) -> bool {
        !self.ended && !self.line.is_empty()
    }

    /// To be called at the end of the body: true where it is the end of a last line.
    ///
    /// # Errors
    /// When that line is not UTF-8.
    pub fn finish(&mut self) -> Result<bool, ProtocolError> {
        match self.is_within() {
            true => self.end_line().map(|()| true),
            false => Ok(false),
        }
    }

    fn end_line(&mut self) -> Result<(), ProtocolError> {
        self.ended = true;
        match simdutf8::basic::from_utf8(&self.line) {
            Ok(_) => Ok(()),
            Err(_) => Err(not_text("JSON is UTF-8 (RFC 8259 section 8.1)", &self.line)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines found when a body comes in those chunks.
    fn read<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<String>, ProtocolError> {
        let (mut lines, mut found) = (Lines::new(100), Vec::new());
        let text = |lines: &Lines| String::from_utf8(lines.line().to_vec()).unwrap();
        for mut chunk in chunks {
            while lines.next(&mut chunk)? {
                found.push(text(&lines));
            }
        }
        if lines.finish()? {
            found.push(text(&lines));
        }
        Ok(found)
    }

    #[test]
    fn any_split_gives_the_same_lines() {
        for body in [
            "{\"a\":1}\n{\"b\":\"ä€\"}\r\n\n \r\n[3]",
            "\n1\n2 \n",
            "1",
            "",
        ] {
            let bytes = body.as_bytes();
            let lines = body.split('\n').map(|line| line.trim_ascii());
            let expected: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
            for cut in 0..=bytes.len() {
                let (one, other) = bytes.split_at(cut);
                assert_eq!(
                    read([one, other]).unwrap(),
                    expected,
                    "{body:?} cut at {cut}"
                );
            }
            assert_eq!(read(bytes.chunks(1)).unwrap(), expected, "{body:?}");
        }
    }

    #[test]
    fn a_line_that_is_too_long_or_not_utf_8_is_refused() {
        let piece = [b'1'; 60];
        assert!(read([&piece[..], &piece]).is_err());
        assert!(read([&piece[..], b"\n", &piece]).is_ok());
        // White space in front does not count, however it is cut.
        let line = [[b' '; 60], piece].concat();
        for cut in 0..=line.len() {
            assert!(read([&line[..cut], &line[cut..]]).is_ok(), "cut at {cut}");
        }
        assert!(read([&b"\"\xFF\"\n"[..]]).is_err());
        assert!(read([&b"\"\xFF\""[..]]).is_err(), "at the end of the body");
    }
}
