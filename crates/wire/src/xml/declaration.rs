//! The XML declaration (XML 1.0 section 2.8).

use quick_xml::events::attributes::Attributes;

use super::chars;
use super::error::{Error, ErrorKind};
use super::scope::short;

/// Bytes of the declaration that a document begins with; 0 without one.
///
/// # Errors
/// When it is no declaration of XML 1.0 in UTF-8.
pub(super) fn length(document: &str) -> Result<usize, Error> {
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
    let mut wanted = ["version", "encoding", "standalone"].iter();
    for (count, attribute) in Attributes::new(content, 0).enumerate() {
        let attribute = attribute.map_err(|_| bad("attributes"))?;
        let name = attribute.key.into_inner();
        if !wanted.any(|wanted| *wanted == name) || (count == 0) != (name == "version") {
            return Err(bad("attributes"));
        }
        check_value(name, &attribute.value)?;
    }
    if wanted.len() == 3 {
        return Err(bad("version"));
    }
    Ok(())
}

fn check_value(name: &str, value: &str) -> Result<(), Error> {
    match name {
        "version" if value == "1.0" => Ok(()),
        "standalone" if matches!(value, "yes" | "no") => Ok(()),
        "encoding" if value.eq_ignore_ascii_case("utf-8") => Ok(()),
        "encoding" => {
            let text = format!("declared as {:?}", short(value));
            Err(Error::new(0, ErrorKind::Encoding(text)))
        }
        _ => Err(bad(name)),
    }
}

fn bad(what: &str) -> Error {
    Error::syntax(0, format!("{what} of the XML declaration"))
}
