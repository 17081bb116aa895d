//! Connections in the order of their last packet: a list whose links are in
//! the connections themselves.

use super::connection::Connection;

const NONE: u32 = u32::MAX;

/// The neighbours of a connection in its queue.
#[derive(Debug, Clone, Copy)]
pub(super) struct Links {
    before: u32,
    behind: u32,
}

impl Default for Links {
    fn default() -> Links {
        Links {
            before: NONE,
            behind: NONE,
        }
    }
}

#[derive(Debug)]
pub(super) struct Queue {
    first: u32,
    last: u32,
}

impl Default for Queue {
    fn default() -> Queue {
        Queue {
            first: NONE,
            last: NONE,
        }
    }
}

impl Queue {
    #[inline]
    pub(super) fn first(&self) -> Option<u32> {
        (self.first != NONE).then_some(self.first)
    }

    #[inline]
    pub(super) fn is_last(&self, slot: u32) -> bool {
        self.last == slot
    }

    #[inline]
    pub(super) fn push(&mut self, slots: &mut [Connection], slot: u32) {
        slots[slot as usize].links = Links {
            before: self.last,
            behind: NONE,
        };
        match self.last {
            NONE => self.first = slot,
            last => slots[last as usize].links.behind = slot,
        }
        self.last = slot;
    }

    #[inline]
    pub(super) fn remove(&mut self, slots: &mut [Connection], slot: u32) {
        let Links { before, behind } = std::mem::take(&mut slots[slot as usize].links);
        match before {
            NONE => self.first = behind,
            before => slots[before as usize].links.behind = behind,
        }
        match behind {
            NONE => self.last = before,
            behind => slots[behind as usize].links.before = before,
        }
    }
}
