//! tcp-window-exhausted and client-not-reading: the sender had used up what the
//! receiver allowed (RFC 9293 section 3.8.6).

use crate::diagnosis::cause::Cause;
use crate::diagnosis::half::{Gap, Half};
use crate::diagnosis::path::Path;
use crate::diagnosis::stall::Stall;
use crate::flow::event::{Direction, Segment};

/// A receiver whose application reads opens an exhausted window as soon as that runs:
/// on a busy machine within a few ticks of its scheduler, ns.
const READS_WITHIN_NS: u64 = 5_000_000;

/// A receiver that announces nothing for longer than this after its window has been
/// filled is one whose application does not read, ns. (An application that read would
/// have opened the window by more than half, which kernels announce at once: RFC 9293
/// section 3.8.6.2.2.)
pub(crate) fn not_reading_ns(half: &Half, path: &Path) -> u64 {
    READS_WITHIN_NS + path.far(half.direction) / 2
}

/// The windows that a receiver offered.
#[derive(Debug, Default)]
pub(crate) struct Windows {
    /// Both SYNs were seen with all their options, so that windows are scaled as they should be (RFC 7323
    /// section 2.2); otherwise they may be too small by a factor of up to 16,384.
    is_scaled: bool,
    largest: u64,
    closed_at: Option<u64>,
    /// When the window was closed last, and when it opened, ns.
    closed: Option<(u64, u64)>,
}

impl Windows {
    /// From here on windows are what they say.
    pub(crate) fn scaled(&mut self) {
        self.is_scaled = true;
    }

    /// The largest ever offered, bytes; 0 where it is not known.
    pub(crate) fn largest(&self) -> u64 {
        if self.is_scaled { self.largest } else { 0 }
    }

    /// A packet of the receiver; `full` is the payload of a full segment. A window is
    /// closed when it holds neither a segment nor a quarter of what it held:
    /// receivers that avoid silly windows say 0, others come near it.
    pub(crate) fn take(&mut self, segment: &Segment, full: u64) {
        self.largest = self.largest.max(segment.window);
        let is_closed = segment.window < full.min(self.largest / 4).max(1);
        match (is_closed, self.closed_at) {
            (true, None) => self.closed_at = Some(segment.at_ns),
            (false, Some(since)) => {
                self.closed = Some((since, segment.at_ns));
                self.closed_at = None;
            }
            _ => {}
        }
    }

    /// It is closed now, by what it says.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed_at.is_some()
    }

    /// How long it was closed, the last time that it was, if it opened after `since`, ns.
    fn closed_ns(&self, since: u64) -> u64 {
        let (from, to) = self.closed.unwrap_or((0, 0));
        if to >= since { to - from } else { 0 }
    }
}

/// The gap, if the segment behind it did not fit into the window that the sender
/// knew before it, and came once it did.
pub(crate) fn stall(half: &Half, gap: &Gap, path: &Path) -> Option<Stall> {
    let near = path.near(half.direction);
    if !half.windows.is_scaled || gap.ns() < (path.round_trip() * 2 / 5).max(SHORTEST_NS) {
        return None;
    }
    let needed = gap.after.offset + gap.after.bytes().min(half.full());
    let opened = half.announced.allowing(needed)?;
    let known = opened.at + near;
    // What was allowed long before the silence cannot have caused it.
    if known <= gap.before.at || gap.after.at > known + path.slack(half.direction).max(gap.ns() / 2)
    {
        return None;
    }
    let since = gap.before.at.saturating_sub(near);
    let silent = opened
        .at
        .saturating_sub(gap.before.at + path.far(half.direction));
    let silent = half.windows.closed_ns(since).max(silent);
    let is_asleep = silent >= not_reading_ns(half, path) && silent >= gap.ns() / 2;
    Some(Stall {
        cause: match half.direction {
            Direction::Reply if is_asleep => Cause::ClientNotReading,
            _ => Cause::TcpWindowExhausted,
        },
        direction: half.direction,
        from: gap.before.at,
        released: opened.at,
        to: gap.after.at,
        ns: gap.ns(),
        late: (gap.after.offset, gap.after.end),
        stream: None,
        packets: [gap.before.packet, opened.packet, gap.after.packet],
    })
}

/// A shorter silence is none, ns.
const SHORTEST_NS: u64 = 20_000;
