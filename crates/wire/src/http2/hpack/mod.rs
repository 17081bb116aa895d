//! HPACK, the compression of field sections in HTTP/2 (RFC 7541).
//!
//! Both directions keep one [`Table`]; its version changes with every insertion,
//! eviction and resize. A block that changed nothing means the same until the
//! version changes, so users may keep its bytes (to send again) or its
//! meaning (to recognise again) and skip this module altogether. The code here
//! is therefore written to be plain; the speed comes from not being called.

mod decoder;
mod encoder;
mod huffman;
mod integer;
mod table;

pub use decoder::{DecodeError, Decoder};
pub use encoder::{Encoder, Huffman, Indexing};
pub use table::Table;

/// Dynamic table size before SETTINGS change it, bytes (RFC 9113 section 6.5.2).
pub const TABLE_SIZE_DEFAULT: u32 = 4_096;
