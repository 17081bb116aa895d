//! Flow control. h2-window-exhausted: DATA waited for a WINDOW_UPDATE (RFC 9113 section
//! 5.2). tcp-window-exhausted and client-not-reading: the sender had used up what the
//! receiver allowed (RFC 9293 section 3.8.6).

use std::collections::{HashMap, VecDeque};

use crate::diagnosis::cause::Cause;
use crate::diagnosis::path::Path;
use crate::diagnosis::sender::{Gap, Sender, Sent};
use crate::diagnosis::stall::Stall;
use crate::flow::event::{Direction, Segment};

/// The initial window of streams and connections (RFC 9113 section 6.9.2), bytes.
const INITIAL_BYTES: i64 = 65_535;
const STREAMS_MAX: usize = 1024;
const GRANTS_MAX: usize = 32;
/// A sender that has been granted more sends within this, if it has more: the
/// grant must be read and understood by a process, ns.
const SENDS_WITHIN_NS: u64 = 10_000_000;
/// Shorter waits are none, ns.
const SHORTEST_NS: u64 = 20_000;

const DATA: u8 = 0x0;
const RST_STREAM: u8 = 0x3;
const SETTINGS: u8 = 0x4;
const WINDOW_UPDATE: u8 = 0x8;
/// Streams of number 0 are the connection itself.
const CONNECTION: u32 = 0;

#[derive(Debug, Clone, Copy)]
struct Grant {
    at: u64,
    packet: u64,
    /// Bytes that may have been sent in all.
    limit: i64,
}

/// One window: what was sent in all, and what was allowed in all.
#[derive(Debug)]
struct Credit {
    sent: i64,
    grants: VecDeque<Grant>,
    last: Option<(u64, u64)>,
}

impl Credit {
    fn new(limit: i64) -> Credit {
        let grants = VecDeque::from([Grant {
            at: 0,
            packet: 0,
            limit,
        }]);
        Credit {
            sent: 0,
            grants,
            last: None,
        }
    }

    fn limit(&self) -> i64 {
        self.grants.back().map_or(0, |grant| grant.limit)
    }

    fn grant(&mut self, at: &Segment, bytes: i64) {
        if self.grants.len() == GRANTS_MAX {
            self.grants.pop_front();
        }
        // Sums on both sides: a negative window (RFC 9113 section 6.9.2) is a limit
        // below what was sent.
        let limit = self.limit().saturating_add(bytes);
        self.grants.push_back(Grant {
            at: at.at_ns,
            packet: at.packet,
            limit,
        });
    }

    /// The grant without which its next byte could not have been sent.
    fn needed(&self) -> Option<Grant> {
        let place = self
            .grants
            .iter()
            // The last grant that did not suffice; the one behind it released the next
            // byte.
            .rposition(|grant| grant.limit <= self.sent)?;
        self.grants.get(place + 1).copied()
    }
}

/// The windows that one side's DATA is held to.
#[derive(Debug)]
struct Windows {
    initial: i64,
    connection: Credit,
    streams: HashMap<u32, Credit>,
    /// The stream of the DATA frame that was begun last, and the packet of its head.
    open: Option<(u32, u64)>,
}

impl Windows {
    fn new() -> Windows {
        Windows {
            initial: INITIAL_BYTES,
            connection: Credit::new(INITIAL_BYTES),
            streams: HashMap::new(),
            open: None,
        }
    }

    fn stream(&mut self, stream: u32) -> &mut Credit {
        // The lowest number is the oldest stream (RFC 9113 section 5.1.1).
        if self.streams.len() >= STREAMS_MAX
            && !self.streams.contains_key(&stream)
            && let Some(oldest) = self.streams.keys().min().copied()
        {
            self.streams.remove(&oldest);
        }
        let initial = self.initial;
        self.streams
            .entry(stream)
            .or_insert_with(|| Credit::new(initial))
    }

    /// A frame of the same sender begins in `segment`: the one before it ended in the
    /// packet before, or in this one.
    fn close(&mut self, segment: &Segment, before: Option<Sent>) {
        let Some((stream, packet)) = self.open.take() else {
            return;
        };
        let end = match before {
            Some(before) if packet != segment.packet => (before.at, before.packet),
            _ => (segment.at_ns, segment.packet),
        };
        self.connection.last = Some(end);
        if let Some(credit) = self.streams.get_mut(&stream) {
            credit.last = Some(end);
        }
    }
}

#[derive(Debug)]
pub(crate) struct FlowControl {
    windows: [Windows; 2],
}

/// A frame as far as flow control needs it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) stream: u32,
    pub(crate) length: u32,
    pub(crate) window: Option<u32>,
    /// As in its head (RFC 9113 section 4.1).
    pub(crate) flags: u8,
    /// SETTINGS: the streams that its sender allows, where it announces that.
    pub(crate) streams_max: Option<u32>,
}

impl FlowControl {
    pub(crate) fn new() -> FlowControl {
        FlowControl {
            windows: [Windows::new(), Windows::new()],
        }
    }

    /// One frame. Returns the wait that its DATA had.
    pub(crate) fn take(
        &mut self,
        frame: Frame,
        segment: &Segment,
        sender: &Sender,
        path: &Path,
    ) -> Option<Stall> {
        let direction = segment.direction;
        let before = sender
            .last
            .filter(|last| last.packet != segment.packet)
            .or(sender.before_last);
        self.windows[direction as usize].close(segment, before);
        let granted = &mut self.windows[direction.opposite() as usize];
        match frame.kind {
            DATA if frame.length > 0 => self.data(frame, segment, path),
            WINDOW_UPDATE => {
                let bytes = i64::from(frame.window.unwrap_or(0));
                match frame.stream {
                    CONNECTION => granted.connection.grant(segment, bytes),
                    stream => granted.stream(stream).grant(segment, bytes),
                }
                None
            }
            SETTINGS => {
                if let Some(initial) = frame.window.map(i64::from) {
                    // A new initial window changes all open streams by the difference, and may make
                    // their windows negative (RFC 9113 section 6.9.2).
                    let change = initial - granted.initial;
                    granted.initial = initial;
                    for credit in granted.streams.values_mut() {
                        credit.grant(segment, change);
                    }
                }
                None
            }
            RST_STREAM => {
                // A reset stream gets no more DATA; its credit is not returned to the
                // connection here, but by the receiver's WINDOW_UPDATE.
                granted.streams.remove(&frame.stream);
                None
            }
            _ => None,
        }
    }

    fn data(&mut self, frame: Frame, segment: &Segment, path: &Path) -> Option<Stall> {
        let windows = &mut self.windows[segment.direction as usize];
        windows.stream(frame.stream);
        let own = windows.streams.get_mut(&frame.stream)?;
        // Either window may be the limit; the stream's is the more specific answer.
        let stall = [&*own, &windows.connection]
            .into_iter()
            .find_map(|credit| h2_stall(credit, frame.stream, segment, path));
        own.sent += i64::from(frame.length);
        windows.connection.sent += i64::from(frame.length);
        // Only DATA is flow-controlled; its padding counts (RFC 9113 section 6.9.1).
        windows.open = Some((frame.stream, segment.packet));
        stall
    }
}

/// The wait of DATA in `segment`, if its sender could not have known before that it
/// may send it: from the last DATA under the same window.
fn h2_stall(credit: &Credit, stream: u32, segment: &Segment, path: &Path) -> Option<Stall> {
    let (from, before) = credit.last?;
    let grant = credit.needed()?;
    let sender_rtt = path.sender_rtt(segment.direction);
    let ns = segment
        .at_ns
        .checked_sub(from)
        .filter(|ns| *ns >= SHORTEST_NS)?;
    let known = grant.at + sender_rtt;
    if known <= from || segment.at_ns > known + SENDS_WITHIN_NS.max(sender_rtt / 2) {
        return None;
    }
    Some(Stall {
        cause: Cause::H2WindowExhausted,
        direction: segment.direction,
        from,
        released: grant.at,
        to: segment.at_ns,
        ns,
        late: (segment.offset, segment.end()),
        stream: Some(stream),
        packets: [before, grant.packet, segment.packet],
    })
}

/// A receiver whose application reads opens an exhausted window as soon as that runs:
/// on a busy machine within a few ticks of its scheduler, ns.
const READS_WITHIN_NS: u64 = 5_000_000;

/// A receiver that announces nothing for longer than this after its window has been
/// filled is one whose application does not read, ns. (An application that read would
/// have opened the window by more than half, which kernels announce at once: RFC 9293
/// section 3.8.6.2.2.)
pub(crate) fn not_reading_ns(direction: Direction, path: &Path) -> u64 {
    READS_WITHIN_NS + path.receiver_rtt(direction) / 2
}

/// The gap, if the segment behind it did not fit into the window that the sender
/// knew before it, and came once it did.
pub(crate) fn tcp_stall(sender: &Sender, gap: &Gap, path: &Path) -> Option<Stall> {
    let sender_rtt = path.sender_rtt(sender.direction);
    if !sender.windows.is_scaled || gap.ns() < (path.round_trip() * 2 / 5).max(SHORTEST_NS) {
        return None;
    }
    // Avoidance of silly windows: a sender waits until a full segment fits
    // (RFC 1122 section 4.2.3.4).
    let needed = gap.after.offset + gap.after.bytes().min(sender.full_segment());
    let opened = sender.advertisements.first_allowing(needed)?;
    let known = opened.at + sender_rtt;
    // What was allowed long before the silence cannot have caused it.
    if known <= gap.before.at
        || gap.after.at > known + path.slack(sender.direction).max(gap.ns() / 2)
    {
        return None;
    }
    let since = gap.before.at.saturating_sub(sender_rtt);
    let silent = opened
        .at
        .saturating_sub(gap.before.at + path.receiver_rtt(sender.direction));
    let silent = sender.windows.closed_ns(since).max(silent);
    // A window that reopens within the reading of a busy process is merely small.
    let is_not_reading = silent >= not_reading_ns(sender.direction, path) && silent >= gap.ns() / 2;
    Some(Stall {
        cause: match sender.direction {
            Direction::Reply if is_not_reading => Cause::ClientNotReading,
            _ => Cause::TcpWindowExhausted,
        },
        direction: sender.direction,
        from: gap.before.at,
        released: opened.at,
        to: gap.after.at,
        ns: gap.ns(),
        late: (gap.after.offset, gap.after.end),
        stream: None,
        packets: [gap.before.packet, opened.packet, gap.after.packet],
    })
}
