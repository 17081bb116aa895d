//! Characters that text and attribute values must not hold as they are: escaping them,
//! and resolving character references and the five predefined entities (XML 1.0 sections
//! 4.1 and 4.6). No other entity can exist, because no document type declaration is
//! accepted; so nothing can grow.

use std::borrow::Cow;

use wirelab_wire_own::infoset::scope::excerpt;
use wirelab_wire_own::infoset::{Error, ErrorKind, chars};

use super::search;

/// Appends text as element content: `<`, `>` and `&` as entities, a carriage
/// return as a reference, because readers make a line feed of a plain one
/// (XML 1.0 section 2.11).
#[inline]
pub(crate) fn text(text: &str, out: &mut Vec<u8>) {
    let whole = text.as_bytes();
    let mut begin = 0;
    loop {
        let end = search::find_special(whole, begin);
        out.extend_from_slice(&whole[begin..end]);
        match whole.get(end) {
            None => return,
            // `>` is escaped everywhere, so that `]]>` needs no look-back.
            Some(&byte) => out.extend_from_slice(reference(byte)),
        }
        begin = end + 1;
    }
}

/// Whether text is the same as element content.
#[inline(always)]
pub(crate) fn is_plain(text: &str) -> bool {
    search::has_no_special(text.as_bytes())
}

/// Appends an attribute's value and its quotation marks: also tab and line
/// feed as references, because readers make spaces of plain ones (XML 1.0
/// section 3.3.3). Quotation marks are chosen so that references are rare: the
/// name of a namespace is then written as it was read.
pub(crate) fn attribute(value: &str, out: &mut Vec<u8>) {
    // Either mark is allowed (XML 1.0 production 10).
    let single = value.contains('"') && !value.contains('\'');
    let mark = if single { b'\'' } else { b'"' };
    out.push(mark);
    let special = |byte: &u8| match byte {
        b'<' | b'&' | b'\r' | b'\t' | b'\n' => true,
        other => *other == b'"' && mark == b'"',
    };
    let mut rest = value.as_bytes();
    while let Some(at) = rest.iter().position(special) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(reference(rest[at]));
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(mark);
}

fn reference(byte: u8) -> &'static [u8] {
    match byte {
        b'<' => b"&lt;",
        b'>' => b"&gt;",
        b'&' => b"&amp;",
        b'"' => b"&quot;",
        b'\t' => b"&#9;",
        b'\n' => b"&#10;",
        _ => b"&#13;",
    }
}

/// The reference that `rest` begins with: the character that it stands for,
/// and its bytes.
pub(super) fn read_reference(rest: &str, offset: usize) -> Result<(char, usize), Error> {
    let name = rest.get(1..).unwrap_or_default();
    let end = name
        .find(';')
        .ok_or_else(|| Error::syntax(offset, "a reference without an end"))?;
    Ok((resolve(&name[..end], offset)?, end + 2))
}

/// The character of a reference; `name` is the text between `&` and `;`.
fn resolve(name: &str, offset: usize) -> Result<char, Error> {
    match name {
        "lt" => Ok('<'),
        "gt" => Ok('>'),
        "amp" => Ok('&'),
        "quot" => Ok('"'),
        "apos" => Ok('\''),
        _ => match name.strip_prefix('#') {
            Some(number) => character(number, offset),
            None => Err(Error::new(offset, ErrorKind::Entity(excerpt(name)))),
        },
    }
}

fn character(number: &str, offset: usize) -> Result<char, Error> {
    let (digits, radix) = match number.strip_prefix('x') {
        Some(hexadecimal) => (hexadecimal, 16),
        None => (number, 10),
    };
    // `from_str_radix` would also take a sign.
    let digits_only = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    let code = u32::from_str_radix(digits, radix)
        .ok()
        .filter(|_| digits_only);
    let Some(code) = code else {
        let text = format!("bad character reference {:?}", excerpt(number));
        return Err(Error::syntax(offset, text));
    };
    char::from_u32(code)
        .filter(|c| chars::is_legal(*c))
        .ok_or_else(|| Error::new(offset, ErrorKind::Character(code)))
}

/// An attribute's value with its references resolved and its white space made
/// spaces (XML 1.0 section 3.3.3).
pub(super) fn attribute_value(raw: &str, offset: usize) -> Result<Cow<'_, str>, Error> {
    // Most values need no change and are borrowed.
    if !raw
        .bytes()
        .any(|b| matches!(b, b'&' | b'\t' | b'\n' | b'\r'))
    {
        return Ok(Cow::Borrowed(raw));
    }
    let mut value = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find(['&', '\t', '\n', '\r']) {
        value.push_str(&rest[..at]);
        let here = offset + raw.len() - rest.len() + at;
        let (character, bytes) = replace(&rest[at..], here)?;
        value.push(character);
        rest = &rest[at + bytes..];
    }
    value.push_str(rest);
    Ok(Cow::Owned(value))
}

/// What stands for the begin of `rest`, and how many bytes it replaces.
fn replace(rest: &str, offset: usize) -> Result<(char, usize), Error> {
    if rest.starts_with('&') {
        return read_reference(rest, offset);
    }
    // Line ends are normalized first (section 2.11), so that CRLF is one space.
    Ok((' ', if rest.starts_with("\r\n") { 2 } else { 1 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_and_carriage_returns_are_written_as_references() {
        for (plain, escaped) in [
            ("", ""),
            ("plain ü", "plain ü"),
            ("<a>&amp;\r\n", "&lt;a&gt;&amp;amp;&#13;\n"),
            ("\r\r<\r", "&#13;&#13;&lt;&#13;"),
            ("\"'\t", "\"'\t"),
        ] {
            let mut out = Vec::new();
            text(plain, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), escaped);
        }
        for (value, written) in [
            ("a\"<\t\n'>", "\"a&quot;&lt;&#9;&#10;'>\""),
            ("a\">", "'a\">'"),
            ("", "\"\""),
        ] {
            let mut out = Vec::new();
            attribute(value, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), written);
        }
    }
}
