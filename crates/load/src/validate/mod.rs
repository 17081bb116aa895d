//! Whether a reply is what it should be.
//!
//! With work=decode every reply is decoded in full and compared with what the
//! contract says; with work=frame only status, length and framing are looked
//! at, and the length is learned from one reply that was decoded. Replies
//! whose numbers go into later requests are always read.

mod body;
#[cfg(test)]
mod connect_tests;
mod content;
mod end;
pub(crate) mod expect;
pub(crate) mod items;
pub mod json_library;
pub(crate) mod kept_values;
mod messages;
pub(crate) mod step;
pub(crate) mod stream;
#[cfg(test)]
mod stream_tests;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use wirelab_contract::Operation;
use wirelab_wire::codec::{Expected, MessageFormat};
use wirelab_wire::grpc::Frames;
use wirelab_wire::websocket::{BAD_REQUEST, SWITCHING_PROTOCOLS};
use wirelab_wire::{ContentType, Encoding, Head};

use crate::call::error::ErrorKind;
use crate::call::reply::{ReplyState, Seen};
use crate::validate::expect::Declared;
use crate::validate::items::ItemRule;
use crate::validate::kept_values::KeptValue;
use crate::validate::stream::StreamRule;

use crate::call::rejection::{MESSAGE_BYTES_MAX, printable};

/// No length has been learned yet.
const UNKNOWN: u64 = u64::MAX;

/// What the contract says of the replies.
#[derive(Debug)]
pub(crate) enum Expectation {
    /// Nothing: the service is a third party's.
    Anything,
    /// Nothing, but how replies differ from each other is counted.
    Counted,
    /// What the plan says of them.
    Declared(Box<Declared>),
    /// The same of every reply.
    Same(Box<Expected>),
    /// Of each reply something else, which the call's state holds.
    EachCall {
        /// It is read whatever the work: its numbers go into later requests,
        /// or nothing else shows whether it is an error.
        always: bool,
    },
    /// The items of a feed, whose texts and times are checked one by one.
    Items(ItemRule),
}

/// The field that says where a redirection leads.
const LOCATION: &str = "location";

/// Letters of it that are shown.
const LOCATION_LETTERS_MAX: usize = 200;

/// What makes a reply right.
#[derive(Debug)]
pub(crate) struct Validator {
    /// How messages lie in a body; None: the body is the message.
    pub(crate) frames: Option<Frames>,
    /// Status expected; None: any 2xx.
    pub(crate) status: Option<u16>,
    /// Content type expected; None: any.
    pub(crate) content_type: Option<ContentType>,
    /// How replies may be compressed; None: in any way that we can undo.
    pub(crate) encoding: Option<Encoding>,
    /// How all replies are compressed, where no head says it; none of these
    /// has a status either (raw).
    pub(crate) imposed: Option<Encoding>,
    pub(crate) expectation: Expectation,
    /// How an application error is read.
    pub(crate) errors: Option<(MessageFormat, Operation)>,
    /// Decode every reply (work=decode).
    pub(crate) decode: bool,
    /// Tokens that equal the last right reply to the byte need not be
    /// read again (work=frame with token-xml).
    pub(crate) accepts_repeats: bool,
    /// Number of its step among those of the group.
    pub(crate) step: usize,
    /// Values of a reply that later requests need.
    pub(crate) kept: Vec<KeptValue>,
    /// Where a reply is a stream of messages, each of which has a time.
    pub(crate) stream: Option<StreamRule>,
    learned: AtomicU64,
}

impl Validator {
    pub(crate) fn new(frames: Option<Frames>, expectation: Expectation, decode: bool) -> Validator {
        Validator {
            frames,
            status: None,
            content_type: None,
            encoding: None,
            imposed: None,
            expectation,
            errors: None,
            decode,
            accepts_repeats: false,
            step: 0,
            kept: Vec::new(),
            stream: None,
            learned: AtomicU64::new(UNKNOWN),
        }
    }

    /// True when this reply is decoded and compared.
    #[inline]
    fn decodes(&self, state: &ReplyState) -> bool {
        match &self.expectation {
            _ if !self.kept.is_empty() => true,
            Expectation::Anything => false,
            Expectation::Counted => state.is_comparable(),
            Expectation::Declared(declared) => match self.frames {
                None => declared.needs_whole(state.head.encoding),
                Some(_) => declared.reads_body(),
            },
            Expectation::Same(_) => self.decode || self.differs_from_learned(state),
            Expectation::EachCall { always } => self.decode || *always,
            // Of lines and events the parsers keep the messages.
            Expectation::Items(_) => self.frames.is_some(),
        }
    }

    /// Nothing is known of right replies yet; or it is longer or shorter than
    /// they are, and only its content can say that it is an error.
    #[inline]
    fn differs_from_learned(&self, state: &ReplyState) -> bool {
        let learned = self.learned.load(Relaxed);
        let other = state.head.content_length != Some(learned);
        learned == UNKNOWN || (self.imposed.is_some() && other)
    }

    #[inline]
    pub(crate) fn head(&self, state: &mut ReplyState, head: &Head) {
        state.head = *head;
        // Raw has no fields: whether contents are compressed is agreed by configuration.
        if let Some(encoding) = self.imposed {
            state.head.encoding = encoding;
        }
        if let Some(frames) = self.frames {
            state.deframer = frames.deframer(MESSAGE_BYTES_MAX);
        }
        let head = state.head;
        let expected = match self.status {
            Some(status) => head.status == status,
            None => (200..300).contains(&head.status),
        };
        if !expected {
            let mut reason = refusal(&head, state.seen.as_deref());
            if self.status == Some(SWITCHING_PROTOCOLS) && head.status != BAD_REQUEST {
                reason = format!("no upgrade to WebSocket: {reason}");
            }
            return state.fail(ErrorKind::Application, reason);
        }
        if self
            .content_type
            .is_some_and(|expected| expected != head.content_type)
        {
            state.fail(
                ErrorKind::Wrong,
                format!("content-type is {}", head.content_type),
            );
        }
        let known = match self.encoding {
            // A server need not compress because it may (RFC 9110 section 12.5.3).
            Some(expected) => expected == head.encoding || head.encoding == Encoding::Identity,
            None => head.encoding != Encoding::Other,
        };
        if !known {
            state.fail(
                ErrorKind::Wrong,
                "an encoding of the message that was not asked for",
            );
        }
        // Of gRPC fields may come in the trailers, too.
        if let (Expectation::Declared(declared), None) = (&self.expectation, self.frames) {
            self.check_headers(declared, state);
        }
    }

    /// A field of a name that is watched.
    pub(crate) fn field(&self, state: &mut ReplyState, name: &str, value: &[u8]) {
        if name == LOCATION {
            let seen = state.seen.get_or_insert_default();
            seen.location = Some(String::from_utf8_lossy(value).into_owned());
        }
        if let Expectation::Declared(declared) = &self.expectation {
            declared.field(state.seen.get_or_insert_default(), name, value);
        }
    }

    fn check_headers(&self, declared: &Declared, state: &mut ReplyState) {
        if let Err(reason) = declared.check_headers(state.seen.as_deref()) {
            state.fail(ErrorKind::Wrong, reason);
        }
    }

    /// Whether good replies are counted by their content.
    #[inline]
    pub(crate) fn counts_replies(&self) -> bool {
        matches!(self.expectation, Expectation::Counted)
    }

    /// Names of the fields that must be seen: of services that are not of the lab.
    pub(crate) fn watched(&self) -> impl Iterator<Item = &str> {
        let (declared, location) = match &self.expectation {
            Expectation::Declared(declared) => (Some(declared), Some(LOCATION)),
            Expectation::Counted => (None, Some(LOCATION)),
            _ => (None, None),
        };
        let declared = declared.into_iter().flat_map(|declared| declared.watched());
        declared.chain(location)
    }
}

/// How a reply that is none is named. GIOP has exceptions instead of numbers. A redirection says
/// where to (RFC 9110, section 10.2.2).
fn refusal(head: &Head, seen: Option<&Seen>) -> String {
    match (head.byte_order, head.status) {
        (Some(_), end::SYSTEM_EXCEPTION) => "GIOP system exception".into(),
        (Some(_), _) => "GIOP user exception".into(),
        (None, status @ 300..=399) => match seen.and_then(|seen| seen.location.as_ref()) {
            Some(location) => {
                let shown: String = location.chars().take(LOCATION_LETTERS_MAX).collect();
                format!("HTTP status {status}, Location: {}", printable(&shown))
            }
            None => format!("HTTP status {status}"),
        },
        (None, status) => format!("HTTP status {status}"),
    }
}
