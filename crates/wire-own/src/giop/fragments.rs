//! A message taken apart (CORBA 3.3 part 2, section 9.4.9).

use super::header::{HEADER_BYTES, Kind, MessageHeader, Version};

/// Bytes of a GIOP 1.2 Fragment before its content: header and request id.
const FRAGMENT_HEAD_BYTES: usize = HEADER_BYTES + 4;

/// One GIOP 1.2 message in fragments of at most `bytes_max` bytes each, headers
/// included. Returns it as it is where it fits, or cannot be fragmented.
///
/// # Panics
/// When `bytes_max` is not a multiple of 8 and at least 24: fragments but the
/// last are multiples of 8 bytes, and the first holds the request id.
#[must_use]
pub fn fragment(message: &[u8], bytes_max: usize) -> Vec<Vec<u8>> {
    assert!(
        bytes_max >= 24 && bytes_max.is_multiple_of(8),
        "fragments of {bytes_max} bytes"
    );
    let whole = vec![message.to_vec()];
    let Some((Ok(header), content)) = message
        .split_first_chunk()
        .map(|(header, content)| (MessageHeader::parse(header), content))
    else {
        return whole;
    };
    let fragmentable = matches!(header.kind, Kind::Request | Kind::Reply);
    if message.len() <= bytes_max || !fragmentable || header.version != Version::V12 {
        return whole;
    }
    let (id, _) = content.split_at(4);
    let (first, rest) = message.split_at(bytes_max);
    let mut messages = vec![first.to_vec()];
    for piece in rest.chunks(bytes_max - FRAGMENT_HEAD_BYTES) {
        messages.push([&[0; HEADER_BYTES], id, piece].concat());
    }
    let last = messages.len() - 1;
    for (place, message) in messages.iter_mut().enumerate() {
        let header = MessageHeader {
            more: place < last,
            kind: if place == 0 {
                header.kind
            } else {
                Kind::Fragment
            },
            size: (message.len() - HEADER_BYTES) as u32,
            ..header
        };
        message[..HEADER_BYTES].copy_from_slice(&header.bytes());
    }
    messages
}
