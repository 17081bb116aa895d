//! The bytes of a body, as they come.

use wirelab_wire::Encoding;
use wirelab_wire::grpc::{Frames, Piece};

use super::content::plain;
use super::{Expectation, Validator};
use crate::call::error::ErrorKind;
use crate::call::rejection::{Rejection, printable};
use crate::call::reply::ReplyState;
use crate::connection::tokens::Tokens;

/// Bytes of an unwanted body that are kept, to be read or shown.
const ERROR_BYTES_MAX: usize = 16 << 10;

impl Validator {
    /// Takes the next bytes of the body; returns how many messages they ended.
    #[inline]
    pub(crate) fn body(
        &self,
        state: &mut ReplyState,
        chunk: &[u8],
        tokens: Option<&mut Tokens>,
    ) -> u64 {
        // The verdict is final. The bytes are kept for the error's text.
        if state.bad.is_some() {
            let room = ERROR_BYTES_MAX.saturating_sub(state.kept.len());
            state
                .kept
                .extend_from_slice(&chunk[..chunk.len().min(room)]);
            return 0;
        }
        match self.frames {
            None => {
                self.whole(state, chunk, tokens);
                0
            }
            Some(frames) => self.read_framed(frames, state, chunk),
        }
    }

    fn whole(&self, state: &mut ReplyState, chunk: &[u8], tokens: Option<&mut Tokens>) {
        let offset = state.length as usize;
        state.length += chunk.len() as u64;
        if let Expectation::Declared(declared) = &self.expectation
            && declared.is_beyond(state)
        {
            state.kept.extend_from_slice(chunk);
            return;
        }
        if !self.decodes(state) {
            if let Expectation::Declared(declared) = &self.expectation {
                declared.stream(state, chunk);
            }
            return;
        }
        if let (Some(expected), Encoding::Identity) = (self.verbatim(), state.head.encoding) {
            return state.compare(expected, offset, chunk);
        }
        // The whole body in one chunk is checked where it lies; most replies come so.
        let alone = state.kept.is_empty() && state.head.content_length == Some(chunk.len() as u64);
        if alone && !state.checked {
            state.checked = true;
            self.check(state, 0, chunk, true, tokens);
        } else {
            state.keep(chunk);
        }
    }

    /// The body of a right reply, where the codec leaves no choice.
    fn verbatim(&self) -> Option<&[u8]> {
        match &self.expectation {
            Expectation::Same(expected) => expected.verbatim(),
            _ => None,
        }
    }

    fn read_framed(&self, frames: Frames, state: &mut ReplyState, mut chunk: &[u8]) -> u64 {
        let mut ended = 0;
        while self.next_framed(frames, state, &mut chunk) {
            ended += 1;
        }
        ended
    }

    /// Takes bytes off the front of `chunk` up to the end of the next message; false when
    /// `chunk` is used up before, or is not what it should be.
    pub(super) fn next_framed(
        &self,
        frames: Frames,
        state: &mut ReplyState,
        chunk: &mut &[u8],
    ) -> bool {
        loop {
            match state.deframer.next(chunk) {
                Ok(Some(Piece::Start {
                    length,
                    compressed,
                    is_end,
                })) => {
                    state.due = length;
                    state.compressed = compressed;
                    state.is_ending = is_end;
                    if compressed && state.head.encoding == Encoding::Identity {
                        state.fail(ErrorKind::Protocol, frames.rule_of_compression());
                        return false;
                    }
                }
                Ok(Some(Piece::Data(data))) if state.is_ending => state.keep(data),
                Ok(Some(Piece::Data(data))) => self.data(state, data),
                Ok(Some(Piece::End)) if state.is_ending => {
                    if let Err(rejection) = take_end_message(frames, state) {
                        state.reject(rejection);
                        return false;
                    }
                }
                Ok(Some(Piece::End)) => {
                    self.message_ended(state);
                    return true;
                }
                Ok(None) => return false,
                Err(error) => {
                    state.fail(ErrorKind::Protocol, error.to_string());
                    return false;
                }
            }
        }
    }

    fn data(&self, state: &mut ReplyState, data: &[u8]) {
        state.length += data.len() as u64;
        if !self.decodes(state) {
            return;
        }
        if state.kept.is_empty() && data.len() == state.due as usize {
            state.checked = true;
            self.check(state, state.messages as usize, data, state.compressed, None);
        } else {
            state.keep(data);
        }
    }

    fn message_ended(&self, state: &mut ReplyState) {
        if self.decodes(state) && !state.checked {
            let kept = std::mem::take(&mut state.kept);
            self.check(
                state,
                state.messages as usize,
                &kept,
                state.compressed,
                None,
            );
            state.kept = kept;
        }
        state.kept.clear();
        state.checked = false;
        state.messages += 1;
        // Of a longer stream only the first messages are in it, which may be the same.
        if !state.is_comparable() {
            state.hash = 0;
        }
    }
}

/// The message that has the outcome of the call.
fn take_end_message(frames: Frames, state: &mut ReplyState) -> Result<(), Rejection> {
    let protocol = |reason| Rejection::new(ErrorKind::Protocol, reason);
    let encoding = match state.compressed {
        true => state.head.encoding,
        false => Encoding::Identity,
    };
    let message = std::mem::take(&mut state.kept);
    let end = plain(&message, encoding).map_err(protocol)?;
    let outcome = frames.read_end(&end);
    match outcome.map_err(|error| protocol(error.to_string()))? {
        None => Ok(()),
        Some(error) => Err(Rejection::new(ErrorKind::Application, printable(&error))),
    }
}
