//! The calls in flight, by slot, by stream identifier and by call.

use std::sync::Arc;

use super::flow::{ReceiveWindow, SendWindow};
use super::index::Index;
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
    pub(super) promised: Option<u64>,
    /// The reply to HEAD, and some statuses, have no content (RFC 9110 section 6.4.1).
    pub(super) contentless: bool,
    pub(super) first_seen: bool,
    pub(super) head_seen: bool,
    /// Waits in the queue of streams that have DATA to send.
    pub(super) queued: bool,
    /// Waits in the list of streams that owe a WINDOW_UPDATE.
    pub(super) owing: bool,
}

impl Stream {
    pub(super) fn new(call: CallId, request: &Arc<Request>) -> Stream {
        Stream {
            call,
            id: 0,
            request: Some(Arc::clone(request)),
            sent: 0,
            send_window: SendWindow::new(0),
            receive_window: ReceiveWindow::stream(0),
            promised: None,
            contentless: request.method == "HEAD",
            first_seen: false,
            head_seen: false,
            queued: false,
            owing: false,
        }
    }
}

/// All calls in flight.
#[derive(Debug, Default)]
pub(super) struct Streams {
    slots: Vec<Option<Stream>>,
    free: Vec<u32>,
    by_id: Index,
    by_call: Index,
}

impl Streams {
    /// Number of calls in flight, opened or not.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub(super) fn insert(&mut self, stream: Stream) -> u32 {
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

    /// Slots in use whose stream `wanted` picks, in the order of their streams;
    /// those not yet opened come last.
    pub(super) fn slots_where(&self, wanted: impl Fn(&Stream) -> bool) -> Vec<u32> {
        let mut picked: Vec<(u32, u32)> = (0..)
            .zip(&self.slots)
            .filter_map(|(slot, stream)| Some((slot, stream.as_ref()?)))
            .filter(|(_, stream)| wanted(stream))
            .map(|(slot, stream)| (stream.id.wrapping_sub(1), slot))
            .collect();
        picked.sort_unstable();
        picked.into_iter().map(|(_, slot)| slot).collect()
    }
}
