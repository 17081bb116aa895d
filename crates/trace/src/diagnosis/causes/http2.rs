//! Requests of HTTP/2 that waited before they were sent. h2-stream-limit: for one of the streams
//! that the server allows (RFC 9113 section 5.1.2). h2-settings-wait and h2-ping-wait: for an
//! answer to the client's SETTINGS (section 3.4) or PING (section 6.7).

use std::collections::HashMap;

use wirelab_wire::http2::frame::{flag, kind};

use super::connection_setup::At;
use super::windows::Frame;
use crate::diagnosis::cause::Cause;
use crate::diagnosis::path::Path;
use crate::diagnosis::stall::Stall;
use crate::flow::event::{Direction, Segment};

/// Shorter waits are none, ns.
const WAIT_MIN_NS: u64 = 3_000_000;
/// A client that waits for something sends within this once it has it, ns: a process must
/// read and understand the frame.
const SENDS_WITHIN_NS: u64 = 10_000_000;
/// The same of a client that waits for nothing else, ns.
const SENDS_AT_ONCE_NS: u64 = 5_000_000;
/// A PING that follows a reply sooner measures the path and holds nothing up, ns.
const QUIET_NS: u64 = 10_000_000;
/// Of a server that allows one stream, a client that calls one after the other looks like one
/// that is held back.
const LIMIT_MIN: u32 = 2;
/// A server that allows more holds nobody back.
const STREAMS_MAX: usize = 4096;

/// A question and the packet that answered it.
#[derive(Debug, Clone, Copy)]
struct Asked {
    at: At,
    answer: Option<At>,
}

/// The streams of one connection, as far as requests may have to wait for them.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    limit: Option<u32>,
    /// By number: which sides have ended it.
    open: HashMap<u32, [bool; 2]>,
    newest: u32,
    /// Since when as many are open as the server allows.
    full: Option<At>,
    /// That time, and when it ended.
    freed: Option<(At, At)>,
    settings: Option<Asked>,
    ping: Option<Asked>,
    /// When the server sent a part of a reply last, ns.
    replied_at: u64,
}

impl Streams {
    /// One frame. Returns the wait that its request had.
    pub(crate) fn take(&mut self, frame: Frame, segment: &Segment, path: &Path) -> Option<Stall> {
        let at = (segment.at_ns, segment.packet);
        let is_client = segment.direction == Direction::Request;
        let is_answer = frame.flags & flag::ACK != 0;
        match frame.kind {
            kind::SETTINGS if is_client && !is_answer && self.newest == 0 => {
                let asked = Asked { at, answer: None };
                self.settings.get_or_insert(asked);
            }
            kind::SETTINGS if !is_client => self.note_server_settings(frame, at),
            kind::PING if is_client && !is_answer => self.note_ping(at),
            kind::PING if !is_client && is_answer => answer(&mut self.ping, at),
            kind::HEADERS if is_client => return self.take_headers(frame, segment, path),
            kind::DATA if is_client => self.ping = None,
            kind::HEADERS | kind::DATA => self.replied_at = segment.at_ns,
            kind::RST_STREAM => self.close(frame.stream, [true; 2], at),
            _ => {}
        }
        self.end_of(frame, segment, at);
        None
    }

    fn note_server_settings(&mut self, frame: Frame, at: At) {
        answer(&mut self.settings, at);
        if frame.streams_max.is_some() {
            self.limit = frame.streams_max;
            self.note_free(at);
        }
    }

    /// Only a connection that lies idle is probed before it is used.
    fn note_ping(&mut self, at: At) {
        let is_quiet = self.open.is_empty() && at.0.saturating_sub(self.replied_at) >= QUIET_NS;
        self.ping = is_quiet.then_some(Asked { at, answer: None });
    }

    fn take_headers(&mut self, frame: Frame, segment: &Segment, path: &Path) -> Option<Stall> {
        let at = (segment.at_ns, segment.packet);
        // Numbers of new streams only grow (RFC 9113 section 5.1.1): others are trailers.
        let is_new = frame.stream > self.newest;
        let waited = is_new.then(|| self.find_wait(segment, path)).flatten();
        if is_new {
            self.newest = frame.stream;
            (self.settings, self.ping, self.freed) = (None, None, None);
            if self.open.len() < STREAMS_MAX {
                self.open.insert(frame.stream, [false; 2]);
            }
            if self.is_full() {
                self.full.get_or_insert(at);
            }
        }
        self.end_of(frame, segment, at);
        waited
    }

    /// What the new request in `segment` waited for, the strongest evidence first.
    fn find_wait(&self, segment: &Segment, path: &Path) -> Option<Stall> {
        let rtt = path.sender_rtt(Direction::Request);
        let held = self.freed.and_then(|(full, freed)| {
            let within = SENDS_WITHIN_NS.max(rtt / 2);
            wait(Cause::H2StreamLimit, full, freed, (rtt, within), segment)
        });
        let of = |cause, asked: Option<Asked>| {
            let Asked { at, answer } = asked?;
            let within = SENDS_AT_ONCE_NS + rtt / 8;
            wait(cause, at, answer?, (rtt, within), segment)
        };
        held.or_else(|| of(Cause::H2SettingsWait, self.settings))
            .or_else(|| of(Cause::H2PingWait, self.ping))
    }

    fn is_full(&self) -> bool {
        let open = self.open.len();
        self.limit
            .is_some_and(|limit| limit >= LIMIT_MIN && open >= limit as usize)
    }

    fn end_of(&mut self, frame: Frame, segment: &Segment, at: At) {
        let ends =
            matches!(frame.kind, kind::HEADERS | kind::DATA) && frame.flags & flag::END_STREAM != 0;
        if ends {
            let mut sides = [false; 2];
            sides[segment.direction as usize] = true;
            self.close(frame.stream, sides, at);
        }
    }

    fn close(&mut self, stream: u32, sides: [bool; 2], at: At) {
        let Some(closed) = self.open.get_mut(&stream) else {
            return;
        };
        *closed = [closed[0] || sides[0], closed[1] || sides[1]];
        if *closed == [true; 2] {
            self.open.remove(&stream);
            self.note_free(at);
        }
    }

    /// A stream may be opened again, if none might.
    fn note_free(&mut self, at: At) {
        if !self.is_full()
            && let Some(full) = self.full.take()
        {
            self.freed = Some((full, at));
        }
    }
}

fn answer(asked: &mut Option<Asked>, at: At) {
    if let Some(asked) = asked {
        asked.answer.get_or_insert(at);
    }
}

/// The wait from `from` until the request in `segment`, if what came at `released` let it go:
/// its sender knew of that a way later, and sent at once then.
fn wait(
    cause: Cause,
    from: At,
    released: At,
    (rtt, within): (u64, u64),
    segment: &Segment,
) -> Option<Stall> {
    let known = released.0.saturating_add(rtt);
    let ns = segment.at_ns.saturating_sub(from.0);
    let is_released = segment.at_ns >= known && segment.at_ns - known <= within;
    // Most of it was for the answer, not behind it.
    let is_wait = ns >= WAIT_MIN_NS && known.saturating_sub(from.0) >= ns / 2;
    (is_released && is_wait).then_some(Stall {
        cause,
        direction: Direction::Request,
        from: from.0,
        released: released.0,
        to: segment.at_ns,
        ns,
        late: (segment.offset, segment.end()),
        stream: None,
        packets: [from.1, released.1, segment.packet],
    })
}
