//! Envelopes as text: read by quick-xml's namespace-aware reader up to the body's child,
//! which its serde support reads as the message.

use quick_xml::NsReader;
use quick_xml::de::{Deserializer, SliceReader};
use quick_xml::events::Event;
use serde::de::DeserializeOwned;
use wirelab_contract::{Message, Operation};
use wirelab_wire_own::soap::{EnvelopeFormat, Fault, FaultCode, Style, Version};

use super::head::Head;
use super::header_blocks::open_body;
use super::references;
use crate::codec::xml::{self, PredefinedOnly, XmlError};

/// An envelope that has been read up to its body's child.
pub(crate) struct Envelope<'de> {
    /// What was read of it.
    pub(crate) head: Head,
    document: &'de str,
    /// Before the body's child.
    reader: NsReader<&'de [u8]>,
}

/// Why no envelope could be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EnvelopeError {
    /// An envelope in the namespace of neither SOAP 1.1 nor 1.2.
    #[error("an envelope of namespace {0:?}; use SOAP 1.1 or 1.2")]
    Version(String),
    /// Any other.
    #[error(transparent)]
    Xml(#[from] XmlError),
}

impl From<EnvelopeError> for Fault {
    fn from(error: EnvelopeError) -> Self {
        let code = match error {
            EnvelopeError::Version(_) => FaultCode::VersionMismatch,
            EnvelopeError::Xml(_) => FaultCode::Client,
        };
        let text = error.to_string();
        Fault { code, text }
    }
}

impl<'de> Envelope<'de> {
    /// Reads a document up to its body's child.
    ///
    /// # Errors
    /// When it is not well-formed XML, or no envelope with a body and a child.
    pub(crate) fn parse(document: &'de [u8]) -> Result<Self, EnvelopeError> {
        // First: quick-xml does not look for characters that XML forbids.
        let document = xml::checked(document)?;
        let mut reader = xml::reader(document);
        let version = open_root(&mut reader)?;
        let (blocks, token) = open_body(&mut reader, version)?;
        // serde has to see the start tag of the child again.
        let before = reader.clone();
        let Some(child) = xml::next_child(&mut reader)? else {
            return Err(XmlError::Structure("a body without an element").into());
        };
        Ok(Envelope {
            head: Head {
                version,
                blocks,
                token,
                body_namespace: child.namespace,
                body_name: child.name,
            },
            document,
            reader: before,
        })
    }

    /// Reads the rest as the request of `operation`.
    ///
    /// # Errors
    /// When it is another message.
    pub(crate) fn request<M: Message>(
        self,
        form: EnvelopeFormat,
        operation: Operation,
    ) -> Result<M, XmlError> {
        let namespace = operation.contract().namespace();
        let (namespaces, name) = match form.style() {
            Style::Literal => ([namespace; 2], M::NAME),
            Style::Rpc => ([namespace; 2], operation.lower_camel()),
            // Ours is in no namespace; other writers put it into the contract's.
            Style::Encoded => (["", namespace], operation.lower_camel()),
        };
        let head = &self.head;
        // The action chose the operation; another request in the body is an error of the caller.
        if head.body_name != name || !namespaces.contains(&head.body_namespace.as_str()) {
            return Err(XmlError::Element {
                expected: format!("{{{}}}{name}", namespaces[0]),
                found: format!("{{{}}}{}", head.body_namespace, head.body_name),
            });
        }
        match form.style() {
            Style::Literal => self.message(),
            Style::Rpc => self.message::<M::Parts>().map(Into::into),
            Style::Encoded => self.encoded::<M::Parts>().map(Into::into),
        }
    }

    /// The body's child, behind which the envelope must end.
    fn message<T: DeserializeOwned>(self) -> Result<T, XmlError> {
        let (message, input) = xml::read_element(self.reader)?;
        // The usual envelope ends at once; only others are read a second time.
        if !ends_at_once(&input)? {
            prove_end(self.document)?;
        }
        Ok(message)
    }

    /// The same in SOAP 1.1 section 5, where elements that were referred to may follow.
    fn encoded<T: DeserializeOwned>(self) -> Result<T, XmlError> {
        if !references::may_occur(self.document) {
            return self.message();
        }
        let whole = references::inlined(self.document)?;
        let mut reader = xml::reader(&whole);
        xml::next_child(&mut reader)?;
        xml::read_element(reader).map(|(message, _)| message)
    }
}

/// Opens the root, which must be an envelope.
fn open_root(reader: &mut NsReader<&[u8]>) -> Result<Version, EnvelopeError> {
    let root =
        xml::next_child(reader)?.ok_or(XmlError::Structure("a document without an element"))?;
    if root.name != "Envelope" {
        let (expected, found) = ("Envelope".to_owned(), root.to_string());
        return Err(XmlError::Element { expected, found }.into());
    }
    let mut versions = Version::ALL.into_iter();
    versions
        .find(|version| version.namespace() == root.namespace)
        .ok_or(EnvelopeError::Version(root.namespace))
}

/// Whether the body and the envelope end right behind the element that was read, and
/// with them the document. The deserializer has read one event more: where that was the
/// end of the body, the next must be that of the envelope, whose name quick-xml checks.
fn ends_at_once<'de>(
    input: &Deserializer<'de, SliceReader<'de>, PredefinedOnly>,
) -> Result<bool, XmlError> {
    let mut rest = input.get_ref().get_ref().clone();
    let closes_envelope = match rest.read_event()? {
        Event::End(end) => end.local_name().into_inner() == "Envelope",
        _ => false,
    };
    Ok(closes_envelope && matches!(rest.read_event()?, Event::Eof))
}

/// Proves that nothing but white space, comments and processing instructions follow
/// the body's child, read from the begin of the document.
fn prove_end(document: &str) -> Result<(), XmlError> {
    const TRAILING: XmlError = XmlError::Structure("nothing may follow the body's element");
    let mut reader = xml::reader(document);
    let Some(root) = xml::next_child(&mut reader)? else {
        return Err(TRAILING);
    };
    let versions = Version::ALL.into_iter();
    let version = versions
        .into_iter()
        .find(|v| v.namespace() == root.namespace);
    open_body(&mut reader, version.ok_or(TRAILING)?)?;
    if let Some(child) = xml::next_child(&mut reader)? {
        xml::skip(&mut reader, &child)?;
    }
    // The ends of the body and of the envelope.
    for _ in 0..2 {
        if xml::next_child(&mut reader)?.is_some() {
            return Err(TRAILING);
        }
    }
    xml::finish(&mut reader)
}
