//! Replies that are streams of messages, sans-IO: where a message begins and ends in the
//! bytes of a body. Those of gRPC are in [`crate::grpc`].
//!
//! Parsers take a chunk of any length and hold one message at most, up to the bound that they
//! were made with: a longer one is an error before memory is taken for it.

pub mod chat;
mod lines;
mod sse;
mod unpacker;

use std::fmt::Display;

pub use lines::Lines;
pub use sse::Events;
pub use unpacker::Unpacker;

use crate::ProtocolError;

/// Memory of a message that is kept for the next one, bytes.
const KEPT_BYTES_MAX: usize = 4 << 10;

/// Ready for the next message, without the memory of a long one.
fn clear(buffer: &mut Vec<u8>) {
    buffer.clear();
    if buffer.capacity() > KEPT_BYTES_MAX {
        *buffer = Vec::new();
    }
}

fn too_long(most: usize) -> ProtocolError {
    ProtocolError {
        rule: "a message stays within the largest size accepted",
        found: format!("more than {most} bytes"),
    }
}

fn not_text(source: &'static str, bytes: &[u8]) -> ProtocolError {
    ProtocolError {
        rule: source,
        found: format!("a line that is not: {}", crate::excerpt::excerpt(bytes)),
    }
}

fn violation(rule: &'static str, found: impl Display) -> ProtocolError {
    ProtocolError {
        rule,
        found: found.to_string(),
    }
}
