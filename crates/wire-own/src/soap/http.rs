//! SOAP's fields in HTTP: the content type and the action (SOAP 1.1
//! section 6.1; SOAP 1.2 part 2, section 7; RFC 3902).

use wirelab_contract::Operation;

use super::format::Version;

impl Version {
    /// The media type without parameters.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            Version::V11 => "text/xml",
            Version::V12 => "application/soap+xml",
        }
    }

    /// `content-type` of a request.
    #[must_use]
    pub fn request_type(self, operation: Operation) -> String {
        let own = self.reply_type();
        match self {
            // SOAP 1.1 names the operation in the field `SOAPAction` (section 6.1.1),
            // 1.2 in the parameter `action` (RFC 3902).
            Version::V11 => own.to_owned(),
            Version::V12 => format!("{own}; action=\"{}\"", operation.soap_action()),
        }
    }

    /// `content-type` of a reply, also of a fault.
    #[must_use]
    pub fn reply_type(self) -> &'static str {
        match self {
            Version::V11 => "text/xml; charset=utf-8",
            Version::V12 => "application/soap+xml; charset=utf-8",
        }
    }

    /// The field `soapaction` of a request, quoted; SOAP 1.2 has none.
    #[must_use]
    pub fn action_field(self, operation: Operation) -> Option<String> {
        match self {
            // The quotation marks are part of the value: WS-I Basic Profile 1.1, R1109.
            Version::V11 => Some(format!("\"{}\"", operation.soap_action())),
            Version::V12 => None,
        }
    }
}

/// A `content-type` that SOAP knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentType {
    /// The version that it belongs to.
    pub version: Version,
    /// The parameter `action`, without quotation marks.
    pub action: Option<String>,
}

impl ContentType {
    /// Reads a field's value; `None` for another type, another character set
    /// than UTF-8, or a value that is not well-formed (RFC 9110 section 8.3).
    #[must_use]
    pub fn parse(value: &str) -> Option<Self> {
        let (media_type, mut rest) = value.split_at(value.find(';').unwrap_or(value.len()));
        let mut versions = Version::ALL.into_iter();
        let version = versions.find(|v| v.media_type().eq_ignore_ascii_case(media_type.trim()))?;
        let mut action = None;
        while let Some(after) = rest.trim_start().strip_prefix(';') {
            // A parameter may be empty behind its semicolon (RFC 9110 section 5.6.6).
            if after.trim().is_empty() {
                return Some(ContentType { version, action });
            }
            let (name, value, behind) = parameter(after.trim_start())?;
            // RFC 9110 section 8.3.2: charset names are case-insensitive.
            if name.eq_ignore_ascii_case("charset") && !value.eq_ignore_ascii_case("utf-8") {
                return None;
            }
            if name.eq_ignore_ascii_case("action") {
                action = Some(value);
            }
            rest = behind;
        }
        rest.trim()
            .is_empty()
            .then_some(ContentType { version, action })
    }
}

/// Name and value of a parameter, and what lies behind it.
fn parameter(text: &str) -> Option<(&str, String, &str)> {
    let (name, rest) = text.split_once('=')?;
    let Some(quoted) = rest.strip_prefix('"') else {
        // Only a quoted value can hold a semicolon (RFC 9110 section 5.6.6).
        let end = rest.find(';').unwrap_or(rest.len());
        return Some((name.trim(), rest[..end].trim().to_owned(), &rest[end..]));
    };
    let mut value = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return Some((name.trim(), value, &quoted[at + 1..])),
            // quoted-pair of RFC 9110 section 5.6.4.
            '\\' => value.push(characters.next()?.1),
            other => value.push(other),
        }
    }
    None
}

/// The action that a `SOAPAction` field names, with or without quotation marks.
#[must_use]
pub fn action_of_field(value: &str) -> &str {
    let value = value.trim();
    let inner = value
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    inner.unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_those_of_the_contract() {
        let book = Operation::Book;
        assert_eq!(Version::V11.request_type(book), "text/xml; charset=utf-8");
        assert_eq!(
            Version::V12.request_type(book),
            "application/soap+xml; charset=utf-8; action=\"urn:wirelab:calendar:v1#Book\""
        );
        assert_eq!(
            Version::V11.action_field(book).unwrap(),
            "\"urn:wirelab:calendar:v1#Book\""
        );
        assert_eq!(Version::V12.action_field(book), None);
        assert_eq!(action_of_field(" \"urn:a\" "), "urn:a");
        assert_eq!(action_of_field("urn:a"), "urn:a");
        assert_eq!(action_of_field("\"\""), "");
    }

    #[test]
    fn content_types_are_read_in_any_spelling() {
        let parse = |value| ContentType::parse(value).map(|t| (t.version, t.action));
        assert_eq!(parse("text/xml"), Some((Version::V11, None)));
        assert_eq!(
            parse("Text/XML ; Charset=\"UTF-8\";"),
            Some((Version::V11, None))
        );
        for value in [
            "application/soap+xml; charset=utf-8; action=\"urn:a;\\\"b\"",
            "application/soap+xml;action=\"urn:a;\\\"b\" ;charset=utf-8",
        ] {
            assert_eq!(parse(value), Some((Version::V12, Some("urn:a;\"b".into()))));
        }
        for bad in [
            "",
            "application/xml",
            "text/xml; charset=iso-8859-1",
            "text/xml; charset",
            "application/soap+xml; action=\"a",
            "application/soap+xml; action=\"a\" b",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
