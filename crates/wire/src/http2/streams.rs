//! The calls in flight, by slot, by stream identifier and by call; and streams that
//! were closed while the peer may still send on them.

use std::collections::VecDeque;
use std::sync::Arc;

use super::flow_control::{ReceiveWindow, SendWindow};
use crate::{CallId, Request};

/// One call in flight.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) call: CallId,
    /// 0 until HEADERS have been sent.
    pub(super) id: u32,
    /// The request, until all of it has been sent.
    pub(super) request: Option<Arc<Request>>,
    /// Bytes of the request's body that have been sent.
    pub(super) sent: usize,
    pub(super) send_window: SendWindow,
    pub(super) receive_window: ReceiveWindow,
    /// Bytes of content that the reply's `content-length` still promises.
    pub(super) content_left: Option<u64>,
    /// The reply to HEAD, and some statuses, have no content (RFC 9110 section 6.4.1).
    pub(super) no_content: bool,
    pub(super) first_byte_seen: bool,
    pub(super) head_seen: bool,
    /// Waits in the queue of streams that have DATA to send.
    pub(super) queued: bool,
    /// Waits in the list of streams that owe a WINDOW_UPDATE.
    pub(super) update_due: bool,
}

impl Stream {
    pub(super) fn new(call: CallId, request: &Arc<Request>) -> Stream {
        Stream {
            call,
            id: 0,
            request: Some(Arc::clone(request)),
            sent: 0,
            // The peer's initial window may change until HEADERS are sent, so it is taken
            // then.
            send_window: SendWindow::new(0),
            receive_window: ReceiveWindow::stream(0),
            content_left: None,
            // Noted now: the request is dropped as soon as it has been sent.
            no_content: request.method == "HEAD",
            first_byte_seen: false,
            head_seen: false,
            queued: false,
            update_due: false,
        }
    }
}

/// All calls in flight.
#[derive(Debug, Default)]
pub(super) struct Streams {
    slots: Vec<Option<Stream>>,
    free: Vec<u32>,
    by_id: SlotMap,
    by_call: SlotMap,
}

impl Streams {
    /// Number of calls in flight, opened or not.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub(super) fn insert(&mut self, stream: Stream) -> u32 {
        // Slots are reused, so that memory follows the calls in flight, not all calls made.
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() as u32 - 1
        });
        self.by_call.insert(stream.call, slot);
        self.slots[slot as usize] = Some(stream);
        slot
    }

    /// Gives the stream in `slot` its identifier.
    pub(super) fn open(&mut self, slot: u32, id: u32) {
        self.by_id.insert(id, slot);
        if let Some(stream) = self.get_mut(slot) {
            stream.id = id;
        }
    }

    #[inline]
    pub(super) fn slot_of_id(&self, id: u32) -> Option<u32> {
        self.by_id.get(id)
    }

    #[inline]
    pub(super) fn slot_of_call(&self, call: CallId) -> Option<u32> {
        self.by_call.get(call)
    }

    #[inline]
    pub(super) fn get(&self, slot: u32) -> Option<&Stream> {
        self.slots.get(slot as usize)?.as_ref()
    }

    #[inline]
    pub(super) fn get_mut(&mut self, slot: u32) -> Option<&mut Stream> {
        self.slots.get_mut(slot as usize)?.as_mut()
    }

    pub(super) fn remove(&mut self, slot: u32) -> Option<Stream> {
        let stream = self.slots.get_mut(slot as usize)?.take()?;
        self.free.push(slot);
        self.by_call.remove(stream.call);
        self.by_id.remove(stream.id);
        Some(stream)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Stream> {
        self.slots.iter_mut().flatten()
    }

    /// Slots in use whose stream `matches` picks, in the order of their streams;
    /// those not yet opened come last.
    pub(super) fn slots_where(&self, matches: impl Fn(&Stream) -> bool) -> Vec<u32> {
        let mut picked: Vec<(u32, u32)> = (0..)
            .zip(&self.slots)
            .filter_map(|(slot, stream)| Some((slot, stream.as_ref()?)))
            .filter(|(_, stream)| matches(stream))
            // Identifier 0 (not opened) wraps to the highest key and sorts last.
            .map(|(slot, stream)| (stream.id.wrapping_sub(1), slot))
            .collect();
        picked.sort_unstable();
        picked.into_iter().map(|(_, slot)| slot).collect()
    }
}

/// Streams remembered one by one.
const RESET_STREAMS_MAX: usize = 32;

/// Frames on streams that were closed are errors, unless the peer may have sent
/// them before it knew (RFC 9113 section 5.1, "closed"). The latest streams are
/// known exactly; of the older ones, all up to the highest forgotten are forgiven.
#[derive(Debug, Default)]
pub(super) struct ResetStreams {
    latest: VecDeque<u32>,
    tolerated_to: u32,
}

impl ResetStreams {
    pub(super) fn add(&mut self, stream: u32) {
        if self.latest.len() == RESET_STREAMS_MAX {
            // Identifiers ascend, so that one bound covers all that are forgotten.
            let oldest = self.latest.pop_front().unwrap_or(0);
            self.tolerated_to = self.tolerated_to.max(oldest);
        }
        self.latest.push_back(stream);
    }

    pub(super) fn tolerates(&self, stream: u32) -> bool {
        stream <= self.tolerated_to || self.latest.contains(&stream)
    }
}

const EMPTY: u32 = u32::MAX;
/// 2^32 divided by the golden ratio (Knuth, TAOCP volume 3, section 6.4).
const MULTIPLIER: u32 = 0x9E37_79B1;

/// Numbers to slots; slots are below `u32::MAX`. Allocates at the first insertion.
#[derive(Debug, Default)]
pub(super) struct SlotMap {
    cells: Vec<(u32, u32)>,
    len: usize,
}

impl SlotMap {
    #[inline]
    fn home(&self, key: u32) -> usize {
        // The table's size is a power of two; Fibonacci hashing takes the highest bits.
        let bits = self.cells.len().trailing_zeros();
        (key.wrapping_mul(MULTIPLIER) >> (32 - bits)) as usize
    }

    /// The slot of `key`.
    #[inline]
    pub(super) fn get(&self, key: u32) -> Option<u32> {
        self.cell(key).map(|at| self.cells[at].1)
    }

    #[inline]
    fn cell(&self, key: u32) -> Option<usize> {
        if self.len == 0 {
            return None;
        }
        let mask = self.cells.len() - 1;
        let mut at = self.home(key);
        while self.cells[at].1 != EMPTY {
            if self.cells[at].0 == key {
                return Some(at);
            }
            at = (at + 1) & mask;
        }
        None
    }

    /// Adds `key`, or moves it to another slot.
    pub(super) fn insert(&mut self, key: u32, slot: u32) {
        if let Some(at) = self.cell(key) {
            self.cells[at].1 = slot;
            return;
        }
        // At half load a probe takes 1.5 steps on average (Knuth, section 6.4).
        if 2 * (self.len + 1) > self.cells.len() {
            self.grow();
        }
        self.place(key, slot);
        self.len += 1;
    }

    fn place(&mut self, key: u32, slot: u32) {
        let mask = self.cells.len() - 1;
        let mut at = self.home(key);
        while self.cells[at].1 != EMPTY {
            at = (at + 1) & mask;
        }
        self.cells[at] = (key, slot);
    }

    fn grow(&mut self) {
        let cells = (2 * self.cells.len()).max(8);
        let old = std::mem::replace(&mut self.cells, vec![(0, EMPTY); cells]);
        for (key, slot) in old {
            if slot != EMPTY {
                self.place(key, slot);
            }
        }
    }

    /// Forgets `key`.
    pub(super) fn remove(&mut self, key: u32) {
        let Some(mut hole) = self.cell(key) else {
            return;
        };
        self.len -= 1;
        let mask = self.cells.len() - 1;
        let mut at = hole;
        loop {
            at = (at + 1) & mask;
            let (key, slot) = self.cells[at];
            if slot == EMPTY {
                break;
            }
            // An entry may fill the hole if the hole is on its way from home.
            let way = at.wrapping_sub(self.home(key)) & mask;
            let back = at.wrapping_sub(hole) & mask;
            if back <= way {
                self.cells[hole] = (key, slot);
                hole = at;
            }
        }
        self.cells[hole].1 = EMPTY;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against a map that is known to be right, with keys that collide.
        #[test]
        fn it_behaves_as_a_map(steps in prop::collection::vec((0_u32..64, any::<bool>()), 0..400)) {
            let mut map = SlotMap::default();
            let mut model = BTreeMap::new();
            for (at, (key, insert)) in steps.into_iter().enumerate() {
                let key = key.wrapping_mul(0x0400_0001);
                if insert {
                    map.insert(key, at as u32);
                    model.insert(key, at as u32);
                } else {
                    map.remove(key);
                    model.remove(&key);
                }
                for probe in 0..64_u32 {
                    let probe = probe.wrapping_mul(0x0400_0001);
                    prop_assert_eq!(map.get(probe), model.get(&probe).copied());
                }
            }
        }
    }
}
