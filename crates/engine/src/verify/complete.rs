//! Whether a reply has every field that it must have: readers take an absent
//! one for its zero, so that only its text shows it.

use std::collections::HashMap;

use wirelab_stack::CodecFamily;
use wirelab_wire::codec::{Codec, MessageFormat, Object, document};

/// Compares a reply with what our writer writes for the same message.
///
/// # Errors
/// Naming the first field that is missing.
pub(crate) fn check(format: MessageFormat, ours: &[u8], theirs: &[u8]) -> Result<(), String> {
    match format.codec.family() {
        CodecFamily::Serde if format.names_every_field() => objects(format.codec, ours, theirs),
        CodecFamily::Xml | CodecFamily::Soap => xml(ours, theirs),
        // These have no names, or leave zeros out by definition.
        CodecFamily::Text
        | CodecFamily::Serde
        | CodecFamily::Protobuf
        | CodecFamily::Cdr
        | CodecFamily::TokenXml => Ok(()),
    }
}

fn objects(codec: Codec, ours: &[u8], theirs: &[u8]) -> Result<(), String> {
    let parsed = |bytes| document(codec, bytes).map_err(|error| error.to_string());
    match find_missing(&parsed(ours)?, &parsed(theirs)?) {
        Some(name) => Err(absent(&name)),
        None => Ok(()),
    }
}

fn find_missing(ours: &Object, theirs: &Object) -> Option<String> {
    match (ours, theirs) {
        (Object::Map(ours), Object::Map(theirs)) => ours.iter().find_map(|(name, value)| {
            match theirs.iter().find(|(other, _)| other == name) {
                // Names that only the service has are not an error: readers ignore unknown fields.
                None => Some(name.as_text().unwrap_or_default().to_owned()),
                Some((_, theirs)) => find_missing(value, theirs),
            }
        }),
        (Object::Array(ours), Object::Array(theirs)) => {
            // Lengths are compared with the message itself; here only names count.
            let pairs = ours.iter().zip(theirs);
            pairs.into_iter().find_map(|(a, b)| find_missing(a, b))
        }
        _ => None,
    }
}

fn xml(ours: &[u8], theirs: &[u8]) -> Result<(), String> {
    let (ours, theirs) = (elements(ours), elements(theirs));
    let count = |name: &[u8]| theirs.get(name).copied().unwrap_or(0);
    match ours
        .iter()
        .find(|(name, expected)| count(name) < **expected)
    {
        Some((name, _)) => Err(absent(&String::from_utf8_lossy(name))),
        None => Ok(()),
    }
}

fn absent(name: &str) -> String {
    format!("{name} is missing: writers write every field, empty ones too")
}

/// How many elements of each local name begin in a document that was read
/// without error. Prefixes are the writer's own choice, and so is what is
/// around the message: names of envelopes count for nothing.
fn elements(document: &[u8]) -> HashMap<&[u8], usize> {
    const AROUND: [&[u8]; 4] = [b"Envelope", b"Header", b"Body", b"Security"];
    let mut counts = HashMap::new();
    for (at, _) in document
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'<')
    {
        let rest = &document[at + 1..];
        // No parser: the document was read without error before.
        let end = rest.iter().position(|byte| b" \t\r\n/>".contains(byte));
        let name = &rest[..end.unwrap_or(rest.len())];
        let local = name.rsplit(|byte| *byte == b':').next().unwrap_or(name);
        if !local.is_empty() && !b"!?".contains(&local[0]) && !AROUND.contains(&local) {
            *counts.entry(local).or_insert(0) += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: &[u8] = b"<?xml version=\"1.0\"?><R xmlns=\"u\"><a>0</a><b></b><b>x</b></R>";

    #[test]
    fn prefixes_spaces_and_short_tags_are_the_writers_choice() {
        let theirs = b"<m:R xmlns:m='u'>\n <m:a >0</m:a><m:b/><m:b>x</m:b><!-- c --></m:R>";
        assert_eq!(xml(OURS, theirs), Ok(()));
    }

    #[test]
    fn a_zero_that_was_left_out_is_named() {
        let theirs = b"<R xmlns=\"u\"><b/><b>x</b></R>";
        assert!(xml(OURS, theirs).unwrap_err().starts_with("a is missing"));
        assert!(
            xml(OURS, b"<R><a/><b/></R>")
                .unwrap_err()
                .starts_with("b is")
        );
    }

    #[test]
    fn objects_are_searched_to_their_depth() {
        let ours = br#"{"a":0,"b":[{"c":""},{"c":"x"}]}"#;
        let json = |theirs: &[u8]| objects(Codec::Json, ours, theirs);
        assert_eq!(json(br#"{"b":[{"c":""},{"c":"x","d":1}],"a":0}"#), Ok(()));
        let missing = json(br#"{"a":0,"b":[{},{"c":"x"}]}"#);
        assert!(missing.unwrap_err().starts_with("c is missing"));
    }

    #[test]
    fn a_list_of_json_is_searched_like_an_object() {
        let ours = br#"[{"id":1,"pets":[{"name":""}]}]"#;
        let json = |theirs: &[u8]| objects(Codec::Json, ours, theirs);
        assert_eq!(
            json(br#"[{"pets":[{"name":"","type":{}}],"id":1}]"#),
            Ok(())
        );
        let missing = json(br#"[{"id":1,"pets":[{}]}]"#);
        assert!(missing.unwrap_err().starts_with("name is missing"));
    }
}
