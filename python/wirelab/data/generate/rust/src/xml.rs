//! Messages as XML documents, on quick-xml's serde support.
//!
//! quick-xml leaves to its user what a message is called, which namespace it is in,
//! which characters XML allows, whether there is a document type declaration, and what
//! follows the root element: these are checked here, before or after it reads.

use std::fmt::Display;
use std::io;

use quick_xml::NsReader;
use quick_xml::de::{Deserializer, EntityResolver, SliceReader};
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, BytesText, Event};
use quick_xml::name::{Namespace, ResolveResult};
use quick_xml::se::to_writer_with_root;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::contract::{NAMESPACE, REPLY_ELEMENT, REQUEST_ELEMENT};

/// What every document begins with.
pub const DECLARATION: &str = r#"<?xml version="1.0" encoding="UTF-8"?>"#;

const DOCUMENT_TYPE: &str = "document type declarations are refused";

/// quick-xml's deserializer.
pub type Input<'de> = Deserializer<'de, SliceReader<'de>, PredefinedOnly>;

/// Resolves the five predefined entities, and refuses to learn others.
pub struct PredefinedOnly;

impl EntityResolver for PredefinedOnly {
    type Error = io::Error;

    // Called for a document type declaration, before any entity could be expanded.
    fn capture(&mut self, _: BytesText<'_>) -> io::Result<()> {
        Err(io::Error::other(DOCUMENT_TYPE))
    }

    fn resolve(&self, entity: &str) -> Option<&str> {
        resolve_predefined_entity(entity)
    }
}

/// Reads a request.
///
/// # Errors
/// A document that is something else.
pub fn read_request<M: DeserializeOwned>(document: &[u8]) -> Result<M, String> {
    read(document, REQUEST_ELEMENT)
}

/// Reads a reply.
///
/// # Errors
/// A document that is something else.
pub fn read_reply<M: DeserializeOwned>(document: &[u8]) -> Result<M, String> {
    read(document, REPLY_ELEMENT)
}

/// Writes a reply.
///
/// # Errors
/// A value that has no form there.
pub fn write_reply<M: Serialize>(message: &M) -> Result<Vec<u8>, String> {
    let mut out = String::from(DECLARATION);
    write_element(message, &mut out)?;
    Ok(out.into_bytes())
}

/// Appends a reply's element, whose namespace becomes the default one.
///
/// # Errors
/// A value that has no form there.
pub fn write_element<T: Serialize>(fields: &T, out: &mut String) -> Result<(), String> {
    #[derive(Serialize)]
    struct Element<'a, T> {
        #[serde(rename = "@xmlns")]
        namespace: &'a str,
        #[serde(flatten)]
        fields: &'a T,
    }
    let element = Element {
        namespace: NAMESPACE,
        fields,
    };
    to_writer_with_root(out, REPLY_ELEMENT, &element)
        .map(|_| ())
        .map_err(text)
}

fn read<M: DeserializeOwned>(document: &[u8], name: &str) -> Result<M, String> {
    let text = check_text(document)?;
    let mut reader = reader(text);
    let before = reader.clone();
    next_child(&mut reader)?
        .ok_or("a document without an element")?
        .prove(NAMESPACE, name)?;
    let (message, input) = read_element(before)?;
    // serde stops at the end of the root element and does not look at what follows.
    if !input.is_empty() {
        prove_end(text)?;
    }
    Ok(message)
}

/// A reader before the first event of a document that was [`checked`].
pub fn reader(text: &str) -> NsReader<&[u8]> {
    let mut reader = NsReader::from_str(text);
    // `<a/>` is read as `<a></a>`, which means the same (XML 1.0 section 3.1): one case less.
    reader.config_mut().expand_empty_elements = true;
    reader
}

/// Reads a value from the element that `before` precedes, and returns quick-xml's
/// deserializer, which has read one event more.
///
/// # Errors
/// When the element is something else.
pub fn read_element<T: DeserializeOwned>(
    before: NsReader<&[u8]>,
) -> Result<(T, Input<'_>), String> {
    let mut input = Deserializer::borrowing_with_resolver(before, PredefinedOnly);
    let value = T::deserialize(&mut input).map_err(text)?;
    Ok((value, input))
}

/// An error as text.
pub fn text(error: impl Display) -> String {
    error.to_string()
}

/// The document as text that holds only characters of XML 1.0 section 2.2.
///
/// # Errors
/// Other bytes.
pub fn check_text(document: &[u8]) -> Result<&str, String> {
    // Every character that XML forbids begins with a control byte or, U+FFFE and U+FFFF, with 0xEF:
    // one pass over the bytes settles nearly all documents. Surrogates are not UTF-8 at all.
    let text = std::str::from_utf8(document).map_err(text)?;
    let suspicious = |byte: &u8| *byte < b' ' || *byte == 0xEF;
    if !text.as_bytes().iter().any(suspicious) {
        return Ok(text);
    }
    let illegal = |c: char| {
        c < ' ' && !matches!(c, '\t' | '\n' | '\r') || matches!(c, '\u{FFFE}' | '\u{FFFF}')
    };
    if text.contains(illegal) {
        return Err("the document has a character that XML 1.0 does not allow".to_owned());
    }
    Ok(text)
}

/// An element whose start tag has been read.
pub struct Element<'de> {
    /// Empty for none.
    pub namespace: String,
    /// The name without its prefix.
    pub name: String,
    /// The tag.
    pub tag: BytesStart<'de>,
}

impl Element<'_> {
    /// Whether it has that name.
    pub fn is(&self, namespace: &str, name: &str) -> bool {
        self.name == name && self.namespace == namespace
    }

    /// Proves that it has that name.
    ///
    /// # Errors
    /// Another one.
    pub fn prove(&self, namespace: &str, name: &str) -> Result<(), String> {
        if self.is(namespace, name) {
            return Ok(());
        }
        Err(format!(
            "expected element {{{namespace}}}{name}, found {{{}}}{}",
            self.namespace, self.name
        ))
    }
}

/// Opens the next child of the open element, or the root; none where the open element
/// ends.
///
/// # Errors
/// When the document is not well-formed or ends, or has text between elements.
pub fn next_child<'de>(reader: &mut NsReader<&'de [u8]>) -> Result<Option<Element<'de>>, String> {
    loop {
        let (namespace, event) = reader.read_resolved_event().map_err(text)?;
        match event {
            Event::Start(tag) => {
                let namespace = match namespace {
                    ResolveResult::Bound(Namespace(name)) => name.to_owned(),
                    ResolveResult::Unbound => String::new(),
                    // Namespaces in XML 1.0, section 5: a prefix must be declared.
                    ResolveResult::Unknown(_) => {
                        return Err("a prefix that is not declared".to_owned());
                    }
                };
                let name = tag.local_name().into_inner().to_owned();
                return Ok(Some(Element {
                    namespace,
                    name,
                    tag,
                }));
            }
            Event::End(_) => return Ok(None),
            Event::Eof => return Err("the document ends too early".to_owned()),
            Event::DocType(_) => return Err(DOCUMENT_TYPE.to_owned()),
            Event::Text(text) if is_blank(&text) => {}
            Event::Text(_) | Event::CData(_) | Event::GeneralRef(_) => {
                return Err("text where only elements may be".to_owned());
            }
            Event::Comment(_) | Event::PI(_) | Event::Decl(_) => {}
            Event::Empty(_) => unreachable!("the reader expands empty elements"),
        }
    }
}

/// Passes over the rest of `element`, which has just been opened.
///
/// # Errors
/// When the document is not well-formed.
pub fn skip(reader: &mut NsReader<&[u8]>, element: &Element<'_>) -> Result<(), String> {
    reader.read_to_end(element.tag.name()).map_err(text)?;
    Ok(())
}

/// Proves that nothing but white space, comments and processing instructions follow
/// the root element.
fn prove_end(document: &str) -> Result<(), String> {
    let mut reader = reader(document);
    if let Some(root) = next_child(&mut reader)? {
        skip(&mut reader, &root)?;
    }
    finish(&mut reader)
}

/// Proves that nothing but white space, comments and processing instructions are left.
///
/// # Errors
/// When anything else is.
pub fn finish(reader: &mut NsReader<&[u8]>) -> Result<(), String> {
    loop {
        match reader.read_event().map_err(text)? {
            Event::Eof => return Ok(()),
            Event::Text(text) if is_blank(&text) => {}
            Event::Comment(_) | Event::PI(_) => {}
            _ => return Err("nothing may follow the root element".to_owned()),
        }
    }
}

fn is_blank(text: &str) -> bool {
    // White space of XML 1.0 section 2.3, which is less than that of Unicode.
    text.bytes()
        .all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
}
