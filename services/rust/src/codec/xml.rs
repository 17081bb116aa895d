//! Messages as XML documents, by the mapping of contracts/README.md, on quick-xml's
//! serde support.
//!
//! quick-xml leaves to its user what a message is called, which namespace it is in,
//! which characters XML allows, whether there is a document type declaration, and what
//! follows the root element: these are checked here, before or after it reads.

use std::fmt;

use quick_xml::NsReader;
use quick_xml::de::{Deserializer, EntityResolver, SliceReader};
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, BytesText, Event};
use quick_xml::name::{Namespace, ResolveResult};
use quick_xml::se::to_writer_with_root;
use serde::Serialize;
use serde::de::DeserializeOwned;
use wirelab_contract::{Contract, Message};

/// What every document begins with.
pub(crate) const DECLARATION: &str = r#"<?xml version="1.0" encoding="UTF-8"?>"#;

/// Why a document is not the message that was asked for.
#[derive(Debug, thiserror::Error)]
pub(crate) enum XmlError {
    /// Not UTF-8 (RFC 3629).
    #[error("the document is not UTF-8: {0}")]
    Encoding(#[from] std::str::Utf8Error),
    /// A character that XML 1.0 section 2.2 does not allow.
    #[error("byte {offset}: character U+{code:04X} is not allowed in XML 1.0")]
    Character {
        /// Bytes before it.
        offset: usize,
        /// Its code point.
        code: u32,
    },
    /// A document type declaration, whatever it holds.
    #[error(transparent)]
    DocumentType(#[from] DocumentTypeRefused),
    /// Not well-formed.
    #[error(transparent)]
    Syntax(#[from] quick_xml::Error),
    /// Not the message.
    #[error(transparent)]
    Message(#[from] quick_xml::DeError),
    /// Another element where this one must be.
    #[error("expected element {expected}, found {found}")]
    Element {
        /// The name that was expected.
        expected: String,
        /// The name that is there.
        found: String,
    },
    /// An element or a text where none may be, or none where one must.
    #[error("{0}")]
    Structure(&'static str),
}

/// Document type declarations are refused: no message needs one, and entities that
/// they declare can grow without bound.
#[derive(Debug, thiserror::Error)]
#[error("document type declarations are refused")]
pub(crate) struct DocumentTypeRefused;

/// Resolves the five predefined entities, and refuses to learn others.
pub(crate) struct PredefinedOnly;

impl EntityResolver for PredefinedOnly {
    type Error = DocumentTypeRefused;

    // Called for a document type declaration, before any entity could be expanded.
    fn capture(&mut self, _: BytesText<'_>) -> Result<(), DocumentTypeRefused> {
        Err(DocumentTypeRefused)
    }

    fn resolve(&self, entity: &str) -> Option<&str> {
        resolve_predefined_entity(entity)
    }
}

/// A message as a document.
pub(crate) fn write<M: Message>(message: &M) -> Vec<u8> {
    let mut out = String::from(DECLARATION);
    write_element(M::NAME, M::CONTRACT.namespace(), message, &mut out);
    out.into_bytes()
}

/// An application error as a document: the element `Error` with `text`.
pub(crate) fn write_error(contract: Contract, text: &str) -> Vec<u8> {
    #[derive(Serialize)]
    struct Failure<'a> {
        error: &'a str,
    }
    let mut out = String::from(DECLARATION);
    let failure = Failure { error: text };
    write_element("Error", contract.namespace(), &failure, &mut out);
    out.into_bytes()
}

/// Appends an element whose namespace becomes the default one.
pub(crate) fn write_element<T: Serialize>(
    name: &str,
    namespace: &str,
    fields: &T,
    out: &mut String,
) {
    #[derive(Serialize)]
    struct Element<'a, T> {
        #[serde(rename = "@xmlns")]
        namespace: &'a str,
        #[serde(flatten)]
        fields: &'a T,
    }
    // The default namespace: no field has a prefix, as the mapping of contracts/README.md has it.
    let element = Element { namespace, fields };
    to_writer_with_root(out, name, &element).expect("messages have a form in XML");
}

/// Reads a message from a document.
///
/// # Errors
/// When the document is something else.
pub(crate) fn read<M: Message>(document: &[u8]) -> Result<M, XmlError> {
    let text = checked(document)?;
    let mut reader = reader(text);
    let before = reader.clone();
    let Some(root) = next_child(&mut reader)? else {
        return Err(XmlError::Structure("a document without an element"));
    };
    root.prove(M::CONTRACT.namespace(), M::NAME)?;
    let (message, input) = read_element(before)?;
    // serde stops at the end of the root element and does not look at what follows.
    if !input.is_empty() {
        prove_end(text)?;
    }
    Ok(message)
}

/// A reader before the first event of a document that was [`checked`].
pub(crate) fn reader(text: &str) -> NsReader<&[u8]> {
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
pub(crate) fn read_element<T: DeserializeOwned>(
    before: NsReader<&[u8]>,
) -> Result<(T, Deserializer<'_, SliceReader<'_>, PredefinedOnly>), XmlError> {
    let mut input = Deserializer::borrowing_with_resolver(before, PredefinedOnly);
    let value = T::deserialize(&mut input)?;
    Ok((value, input))
}

/// The document as text that holds only characters of XML 1.0 section 2.2.
///
/// # Errors
/// [`XmlError::Encoding`], [`XmlError::Character`].
pub(crate) fn checked(document: &[u8]) -> Result<&str, XmlError> {
    // Every character that XML forbids begins with a control byte or, U+FFFE and U+FFFF, with 0xEF:
    // one pass over the bytes settles nearly all documents. Surrogates are not UTF-8 at all.
    let text = std::str::from_utf8(document)?;
    let suspicious = |byte: &u8| *byte < b' ' || *byte == 0xEF;
    if !text.as_bytes().iter().any(suspicious) {
        return Ok(text);
    }
    let illegal = |c: char| {
        c < ' ' && !matches!(c, '\t' | '\n' | '\r') || matches!(c, '\u{FFFE}' | '\u{FFFF}')
    };
    match text.char_indices().find(|(_, c)| illegal(*c)) {
        None => Ok(text),
        Some((offset, c)) => Err(XmlError::Character {
            offset,
            code: u32::from(c),
        }),
    }
}

/// An element whose start tag has been read.
pub(crate) struct Element<'de> {
    /// Empty for none.
    pub(crate) namespace: String,
    /// The name without its prefix.
    pub(crate) name: String,
    /// The tag.
    pub(crate) tag: BytesStart<'de>,
}

impl Element<'_> {
    /// Whether it has that name.
    pub(crate) fn is(&self, namespace: &str, name: &str) -> bool {
        self.name == name && self.namespace == namespace
    }

    /// Proves that it has that name.
    ///
    /// # Errors
    /// [`XmlError::Element`].
    pub(crate) fn prove(&self, namespace: &str, name: &str) -> Result<(), XmlError> {
        if self.is(namespace, name) {
            return Ok(());
        }
        Err(XmlError::Element {
            expected: format!("{{{namespace}}}{name}"),
            found: self.to_string(),
        })
    }
}

impl fmt::Display for Element<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{}}}{}", self.namespace, self.name)
    }
}

/// Opens the next child of the open element, or the root; none where the open element
/// ends.
///
/// # Errors
/// When the document is not well-formed or ends, or has text between elements.
pub(crate) fn next_child<'de>(
    reader: &mut NsReader<&'de [u8]>,
) -> Result<Option<Element<'de>>, XmlError> {
    loop {
        let (namespace, event) = reader.read_resolved_event()?;
        match event {
            Event::Start(tag) => {
                let namespace = match namespace {
                    ResolveResult::Bound(Namespace(name)) => name.to_owned(),
                    ResolveResult::Unbound => String::new(),
                    // Namespaces in XML 1.0, section 5: a prefix must be declared.
                    ResolveResult::Unknown(_) => {
                        return Err(XmlError::Structure("a prefix that is not declared"));
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
            Event::Eof => return Err(XmlError::Structure("the document ends too early")),
            Event::DocType(_) => return Err(DocumentTypeRefused.into()),
            Event::Text(text) if is_blank(&text) => {}
            Event::Text(_) | Event::CData(_) | Event::GeneralRef(_) => {
                return Err(XmlError::Structure("text where only elements may be"));
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
pub(crate) fn skip(reader: &mut NsReader<&[u8]>, element: &Element<'_>) -> Result<(), XmlError> {
    reader.read_to_end(element.tag.name())?;
    Ok(())
}

/// Proves that nothing but white space, comments and processing instructions follow
/// the root element.
fn prove_end(text: &str) -> Result<(), XmlError> {
    let mut reader = reader(text);
    if let Some(root) = next_child(&mut reader)? {
        skip(&mut reader, &root)?;
    }
    finish(&mut reader)
}

/// Proves that nothing but white space, comments and processing instructions are left.
///
/// # Errors
/// When anything else is.
pub(crate) fn finish(reader: &mut NsReader<&[u8]>) -> Result<(), XmlError> {
    loop {
        match reader.read_event()? {
            Event::Eof => return Ok(()),
            Event::Text(text) if is_blank(&text) => {}
            Event::Comment(_) | Event::PI(_) => {}
            _ => return Err(XmlError::Structure("nothing may follow the root element")),
        }
    }
}

fn is_blank(text: &str) -> bool {
    // White space of XML 1.0 section 2.3, which is less than that of Unicode.
    text.bytes()
        .all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
}

#[cfg(test)]
#[path = "xml_tests.rs"]
mod tests;
