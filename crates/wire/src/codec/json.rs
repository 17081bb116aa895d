//! Replies in JSON (RFC 8259), by the mapping of contracts/README.md.

use serde::de::Deserialize;
use wirelab_contract::json::Object;

use super::{Codec, Mismatch};

/// Parses one whole JSON document into a message.
///
/// The document is proven to be UTF-8 once (RFC 8259 section 8.1), strings
/// that are passed over included.
pub(super) fn parse<'a, M: Deserialize<'a>>(body: &'a [u8]) -> Result<M, Mismatch> {
    let text = std::str::from_utf8(body).map_err(|error| {
        Mismatch::malformed(
            Codec::Json,
            error.valid_up_to(),
            "not UTF-8 (RFC 8259 section 8.1)",
        )
    })?;
    let parsed = serde_json::from_str::<Object<M>>(text);
    parsed.map(|object| object.0).map_err(|error| {
        let offset = offset_of(body, error.line(), error.column());
        Mismatch::malformed(Codec::Json, offset, &error.to_string())
    })
}

/// The offset of a position given by line and column, both counted from 1.
fn offset_of(body: &[u8], line: usize, column: usize) -> usize {
    let ends = memchr::memchr_iter(b'\n', body);
    let line_start = line
        .checked_sub(2)
        .and_then(|before| ends.into_iter().nth(before));
    line_start.map_or(0, |end| end + 1) + column.saturating_sub(1)
}
