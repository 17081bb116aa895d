//! tcp-window-exhausted and client-not-reading: the sender had used up what the
//! receiver allowed (RFC 9293 section 3.8.6).

use crate::diagnosis::cause::Cause;
use crate::diagnosis::path::Path;
use crate::diagnosis::sender::{Gap, Sender};
use crate::diagnosis::stall::Stall;
use crate::flow::event::Direction;

/// A shorter silence is none, ns.
const SHORTEST_NS: u64 = 20_000;
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
pub(crate) fn stall(sender: &Sender, gap: &Gap, path: &Path) -> Option<Stall> {
    let sender_rtt = path.sender_rtt(sender.direction);
    if !sender.windows.is_scaled || gap.ns() < (path.round_trip() * 2 / 5).max(SHORTEST_NS) {
        return None;
    }
    // Avoidance of silly windows: a sender waits until a full segment fits
    // (RFC 1122 section 4.2.3.4).
    let needed = gap.after.offset + gap.after.bytes().min(sender.full_segment());
    let opened = sender.advertisements.allowing(needed)?;
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
