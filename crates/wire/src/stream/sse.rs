//! Server-Sent Events (WHATWG HTML Living Standard, sections 9.2.5 and 9.2.6).

use std::mem;

use memchr::{memchr, memchr2};

use super::{clear, not_text, too_long, violation};
use crate::ProtocolError;

/// A byte order mark in UTF-8, of which one is ignored at the beginning.
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Finds the events in the body of one call, whatever its chunks are.
///
/// It differs from a browser in one thing: bytes that are not UTF-8 are an error, and not replaced.
#[derive(Debug)]
pub struct Events {
    // Bytes of a line, and of the data of an event.
    message_max: usize,
    /// A line that has not come whole.
    line: Vec<u8>,
    data: Vec<u8>,
    event: Vec<u8>,
    /// The buffer for the id, which outlives its event.
    id: Vec<u8>,
    retry_ms: Option<u64>,
    /// There was a field `data`, perhaps an empty one.
    has_data: bool,
    /// There was a field of any name.
    has_field: bool,
    /// A line feed belongs to the line before.
    after_cr: bool,
    /// The next line is the first, which may begin with a byte order mark.
    is_first: bool,
    /// The event was handed out, and the next one begins.
    ended: bool,
}

impl Events {
    /// Lines and events longer than `message_max` bytes are refused.
    #[must_use]
    pub fn new(message_max: usize) -> Events {
        Events {
            message_max,
            line: Vec::new(),
            data: Vec::new(),
            event: Vec::new(),
            id: Vec::new(),
            retry_ms: None,
            has_data: false,
            has_field: false,
            after_cr: false,
            is_first: true,
            ended: false,
        }
    }

    /// Takes bytes off the front of `chunk` up to the end of the next event; false when `chunk`
    /// is used up before. Events without data are skipped.
    ///
    /// # Errors
    /// When a line is not UTF-8 or an event too long; the call has failed.
    pub fn next(&mut self, chunk: &mut &[u8]) -> Result<bool, ProtocolError> {
        if mem::take(&mut self.ended) {
            self.reset();
        }
        while let Some(&first) = chunk.first() {
            // A carriage return alone ends a line, so that its event does not wait for more.
            if mem::take(&mut self.after_cr) && first == b'\n' {
                *chunk = &chunk[1..];
                continue;
            }
            let Some(end) = memchr2(b'\n', b'\r', chunk) else {
                self.keep(chunk)?;
                *chunk = &[];
                return Ok(false);
            };
            let line = &chunk[..end];
            self.after_cr = chunk[end] == b'\r';
            *chunk = &chunk[end + 1..];
            if self.end_line(line)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Data of the event that ended.
    #[must_use]
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// Type of the event that ended; empty: `message`.
    #[must_use]
    pub fn event(&self) -> &[u8] {
        &self.event
    }

    /// The last id that came, with this event or before.
    #[must_use]
    pub fn id(&self) -> &[u8] {
        &self.id
    }

    /// The time before a client connects again, milliseconds, where the server named one.
    #[must_use]
    pub fn retry_ms(&self) -> Option<u64> {
        self.retry_ms
    }

    /// Whether a part of an event has come, and not its end. Comments do not count.
    #[must_use]
    pub fn is_within(&self) -> bool {
        self.is_within_field() || (self.has_field && !self.ended)
    }

    /// To be called at the end of the body.
    ///
    /// # Errors
    /// When the body ended within an event, which is lost then.
    pub fn finish(&self) -> Result<(), ProtocolError> {
        let is_whole = self.ended || !self.has_data;
        if is_whole && !self.is_within_field() {
            return Ok(());
        }
        Err(violation(
            "a stream of events ends behind the blank line of the last (HTML section 9.2.6)",
            format_args!("{} bytes of an event", self.data.len() + self.line.len()),
        ))
    }

    /// A part of a line has come that is not a comment.
    fn is_within_field(&self) -> bool {
        self.line.first().is_some_and(|first| *first != b':')
    }

    fn reset(&mut self) {
        clear(&mut self.data);
        clear(&mut self.event);
        (self.has_data, self.has_field) = (false, false);
    }

    /// The next bytes of a line that has not ended.
    fn keep(&mut self, part: &[u8]) -> Result<(), ProtocolError> {
        self.check_length(part)?;
        self.line.extend_from_slice(part);
        Ok(())
    }

    fn check_length(&self, part: &[u8]) -> Result<(), ProtocolError> {
        match self.line.len() + part.len() > self.message_max {
            true => Err(too_long(self.message_max)),
            false => Ok(()),
        }
    }

    /// The last bytes of a line; true where the event ends with it.
    fn end_line(&mut self, rest: &[u8]) -> Result<bool, ProtocolError> {
        // Most lines come whole, and are not copied as lines.
        if self.line.is_empty() {
            self.check_length(rest)?;
            return self.take_line(rest);
        }
        self.keep(rest)?;
        let mut line = mem::take(&mut self.line);
        let ended = self.take_line(&line);
        clear(&mut line);
        self.line = line;
        ended
    }

    fn take_line(&mut self, line: &[u8]) -> Result<bool, ProtocolError> {
        let mut line = line;
        if mem::take(&mut self.is_first) {
            line = line.strip_prefix(BOM).unwrap_or(line);
        }
        if line.is_empty() {
            return Ok(self.dispatch());
        }
        if simdutf8::basic::from_utf8(line).is_err() {
            return Err(not_text(
                "a stream of events is UTF-8 (HTML section 9.2.5)",
                line,
            ));
        }
        match memchr(b':', line) {
            Some(0) => {}
            Some(colon) => {
                let value = &line[colon + 1..];
                self.take_field(&line[..colon], value.strip_prefix(b" ").unwrap_or(value))?;
            }
            None => self.take_field(line, b"")?,
        }
        Ok(false)
    }

    fn take_field(&mut self, name: &[u8], value: &[u8]) -> Result<(), ProtocolError> {
        self.has_field = true;
        match name {
            b"data" => {
                if self.data.len() + value.len() >= self.message_max {
                    return Err(too_long(self.message_max));
                }
                if mem::replace(&mut self.has_data, true) {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
            }
            b"event" => value.clone_into(&mut self.event),
            b"id" if !value.contains(&0) => value.clone_into(&mut self.id),
            b"retry" if value.iter().all(u8::is_ascii_digit) => {
                let digits = str::from_utf8(value).unwrap_or_default();
                self.retry_ms = digits.parse().ok().or(self.retry_ms);
            }
            _ => {}
        }
        Ok(())
    }

    /// A blank line: true where an event ends with it.
    fn dispatch(&mut self) -> bool {
        self.ended = self.has_data;
        if !self.ended {
            self.reset();
        }
        self.ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Event type, data and last id.
    type Event = (String, String, String);

    fn text(bytes: &[u8]) -> String {
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    /// Events found when `body` comes in those chunks, and how it ended.
    fn read<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<Event>, ProtocolError> {
        let (mut events, mut found) = (Events::new(1_000), Vec::new());
        for mut chunk in chunks {
            while events.next(&mut chunk)? {
                assert!(!events.is_within(), "an event that ended");
                found.push((text(events.event()), text(events.data()), text(events.id())));
            }
        }
        events.finish().map(|()| found)
    }

    fn event(event: &str, data: &str, id: &str) -> Event {
        (event.to_owned(), data.to_owned(), id.to_owned())
    }

    /// The examples of HTML section 9.2.6, and what its rules say of the rest.
    fn examples() -> Vec<(&'static str, Vec<Event>)> {
        vec![
            (
                "data: YHOO\ndata: +2\ndata: 10\n\n",
                vec![event("", "YHOO\n+2\n10", "")],
            ),
            (
                ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\n\
                 data:  third event\n\n",
                vec![
                    event("", "first event", "1"),
                    event("", "second event", ""),
                    event("", " third event", ""),
                ],
            ),
            (
                "data\n\ndata\ndata\n\n",
                vec![event("", "", ""), event("", "\n", "")],
            ),
            (
                "data:test\n\ndata: test\n\n",
                vec![event("", "test", ""), event("", "test", "")],
            ),
            (
                "\u{feff}data: a\r\n\r\ndata: b\r\rdata: ä€😀\n\r",
                vec![
                    event("", "a", ""),
                    event("", "b", ""),
                    event("", "ä€😀", ""),
                ],
            ),
            (
                "event: add\nid: 7\ndata: 1\n\nevent: lost\n\ndata: 2\n\n",
                vec![event("add", "1", "7"), event("", "2", "7")],
            ),
            // Unknown fields, an id with NUL, and a colon in the value.
            (
                "id: 1\nid: a\0b\nsome: x\ndata: a:b\n\n",
                vec![event("", "a:b", "1")],
            ),
            // A second byte order mark is part of a name.
            (
                "\u{feff}\u{feff}data: a\n\ndata: b\n\n",
                vec![event("", "b", "")],
            ),
            (": keep\r\n\r\n:\n", vec![]),
        ]
    }

    #[test]
    fn the_examples_of_the_standard_give_its_events_at_every_split() {
        for (body, expected) in examples() {
            let bytes = body.as_bytes();
            for cut in 0..=bytes.len() {
                let (one, other) = bytes.split_at(cut);
                assert_eq!(
                    read([one, other]).unwrap(),
                    expected,
                    "{body:?} cut at {cut}"
                );
            }
            assert_eq!(
                read(bytes.chunks(1)).unwrap(),
                expected,
                "{body:?} byte by byte"
            );
        }
    }

    #[test]
    fn an_event_ends_at_the_carriage_return_of_its_blank_line() {
        let mut events = Events::new(100);
        assert!(events.next(&mut &b"data: a\r\n\r"[..]).unwrap());
        assert!(!events.next(&mut &b"\n"[..]).unwrap());
        assert!(!events.is_within());
        assert!(events.next(&mut &b"data: b\n\n"[..]).unwrap());
        assert_eq!(events.data(), b"b");
    }

    #[test]
    fn comments_and_blank_lines_are_outside_of_events() {
        let mut events = Events::new(100);
        for (bytes, within) in [
            (&b":"[..], false),
            (b" keep-alive", false),
            (b"\n\n", false),
            (b"d", true),
            (b"ata: x\n", true),
            (b": between", true),
        ] {
            assert!(!events.next(&mut { bytes }).unwrap());
            assert_eq!(events.is_within(), within, "{}", text(bytes));
        }
    }

    #[test]
    fn a_body_that_ends_within_an_event_is_detected() {
        let body = b"data: a\n\ndata: b\n\n";
        for cut in 10..body.len() {
            let found = read([&body[..cut]]);
            assert!(found.is_err(), "cut at {cut}: {found:?}");
        }
        // Without data nothing is lost.
        assert_eq!(read([&b"data: a\n\nid: 1\n: end"[..]]).unwrap().len(), 1);
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_refused_also_in_a_comment() {
        for body in [
            &b"data: \xFF\n\n"[..],
            b": \xC3\x28\n",
            b"data: \xE2\x82\n\n",
        ] {
            let error = read([body]).unwrap_err();
            assert!(error.rule.contains("UTF-8"), "{error}");
        }
    }

    #[test]
    fn a_long_line_and_a_long_event_are_refused_and_hold_no_more_than_the_bound() {
        let piece = [b'x'; 600];
        let long_line = [b"data: ".as_slice(), &piece, &piece];
        assert!(read(long_line).unwrap_err().found.contains("1000 bytes"));
        assert!(read([b":".as_slice(), &piece, &piece]).is_err());
        let line = [b"data: ".as_slice(), &piece, b"\n"].concat();
        assert!(read([line.as_slice(), &line]).is_err());
        // Lines that are not data have the same bound, however they are cut.
        for name in [":", "id:", "event:", "other:"] {
            let mut body = name.as_bytes().to_vec();
            body.resize(1_000, b'x');
            assert!(read([&body[..], b"\n\n"]).is_ok_and(|found| found.is_empty()));
            body.insert(name.len(), b'x');
            body.extend_from_slice(b"\n\n");
            for cut in [0, 500, body.len()] {
                assert!(
                    read([&body[..cut], &body[cut..]]).is_err(),
                    "{name} at {cut}"
                );
            }
        }
        let mut events = Events::new(100 << 20);
        let line = [b"data: ".as_slice(), &vec![b'x'; 1 << 20], b"\n\n"].concat();
        assert!(events.next(&mut &line[..]).unwrap());
        assert!(!events.next(&mut &b"data: a"[..]).unwrap());
        assert!(events.data.capacity() + events.line.capacity() < 10_000);
    }

    #[test]
    fn the_time_to_connect_again_is_digits_only() {
        let mut events = Events::new(100);
        for (field, expected) in [
            ("retry: 1500\n", Some(1500)),
            ("retry: 1s\n", Some(1500)),
            ("retry: -1\n", Some(1500)),
            ("retry\n", Some(1500)),
            ("retry:20\n", Some(20)),
        ] {
            assert!(!events.next(&mut field.as_bytes()).unwrap());
            assert_eq!(events.retry_ms(), expected, "{field}");
        }
    }
}
