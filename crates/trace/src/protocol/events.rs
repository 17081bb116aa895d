//! Server-sent events of one reply: in which bursts they came, and when they were made by
//! their own timestamps.
//!
//! Format of a stream: WHATWG HTML, section 9.2.5 (event stream interpretation). An empty line
//! ends an event. Where one has a time (in its `id` or its data), its first counts.

use super::burst::Burst;
use crate::flow::event::Segment;

/// Bytes that come so much later than the ones before belong to another burst, ns.
const BURST_GAP_NS: u64 = 5_000_000;
/// Bursts of one reply that are kept, the first.
const BURSTS_MAX: usize = 256;
/// Bytes of an event that are searched for a time, the first.
const SEARCHED_MAX: usize = 512;

/// Reads the body of a reply as it comes.
#[derive(Debug, Default)]
pub(super) struct Events {
    bursts: Vec<Burst>,
    bytes: u64,
    /// The event under way, as far as it is searched.
    event: Vec<u8>,
    is_inside: bool,
    /// Nothing of the next line has come.
    is_at_line_start: bool,
}

impl Events {
    pub(super) fn into_bursts(self) -> Vec<Burst> {
        self.bursts
    }

    /// Takes the next bytes of the body.
    pub(super) fn take(&mut self, body: &[u8], segment: &Segment) {
        if body.is_empty() || !self.begin(segment) {
            return;
        }
        self.bytes += body.len() as u64;
        for line in body.split_inclusive(|byte| *byte == b'\n') {
            self.line(line);
        }
        let (bytes, is_inside) = (self.bytes, self.is_inside);
        if let Some(burst) = self.bursts.last_mut() {
            burst.packets[1] = segment.packet;
            // A clock that steps back makes no burst shorter than nothing.
            burst.at_ns[1] = burst.at_ns[1].max(segment.at_ns);
            burst.end = bytes;
            burst.ends_inside = is_inside;
        }
    }

    /// Begins a burst where the segment does not continue the last one; false if the list is full.
    fn begin(&mut self, segment: &Segment) -> bool {
        let continues = |burst: &Burst| segment.at_ns < burst.at_ns[1].saturating_add(BURST_GAP_NS);
        if self.bursts.last().is_some_and(continues) {
            return true;
        }
        if self.bursts.len() == BURSTS_MAX {
            return false;
        }
        self.bursts.push(Burst {
            packets: [segment.packet; 2],
            at_ns: [segment.at_ns; 2],
            end: self.bytes,
            ends_inside: false,
            events: 0,
            timed: 0,
            made_ns: [0; 2],
        });
        true
    }

    /// A line, or a part of one.
    fn line(&mut self, line: &[u8]) {
        let (text, is_whole) = match line.strip_suffix(b"\n") {
            Some(text) => (text.strip_suffix(b"\r").unwrap_or(text), true),
            None => (line, false),
        };
        if is_whole && text.is_empty() && self.is_at_line_start {
            self.end();
            return;
        }
        self.is_inside = true;
        // The two bytes that end an empty line may come apart.
        self.is_at_line_start = is_whole || self.is_at_line_start && line == b"\r";
        let room = SEARCHED_MAX - self.event.len();
        self.event.extend_from_slice(&line[..line.len().min(room)]);
    }

    /// An empty line: the event is complete.
    fn end(&mut self) {
        let made_ns = own_time(&self.event);
        self.event.clear();
        self.is_inside = false;
        let Some(burst) = self.bursts.last_mut() else {
            return;
        };
        burst.events += 1;
        if let Some(made_ns) = made_ns {
            if burst.timed == 0 {
                burst.made_ns[0] = made_ns;
            }
            burst.made_ns[1] = made_ns;
            burst.timed += 1;
        }
    }
}

/// The first time in an event, with milliseconds or finer: a number of milliseconds,
/// microseconds or nanoseconds since the Unix epoch, one of seconds with a fraction, or a time of
/// RFC 3339. Its offset from UTC is left out: only differences count.
pub(super) fn own_time(event: &[u8]) -> Option<u64> {
    let mut at = 0;
    while at < event.len() {
        if !event[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let digits = count_digits(&event[at..]);
        if let Some(ns) = epoch_time(&event[at..], digits).or_else(|| calendar_time(&event[at..])) {
            return Some(ns);
        }
        at += digits;
    }
    None
}

fn count_digits(bytes: &[u8]) -> usize {
    let is_other = |byte: &u8| !byte.is_ascii_digit();
    bytes.iter().position(is_other).unwrap_or(bytes.len())
}

/// Nine digits of a fraction, of which that number is there.
fn fraction_ns(digits: &[u8]) -> u64 {
    let (mut ns, mut unit) = (0, 100_000_000);
    for digit in digits.iter().take(9) {
        ns += u64::from(digit - b'0') * unit;
        unit /= 10;
    }
    ns
}

/// A fraction of seconds of three digits or more behind a point.
fn fraction(bytes: &[u8]) -> Option<u64> {
    let digits = bytes.strip_prefix(b".")?;
    let count = count_digits(digits);
    (count >= 3).then(|| fraction_ns(&digits[..count]))
}

/// Since the Unix epoch, between 2001 and 2286: seconds have ten digits then.
fn epoch_time(bytes: &[u8], digits: usize) -> Option<u64> {
    let number = number(&bytes[..digits.min(19)])?;
    if bytes[0] == b'0' {
        return None;
    }
    match digits {
        10 => Some(number * 1_000_000_000 + fraction(&bytes[10..])?),
        13 => Some(number * 1_000_000),
        16 => Some(number * 1_000),
        19 => Some(number),
        _ => None,
    }
}

/// `2026-01-31T12:00:00.123`; a space may take the place of the T (RFC 3339 section 5.6).
fn calendar_time(bytes: &[u8]) -> Option<u64> {
    const PATTERN: &[u8; 19] = b"0000-00-00T00:00:00";
    let text: &[u8; 19] = bytes.first_chunk()?;
    let fits = |(own, other): (&u8, &u8)| match other {
        b'0' => own.is_ascii_digit(),
        b'T' => matches!(own, b'T' | b't' | b' '),
        _ => own == other,
    };
    if !text.iter().zip(PATTERN).all(fits) {
        return None;
    }
    let field = |at: usize, length: usize| number(&text[at..at + length]);
    let days = days_since_epoch(field(0, 4)?, field(5, 2)?, field(8, 2)?)?;
    let seconds = days * 86_400 + field(11, 2)? * 3_600 + field(14, 2)? * 60 + field(17, 2)?;
    Some(seconds * 1_000_000_000 + fraction(&bytes[19..])?)
}

fn number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Of a date of the Gregorian calendar from 1970 to 2286; years count from March, so that a day
/// of February 29 is the last of one.
fn days_since_epoch(year: u64, month: u64, day: u64) -> Option<u64> {
    if !(1970..2286).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let years = year - u64::from(month < 3);
    let months = (month + 9) % 12;
    let days = 365 * years + years / 4 - years / 100 + years / 400;
    // The same sum up to 1970-01-01 is 719,468.
    Some(days + (153 * months + 2) / 5 + day - 1 - 719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_events_are_read_in_their_usual_forms() {
        let known = 1_764_405_695_123_000_000;
        for text in [
            "id: 1764405695123-0\ndata: {}\n",
            "data: {\"at\":1764405695123}\n",
            "data: {\"n\": 17, \"at\": 1764405695123000}\n",
            "data: {\"t\": 1764405695.123}\n",
            "id: 1764405695123000000\n",
            "data: 2025-11-29T08:41:35.123Z tick\n",
            "data: {\"at\": \"2025-11-29 08:41:35.123+00:00\"}\n",
        ] {
            assert_eq!(own_time(text.as_bytes()), Some(known), "{text}");
        }
    }

    #[test]
    fn numbers_and_whole_seconds_are_not_taken_for_times() {
        for text in [
            "id: 4711\n",
            "data: {\"created\":1764405695}\n",
            "data: 2025-11-29T08:41:35Z\n",
            "data: 0764405695123 and 123456789012345\n",
            "data: 2025-13-29T08:41:35.123Z\n",
            "data: 2025-11-2\n",
        ] {
            assert_eq!(own_time(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn leap_days_are_counted() {
        assert_eq!(days_since_epoch(1970, 1, 1), Some(0));
        assert_eq!(days_since_epoch(2000, 2, 29), Some(11_016));
        assert_eq!(days_since_epoch(2000, 3, 1), Some(11_017));
        assert_eq!(days_since_epoch(2026, 11, 29), Some(20_786));
    }
}
