//! Reply fields, validated and classified while they are decoded.

use std::sync::Arc;

use super::error::ConnectionError;
use super::frame::code;
use super::hpack::{DecodeError, Decoder, TABLE_SIZE_DEFAULT};
use crate::{ContentType, Encoding, End, Head, ProtocolError};

/// Blocks kept: heads and trailers of a few operations.
// A linear search, so that the number must stay small: a head and trailers for each of
// two kinds of replies.
const CACHED_BLOCKS_MAX: usize = 4;
/// Longer blocks are not worth keeping, bytes.
const CACHED_BLOCK_BYTES_MAX: usize = 512;

/// The content of a field section that a caller needs.
#[derive(Debug, Clone, Default)]
pub(super) struct Fields {
    /// Status 0 where the section has none: trailers.
    pub(super) head: Head,
    pub(super) end: End,
    /// Fields with watched names, and their values.
    pub(super) watched: Vec<(Box<str>, Box<[u8]>)>,
    /// Why the message is malformed (RFC 9113 section 8.1.1).
    // Kept, not returned: a malformed message is an error of its stream alone, while
    // the decoder must go on for the sake of the connection's table.
    pub(super) malformed: Option<Box<ProtocolError>>,
}

/// A block that changed nothing when it was read: it means the same until the
/// version changes.
#[derive(Debug)]
struct CachedBlock {
    version: u64,
    block: Vec<u8>,
    fields: Fields,
}

/// The decoder of a connection's replies.
#[derive(Debug)]
pub(super) struct FieldSectionReader {
    decoder: Decoder,
    cached_blocks: Vec<CachedBlock>,
    evict_next: usize,
    decoded: Fields,
    /// Names of fields that are reported, in lower case; mostly none.
    watched: Option<Arc<Vec<Box<str>>>>,
}

impl FieldSectionReader {
    pub(super) fn new(section_max: u32) -> FieldSectionReader {
        FieldSectionReader {
            decoder: Decoder::new(TABLE_SIZE_DEFAULT, section_max),
            cached_blocks: Vec::new(),
            evict_next: 0,
            decoded: Fields::default(),
            watched: None,
        }
    }

    /// Keeps fields of these names.
    pub(super) fn watch(&mut self, names: Option<Arc<Vec<Box<str>>>>) {
        self.watched = names;
    }

    /// The fields of `block`. Blocks must come in the order of the wire.
    #[inline]
    pub(super) fn read(&mut self, block: &[u8]) -> Result<&Fields, Box<ConnectionError>> {
        // Equal bytes mean equal fields only while the dynamic table is the same.
        let version = self.decoder.table().version();
        // The version first: it is one number, and blocks may be long.
        let known = |cached: &CachedBlock| cached.version == version && cached.block == block;
        match self.cached_blocks.iter().position(known) {
            Some(at) => Ok(&self.cached_blocks[at].fields),
            None => self.decode(block, version),
        }
    }

    fn decode(&mut self, block: &[u8], version: u64) -> Result<&Fields, Box<ConnectionError>> {
        let mut reading = SectionParser {
            names: self.watched.as_deref().map(Vec::as_slice),
            ..SectionParser::default()
        };
        self.decoder
            .decode(block, |name, value| reading.field(name, value))
            .map_err(fault)?;
        self.decoded = reading.finish();
        // Errors and messages are rare and may be long; caching them would evict frequent
        // blocks.
        let plain = self.decoded.malformed.is_none() && self.decoded.end.grpc_message.is_none();
        if plain
            && block.len() <= CACHED_BLOCK_BYTES_MAX
            && self.decoder.table().version() == version
        {
            self.remember(block, version);
        }
        Ok(&self.decoded)
    }

    fn remember(&mut self, block: &[u8], version: u64) {
        let cached = CachedBlock {
            version,
            block: block.to_vec(),
            fields: self.decoded.clone(),
        };
        // An entry of an old version can never match again.
        if let Some(stale) = self
            .cached_blocks
            .iter_mut()
            .find(|old| old.version != version)
        {
            *stale = cached;
        } else if self.cached_blocks.len() < CACHED_BLOCKS_MAX {
            self.cached_blocks.push(cached);
        } else {
            self.cached_blocks[self.evict_next] = cached;
            self.evict_next = (self.evict_next + 1) % CACHED_BLOCKS_MAX;
        }
    }
}

fn fault(error: DecodeError) -> Box<ConnectionError> {
    match error {
        DecodeError::Compression(error) => Box::new(ConnectionError {
            code: code::COMPRESSION_ERROR,
            error,
        }),
        // The rest of the block was not decoded, so that the table is lost: closing the
        // connection is the only way on (RFC 9113 section 4.3).
        DecodeError::TooLarge(_) => ConnectionError::flood(
            "a field section stays within SETTINGS_MAX_HEADER_LIST_SIZE (RFC 9113 section 6.5.2)",
            error.to_string(),
        ),
    }
}

/// A field section while it is read.
#[derive(Default)]
struct SectionParser<'a> {
    fields: Fields,
    /// Names of watched fields.
    names: Option<&'a [Box<str>]>,
    /// A regular field has been seen: no pseudo-header field may follow.
    regular: bool,
    message: Option<Box<str>>,
}

impl SectionParser<'_> {
    fn field(&mut self, name: &[u8], value: &[u8]) {
        if let Err(error) = self.validate(name, value) {
            // The first error is the one that is reported; later ones often follow from
            // it.
            self.fields.malformed.get_or_insert(Box::new(error));
        }
    }

    fn validate(&mut self, name: &[u8], value: &[u8]) -> Result<(), ProtocolError> {
        // Only pseudo-header fields begin with a colon (RFC 9113 section 8.3).
        if name.first() == Some(&b':') {
            return self.pseudo(name, value);
        }
        // Before the checks: an invalid field counts as one all the same.
        self.regular = true;
        check_name(name)?;
        check_value(name, value)?;
        if let Some(own) = self.find_watched(name) {
            self.fields.watched.push((own, value.into()));
        }
        let head = &mut self.fields.head;
        match name {
            // Checked against the content at the end of the stream (RFC 9113 section
            // 8.1.1).
            b"content-length" => head.content_length = Some(length(head.content_length, value)?),
            b"content-type" => head.content_type = content_type(value),
            b"errors" => head.errors = true,
            b"grpc-status" => self.fields.end.grpc_status = decimal(value),
            b"grpc-message" => self.message = Some(percent_decoded(value)),
            // RFC 9113 section 8.2.2 lists these; a message with one of them is malformed.
            b"connection" | b"proxy-connection" | b"keep-alive" | b"transfer-encoding"
            | b"upgrade" => return Err(connection_specific(name)),
            name if Encoding::is_named_by(name) => head.encoding = encoding(value),
            _ => {}
        }
        Ok(())
    }

    /// The name, where it is watched.
    fn find_watched(&self, name: &[u8]) -> Option<Box<str>> {
        let own = self.names?.iter().find(|own| own.as_bytes() == name);
        own.cloned()
    }

    /// RFC 9113 sections 8.3 and 8.3.2.
    fn pseudo(&mut self, name: &[u8], value: &[u8]) -> Result<(), ProtocolError> {
        let found = if self.regular {
            "after a regular field"
        } else if name != b":status" {
            "a field that replies do not have"
        } else if self.fields.head.status != 0 {
            "a second :status"
        } else if let &[a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9'] = value {
            let digit = |byte: u8| u16::from(byte - b'0');
            self.fields.head.status = digit(a) * 100 + digit(b) * 10 + digit(c);
            return Ok(());
        } else {
            ":status without three digits"
        };
        Err(ProtocolError {
            rule: "a reply has one pseudo-header field, a three-digit :status, before all others \
                   (RFC 9113 section 8.3)",
            found: format!("{}: {}, {found}", text(name), text(value)),
        })
    }

    fn finish(mut self) -> Fields {
        // gRPC defines grpc-message for errors only; servers may send it empty with OK.
        let end = &mut self.fields.end;
        end.grpc_message = self.message.filter(|_| end.grpc_status != Some(0));
        self.fields
    }
}

/// RFC 9113 section 8.2.1.
fn check_name(name: &[u8]) -> Result<(), ProtocolError> {
    // Excludes 0x00-0x20, 0x41-0x5a (capitals), 0x3a (colon) and 0x7f-0xff.
    let legal = |byte: &u8| matches!(byte, 0x21..=0x39 | 0x3b..=0x40 | 0x5b..=0x7e);
    if !name.is_empty() && name.iter().all(legal) {
        return Ok(());
    }
    Err(ProtocolError {
        rule: "field names are visible ASCII without capitals and colons (RFC 9113 section 8.2.1)",
        found: format!("the name {:?}", text(name)),
    })
}

/// RFC 9113 section 8.2.1.
fn check_value(name: &[u8], value: &[u8]) -> Result<(), ProtocolError> {
    let blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    let control = value.iter().any(|byte| matches!(byte, 0 | b'\n' | b'\r'));
    if !control && !blank(value.first()) && !blank(value.last()) {
        return Ok(());
    }
    Err(ProtocolError {
        rule: "field values hold no NUL, LF, CR and do not begin or end blank \
               (RFC 9113 section 8.2.1)",
        found: format!("{}: {:?}", text(name), text(value)),
    })
}

fn connection_specific(name: &[u8]) -> ProtocolError {
    ProtocolError {
        rule: "HTTP/2 has no connection-specific fields (RFC 9113 section 8.2.2)",
        found: text(name),
    }
}

/// RFC 9110 section 8.6; a second one must agree.
fn length(known: Option<u64>, value: &[u8]) -> Result<u64, ProtocolError> {
    decimal(value)
        .filter(|&length| known.is_none_or(|known| known == length))
        .ok_or_else(|| ProtocolError {
            rule: "content-length is one decimal number (RFC 9110 section 8.6)",
            found: match known {
                Some(known) => format!("{known} and then {:?}", text(value)),
                None => format!("{:?}", text(value)),
            },
        })
}

/// A number written in nothing but digits.
fn decimal<T: std::str::FromStr>(value: &[u8]) -> Option<T> {
    let digits = value.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(value)
        .ok()
        .filter(|_| digits)?
        .parse()
        .ok()
}

fn content_type(value: &[u8]) -> ContentType {
    // Parameters such as charset do not change how a reply is decoded here.
    let essence = value
        .split(|&byte| byte == b';')
        .next()
        .unwrap_or(value)
        .trim_ascii();
    ContentType::named(essence)
}

fn encoding(value: &[u8]) -> Encoding {
    if value.eq_ignore_ascii_case(b"identity") {
        Encoding::Identity
    } else if value.eq_ignore_ascii_case(b"gzip") {
        Encoding::Gzip
    } else if value.eq_ignore_ascii_case(b"zstd") {
        Encoding::Zstd
    } else {
        Encoding::Other
    }
}

/// `grpc-message` is UTF-8, percent-encoded; what is not stays as it came
/// (gRPC over HTTP/2, "Responses").
fn percent_decoded(value: &[u8]) -> Box<str> {
    let hex = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let mut plain = Vec::with_capacity(value.len());
    let mut rest = value;
    while let [first, tail @ ..] = rest {
        rest = tail;
        let mut byte = *first;
        if let (b'%', [high, low, after @ ..]) = (byte, tail)
            && let (Some(high), Some(low)) = (hex(*high), hex(*low))
        {
            byte = high << 4 | low;
            rest = after;
        }
        plain.push(byte);
    }
    String::from_utf8_lossy(&plain).into()
}

/// The beginning of untrusted bytes, for messages.
fn text(bytes: &[u8]) -> String {
    // Fields may be as long as a frame; a message stays readable.
    let shown = &bytes[..bytes.len().min(100)];
    String::from_utf8_lossy(shown).into_owned()
}
