//! Streams that we closed while the peer may still be sending on them.

use std::collections::VecDeque;

/// Streams remembered one by one.
const REMEMBERED_MAX: usize = 32;

/// Frames on streams that were closed are errors, unless the peer may have sent
/// them before it knew (RFC 9113 section 5.1, "closed"). The latest streams are
/// known exactly; of the older ones, all up to the highest forgotten are forgiven.
#[derive(Debug, Default)]
pub(super) struct Cancelled {
    latest: VecDeque<u32>,
    forgiven_to: u32,
}

impl Cancelled {
    pub(super) fn add(&mut self, stream: u32) {
        if self.latest.len() == REMEMBERED_MAX {
            let oldest = self.latest.pop_front().unwrap_or(0);
            self.forgiven_to = self.forgiven_to.max(oldest);
        }
        self.latest.push_back(stream);
    }

    pub(super) fn forgives(&self, stream: u32) -> bool {
        stream <= self.forgiven_to || self.latest.contains(&stream)
    }
}
