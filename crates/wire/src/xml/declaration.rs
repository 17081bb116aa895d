//! The XML declaration (XML 1.0 section 2.8).

use wirelab_wire_own::infoset::scope::excerpt;
use wirelab_wire_own::infoset::{Error, ErrorKind, chars};

use super::attributes::RawAttribute;

/// What the documents of most writers begin with.
const COMMON_DECLARATION: &str = r#"<?xml version="1.0" encoding="UTF-8"?>"#;

/// Bytes of the declaration that a document begins with; 0 without one.
///
/// # Errors
/// When it is not a declaration of XML 1.0 in UTF-8.
pub(super) fn length(document: &str) -> Result<usize, Error> {
    if document.starts_with(COMMON_DECLARATION) {
        return Ok(COMMON_DECLARATION.len());
    }
    let Some(rest) = document.strip_prefix("<?xml") else {
        return Ok(0);
    };
    if !rest.bytes().next().is_some_and(chars::is_space) {
        // A processing instruction such as <?xml-stylesheet?>, or the end.
        return Ok(0);
    }
    let end = memchr::memmem::find(rest.as_bytes(), b"?>")
        .ok_or_else(|| Error::new(0, ErrorKind::Truncated))?;
    check(&rest[..end])?;
    Ok("<?xml".len() + end + "?>".len())
}

fn check(content: &str) -> Result<(), Error> {
    // Production 23 fixes the order; `any` below consumes what precedes the match.
    let mut names = ["version", "encoding", "standalone"].iter();
    let (mut at, mut count) = (0, 0);
    loop {
        let begin = chars::spaces_end(content.as_bytes(), at);
        if begin == content.len() {
            break;
        }
        let pair = RawAttribute::read(content, begin).map_err(|_| bad("attributes"))?;
        let in_order = names.any(|name| *name == pair.name.whole);
        if begin == at || !in_order || (count == 0) != (pair.name.whole == "version") {
            return Err(bad("attributes"));
        }
        check_value(pair.name.whole, pair.value)?;
        (at, count) = (pair.end, count + 1);
    }
    if count == 0 {
        return Err(bad("version"));
    }
    Ok(())
}

fn check_value(name: &str, value: &str) -> Result<(), Error> {
    match name {
        // XML 1.1 allows other characters and line ends.
        "version" if value == "1.0" => Ok(()),
        "standalone" if matches!(value, "yes" | "no") => Ok(()),
        "encoding" if value.eq_ignore_ascii_case("utf-8") => Ok(()),
        "encoding" => {
            let text = format!("declared as {:?}", excerpt(value));
            Err(Error::new(0, ErrorKind::Encoding(text)))
        }
        _ => Err(bad(name)),
    }
}

fn bad(what: &str) -> Error {
    Error::syntax(0, format!("{what} of the XML declaration"))
}
