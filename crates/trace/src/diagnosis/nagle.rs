//! nagle-delayed-ack: a small segment waited for an acknowledgment that was delayed.

use crate::diagnosis::cause::Cause;
use crate::diagnosis::half::{Gap, Half};
use crate::diagnosis::path::Path;
use crate::diagnosis::stall::Stall;

/// The least that an acknowledgment must have been delayed, ns. Linux waits 40 ms
/// or more (TCP_DELACK_MIN), BSD 40 to 100 ms, Windows 40 to 200 ms; RFC 1122
/// allows up to 500 ms.
const DELAY_MIN_NS: u64 = 20_000_000;

/// A kernel that has something to send does so within this, ns.
const AT_ONCE_NS: u64 = 300_000;

/// The gap, if it may be one: a small segment came after a packet that did nothing
/// but acknowledge all before it. [`is_delayed`] decides, once round trips are known.
pub(crate) fn stall(half: &Half, gap: &Gap) -> Option<Stall> {
    if gap.ns() < DELAY_MIN_NS || gap.interrupted || !gap.after.is_small {
        return None;
    }
    let answer = half.announced.acknowledging(gap.before.end)?;
    if !answer.is_pure || answer.acknowledged != gap.before.end || answer.at < gap.before.at {
        return None;
    }
    Some(Stall {
        cause: Cause::NagleDelayedAck,
        direction: half.direction,
        from: gap.before.at,
        released: answer.at,
        to: gap.after.at,
        ns: gap.ns(),
        late: (gap.after.offset, gap.after.end),
        stream: None,
        packets: [gap.before.packet, answer.packet, gap.after.packet],
    })
}

/// The same where a new message begins in what came late. Its sender may have had
/// nothing to send before, so only a kernel's own promptness tells, ns.
pub(crate) fn is_at_once(stall: &Stall, path: &Path) -> bool {
    let near = path.near(stall.direction);
    stall.to.saturating_sub(stall.released) <= near + (near / 8).max(AT_ONCE_NS)
}

/// The acknowledgment was delayed, and what came late came at once after it: no
/// application decided to send it then.
pub(crate) fn is_delayed(stall: &Stall, path: &Path) -> bool {
    let delay = (stall.released - stall.from).saturating_sub(path.far(stall.direction));
    let answer = stall.to.saturating_sub(stall.released);
    delay >= DELAY_MIN_NS && answer <= path.near(stall.direction) + path.slack(stall.direction)
}
