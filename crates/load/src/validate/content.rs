//! What is in a message: decompressed, decoded, compared.

use std::borrow::Cow;

use wirelab_contract::Reply;
use wirelab_wire::cdr::ByteOrder;
use wirelab_wire::codec::{Expected, Mismatch};
use wirelab_wire::{Encoding, gzip, zstd};

use super::kept_values;
use super::{Expectation, Validator};
use crate::call::error::ErrorKind;
use crate::call::rejection::printable;
use crate::call::rejection::{MESSAGE_BYTES_MAX, Rejection};
use crate::call::reply::ReplyState;
use crate::connection::tokens::Tokens;

impl Validator {
    /// Decodes a message in full and compares it.
    pub(super) fn check(
        &self,
        state: &mut ReplyState,
        index: usize,
        message: &[u8],
        compressed: bool,
        tokens: Option<&mut Tokens>,
    ) {
        let encoding = match compressed {
            true => state.head.encoding,
            false => Encoding::Identity,
        };
        let verdict = plain(message, encoding)
            .map_err(|reason| Rejection::new(ErrorKind::Wrong, reason))
            .and_then(|message| {
                self.check_plain(state, index, &message, tokens)?;
                match index {
                    0 => kept_values::take(&self.kept, state, &message),
                    _ => Ok(()),
                }
            });
        if let Err(rejection) = verdict {
            state.reject(rejection);
        }
    }

    fn check_plain(
        &self,
        state: &mut ReplyState,
        index: usize,
        message: &[u8],
        tokens: Option<&mut Tokens>,
    ) -> Result<(), Rejection> {
        let order = state.head.byte_order;
        match (&self.expectation, tokens) {
            (Expectation::Anything, _) => Ok(()),
            (Expectation::Counted, _) => {
                state.fold(message);
                Ok(())
            }
            (Expectation::Declared(declared), _) => declared.check(message).map_err(|reason| {
                let rejection = Rejection::new(ErrorKind::Wrong, reason);
                match declared.show(message) {
                    Some(text) => rejection.with_text(&text),
                    None => rejection.with_body(message),
                }
            }),
            (Expectation::Items(rule), _) => {
                let items = state.items.as_mut().expect("begun with the stream");
                rule.take(items, message)
            }
            (Expectation::Same(expected), None) => expected
                .check_ordered(order, index, message)
                .map_err(reject),
            (Expectation::Same(expected), Some(tokens)) if self.accepts_repeats => {
                self.read_unless_repeated(expected, order, message, tokens)
            }
            (Expectation::Same(expected), tokens) => {
                read(expected, order, message, tokens).map(drop)
            }
            (Expectation::EachCall { .. }, tokens) => {
                let varied = state.varied.as_mut();
                let varied = varied.expect("a call that differs from others was made");
                let expected = varied.expected.as_deref();
                let expected = expected.expect("with what its reply must say");
                varied.read = Some(read(expected, order, message, tokens)?);
                Ok(())
            }
        }
    }

    /// Reads a reply of tokens, unless it is to the byte the last right one of its step and
    /// the caches are as they were: then it says the same, and changes nothing in them.
    fn read_unless_repeated(
        &self,
        expected: &Expected,
        order: Option<ByteOrder>,
        message: &[u8],
        tokens: &mut Tokens,
    ) -> Result<(), Rejection> {
        let before = tokens.decoder.insertions();
        let in_sync = !tokens.decoder.out_of_sync();
        if in_sync && tokens.reply(self.step).find_at(before) == Some(message) {
            return Ok(());
        }
        read(expected, order, message, Some(tokens))?;
        let after = tokens.decoder.insertions();
        tokens.reply(self.step).keep(message, before, after);
        Ok(())
    }
}

/// Reads the only message of a reply, of tokens by their connection's caches.
fn read(
    expected: &Expected,
    order: Option<ByteOrder>,
    message: &[u8],
    tokens: Option<&mut Tokens>,
) -> Result<Reply, Rejection> {
    let Some(tokens) = tokens else {
        return expected.read(order, message).map_err(reject);
    };
    let read = expected.read_tokens(&mut tokens.decoder, message);
    read.map_err(reject)
}

/// A fault is the service's own word, everything else is our judgement of it.
fn reject(mismatch: Mismatch) -> Rejection {
    match mismatch {
        Mismatch::Fault { code, text, .. } => {
            let reason = format!("fault {code}: {}", printable(&text));
            Rejection::new(ErrorKind::Application, reason)
        }
        other => Rejection::new(ErrorKind::Wrong, other.to_string()),
    }
}

/// The message without its compression, within the bound for messages.
pub(super) fn plain(message: &[u8], encoding: Encoding) -> Result<Cow<'_, [u8]>, String> {
    let limit = MESSAGE_BYTES_MAX as usize;
    let plain = match encoding {
        Encoding::Identity => return Ok(Cow::Borrowed(message)),
        Encoding::Gzip => gzip::decompress(message, limit).map_err(|error| error.to_string()),
        Encoding::Zstd => zstd::decompress(message, limit).map_err(|error| error.to_string()),
        Encoding::Other => Err("an encoding that was not asked for".into()),
    };
    plain.map(Cow::Owned)
}
