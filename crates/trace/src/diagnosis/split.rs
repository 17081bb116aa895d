//! split-writes: one message began in a segment that could have carried more of it.

use crate::diagnosis::half::{Gap, Half};
use crate::diagnosis::path::Path;
use crate::exchange::Extent;

/// Whoever computes for longer between two writes had not the second at hand, ns.
const AT_HAND_NS: u64 = 5_000_000;

/// A small segment, and the next of the same sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Joint {
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// Of the small segment, and behind it.
    pub(crate) offset: u64,
    pub(crate) end: u64,
    pub(crate) packets: [u64; 2],
}

impl Joint {
    /// Of a gap whose first segment is less than a `full` one.
    pub(crate) fn of(gap: &Gap, full: u64) -> Option<Joint> {
        (gap.before.bytes() < full && !gap.interrupted).then_some(Joint {
            from: gap.before.at,
            to: gap.after.at,
            offset: gap.before.offset,
            end: gap.before.end,
            packets: [gap.before.packet, gap.after.packet],
        })
    }
}

/// The joint behind the segment in which the message begins, if that is small,
/// ends inside the message, and more came soon: at once, or after a
/// round trip or a delayed acknowledgment where Nagle's algorithm held it back.
pub(crate) fn joint(
    half: &Half,
    extent: &Extent,
    is_held: impl Fn(&Joint) -> bool,
    path: &Path,
) -> Option<Joint> {
    if extent.end - extent.start > extent.bytes() {
        return None; // other messages lie between its parts
    }
    let soon = AT_HAND_NS.max(path.round_trip() * 3 / 2);
    half.joints.iter().copied().find(|joint| {
        joint.offset <= extent.start
            && extent.start < joint.end
            && joint.end < extent.end
            && (joint.to - joint.from <= soon || is_held(joint))
    })
}
