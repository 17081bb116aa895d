//! Character references and the five entities that every reader knows
//! (XML 1.0 sections 4.1 and 4.6). No other entity can exist, because no
//! document type declaration is accepted; so nothing can grow.

use std::borrow::Cow;

use wirelab_wire_own::infoset::scope::short;
use wirelab_wire_own::infoset::{Error, ErrorKind, chars};

/// The reference that `rest` begins with: the character that it stands for,
/// and its bytes.
pub(super) fn leading(rest: &str, offset: usize) -> Result<(char, usize), Error> {
    let name = rest.get(1..).unwrap_or_default();
    let end = name
        .find(';')
        .ok_or_else(|| Error::syntax(offset, "a reference without an end"))?;
    Ok((resolved(&name[..end], offset)?, end + 2))
}

/// What a reference stands for; `name` is what lies between `&` and `;`.
fn resolved(name: &str, offset: usize) -> Result<char, Error> {
    match name {
        "lt" => Ok('<'),
        "gt" => Ok('>'),
        "amp" => Ok('&'),
        "quot" => Ok('"'),
        "apos" => Ok('\''),
        _ => match name.strip_prefix('#') {
            Some(number) => character(number, offset),
            None => Err(Error::new(offset, ErrorKind::Entity(short(name)))),
        },
    }
}

fn character(number: &str, offset: usize) -> Result<char, Error> {
    let (digits, radix) = match number.strip_prefix('x') {
        Some(hexadecimal) => (hexadecimal, 16),
        None => (number, 10),
    };
    let digits_only = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    let code = u32::from_str_radix(digits, radix)
        .ok()
        .filter(|_| digits_only);
    let Some(code) = code else {
        let text = format!("bad character reference {:?}", short(number));
        return Err(Error::syntax(offset, text));
    };
    char::from_u32(code)
        .filter(|c| chars::is_legal(*c))
        .ok_or_else(|| Error::new(offset, ErrorKind::Character(code)))
}

/// An attribute's value with its references resolved and its white space made
/// spaces (XML 1.0 section 3.3.3).
pub(super) fn attribute(raw: &str, offset: usize) -> Result<Cow<'_, str>, Error> {
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
        let (character, bytes) = replaced(&rest[at..], here)?;
        value.push(character);
        rest = &rest[at + bytes..];
    }
    value.push_str(rest);
    Ok(Cow::Owned(value))
}

/// What stands for the begin of `rest`, and how many bytes it replaces.
fn replaced(rest: &str, offset: usize) -> Result<(char, usize), Error> {
    if rest.starts_with('&') {
        return leading(rest, offset);
    }
    Ok((' ', if rest.starts_with("\r\n") { 2 } else { 1 }))
}
