//! Whether a reply is what it should be.
//!
//! With work=decode every reply is decoded in full and compared with what the
//! contract says; with work=frame only status, length and framing are looked
//! at, and the length is learned from one reply that was decoded. Replies
//! whose numbers go into later requests are always read.

mod body;
mod content;
mod end;
mod rejection;
pub(crate) mod reply;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use wirelab_contract::Operation;
use wirelab_wire::codec::{Expected, MessageFormat};
use wirelab_wire::{ContentType, Encoding, Head};

use crate::record::error::ErrorKind;
use crate::validate::reply::ReplyState;

pub(crate) use rejection::{MESSAGE_BYTES_MAX, Rejection};

/// No length has been learned yet.
const UNKNOWN: u64 = u64::MAX;

/// How messages lie in a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// The body is the message.
    Whole,
    /// gRPC's length-prefixed messages.
    Grpc,
}

/// What the contract says of the replies.
#[derive(Debug)]
pub(crate) enum Wanted {
    /// Nothing: the service is a third party's.
    Anything,
    /// The same of every reply.
    Same(Box<Expected>),
    /// Of each reply something else, which the call's state holds.
    EachCall {
        /// It is read whatever the work: its numbers go into later requests,
        /// or nothing else tells whether it is an error.
        always: bool,
    },
}

/// What makes a reply right.
#[derive(Debug)]
pub(crate) struct Validator {
    pub(crate) framing: Framing,
    /// Status wanted; None: any 2xx.
    pub(crate) status: Option<u16>,
    /// Content type wanted; None: any.
    pub(crate) content_type: Option<ContentType>,
    /// How replies may be compressed; None: in any way that we can undo.
    pub(crate) encoding: Option<Encoding>,
    /// How all replies are compressed, where no head says it; none of these
    /// has a status either (raw).
    pub(crate) imposed: Option<Encoding>,
    /// Length of the body wanted, in bytes.
    pub(crate) length: Option<u64>,
    pub(crate) wanted: Wanted,
    /// How an application error is read.
    pub(crate) errors: Option<(MessageFormat, Operation)>,
    /// Decode every reply (work=decode).
    pub(crate) decode: bool,
    /// Tokens that equal the last right reply to the byte need not be
    /// read again (work=frame with token-xml).
    pub(crate) takes_repeats: bool,
    learned: AtomicU64,
}

impl Validator {
    pub(crate) fn new(framing: Framing, wanted: Wanted, decode: bool) -> Validator {
        Validator {
            framing,
            status: None,
            content_type: None,
            encoding: None,
            imposed: None,
            length: None,
            wanted,
            errors: None,
            decode,
            takes_repeats: false,
            learned: AtomicU64::new(UNKNOWN),
        }
    }

    /// True when this reply is decoded and compared.
    #[inline]
    fn looks_inside(&self, state: &ReplyState) -> bool {
        match self.wanted {
            Wanted::Anything => false,
            Wanted::Same(_) => self.decode || self.is_unlike(state),
            Wanted::EachCall { always } => self.decode || always,
        }
    }

    /// Nothing is known of right replies yet; or it is longer or shorter than
    /// they are, and only its content can say that it is an error.
    #[inline]
    fn is_unlike(&self, state: &ReplyState) -> bool {
        let learned = self.learned.load(Relaxed);
        let other = state.head.content_length != Some(learned);
        learned == UNKNOWN || (self.imposed.is_some() && other)
    }

    #[inline]
    pub(crate) fn head(&self, state: &mut ReplyState, head: &Head) {
        state.head = *head;
        if let Some(encoding) = self.imposed {
            state.head.encoding = encoding;
        }
        let head = state.head;
        let wanted = match self.status {
            Some(status) => head.status == status,
            None => (200..300).contains(&head.status),
        };
        if !wanted {
            return state.fail(ErrorKind::Application, refusal(&head));
        }
        if self
            .content_type
            .is_some_and(|wanted| wanted != head.content_type)
        {
            state.fail(
                ErrorKind::Wrong,
                format!("content-type is {}", head.content_type),
            );
        }
        let known = match self.encoding {
            Some(wanted) => wanted == head.encoding || head.encoding == Encoding::Identity,
            None => head.encoding != Encoding::Other,
        };
        if !known {
            state.fail(
                ErrorKind::Wrong,
                "an encoding of the message that was not asked for",
            );
        }
    }
}

/// How a reply that is none is named. GIOP has exceptions instead of numbers.
fn refusal(head: &Head) -> String {
    match (head.byte_order, head.status) {
        (Some(_), end::SYSTEM_EXCEPTION) => "GIOP system exception".into(),
        (Some(_), _) => "GIOP user exception".into(),
        (None, status) => format!("HTTP status {status}"),
    }
}
