//! Characters that text and attribute values must not hold as they are.

use super::bytes;

/// Appends text as element content: `<`, `>` and `&` as entities, a carriage
/// return as a reference, because readers make a line feed of a plain one
/// (XML 1.0 section 2.11).
#[inline]
pub(crate) fn text(text: &str, out: &mut Vec<u8>) {
    let whole = text.as_bytes();
    let mut begin = 0;
    loop {
        let end = bytes::special(whole, begin);
        out.extend_from_slice(&whole[begin..end]);
        match whole.get(end) {
            None => return,
            Some(&byte) => out.extend_from_slice(reference(byte)),
        }
        begin = end + 1;
    }
}

/// Whether text is the same as element content.
#[inline(always)]
pub(crate) fn is_plain(text: &str) -> bool {
    bytes::none_special(text.as_bytes())
}

/// Appends an attribute's value and its quotation marks: also tab and line
/// feed as references, because readers make spaces of plain ones (XML 1.0
/// section 3.3.3). Quotation marks are chosen so that references are rare: the
/// name of a namespace is then written as it was read.
pub(crate) fn attribute(value: &str, out: &mut Vec<u8>) {
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
