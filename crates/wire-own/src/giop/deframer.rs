//! Finds the messages in what a server receives.

use super::message::{
    FRAGMENTS_MAX, HEADER_BYTES, Kind, MESSAGE_BYTES_MAX, MessageHeader, Version,
};
use super::requests::{ClientMessage, Content};
use crate::ProtocolError;
use crate::cdr::{Break, ByteOrder};

/// Messages of one connection that may wait for fragments at a time.
// Each new message is compared with all open ones, so that the bound also limits time.
const OPEN_MAX: usize = 64;

/// Room made for a message before its bytes are there.
const RESERVED_BYTES_MAX: usize = 64 << 10;

/// Finds the messages that a server receives on one connection, in pieces of
/// any size, whole or in fragments. It holds at most [`MESSAGE_BYTES_MAX`]
/// bytes of messages that are not complete, whatever their headers announce.
#[derive(Debug, Default)]
pub struct Deframer {
    prefix: [u8; HEADER_BYTES],
    filled: usize,
    /// The message under way, once its header is known.
    current: Option<(MessageHeader, Vec<u8>)>,
    /// Messages that wait for fragments.
    open: Vec<Open>,
}

#[derive(Debug)]
struct Open {
    /// Of GIOP 1.2; in 1.1 there is one such message at a time.
    id: Option<u32>,
    fragments: u32,
    content: Content,
}

impl Deframer {
    /// For a fresh connection.
    #[must_use]
    pub fn new() -> Deframer {
        Deframer::default()
    }

    /// True between messages: a connection that ends here lost nothing.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.filled == 0 && self.current.is_none() && self.open.is_empty()
    }

    /// Takes the next message off the front of `input`; `None` when `input` is
    /// used up.
    ///
    /// # Errors
    /// When what comes is not GIOP from a client. It should be answered with a
    /// MessageError, and the connection closed.
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Option<ClientMessage>, ProtocolError> {
        loop {
            if self.current.is_none() && !self.take_header(input)? {
                return Ok(None);
            }
            let Some((header, content)) = self.take_content(input) else {
                return Ok(None);
            };
            if let Some(content) = self.join(&header, content)? {
                return Ok(Some(content.parse()));
            }
        }
    }

    /// Returns whether the header is whole.
    fn take_header(&mut self, input: &mut &[u8]) -> Result<bool, ProtocolError> {
        let (taken, rest) = input.split_at(input.len().min(HEADER_BYTES - self.filled));
        *input = rest;
        self.prefix[self.filled..][..taken.len()].copy_from_slice(taken);
        self.filled += taken.len();
        if self.filled < HEADER_BYTES {
            return Ok(false);
        }
        // The prefix is free for the next header from here on.
        self.filled = 0;
        let header = MessageHeader::parse(&self.prefix)?;
        self.check(&header)?;
        // The announced size is not trusted: memory follows the bytes that come.
        let content = Vec::with_capacity(RESERVED_BYTES_MAX.min(header.size as usize));
        self.current = Some((header, content));
        Ok(true)
    }

    fn check(&self, header: &MessageHeader) -> Result<(), ProtocolError> {
        if matches!(header.kind, Kind::Reply | Kind::LocateReply) {
            return Err(ProtocolError {
                rule: "a client sends requests (CORBA 3.3-2, 9.4.1)",
                found: format!("{:?}", header.kind),
            });
        }
        // Fragments of all open messages share one bound.
        let open: usize = self.open.iter().map(|open| open.content.bytes.len()).sum();
        if open + header.size as usize > MESSAGE_BYTES_MAX {
            return Err(ProtocolError {
                rule: "messages in fragments stay within the largest size accepted",
                found: format!("{} bytes more than {open}", header.size),
            });
        }
        Ok(())
    }

    /// Returns the message under way once it is whole.
    fn take_content(&mut self, input: &mut &[u8]) -> Option<(MessageHeader, Vec<u8>)> {
        let (header, content) = self.current.as_mut()?;
        let missing = header.size as usize - content.len();
        let (taken, rest) = input.split_at(input.len().min(missing));
        *input = rest;
        content.extend_from_slice(taken);
        if taken.len() < missing {
            return None;
        }
        self.current.take()
    }

    /// Returns a message that needs no more fragments.
    fn join(
        &mut self,
        header: &MessageHeader,
        bytes: Vec<u8>,
    ) -> Result<Option<Content>, ProtocolError> {
        // Fragments of several messages may alternate in GIOP 1.2, where each repeats
        // its request id; in 1.1 they have none, so that one message at a time can come
        // in fragments (section 9.4.9).
        if header.kind == Kind::Fragment {
            return self.append(header, &bytes);
        }
        if header.kind == Kind::CancelRequest {
            let id = request_id(header.order, &bytes);
            // The client gave up a request whose fragments have not all come.
            self.open.retain(|open| open.id.is_none() || open.id != id);
        }
        let content = Content {
            version: header.version,
            order: header.order,
            kind: header.kind,
            bytes,
            breaks: Vec::new(),
        };
        if !header.more {
            return Ok(Some(content));
        }
        let id = match header.version {
            // Only 1.2 repeats the request id in every Fragment (section 9.4.9).
            Version::V12 => request_id(header.order, &content.bytes),
            Version::V10 | Version::V11 => None,
        };
        let is_known = self.open.iter().any(|open| open.id == id);
        let lacks_id = id.is_none() && header.version == Version::V12;
        if is_known || lacks_id || self.open.len() == OPEN_MAX {
            return Err(ProtocolError {
                rule: "messages in fragments have numbers of their own, and are few \
                       (CORBA 3.3-2, 9.4.9)",
                found: format!("number {id:?} next to {} others", self.open.len()),
            });
        }
        self.open.push(Open {
            id,
            fragments: 0,
            content,
        });
        Ok(None)
    }

    fn append(
        &mut self,
        header: &MessageHeader,
        bytes: &[u8],
    ) -> Result<Option<Content>, ProtocolError> {
        let (id, more) = match header.version {
            Version::V12 => (
                request_id(header.order, bytes),
                bytes.get(4..).unwrap_or(&[]),
            ),
            Version::V10 | Version::V11 => (None, bytes),
        };
        let same = |open: &Open| {
            open.id == id
                && open.content.version == header.version
                && open.content.order == header.order
                && open.fragments < FRAGMENTS_MAX
        };
        let Some(place) = self.open.iter().position(same) else {
            return Err(ProtocolError {
                rule: "a Fragment continues a message of its number, version and byte order \
                       (CORBA 3.3-2, 9.4.9)",
                found: format!("a Fragment for number {id:?}"),
            });
        };
        self.open[place].append(more);
        Ok((!header.more).then(|| self.open.swap_remove(place).content))
    }
}

impl Open {
    fn append(&mut self, bytes: &[u8]) {
        self.fragments += 1;
        // GIOP 1.1: content of a Fragment is aligned from that Fragment's own header.
        if self.id.is_none() {
            self.content.breaks.push(Break {
                at: self.content.bytes.len(),
                alignment: HEADER_BYTES,
            });
        }
        self.content.bytes.extend_from_slice(bytes);
    }
}

/// The number that a GIOP 1.2 message's content begins with.
fn request_id(order: ByteOrder, content: &[u8]) -> Option<u32> {
    let number = *content.first_chunk()?;
    Some(match order {
        ByteOrder::Big => u32::from_be_bytes(number),
        ByteOrder::Little => u32::from_le_bytes(number),
    })
}
