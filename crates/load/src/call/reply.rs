//! What is known of one reply while it arrives.

use std::hash::BuildHasher;
use std::ops::Deref;
use std::sync::Arc;

use foldhash::fast::FixedState;
use serde_json::Value;
use sha2::Sha256;
use wirelab_contract::Reply;
use wirelab_wire::codec::Expected;
use wirelab_wire::grpc::Deframer;
use wirelab_wire::{Head, Request};

use super::rejection::{MESSAGE_BYTES_MAX, Rejection};
use crate::call::error::ErrorKind;
use crate::call::items::ItemState;
use crate::call::stream::StreamState;

/// What is known of one reply so far.
#[derive(Debug)]
pub(crate) struct ReplyState {
    pub(crate) head: Head,
    pub(crate) deframer: Deframer,
    /// Body bytes (whole) or message bytes (gRPC) so far.
    pub(crate) length: u64,
    pub(crate) messages: u32,
    pub(crate) compressed: bool,
    /// The message under way ends a stream of Connect.
    pub(crate) is_ending: bool,
    /// Length of the message under way.
    pub(crate) due: u32,
    pub(crate) kept: Vec<u8>,
    pub(crate) bad: Option<Box<Rejection>>,
    pub(crate) checked: bool,
    /// Where calls differ from each other; made once for each place of a call.
    pub(crate) varied: Option<Box<Varied>>,
    /// What is expected of it and has come, where that is not all in one place.
    pub(crate) seen: Option<Box<Seen>>,
    /// Of its content, where replies are counted; 0: it was not compared.
    pub(crate) hash: u64,
    /// Where it is a stream of messages, from its first bytes on.
    pub(crate) stream: Option<Box<StreamState>>,
    /// Where that is a feed of the contract stream.
    pub(crate) items: Option<Box<ItemState>>,
}

/// Longer replies are counted by their length alone, bytes.
const COMPARED_BYTES_MAX: u64 = 1_000_000;

/// What an expectation of the user's own has seen of one reply so far.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Expected fields that have come, by their bits.
    pub(crate) headers: u64,
    /// The first expected field that came with another value.
    pub(crate) other: Option<(usize, String)>,
    /// Where a redirection leads.
    pub(crate) location: Option<String>,
    pub(crate) digest: Sha256,
}

/// One call of those that differ from each other.
#[derive(Debug, Default)]
pub(crate) struct Varied {
    pub(crate) request: Option<Arc<Request>>,
    /// What the reply must say.
    pub(crate) expected: Option<Due>,
    /// Its content, where that was read.
    pub(crate) read: Option<Reply>,
    /// Values for later requests, each with the number of the field that it is for.
    pub(crate) values: Vec<(usize, Value)>,
}

/// What a reply must say: made for one call, or shared by all calls of a row.
#[derive(Debug)]
pub(crate) enum Due {
    Own(Expected),
    Shared(Arc<Expected>),
}

impl Deref for Due {
    type Target = Expected;

    fn deref(&self) -> &Expected {
        match self {
            Due::Own(expected) => expected,
            Due::Shared(expected) => expected,
        }
    }
}

impl Default for ReplyState {
    fn default() -> Self {
        ReplyState {
            head: Head::default(),
            deframer: Deframer::new(MESSAGE_BYTES_MAX),
            length: 0,
            messages: 0,
            compressed: false,
            is_ending: false,
            due: 0,
            kept: Vec::new(),
            bad: None,
            checked: false,
            varied: None,
            seen: None,
            hash: 0,
            stream: None,
            items: None,
        }
    }
}

impl ReplyState {
    /// Ready for the next call; keeps the memory for its body.
    #[inline]
    pub(crate) fn reset(&mut self) {
        let (kept, varied) = (std::mem::take(&mut self.kept), self.varied.take());
        *self = ReplyState {
            kept,
            varied,
            ..ReplyState::default()
        };
        self.kept.clear();
    }

    /// Whether its content is short enough to be compared with that of others.
    pub(crate) fn is_comparable(&self) -> bool {
        self.length.max(self.head.content_length.unwrap_or(0)) <= COMPARED_BYTES_MAX
    }

    /// Adds a message to the hash of the reply's content.
    pub(crate) fn fold(&mut self, message: &[u8]) {
        // The same in all threads and runs; no attacker gains from a collision.
        let hash = FixedState::with_seed(self.hash).hash_one(message);
        self.hash = hash | 1;
    }

    pub(crate) fn fail(&mut self, kind: ErrorKind, reason: impl Into<String>) {
        if self.bad.is_none() {
            self.bad = Some(Box::new(Rejection::new(kind, reason)));
        }
    }

    /// The first thing that was wrong is kept.
    pub(crate) fn reject(&mut self, rejection: Rejection) {
        self.bad.get_or_insert_with(|| Box::new(rejection));
    }

    /// Judges a body of which every byte is known while it arrives, without
    /// keeping it: as a whole at its last byte, in parts before.
    pub(crate) fn compare(&mut self, expected: &[u8], offset: usize, chunk: &[u8]) {
        let end = offset + chunk.len();
        match expected.get(offset..end) {
            Some(part) if part == chunk => self.checked = end == expected.len(),
            Some(_) => self.fail(
                ErrorKind::Wrong,
                format!("the text differs in bytes {offset} to {end}"),
            ),
            None => self.fail(
                ErrorKind::Wrong,
                format!("the text is longer than {} bytes", expected.len()),
            ),
        }
    }

    /// Keeps the next bytes of a message until it is whole.
    pub(crate) fn keep(&mut self, chunk: &[u8]) {
        // A content-length is the peer's claim: the bound is checked against what came.
        if self.kept.len() + chunk.len() > MESSAGE_BYTES_MAX as usize {
            return self.fail(
                ErrorKind::Wrong,
                format!("more than {MESSAGE_BYTES_MAX} bytes"),
            );
        }
        if self.kept.is_empty() {
            // Once, instead of growing: large messages come in many chunks.
            let due = self
                .head
                .content_length
                .unwrap_or(0)
                .max(u64::from(self.due));
            self.kept
                .reserve(due.min(u64::from(MESSAGE_BYTES_MAX)) as usize);
        }
        self.kept.extend_from_slice(chunk);
    }
}
