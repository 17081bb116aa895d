//! The head of a reply, and the framing of the body that it gives (RFC 9112 sections 4 to 6).

use std::mem::MaybeUninit;

use memchr::memchr_iter;

use crate::excerpt::excerpt;
use crate::session::{ContentType, Encoding, Head, ProtocolError};

/// Bytes that a head may have, unless options state another limit.
pub const HEAD_BYTES_MAX: usize = 256 << 10;

/// Fields that a head may have, unless options state another limit.
pub const FIELDS_MAX: usize = 256;

/// Fields for which there is room without an allocation.
pub(super) const FIELDS_USUAL: usize = 64;

/// The largest head that is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeadLimits {
    /// Bytes, status line and empty line included.
    pub bytes: u32,
    /// Fields.
    pub fields: u32,
}

impl Default for HeadLimits {
    fn default() -> HeadLimits {
        HeadLimits {
            bytes: HEAD_BYTES_MAX as u32,
            fields: FIELDS_MAX as u32,
        }
    }
}

/// How the end of a body is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// There is none.
    Absent,
    /// After that many bytes.
    Length(u64),
    /// By the last chunk.
    Chunked,
    /// By the end of the connection.
    UntilClose,
}

/// A head as far as a client needs it.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) head: Head,
    pub(super) framing: Framing,
    /// The connection outlives this reply.
    pub(super) persistent: bool,
    /// The reply has both transfer-encoding and content-length.
    pub(super) is_conflicting: bool,
    /// Length of the head, its empty line included.
    pub(super) bytes: usize,
}

impl Parsed {
    /// RFC 9110 section 15.2.
    pub(super) fn is_informational(&self) -> bool {
        self.head.status < 200
    }
}

/// Parses the head that `input` begins with; `None` when it is not whole yet.
/// This client never asks for another protocol, so a server must not switch to one.
pub(super) fn parse(
    input: &[u8],
    head_only: bool,
    limits: HeadLimits,
) -> Result<Option<Parsed>, ProtocolError> {
    let parsed = parse_unsolicited(input, head_only, limits)?;
    match parsed {
        Some(parsed) if parsed.head.status == 101 => Err(violation(
            "101 only after a request to upgrade (RFC 9110 section 15.2.2)",
            input,
        )),
        parsed => Ok(parsed),
    }
}

/// As [`parse`], for a reader that does not know the request.
pub(super) fn parse_unsolicited(
    input: &[u8],
    head_only: bool,
    limits: HeadLimits,
) -> Result<Option<Parsed>, ProtocolError> {
    // A foreign protocol is reported by its first bytes, not by a parser's general error.
    if !b"HTTP/1.".starts_with(&input[..input.len().min(7)]) {
        return Err(violation(
            "status line must begin with HTTP/1. (RFC 9112 section 4)",
            input,
        ));
    }
    // Uninitialized, because 64 empty fields (2 KiB) would be written for every head.
    let mut storage = [MaybeUninit::<httparse::Header>::uninit(); FIELDS_USUAL];
    let mut reply = httparse::Response::new(&mut []);
    let parsed = httparse::ParserConfig::default().parse_response_with_uninit_headers(
        &mut reply,
        input,
        &mut storage,
    );
    match parsed {
        Ok(parsed) => read_fields(&reply, parsed, input, head_only, limits),
        Err(error) => parse_unusual(error, input, head_only, limits),
    }
}

/// Parses a head that has more fields than usual, or folded lines, which many servers of other
/// makers send and most clients accept.
#[cold]
fn parse_unusual(
    error: httparse::Error,
    input: &[u8],
    head_only: bool,
    limits: HeadLimits,
) -> Result<Option<Parsed>, ProtocolError> {
    let unfolded = unfold(input, limits);
    if unfolded.is_none() && error != httparse::Error::TooManyHeaders {
        return Err(violation(find_violated_rule(error), input));
    }
    let head = unfolded.as_deref().unwrap_or(input);
    let mut storage = vec![httparse::EMPTY_HEADER; limits.fields as usize];
    let mut reply = httparse::Response::new(&mut storage);
    let parsed = httparse::ParserConfig::default()
        .parse_response(&mut reply, head)
        .map_err(|error| violation(find_violated_rule(error), input))?;
    read_fields(&reply, parsed, head, head_only, limits)
}

/// The head with spaces in place of line breaks before a continuation (RFC 9112 section 5.2);
/// as long as it was. None where no line is folded.
fn unfold(input: &[u8], limits: HeadLimits) -> Option<Vec<u8>> {
    let within = &input[..input.len().min(limits.bytes as usize + 1)];
    let mut copy: Option<Vec<u8>> = None;
    let mut fields = memchr_iter(b'\n', within);
    // The line after the status line begins a field, and cannot continue one.
    let mut line = fields.next()? + 1;
    for at in fields {
        let content = &within[line..at];
        let content = content.strip_suffix(b"\r").unwrap_or(content);
        // The empty line: what follows is the body.
        if content.is_empty() {
            break;
        }
        if matches!(within.get(at + 1), Some(b' ' | b'\t')) {
            let copy = copy.get_or_insert_with(|| within.to_vec());
            copy[line + content.len()..=at].fill(b' ');
        }
        line = at + 1;
    }
    copy
}

/// As [`parse`], for a client that asked for another protocol: the head, and its length in bytes.
pub(crate) fn parse_upgrade(
    input: &[u8],
    limits: HeadLimits,
) -> Result<Option<(Head, usize)>, ProtocolError> {
    let parsed = parse_unsolicited(input, false, limits)?;
    Ok(parsed.map(|parsed| (parsed.head, parsed.bytes)))
}

/// What a parsed head means, once it is whole.
#[inline]
fn read_fields(
    reply: &httparse::Response,
    parsed: httparse::Status<usize>,
    input: &[u8],
    head_only: bool,
    limits: HeadLimits,
) -> Result<Option<Parsed>, ProtocolError> {
    let bytes = match parsed {
        httparse::Status::Complete(bytes) if bytes <= limits.bytes as usize => bytes,
        // Incomplete is not an error as long as the head may still end within the limit.
        httparse::Status::Partial if input.len() <= limits.bytes as usize => return Ok(None),
        _ => return Err(too_long(limits, input)),
    };
    let status = reply.code.unwrap_or_default();
    // httparse takes any three digits; RFC 9110 section 15 begins at 100.
    check_status(status, input)?;
    let mut fields = Fields::default();
    for field in reply.headers.iter() {
        fields.take(field.name, field.value)?;
    }
    let is_http11 = reply.version == Some(1);
    // The framing needs all fields: which of them counts depends on the others.
    let framing = fields.framing(status, head_only, is_http11, input)?;
    let is_conflicting = fields.chunked && fields.length.is_some();
    Ok(Some(Parsed {
        head: Head {
            status,
            // Transfer-encoding overrides it (RFC 9112 section 6.3, rule 3).
            content_length: fields.length.filter(|_| !is_conflicting),
            encoding: fields.encoding,
            content_type: fields.content_type,
            errors: fields.errors,
            byte_order: None,
        },
        framing,
        // A body that ends with the connection cannot be followed by another reply.
        // After a reply with two lengths nothing may be (RFC 9112 section 6.1).
        persistent: fields.persistent(is_http11)
            && framing != Framing::UntilClose
            && !is_conflicting,
        is_conflicting,
        bytes,
    }))
}

#[cold]
fn too_long(limits: HeadLimits, input: &[u8]) -> ProtocolError {
    ProtocolError {
        rule: "heads within the limit of this client",
        found: format!("more than {} bytes: {}", limits.bytes, excerpt(input)),
    }
}

/// The fields of a head that [`parse`] took, parsed again for callers that need their values.
pub(crate) fn each_field(head: &[u8], limits: HeadLimits, mut take: impl FnMut(&str, &[u8])) {
    let mut usual = [httparse::EMPTY_HEADER; FIELDS_USUAL];
    let mut reply = httparse::Response::new(&mut usual);
    let parser = httparse::ParserConfig::default();
    if parser.parse_response(&mut reply, head).is_ok() {
        return take_each(&reply, &mut take);
    }
    let unfolded = unfold(head, limits);
    let head = unfolded.as_deref().unwrap_or(head);
    let mut storage = vec![httparse::EMPTY_HEADER; limits.fields as usize];
    let mut reply = httparse::Response::new(&mut storage);
    if parser.parse_response(&mut reply, head).is_ok() {
        take_each(&reply, &mut take);
    }
}

fn take_each(reply: &httparse::Response, take: &mut impl FnMut(&str, &[u8])) {
    for field in reply.headers.iter() {
        take(field.name, field.value);
    }
}

/// Whether `head` has an empty line that ends at or after `from`.
pub fn has_empty_line(head: &[u8], from: usize) -> bool {
    // The line before it may end just before `from`, or within the last two bytes.
    let start = from.saturating_sub(2);
    memchr_iter(b'\n', &head[start..]).any(|at| {
        let after = &head[start + at + 1..];
        after.starts_with(b"\n") || after.starts_with(b"\r\n")
    })
}

pub(super) fn violation(rule: &'static str, found: &[u8]) -> ProtocolError {
    ProtocolError {
        rule,
        found: excerpt(found),
    }
}

pub(super) fn find_violated_rule(error: httparse::Error) -> &'static str {
    match error {
        httparse::Error::HeaderName => {
            "field names are tokens followed by a colon (RFC 9112 section 5)"
        }
        httparse::Error::HeaderValue => {
            "field values hold no control character (RFC 9112 section 5)"
        }
        httparse::Error::NewLine => {
            "lines end with CRLF, no CR is without LF (RFC 9112 section 2.2)"
        }
        httparse::Error::Status => {
            "status line: version, three digits, reason (RFC 9112 section 4)"
        }
        httparse::Error::Token => "reason phrases hold no control character (RFC 9112 section 4)",
        httparse::Error::TooManyHeaders => "fields within the limit of this client",
        httparse::Error::Version => "version HTTP/1.0 or HTTP/1.1 (RFC 9112 section 2.3)",
    }
}

fn check_status(status: u16, input: &[u8]) -> Result<(), ProtocolError> {
    match status {
        0..=99 => Err(violation(
            "status codes begin with 1 to 5 (RFC 9110 section 15)",
            input,
        )),
        _ => Ok(()),
    }
}

/// The fields that a client needs.
#[derive(Debug, Default)]
pub(super) struct Fields {
    pub(super) length: Option<u64>,
    pub(super) chunked: bool,
    close: bool,
    keep_alive: bool,
    encoding: Encoding,
    pub(super) content_type: ContentType,
    errors: bool,
}

impl Fields {
    /// Distinguishes names by their lengths first: most fields are none of these.
    pub(super) fn take(&mut self, name: &str, value: &[u8]) -> Result<(), ProtocolError> {
        match name.len() {
            6 if name.eq_ignore_ascii_case("errors") => self.errors = true,
            10 if name.eq_ignore_ascii_case("connection") => self.take_connection(value),
            12 if name.eq_ignore_ascii_case("content-type") => {
                self.content_type = content_type(value);
            }
            14 if name.eq_ignore_ascii_case("content-length") => self.take_length(value)?,
            16 | 24 if Encoding::is_named_by(name.as_bytes()) => {
                self.encoding = encoding(value);
            }
            17 if name.eq_ignore_ascii_case("transfer-encoding") => {
                self.take_transfer_encoding(value)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn take_connection(&mut self, value: &[u8]) {
        for option in elements(value) {
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    /// The same length may be given several times (RFC 9110 section 8.6).
    fn take_length(&mut self, value: &[u8]) -> Result<(), ProtocolError> {
        for element in elements(value) {
            let length = decimal(element).ok_or_else(|| {
                violation(
                    "content-length is a decimal number below 2^64 (RFC 9110 section 8.6)",
                    value,
                )
            })?;
            // Equal repetitions are allowed, different ones are an error (section 6.3, rule 5).
            if self.length.is_some_and(|before| before != length) {
                return Err(violation(
                    "one content-length only (RFC 9112 section 6.3)",
                    value,
                ));
            }
            self.length = Some(length);
        }
        Ok(())
    }

    /// Only `chunked` may come unasked (RFC 9112 section 7.4), and only once.
    fn take_transfer_encoding(&mut self, value: &[u8]) -> Result<(), ProtocolError> {
        for coding in elements(value) {
            if self.chunked || !coding.eq_ignore_ascii_case(b"chunked") {
                let rule = "no transfer coding but chunked, once (RFC 9112 sections 6.1 and 7.4)";
                return Err(violation(rule, value));
            }
            self.chunked = true;
        }
        Ok(())
    }

    /// RFC 9112 section 6.3, in its order.
    fn framing(
        &self,
        status: u16,
        head_only: bool,
        is_http11: bool,
        input: &[u8],
    ) -> Result<Framing, ProtocolError> {
        // An HTTP/1.0 recipient would take the chunk sizes for content.
        if self.chunked && !is_http11 {
            return Err(violation(
                "no transfer-encoding in HTTP/1.0 (RFC 9112 section 6.1)",
                input,
            ));
        }
        // RFC 9112 section 6.3, rule 1: these have no body whatever their fields announce.
        if head_only || status < 200 || status == 204 || status == 304 {
            return Ok(Framing::Absent);
        }
        // Rules 3, 4, 6 and 8 of RFC 9112 section 6.3.
        Ok(match (self.chunked, self.length) {
            (true, _) => Framing::Chunked,
            (false, Some(length)) => Framing::Length(length),
            (false, None) => Framing::UntilClose,
        })
    }

    /// RFC 9112 section 9.3.
    pub(super) fn persistent(&self, is_http11: bool) -> bool {
        !self.close && (is_http11 || self.keep_alive)
    }
}

/// The elements of a list (RFC 9110 section 5.6.1), without whitespace.
fn elements(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii)
}

fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, digit| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        // Overflow is an error: a wrapped length would cut the body at a wrong place.
        number.checked_mul(10)?.checked_add(digit)
    })
}

fn encoding(value: &[u8]) -> Encoding {
    // `x-gzip` is the same (RFC 9110 section 8.4.1.3).
    if value.eq_ignore_ascii_case(b"gzip") || value.eq_ignore_ascii_case(b"x-gzip") {
        Encoding::Gzip
    } else if value.eq_ignore_ascii_case(b"zstd") {
        Encoding::Zstd
    } else if value.is_empty() || value.eq_ignore_ascii_case(b"identity") {
        Encoding::Identity
    } else {
        Encoding::Other
    }
}

fn content_type(value: &[u8]) -> ContentType {
    // Parameters such as charset do not distinguish the types compared here.
    let end = memchr::memchr(b';', value).unwrap_or(value.len());
    ContentType::named(value[..end].trim_ascii())
}
