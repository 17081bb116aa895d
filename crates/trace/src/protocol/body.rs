//! The body of a reply that is a stream of messages, and what reads them.

use super::cursor::Cursor;
use super::events::Events;
use super::messages::Follower;
use crate::protocol::exchange::{Burst, ExchangeObserver};

/// Reads the body of a reply as it comes.
#[derive(Debug)]
pub(super) struct StreamBody {
    /// Of server-sent events: the bursts in which they came.
    events: Option<Events>,
    follower: Option<Follower>,
}

impl StreamBody {
    /// `follower`: None where the messages cannot be read.
    pub(super) fn new(is_events: bool, follower: Option<Follower>) -> StreamBody {
        StreamBody {
            events: is_events.then(Events::default),
            follower,
        }
    }

    pub(super) fn into_bursts(self) -> Vec<Burst> {
        self.events.map(Events::into_bursts).unwrap_or_default()
    }

    /// Bytes of it are missing.
    pub(super) fn miss(&mut self, bytes: u64) {
        if let Some(follower) = &mut self.follower {
            follower.miss(bytes);
        }
    }
}

/// Takes the next bytes of a body where it is a stream; the cursor is in front of them.
#[inline]
pub(super) fn take_body<E: ExchangeObserver>(
    stream: Option<&mut StreamBody>,
    body: &[u8],
    cursor: &mut Cursor<'_, E>,
) {
    let Some(stream) = stream else {
        return;
    };
    if let Some(events) = &mut stream.events {
        events.take(body, cursor.segment);
    }
    if let Some(follower) = &mut stream.follower {
        follower.take(body, cursor);
    }
}
