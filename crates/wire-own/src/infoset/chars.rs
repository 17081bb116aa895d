//! The characters of XML 1.0: which may occur at all, and which in names.

/// Bytes of a name, its prefix included.
// XML itself has no limit. This one lets `token_xml` store lengths in 16 bits, and
// keeps the memory of its caches small.
pub const NAME_BYTES_MAX: usize = 256;

/// The first character that XML 1.0 does not allow, with its offset.
pub fn find_illegal(text: &str) -> Option<(usize, u32)> {
    if !may_hold_illegal(text.as_bytes()) {
        return None;
    }
    let mut characters = text.char_indices();
    // The slow search runs only for texts that hold a suspect byte; U+FEFF, for
    // instance, begins with EF as well and is legal.
    let (at, found) = characters.find(|(_, c)| !is_legal(*c))?;
    Some((at, found as u32))
}

/// Whether a byte occurs that only an illegal character may hold.
fn may_hold_illegal(bytes: &[u8]) -> bool {
    // 128 bytes fill four AVX2 or eight SSE2 registers, 16 one SSE2 register.
    let (blocks, rest) = bytes.as_chunks::<128>();
    let (chunks, rest) = rest.as_chunks::<16>();
    let suspect = |b: &u8| is_suspect(*b) & !matches!(b, b'\t' | b'\n' | b'\r');
    blocks
        .iter()
        .any(|block| has_suspect(block) && block.iter().any(suspect))
        || chunks
            .iter()
            .any(|chunk| has_suspect(chunk) && chunk.iter().any(suspect))
        || rest.iter().any(|b| is_suspect(*b)) && rest.iter().any(suspect)
}

/// Whether an unusual byte is among these. Written without a branch for each
/// byte, so that it runs over many at a time.
#[inline]
fn has_suspect<const N: usize>(bytes: &[u8; N]) -> bool {
    bytes.iter().fold(false, |any, b| any | is_suspect(*b))
}

#[inline]
fn is_suspect(byte: u8) -> bool {
    // U+FFFE and U+FFFF are EF BF BE and EF BF BF in UTF-8.
    (byte < b' ') | (byte == 0xEF)
}

/// XML 1.0 section 2.2, production 2. A `char` is never a surrogate.
pub fn is_legal(c: char) -> bool {
    match c {
        // The only three C0 controls. XML 1.1 would allow more as references, but SOAP
        // is defined on 1.0 (SOAP 1.1 section 3).
        '\t' | '\n' | '\r' => true,
        '\u{FFFE}' | '\u{FFFF}' => false,
        other => other >= ' ',
    }
}

/// White space of XML 1.0 section 2.3, production 3.
pub fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Whether a name may begin with a byte of ASCII.
#[inline]
pub fn starts_name(byte: u8) -> bool {
    matches!(CLASSES[usize::from(byte)], Class::Start)
}

/// Where a name that begins at `at` ends, as far as ASCII shows: before the
/// first byte that no name holds. Its colon, and whether it is a name at all,
/// are for [`split_name`] to decide.
#[inline]
pub fn name_end(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let inside = |byte: &&u8| !matches!(CLASSES[usize::from(**byte)], Class::Never);
    at + rest.iter().take_while(inside).count()
}

/// Where white space that begins at `at` ends.
#[inline]
pub fn spaces_end(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| is_space(**byte)).count()
}

/// Whether there is nothing but white space.
pub fn is_blank(text: &str) -> bool {
    text.bytes().all(is_space)
}

/// A text without the white space around it, as `whiteSpace="collapse"` of
/// XML Schema demands it for everything but strings.
pub fn trim(text: &str) -> &str {
    text.trim_matches(|c| matches!(c, ' ' | '\t' | '\n' | '\r'))
}

/// A qualified name split in two (Namespaces in XML 1.0, section 4): the
/// prefix, empty where there is none, and the local part.
#[inline]
pub fn split_name(name: &str) -> Option<(&str, &str)> {
    let mut colon = None;
    let mut begins = true;
    for (at, &byte) in name.as_bytes().iter().enumerate() {
        match CLASSES[usize::from(byte)] {
            Class::Start => begins = false,
            Class::Inner if !begins => {}
            // Namespaces in XML 1.0, production 7: one colon at most, with a name on each side.
            Class::Colon if !begins && colon.is_none() => {
                colon = Some(at);
                begins = true;
            }
            // The whole name again, because a table by byte cannot classify characters
            // of several bytes.
            Class::Wide => return split_wide_name(name),
            Class::Inner | Class::Colon | Class::Never => return None,
        }
    }
    match colon {
        _ if begins => None,
        None => Some(("", name)),
        Some(at) => Some((&name[..at], &name[at + 1..])),
    }
}

/// As [`split_name`], for names beyond ASCII.
fn split_wide_name(name: &str) -> Option<(&str, &str)> {
    let (prefix, local) = match name.split_once(':') {
        None => ("", name),
        Some(("", _)) => return None,
        Some(parts) => parts,
    };
    let whole = is_ncname(local) && (prefix.is_empty() || is_ncname(prefix));
    whole.then_some((prefix, local))
}

fn is_ncname(name: &str) -> bool {
    let mut rest = name.chars();
    rest.next().is_some_and(starts) && rest.all(continues)
}

/// What a byte may be in a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Its first byte, or a later one.
    Start,
    /// A later byte only.
    Inner,
    /// The colon behind a prefix.
    Colon,
    /// Part of a character beyond ASCII.
    Wide,
    /// No byte of a name.
    Never,
}

/// What `byte` may be in a name.
#[inline]
#[must_use]
pub fn class(byte: u8) -> Class {
    CLASSES[usize::from(byte)]
}

// A table instead of a match: names are scanned byte by byte, and one load per byte has
// no branch to mispredict.
const CLASSES: [Class; 256] = classes();

const fn classes() -> [Class; 256] {
    let mut classes = [Class::Never; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => Class::Start,
            b'0'..=b'9' | b'-' | b'.' => Class::Inner,
            b':' => Class::Colon,
            0x80.. => Class::Wide,
            _ => Class::Never,
        };
        byte += 1;
    }
    classes
}

fn starts_ascii(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

fn continues_ascii(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// XML 1.0 section 2.3, production 4, without the colon.
fn starts(c: char) -> bool {
    match c {
        c if c.is_ascii() => starts_ascii(c as u8),
        // × and ÷, the two mathematical signs within Latin-1's letters.
        '\u{C0}'..='\u{2FF}' => !matches!(c, '\u{D7}' | '\u{F7}'),
        // The Greek question mark, which normalization turns into a semicolon.
        '\u{370}'..='\u{1FFF}' => c != '\u{37E}',
        '\u{200C}'..='\u{200D}' | '\u{2070}'..='\u{218F}' | '\u{2C00}'..='\u{2FEF}' => true,
        '\u{3001}'..='\u{D7FF}' | '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}' => true,
        '\u{10000}'..='\u{EFFFF}' => true,
        _ => false,
    }
}

/// XML 1.0 section 2.3, production 4a, without the colon.
fn continues(c: char) -> bool {
    match c {
        c if c.is_ascii() => continues_ascii(c as u8),
        '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}'..='\u{2040}' => true,
        other => starts(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_characters_of_xml_1_0_pass() {
        assert_eq!(find_illegal("a\t\n\r ü€😀\u{FFFD}"), None);
        for (text, at, code) in [
            ("ab\u{0}", 2, 0),
            ("\u{1F}", 0, 0x1F),
            ("ü\u{FFFE}", 2, 0xFFFE),
            ("\u{FFFF}", 0, 0xFFFF),
        ] {
            assert_eq!(find_illegal(text), Some((at, code)));
        }
    }

    #[test]
    fn names_have_at_most_one_prefix() {
        assert_eq!(split_name("a"), Some(("", "a")));
        assert_eq!(split_name("soapenv:Body"), Some(("soapenv", "Body")));
        assert_eq!(split_name("größe"), Some(("", "größe")));
        for bad in [
            "", ":", "a:", ":a", "a:b:c", "1a", "-a", "a b", "a<", "×", "a\u{37E}",
        ] {
            assert_eq!(split_name(bad), None, "{bad:?}");
        }
    }
}
