//! One attribute as it is written: `name="value"` (XML 1.0 section 3.1,
//! production 41).

use wirelab_wire_own::infoset::{Error, ErrorKind, chars};

use super::bytes;
use super::name::QName;

/// Bytes of an attribute's value.
pub(super) const VALUE_BYTES_MAX: usize = 4096;

/// An attribute as it is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair<'de> {
    pub(super) name: QName<'de>,
    /// Without its quotation marks, references unresolved.
    pub(super) value: &'de str,
    /// Whether the value holds an `&`.
    pub(super) referring: bool,
    /// Where the name begins.
    pub(super) offset: usize,
    /// Behind the closing quotation mark.
    pub(super) end: usize,
}

impl<'de> Pair<'de> {
    /// Reads the attribute whose name begins at `offset`. What
    /// the value's references stand for is for its user to prove.
    #[inline]
    pub(super) fn read(document: &'de str, offset: usize) -> Result<Self, Error> {
        let bytes = document.as_bytes();
        let name = QName::read(document, offset)?;
        let name_end = offset + name.whole.len();
        let start = value_start(bytes, name_end)?;
        let (end, referring) = value_end(bytes, start)?;
        if end - start > VALUE_BYTES_MAX {
            let what = "bytes of an attribute";
            return Err(Error::limit(offset, what, VALUE_BYTES_MAX));
        }
        Ok(Pair {
            name,
            value: &document[start..end],
            referring,
            offset,
            end: end + 1,
        })
    }
}

/// Where the value begins, behind `=` and the opening quotation mark.
#[inline]
fn value_start(bytes: &[u8], name_end: usize) -> Result<usize, Error> {
    if let [b'=', b'"', ..] = bytes[name_end..] {
        return Ok(name_end + 2);
    }
    let equals = chars::spaces_end(bytes, name_end);
    if bytes.get(equals) != Some(&b'=') {
        return Err(missing(bytes, equals, "an attribute without a value"));
    }
    let mark = chars::spaces_end(bytes, equals + 1);
    match bytes.get(mark) {
        Some(b'"' | b'\'') => Ok(mark + 1),
        _ => Err(missing(bytes, mark, "a value without quotation marks")),
    }
}

/// Where the value that begins at `start`, behind its quotation mark, ends,
/// and whether it holds an `&`.
#[inline]
fn value_end(bytes: &[u8], start: usize) -> Result<(usize, bool), Error> {
    let mark = bytes[start - 1];
    let mut referring = false;
    let mut at = start;
    loop {
        at = bytes::first_of(bytes, at, [mark, b'<', b'&']);
        match bytes.get(at) {
            Some(b'&') => referring = true,
            Some(b'<') => return Err(Error::syntax(at, "< in an attribute")),
            Some(_) => return Ok((at, referring)),
            None => return Err(Error::new(at, ErrorKind::Truncated)),
        }
        at += 1;
    }
}

/// The error that something else was wanted at `at`, where there is anything.
fn missing(bytes: &[u8], at: usize, what: &str) -> Error {
    match bytes.get(at) {
        Some(_) => Error::syntax(at, what),
        None => Error::new(at, ErrorKind::Truncated),
    }
}
