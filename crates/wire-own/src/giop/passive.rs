//! Headers of requests and replies for a passive reader, which sees both
//! directions of a connection and is party to neither.

use super::message::{HEADER_BYTES, Kind, Version};
use super::requests::{ClientMessage, Content};
use super::service_contexts;
use crate::cdr::{ByteOrder, Error, Reader};

/// The fields of a Request before its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestHead {
    /// Its number.
    pub id: u32,
    /// False for one-way calls.
    pub response_expected: bool,
    /// The operation to perform.
    pub operation: String,
    /// Bytes between the message's header and the arguments.
    pub bytes: usize,
}

/// The fields of a Reply before its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyHead {
    /// The number of the request.
    pub id: u32,
    /// As in the message: 0 `NO_EXCEPTION`, 1 `USER_EXCEPTION`, 2 `SYSTEM_EXCEPTION`, …
    pub status: u32,
    /// Bytes between the message's header and the result.
    pub bytes: usize,
}

/// Reads the header of a Request; `content` is what follows the message's
/// header, or the beginning of it.
///
/// # Errors
/// When it is malformed, or does not end within `content`.
pub fn request(version: Version, order: ByteOrder, content: &[u8]) -> Result<RequestHead, Error> {
    let content = Content {
        version,
        order,
        kind: Kind::Request,
        bytes: content.to_vec(),
        // A capture may hold the first fragment alone; headers are short enough to lie
        // in it.
        breaks: Vec::new(),
    };
    match content.head(&mut None)? {
        ClientMessage::Request(request) => Ok(RequestHead {
            id: request.reply_to.id,
            response_expected: request.response_expected,
            bytes: request.body.at.min(content.bytes.len()),
            operation: request.operation,
        }),
        _ => Err(Error::Unsupported("a request that is none")),
    }
}

/// Reads the header of a Reply; `content` is what follows the message's
/// header, or the beginning of it.
///
/// # Errors
/// When it is malformed, or does not end within `content`.
pub fn reply(version: Version, order: ByteOrder, content: &[u8]) -> Result<ReplyHead, Error> {
    let mut reader = Reader::new(order, content, HEADER_BYTES);
    let reader = &mut reader;
    let (id, status) = if version == Version::V12 {
        let head = (reader.ulong()?, reader.ulong()?);
        // 1.2 has id, status, contexts; 1.0 and 1.1 have contexts, id, status (section
        // 9.4.3.1).
        service_contexts::read(reader)?;
        // Aligned only where there is a body (section 9.4.3.2).
        reader.align(8);
        head
    } else {
        service_contexts::read(reader)?;
        (reader.ulong()?, reader.ulong()?)
    };
    let bytes = reader.position().min(content.len());
    Ok(ReplyHead { id, status, bytes })
}
