//! split-writes: one message began in a segment that could have carried more of it.

use crate::diagnosis::half::{Gap, Half};
use crate::diagnosis::path::Path;
use crate::exchange::Extent;

/// Whoever computes for longer between two writes had not the second at hand, ns;
/// behind a slow link, which draws packets apart, an eighth of its round trip.
const AT_HAND_NS: u64 = 2_000_000;

/// A small segment, and the next of the same sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Joint {
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// Of the small segment, and behind it.
    pub(crate) offset: u64,
    pub(crate) end: u64,
    pub(crate) packets: [u64; 2],
    /// When a packet passed that did nothing but acknowledge the small segment.
    answered: Option<u64>,
}

impl Joint {
    /// Of a gap whose first segment is less than a full one.
    pub(crate) fn of(half: &Half, gap: &Gap) -> Option<Joint> {
        let answer = half.announced.acknowledging(gap.before.end);
        gap.before.is_small.then_some(Joint {
            from: gap.before.at,
            to: gap.after.at,
            offset: gap.before.offset,
            end: gap.before.end,
            packets: [gap.before.packet, gap.after.packet],
            answered: answer.filter(|one| one.is_pure).map(|one| one.at),
        })
    }

    /// The second segment came at once; or, where Nagle's algorithm held it back, at
    /// once after the acknowledgment of the first.
    fn was_at_hand(&self, half: &Half, path: &Path) -> bool {
        let near = path.near(half.direction);
        let answer_ns = near + path.slack(half.direction);
        self.to - self.from <= AT_HAND_NS.max(near / 8)
            || self
                .answered
                .is_some_and(|at| (at..=at + answer_ns).contains(&self.to))
    }
}

/// The joint behind the segment in which the message begins, if that is small, ends
/// inside the message, and its sender had more at hand. Control frames of HTTP/2 may lie
/// between, in segments of their own.
pub(crate) fn joint(half: &Half, extent: &Extent, path: &Path) -> Option<Joint> {
    let bytes = extent.bytes().saturating_add(extent.between_bytes.into());
    if extent.end.saturating_sub(extent.start) > bytes {
        return None; // other messages lie between its parts
    }
    let at_hand = |joint: &Joint| joint.end < extent.end && joint.was_at_hand(half, path);
    // They end one behind the other, and all may be kept of a long connection.
    let over = half
        .joints
        .partition_point(|joint| joint.end <= extent.start);
    let mut joints = half.joints.range(over..).copied();
    let first = joints.find(|joint| joint.offset <= extent.start)?;
    let mut split = Some(first).filter(at_hand)?;
    let mut between = u64::from(extent.between_bytes);
    for next in joints.take_while(|next| next.end < extent.end) {
        let Some(left) = between.checked_sub(next.end - next.offset) else {
            break;
        };
        if next.offset != split.end {
            break;
        }
        if !at_hand(&next) {
            return None;
        }
        between = left;
        split = Joint {
            to: next.to,
            end: next.end,
            packets: [split.packets[0], next.packets[1]],
            ..split
        };
    }
    Some(split)
}
