//! What is in a message: decompressed, decoded, compared.

use std::borrow::Cow;

use wirelab_wire::{Encoding, gzip, zstd};

use super::{Judge, MESSAGE_BYTES_MAX, Wanted};
use crate::recorder::ErrorKind;
use crate::reply::ReplyState;

impl Judge {
    /// Decodes a message in full and compares it.
    pub(super) fn check(
        &self,
        state: &mut ReplyState,
        index: usize,
        message: &[u8],
        compressed: bool,
    ) {
        let encoding = match compressed {
            true => state.head.encoding,
            false => Encoding::Identity,
        };
        let verdict =
            plain(message, encoding).and_then(|message| self.check_plain(state, index, &message));
        if let Err(words) = verdict {
            state.fail(ErrorKind::Wrong, words);
        }
    }

    fn check_plain(
        &self,
        state: &mut ReplyState,
        index: usize,
        message: &[u8],
    ) -> Result<(), String> {
        let order = state.head.byte_order;
        match &self.wanted {
            Wanted::Anything => Ok(()),
            Wanted::Same(expected) => expected
                .check_ordered(order, index, message)
                .map_err(|error| error.to_string()),
            Wanted::EachCall { .. } => {
                let varied = state.varied.as_mut().ok_or("nothing was asked")?;
                let expected = varied.expected.as_ref().ok_or("nothing was expected")?;
                let reply = expected.read(order, message).map_err(|e| e.to_string())?;
                varied.read = Some(reply);
                Ok(())
            }
        }
    }
}

/// The message without its compression, within the bound for messages.
pub(super) fn plain(message: &[u8], encoding: Encoding) -> Result<Cow<'_, [u8]>, String> {
    let limit = MESSAGE_BYTES_MAX as usize;
    match encoding {
        Encoding::Identity => Ok(Cow::Borrowed(message)),
        Encoding::Gzip => match gzip::decompress(message, limit) {
            Ok(plain) => Ok(Cow::Owned(plain)),
            Err(error) => Err(error.to_string()),
        },
        Encoding::Zstd => match zstd::decompress(message, limit) {
            Ok(plain) => Ok(Cow::Owned(plain)),
            Err(error) => Err(error.to_string()),
        },
        Encoding::Other => Err("an encoding that was not asked for".into()),
    }
}
