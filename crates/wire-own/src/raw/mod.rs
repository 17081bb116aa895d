//! Messages over TCP with nothing but their length in front
//! (contracts/README.md, Raw): decimal digits, a line feed, the content.
//!
//! [`Raw`] is the client's session, [`Deframer`] finds a server's requests,
//! [`write()`] writes a message, [`Frames`] finds messages without keeping them. A
//! one-way client learns from the service's report connection what has been processed:
//! [`report`].

mod client;
mod framing;
mod options;
pub mod report;

pub use client::Raw;
pub use framing::{Deframer, Frames, Piece, Prefix, write};
pub use options::{Options, OptionsError, RequestError, check_request};

/// Content of a message at most, 128 MiB: 64 MiB of data in base64, and room
/// for the tags of 100,000 records.
pub const CONTENT_BYTES_MAX: usize = 128 << 20;

/// Digits that a length may have.
// As many as `CONTENT_BYTES_MAX`, 134217728, has: a longer number is refused before it
// is read to its end.
const DIGITS_MAX: usize = 9;
