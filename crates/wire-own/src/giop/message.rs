//! GIOP messages: the twelve bytes that each begins with, a header around a content, and
//! a message in fragments (CORBA 3.3 part 2, sections 9.4.1 and 9.4.9).

use crate::ProtocolError;
use crate::cdr::ByteOrder;
use crate::excerpt::excerpt;

/// Bytes of a message header.
pub const HEADER_BYTES: usize = 12;

/// Content of a message at most, its fragments taken together: 64 MiB of data,
/// and 4 MiB for what the lengths and padding of 100,000 records take.
pub const MESSAGE_BYTES_MAX: usize = (64 << 20) + (4 << 20);

/// Fragments that one message may come in.
pub(super) const FRAGMENTS_MAX: u32 = 1 << 20;

// Octets, not a number: the same in both byte orders (section 9.4.1).
const MAGIC: &[u8; 4] = b"GIOP";

/// Flag bit: more fragments follow (1.1 and later).
const MORE: u8 = 2;

/// A supported version of GIOP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Version {
    /// GIOP 1.0.
    V10,
    /// GIOP 1.1.
    V11,
    /// GIOP 1.2.
    #[default]
    V12,
}

impl Version {
    /// Major and minor number.
    #[must_use]
    pub fn numbers(self) -> (u8, u8) {
        match self {
            Version::V10 => (1, 0),
            Version::V11 => (1, 1),
            Version::V12 => (1, 2),
        }
    }

    fn of(major: u8, minor: u8) -> Option<Version> {
        let all = [Version::V10, Version::V11, Version::V12];
        all.into_iter()
            .find(|version| version.numbers() == (major, minor))
    }
}

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A call.
    Request,
    /// Its answer.
    Reply,
    /// Cancels a call.
    CancelRequest,
    /// Asks where an object is.
    LocateRequest,
    /// The answer to that.
    LocateReply,
    /// No more from this side; what was not answered was not processed.
    CloseConnection,
    /// The peer did not understand.
    MessageError,
    /// More of an earlier message.
    Fragment,
}

impl Kind {
    // In the order of table 9.2, so that a message type is the index.
    const ALL: [Kind; 8] = [
        Kind::Request,
        Kind::Reply,
        Kind::CancelRequest,
        Kind::LocateRequest,
        Kind::LocateReply,
        Kind::CloseConnection,
        Kind::MessageError,
        Kind::Fragment,
    ];

    /// Whether more fragments may follow a message of this kind.
    fn may_be_fragmented(self, version: Version) -> bool {
        match self {
            // GIOP 1.0 has no fragments; 1.1 has them for Request and Reply, 1.2 also
            // for the locate messages (section 9.4.9). CancelRequest is short enough
            // without.
            Kind::Request | Kind::Reply | Kind::Fragment => version >= Version::V11,
            Kind::LocateRequest | Kind::LocateReply => version >= Version::V12,
            Kind::CancelRequest | Kind::CloseConnection | Kind::MessageError => false,
        }
    }
}

/// A message header, checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageHeader {
    /// The version that the message is written in.
    pub version: Version,
    /// The order of its numbers, also of `size`.
    pub order: ByteOrder,
    /// More fragments follow.
    pub more: bool,
    /// What it is.
    pub kind: Kind,
    /// Bytes that follow the header.
    pub size: u32,
}

impl MessageHeader {
    /// Reads a header.
    ///
    /// # Errors
    /// When it is not one of GIOP 1.0 to 1.2, or announces more than
    /// [`MESSAGE_BYTES_MAX`] bytes.
    pub fn parse(bytes: &[u8; HEADER_BYTES]) -> Result<MessageHeader, ProtocolError> {
        let [g, i, o, p, major, minor, flags, kind, size @ ..] = *bytes;
        let refuse = |rule| ProtocolError {
            rule,
            found: excerpt(bytes),
        };
        // Magic, version (2 octets), flags, message type, size: section 9.4.1.
        if [g, i, o, p] != *MAGIC {
            return Err(refuse("a message begins with GIOP (CORBA 3.3-2, 9.4.1)"));
        }
        let version =
            Version::of(major, minor).ok_or(refuse("GIOP 1.0, 1.1 or 1.2 (CORBA 3.3-2, 9.4.1)"))?;
        // In 1.0 the octet is a boolean, the byte order.
        let meaningful = if version == Version::V10 { 1 } else { 1 | MORE };
        if flags & !meaningful != 0 {
            return Err(refuse("reserved flags are 0 (CORBA 3.3-2, 9.4.1)"));
        }
        let kind = *Kind::ALL
            .get(usize::from(kind))
            .filter(|kind| **kind != Kind::Fragment || version >= Version::V11)
            .ok_or(refuse("a message type of table 9.2 (CORBA 3.3-2, 9.4.1)"))?;
        let order = ByteOrder::from_flag(flags);
        let header = MessageHeader {
            version,
            // The byte order flag is read before `size`, because it also governs that
            // number.
            order,
            more: flags & MORE != 0,
            kind,
            size: match order {
                ByteOrder::Big => u32::from_be_bytes(size),
                ByteOrder::Little => u32::from_le_bytes(size),
            },
        };
        header.check().map(|()| header)
    }

    fn check(&self) -> Result<(), ProtocolError> {
        let refuse = |rule, found| Err(ProtocolError { rule, found });
        if self.size as usize > MESSAGE_BYTES_MAX {
            return refuse(
                "a message stays within the largest size accepted",
                format!("{} bytes, {MESSAGE_BYTES_MAX} accepted", self.size),
            );
        }
        if self.more && !self.kind.may_be_fragmented(self.version) {
            return refuse(
                "only calls, replies and their like come in fragments (CORBA 3.3-2, 9.4.9)",
                format!("{:?} with more fragments to follow", self.kind),
            );
        }
        let length = HEADER_BYTES + self.size as usize;
        // Keeps the alignment of 8-byte primitives across fragments.
        if self.more && self.version == Version::V12 && !length.is_multiple_of(8) {
            return refuse(
                "fragments but the last are multiples of 8 bytes in GIOP 1.2 \
                 (CORBA 3.3-2, 9.4.9)",
                format!("{length} bytes"),
            );
        }
        Ok(())
    }

    /// The header as bytes.
    #[must_use]
    pub fn bytes(&self) -> [u8; HEADER_BYTES] {
        let (major, minor) = self.version.numbers();
        let flags = self.order.flag() | if self.more { MORE } else { 0 };
        let [a, b, c, d] = match self.order {
            ByteOrder::Big => self.size.to_be_bytes(),
            ByteOrder::Little => self.size.to_le_bytes(),
        };
        let [g, i, o, p] = *MAGIC;
        [g, i, o, p, major, minor, flags, self.kind as u8, a, b, c, d]
    }
}

/// Writes a whole message to the end of `out`: what `content` appends, under a
/// header with its length.
pub(super) fn write_message(
    out: &mut Vec<u8>,
    version: Version,
    order: ByteOrder,
    kind: Kind,
    content: impl FnOnce(&mut Vec<u8>) -> Result<(), crate::cdr::Error>,
) -> Result<(), crate::cdr::Error> {
    let start = out.len();
    let mut header = MessageHeader {
        version,
        order,
        more: false,
        kind,
        size: 0,
    };
    out.extend_from_slice(&header.bytes());
    // A failed message leaves the buffer as it was.
    if let Err(error) = content(out) {
        out.truncate(start);
        return Err(error);
    }
    let size = out.len() - start - HEADER_BYTES;
    // The size is known only now, so that the header is written twice.
    header.size = u32::try_from(size).map_err(|_| crate::cdr::Error::TooLong(size))?;
    out[start..start + HEADER_BYTES].copy_from_slice(&header.bytes());
    Ok(())
}

/// Bytes of a GIOP 1.2 Fragment before its content: header and request id.
const FRAGMENT_HEAD_BYTES: usize = HEADER_BYTES + 4;

/// One GIOP 1.2 message in fragments of at most `bytes_max` bytes each, headers
/// included. Returns it as it is where it fits, or cannot be fragmented.
///
/// # Panics
/// When `bytes_max` is not a multiple of 8 and at least 24: fragments but the
/// last are multiples of 8 bytes, and the first contains the request id.
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
    // Request and Reply of GIOP 1.2 begin with the request id.
    // No panic: a message longer than `bytes_max`, at least 24, has more than these 16
    // bytes.
    let (id, _) = content.split_at(4);
    let (first, rest) = message.split_at(bytes_max);
    let mut messages = vec![first.to_vec()];
    // Header and request id take 16 bytes, a multiple of 8: content keeps the alignment
    // modulo 8 that it had in the whole message.
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
