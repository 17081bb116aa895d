//! Characters that text and attribute values must not hold as they are.

use memchr::{memchr, memchr3};

/// Appends text as element content: `<`, `>` and `&` as entities, a carriage
/// return as a reference, because readers make a line feed of a plain one
/// (XML 1.0 section 2.11).
pub(crate) fn text(text: &str, out: &mut Vec<u8>) {
    let mut rest = text.as_bytes();
    let mut carriage = memchr(b'\r', rest);
    let mut markup = memchr3(b'<', b'>', b'&', rest);
    while let Some(at) = first(carriage, markup) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(reference(rest[at]));
        rest = &rest[at + 1..];
        carriage = next(carriage, at, || memchr(b'\r', rest));
        markup = next(markup, at, || memchr3(b'<', b'>', b'&', rest));
    }
    out.extend_from_slice(rest);
}

/// Appends an attribute's value and its quotation marks: also tab and line
/// feed as references, because readers make spaces of plain ones (XML 1.0
/// section 3.3.3). Quotation marks are chosen so that references are rare: the
/// name of a namespace is then written as it was read.
pub(crate) fn attribute(value: &str, out: &mut Vec<u8>) {
    let single = value.contains('"') && !value.contains('\'');
    let mark = if single { b'\'' } else { b'"' };
    out.push(mark);
    for &byte in value.as_bytes() {
        match byte {
            b'<' | b'&' | b'\r' | b'\t' | b'\n' => out.extend_from_slice(reference(byte)),
            b'"' if mark == b'"' => out.extend_from_slice(reference(byte)),
            other => out.push(other),
        }
    }
    out.push(mark);
}

fn first(a: Option<usize>, b: Option<usize>) -> Option<usize> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, other) => one.or(other),
    }
}

/// Where a needle lies behind `at`: known already, or to be searched again if
/// it was the one at `at`.
fn next(known: Option<usize>, at: usize, search: impl Fn() -> Option<usize>) -> Option<usize> {
    match known {
        Some(found) if found == at => search(),
        other => other.map(|found| found - at - 1),
    }
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
