//! Whether a reply is what it should be.
//!
//! With work=decode every reply is decoded in full and compared with what the
//! contract says; with work=frame only status, length and framing are looked
//! at, and the length is learned from one reply that was decoded.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use wirelab_wire::codec::Expected;
use wirelab_wire::grpc::Piece;
use wirelab_wire::{ContentType, Encoding, End, Head, gzip};

use crate::recorder::ErrorKind;
use crate::reply::ReplyState;

/// Largest message that is accepted, in bytes.
pub(crate) const MESSAGE_BYTES_MAX: u32 = 256 << 20;

/// Bytes of an unwanted body that are kept to be shown.
const SHOWN_BYTES: usize = 160;

/// No length has been learned yet.
const UNKNOWN: u64 = u64::MAX;

/// Why a call is no success.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rejection {
    pub(crate) kind: ErrorKind,
    pub(crate) words: String,
}

impl Rejection {
    pub(crate) fn new(kind: ErrorKind, words: impl Into<String>) -> Rejection {
        Rejection {
            kind,
            words: words.into(),
        }
    }
}

/// How messages lie in a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// The body is the message.
    Whole,
    /// gRPC's length-prefixed messages.
    Grpc,
}

/// What makes a reply right.
#[derive(Debug)]
pub(crate) struct Judge {
    pub(crate) framing: Framing,
    /// Status wanted; None: any 2xx.
    pub(crate) status: Option<u16>,
    /// Content type wanted; None: any.
    pub(crate) content_type: Option<ContentType>,
    /// Replies may be compressed.
    pub(crate) gzip: bool,
    /// Length of the body wanted, in bytes.
    pub(crate) length: Option<u64>,
    /// What the contract says; None for services of strangers.
    pub(crate) expected: Option<Expected>,
    /// Decode every reply (work=decode).
    pub(crate) decode: bool,
    learned: AtomicU64,
}

impl Judge {
    pub(crate) fn new(framing: Framing, expected: Option<Expected>, decode: bool) -> Judge {
        Judge {
            framing,
            status: None,
            content_type: None,
            gzip: true,
            length: None,
            expected,
            decode,
            learned: AtomicU64::new(UNKNOWN),
        }
    }

    /// True when this reply is decoded and compared.
    #[inline]
    fn looks_inside(&self) -> bool {
        self.expected.is_some() && (self.decode || self.learned.load(Relaxed) == UNKNOWN)
    }

    #[inline]
    pub(crate) fn head(&self, state: &mut ReplyState, head: &Head) {
        state.head = *head;
        let wanted = match self.status {
            Some(status) => head.status == status,
            None => (200..300).contains(&head.status),
        };
        if !wanted {
            return state.fail(
                ErrorKind::Application,
                format!("HTTP status {}", head.status),
            );
        }
        if self
            .content_type
            .is_some_and(|wanted| wanted != head.content_type)
        {
            state.fail(
                ErrorKind::Wrong,
                format!("content-type is {:?}", head.content_type),
            );
        }
        if head.encoding == Encoding::Other || (head.encoding == Encoding::Gzip && !self.gzip) {
            state.fail(
                ErrorKind::Wrong,
                "an encoding of the message that was not asked for",
            );
        }
    }

    /// Takes the next bytes of the body; returns how many messages they ended.
    #[inline]
    pub(crate) fn body(&self, state: &mut ReplyState, chunk: &[u8]) -> u64 {
        if state.bad.is_some() {
            let room = SHOWN_BYTES.saturating_sub(state.kept.len());
            state
                .kept
                .extend_from_slice(&chunk[..chunk.len().min(room)]);
            return 0;
        }
        match self.framing {
            Framing::Whole => {
                self.whole(state, chunk);
                0
            }
            Framing::Grpc => self.framed(state, chunk),
        }
    }

    fn whole(&self, state: &mut ReplyState, chunk: &[u8]) {
        let offset = state.length as usize;
        state.length += chunk.len() as u64;
        if !self.looks_inside() {
            return;
        }
        let verbatim = self.expected.as_ref().and_then(Expected::verbatim);
        if let (Some(wanted), Encoding::Identity) = (verbatim, state.head.encoding) {
            return state.compare(wanted, offset, chunk);
        }
        let alone = state.kept.is_empty() && state.head.content_length == Some(chunk.len() as u64);
        if alone && !state.checked {
            state.checked = true;
            let compressed = state.head.encoding == Encoding::Gzip;
            self.check(state, 0, chunk, compressed);
        } else {
            state.keep(chunk);
        }
    }

    fn framed(&self, state: &mut ReplyState, mut chunk: &[u8]) -> u64 {
        let mut ended = 0;
        loop {
            match state.deframer.next(&mut chunk) {
                Ok(Some(Piece::Start { length, compressed })) => {
                    state.due = length;
                    state.compressed = compressed;
                    if compressed && state.head.encoding != Encoding::Gzip {
                        state.fail(
                            ErrorKind::Protocol,
                            "a compressed message without grpc-encoding (gRPC over HTTP/2, Compressed-Flag)",
                        );
                        return ended;
                    }
                }
                Ok(Some(Piece::Data(data))) => self.data(state, data),
                Ok(Some(Piece::End)) => {
                    ended += 1;
                    self.message_ended(state);
                }
                Ok(None) => return ended,
                Err(error) => {
                    state.fail(ErrorKind::Protocol, error.to_string());
                    return ended;
                }
            }
        }
    }

    fn data(&self, state: &mut ReplyState, data: &[u8]) {
        state.length += data.len() as u64;
        if !self.looks_inside() {
            return;
        }
        if state.kept.is_empty() && data.len() == state.due as usize {
            state.checked = true;
            self.check(state, state.messages as usize, data, state.compressed);
        } else {
            state.keep(data);
        }
    }

    fn message_ended(&self, state: &mut ReplyState) {
        if self.looks_inside() && !state.checked {
            let kept = std::mem::take(&mut state.kept);
            self.check(state, state.messages as usize, &kept, state.compressed);
            state.kept = kept;
        }
        state.kept.clear();
        state.checked = false;
        state.messages += 1;
    }

    /// Decodes a message in full and compares it.
    fn check(&self, state: &mut ReplyState, index: usize, message: &[u8], compressed: bool) {
        let Some(expected) = &self.expected else {
            return;
        };
        let verdict = match compressed {
            false => expected
                .check_message(index, message)
                .map_err(|error| error.to_string()),
            true => gzip::decompress(message, MESSAGE_BYTES_MAX as usize)
                .map_err(|error| error.to_string())
                .and_then(|plain| {
                    expected
                        .check_message(index, &plain)
                        .map_err(|error| error.to_string())
                }),
        };
        if let Err(words) = verdict {
            state.fail(ErrorKind::Wrong, words);
        }
    }

    /// The reply is complete as far as the protocol goes.
    #[inline]
    pub(crate) fn end(&self, state: &mut ReplyState, end: End) -> Result<(), Rejection> {
        if self.framing == Framing::Grpc {
            self.grpc_ended(state, end);
        } else if state.bad.is_none() && self.looks_inside() && !state.checked {
            let kept = std::mem::take(&mut state.kept);
            self.check(state, 0, &kept, state.head.encoding == Encoding::Gzip);
            state.kept = kept;
        }
        if state.bad.is_none() {
            self.length(state);
        }
        match state.bad.take() {
            None => Ok(()),
            Some(rejection) => Err(with_body(*rejection, &state.kept)),
        }
    }

    /// Status first: without a message, a status other than 0 is the answer.
    fn grpc_ended(&self, state: &mut ReplyState, end: End) {
        match end.grpc_status {
            Some(0) => {}
            Some(status) => {
                let message = end.grpc_message.as_deref().unwrap_or("");
                // An error may come before or after messages; it outranks what they said.
                state.bad = None;
                state.kept.clear();
                return state.fail(
                    ErrorKind::Application,
                    format!("grpc-status {status}: {message}"),
                );
            }
            None => {
                return state.fail(
                    ErrorKind::Protocol,
                    "trailers without grpc-status (gRPC over HTTP/2, Responses)",
                );
            }
        }
        if let Err(error) = state.deframer.finish() {
            return state.fail(ErrorKind::Protocol, error.to_string());
        }
        let wanted = self.expected.as_ref().map(Expected::messages);
        if wanted.is_some_and(|wanted| wanted != state.messages as usize) {
            let words = format!(
                "{} messages, the contract says {}",
                state.messages,
                wanted.unwrap_or(0)
            );
            state.fail(ErrorKind::Wrong, words);
        }
    }

    /// The length, where one was given, or learned from a reply that was right.
    #[inline]
    fn length(&self, state: &mut ReplyState) {
        let learned = self.learned.load(Relaxed);
        let wanted = match (self.length, learned) {
            (Some(length), _) => length,
            (None, UNKNOWN) => {
                self.learned.store(state.length, Relaxed);
                return;
            }
            (None, learned) => learned,
        };
        // A full decode has judged more than the length, and another length
        // may be right (other white space); frame work has only the length.
        let decoded = self.decode && self.expected.is_some();
        let stranger = self.expected.is_none() && self.length.is_none();
        if state.length != wanted && !decoded && !stranger {
            state.fail(
                ErrorKind::Wrong,
                format!("{} bytes instead of {wanted}", state.length),
            );
        }
    }
}

/// The rejection with the start of the body that came with it, escaped.
fn with_body(mut rejection: Rejection, kept: &[u8]) -> Rejection {
    if rejection.kind == ErrorKind::Application && !kept.is_empty() {
        let shown = &kept[..kept.len().min(SHOWN_BYTES)];
        rejection.words = format!("{}: {}", rejection.words, shown.escape_ascii());
    }
    rejection
}

#[cfg(test)]
mod tests {
    use wirelab_contract::{Operation, workload};
    use wirelab_wire::codec::Codec;
    use wirelab_wire::grpc::frame;

    use super::*;

    fn expected(codec: Codec, operation: Operation, bytes: u64) -> Expected {
        Expected::of(codec, &workload::call(operation, bytes, 10, 0).unwrap()).unwrap()
    }

    fn text(decode: bool) -> Judge {
        Judge::new(
            Framing::Whole,
            Some(expected(Codec::Text, Operation::Hello, 14)),
            decode,
        )
    }

    fn reply(judge: &Judge, chunks: &[&[u8]], end: End) -> Result<(), Rejection> {
        encoded_reply(judge, Encoding::Identity, chunks, end)
    }

    fn encoded_reply(
        judge: &Judge,
        encoding: Encoding,
        chunks: &[&[u8]],
        end: End,
    ) -> Result<(), Rejection> {
        let mut state = ReplyState::default();
        let length = chunks.iter().map(|chunk| chunk.len() as u64).sum();
        judge.head(
            &mut state,
            &Head {
                status: 200,
                content_length: Some(length),
                encoding,
                ..Head::default()
            },
        );
        chunks.iter().for_each(|chunk| {
            judge.body(&mut state, chunk);
        });
        judge.end(&mut state, end)
    }

    fn kind(verdict: Result<(), Rejection>) -> Option<ErrorKind> {
        verdict.err().map(|rejection| rejection.kind)
    }

    fn fine() -> End {
        End {
            grpc_status: Some(0),
            grpc_message: None,
        }
    }

    #[test]
    fn decode_finds_one_changed_letter_however_the_body_comes() {
        let judge = text(true);
        assert_eq!(reply(&judge, &[b"Hello, wirelab"], End::default()), Ok(()));
        assert_eq!(
            reply(&judge, &[b"Hello,", b" wirelab"], End::default()),
            Ok(())
        );
        assert_eq!(
            kind(reply(&judge, &[b"Hello, wirelaB"], End::default())),
            Some(ErrorKind::Wrong)
        );
        assert_eq!(
            kind(reply(&judge, &[b"Hello", b", wirelaB"], End::default())),
            Some(ErrorKind::Wrong)
        );
        assert_eq!(
            kind(reply(&judge, &[], End::default())),
            Some(ErrorKind::Wrong)
        );
    }

    #[test]
    fn frame_learns_the_length_from_a_reply_that_was_right() {
        let judge = text(false);
        assert_eq!(
            kind(reply(&judge, &[b"Hello, wirela"], End::default())),
            Some(ErrorKind::Wrong)
        );
        assert_eq!(reply(&judge, &[b"Hello, wirelab"], End::default()), Ok(()));
        assert_eq!(
            kind(reply(&judge, &[b"Hello, wirela"], End::default())),
            Some(ErrorKind::Wrong)
        );
        // Content is not looked at any more: that is what work=frame says.
        assert_eq!(reply(&judge, &[b"Hello, wirelaB"], End::default()), Ok(()));
    }

    #[test]
    fn grpc_needs_status_messages_and_content() {
        let judge = Judge::new(
            Framing::Grpc,
            Some(expected(Codec::Protobuf, Operation::Hello, 14)),
            true,
        );
        let right = frame(b"\x0a\x0eHello, wirelab", false);
        assert_eq!(reply(&judge, &[&right], fine()), Ok(()));
        assert_eq!(
            reply(&judge, &[&right[..3], &right[3..9], &right[9..]], fine()),
            Ok(())
        );
        let wrong = frame(b"\x0a\x0eHello, wirelaB", false);
        assert_eq!(
            kind(reply(&judge, &[&wrong], fine())),
            Some(ErrorKind::Wrong)
        );
        assert_eq!(
            kind(reply(&judge, &[&right], End::default())),
            Some(ErrorKind::Protocol)
        );
        let failed = End {
            grpc_status: Some(2),
            grpc_message: Some("no".into()),
        };
        assert_eq!(
            kind(reply(&judge, &[], failed)),
            Some(ErrorKind::Application)
        );
        assert_eq!(kind(reply(&judge, &[], fine())), Some(ErrorKind::Wrong));
        assert_eq!(
            kind(reply(&judge, &[&right, &right], fine())),
            Some(ErrorKind::Wrong)
        );
        assert_eq!(
            kind(reply(&judge, &[&right[..7]], fine())),
            Some(ErrorKind::Protocol)
        );
    }

    #[test]
    fn compressed_messages_are_judged_by_what_is_in_them() {
        let judge = Judge::new(
            Framing::Grpc,
            Some(expected(Codec::Protobuf, Operation::Hello, 14)),
            true,
        );
        let right = frame(&gzip::compress(b"\x0a\x0eHello, wirelab"), true);
        assert_eq!(
            encoded_reply(&judge, Encoding::Gzip, &[&right], fine()),
            Ok(())
        );
        let wrong = frame(&gzip::compress(b"\x0a\x0eHello, wirelaB"), true);
        assert_eq!(
            kind(encoded_reply(&judge, Encoding::Gzip, &[&wrong], fine())),
            Some(ErrorKind::Wrong)
        );
    }

    #[test]
    fn compression_is_taken_only_as_asked_for_and_as_announced() {
        let mut judge = Judge::new(
            Framing::Grpc,
            Some(expected(Codec::Protobuf, Operation::Hello, 14)),
            true,
        );
        let right = frame(&gzip::compress(b"\x0a\x0eHello, wirelab"), true);
        assert_eq!(
            kind(reply(&judge, &[&right], fine())),
            Some(ErrorKind::Protocol)
        );
        assert_eq!(
            encoded_reply(&judge, Encoding::Gzip, &[&right], fine()),
            Ok(())
        );
        judge.gzip = false;
        assert_eq!(
            kind(encoded_reply(&judge, Encoding::Gzip, &[&right], fine())),
            Some(ErrorKind::Wrong)
        );
    }

    #[test]
    fn streams_are_judged_message_by_message() {
        let judge = Judge::new(
            Framing::Grpc,
            Some(expected(Codec::Protobuf, Operation::Download, 25)),
            true,
        );
        let data = wirelab_contract::texts::pattern(25);
        let message = |part: &[u8]| frame(&[&[0x0a, part.len() as u8], part].concat(), false);
        let all: Vec<Vec<u8>> = data.chunks(10).map(message).collect();
        let [a, b, c] = [&all[0][..], &all[1][..], &all[2][..]];
        assert_eq!(reply(&judge, &[a, b, c], fine()), Ok(()));
        assert_eq!(kind(reply(&judge, &[a, b], fine())), Some(ErrorKind::Wrong));
        assert_eq!(
            kind(reply(&judge, &[b, a, c], fine())),
            Some(ErrorKind::Wrong)
        );
    }

    #[test]
    fn an_error_shows_what_the_service_said_escaped() {
        let judge = text(true);
        let mut state = ReplyState::default();
        judge.head(
            &mut state,
            &Head {
                status: 500,
                ..Head::default()
            },
        );
        judge.body(&mut state, b"<b>\x00oops");
        let rejection = judge.end(&mut state, End::default()).unwrap_err();
        assert_eq!(rejection.kind, ErrorKind::Application);
        assert_eq!(rejection.words, "HTTP status 500: <b>\\x00oops");
    }
}
