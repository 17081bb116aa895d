//! An envelope up to its body's child: enough to identify it.

use crate::infoset::chars;
use crate::infoset::source::{Element, Source};
use crate::infoset::{Error, ErrorKind};

use super::fault::{Fault, FaultCode};
use super::format::Version;
use super::security::{self, UsernameToken, WSSE};

/// A block of an envelope's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeaderBlock<'de> {
    /// Its namespace; empty for none.
    pub namespace: &'de str,
    /// Its local name.
    pub name: &'de str,
    /// Whether a service that does not know it must refuse the request.
    // False also where the block is meant for another node, because then it is not for
    // this service to refuse (SOAP 1.1 section 4.2.3; SOAP 1.2 part 1, section 5.2.3).
    pub must_understand: bool,
}

/// The qualified name of the body's child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BodyName<'de> {
    /// Its namespace; empty for none.
    pub namespace: &'de str,
    /// Its local name.
    pub name: &'de str,
}

/// An envelope that has been read up to its body's child; the rest waits.
pub struct Envelope<'de, S> {
    pub(super) source: S,
    pub(super) version: Version,
    pub(super) body: Element<'de>,
    headers: Vec<HeaderBlock<'de>>,
    token: Option<UsernameToken>,
}

/// Why no envelope could be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnvelopeError {
    /// An envelope in the namespace of neither SOAP 1.1 nor 1.2.
    #[error("an envelope of namespace {0:?}; use SOAP 1.1 or 1.2")]
    Version(String),
    /// Any other.
    #[error(transparent)]
    Xml(#[from] Error),
}

impl From<&EnvelopeError> for Fault {
    fn from(error: &EnvelopeError) -> Self {
        // SOAP 1.1 section 4.1.2 demands VersionMismatch for a foreign namespace;
        // everything else that cannot be read is the sender's mistake.
        let code = match error {
            EnvelopeError::Version(_) => FaultCode::VersionMismatch,
            EnvelopeError::Xml(_) => FaultCode::Client,
        };
        let text = error.to_string();
        Fault { code, text }
    }
}

impl<'de, S: Source<'de>> Envelope<'de, S> {
    /// Reads a document up to its body's child.
    ///
    /// # Errors
    /// When it is not well-formed, or no envelope with a body and a child.
    pub fn open(mut source: S) -> Result<Self, EnvelopeError> {
        let version = open_root(&mut source)?;
        let mut headers = Vec::new();
        let mut token = None;
        let mut child = source.child()?;
        // Optional, but if there is one it comes first (SOAP 1.1 section 4.2; SOAP 1.2
        // part 1, section 5.1).
        if child.is_some_and(|child| child.is(version.namespace(), "Header")) {
            token = read_header(&mut source, version, &mut headers)?;
            child = source.child()?;
        }
        match child {
            Some(body) if body.is(version.namespace(), "Body") => {}
            Some(other) => return Err(other.unexpected("Body").into()),
            None => return Err(fail(&source, "an envelope without a body")),
        }
        let Some(body) = source.child()? else {
            // SOAP allows an empty body; every message of the contracts has an element,
            // also one without fields.
            return Err(fail(&source, "a body without an element"));
        };
        Ok(Envelope {
            source,
            version,
            body,
            headers,
            token,
        })
    }

    /// The version that it is written in.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// The blocks of its header.
    #[must_use]
    pub fn headers(&self) -> &[HeaderBlock<'de>] {
        &self.headers
    }

    /// Name and password, where the header has them as text.
    #[must_use]
    pub fn token(&self) -> Option<&UsernameToken> {
        self.token.as_ref()
    }

    /// The name of the body's child.
    #[must_use]
    pub fn body(&self) -> BodyName<'de> {
        BodyName {
            namespace: self.body.namespace,
            name: self.body.local,
        }
    }

    /// Whether the body's child is a fault.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        self.body.is(self.version.namespace(), "Fault")
    }
}

fn open_root<'de>(source: &mut impl Source<'de>) -> Result<Version, EnvelopeError> {
    let Some(root) = source.child()? else {
        unreachable!("no element is open before the root");
    };
    // Another namespace of an Envelope is VersionMismatch, another root a client error.
    if root.local != "Envelope" {
        return Err(root.unexpected("Envelope").into());
    }
    let mut versions = Version::ALL.into_iter();
    versions
        .find(|version| version.namespace() == root.namespace)
        .ok_or_else(|| EnvelopeError::Version(root.namespace.to_owned()))
}

/// Reads the open `Header`, which ends.
fn read_header<'de>(
    source: &mut impl Source<'de>,
    version: Version,
    headers: &mut Vec<HeaderBlock<'de>>,
) -> Result<Option<UsernameToken>, Error> {
    let mut token = None;
    while let Some(block) = source.child()? {
        headers.push(HeaderBlock {
            namespace: block.namespace,
            name: block.local,
            must_understand: must_understand(source, version)?,
        });
        // Other blocks are recorded by name, so that mustUnderstand can be checked.
        // Several `Security` blocks may be addressed to different nodes; the last one
        // wins here.
        if block.is(WSSE, "Security") {
            token = security::read_block(source)?;
        } else {
            source.skip()?;
        }
    }
    Ok(token)
}

fn must_understand<'de>(source: &impl Source<'de>, version: Version) -> Result<bool, Error> {
    if !is_ours(source, version)? {
        return Ok(false);
    }
    let value = source.attribute(version.namespace(), "mustUnderstand")?;
    // SOAP 1.1 knows only 0 and 1 (section 4.2.3), SOAP 1.2 an xsd:boolean (part 1,
    // section 5.2.3). Both are accepted in both versions.
    Ok(value.is_some_and(|value| matches!(chars::trim(&value), "1" | "true")))
}

/// Whether a header block is meant for the service, not for another node on
/// the way (SOAP 1.1 section 4.2.2; SOAP 1.2 part 1, section 2.2).
fn is_ours<'de>(source: &impl Source<'de>, version: Version) -> Result<bool, Error> {
    let attribute = match version {
        Version::V11 => "actor",
        Version::V12 => "role",
    };
    let Some(node) = source.attribute(version.namespace(), attribute)? else {
        return Ok(true);
    };
    // The role `none` is missing on purpose: no node may process such a block (SOAP 1.2
    // part 1, section 2.2).
    Ok(matches!(
        chars::trim(&node),
        "" | "http://schemas.xmlsoap.org/soap/actor/next"
            | "http://www.w3.org/2003/05/soap-envelope/role/next"
            | "http://www.w3.org/2003/05/soap-envelope/role/ultimateReceiver"
    ))
}

fn fail<'de>(source: &impl Source<'de>, what: &'static str) -> EnvelopeError {
    Error::new(source.offset(), ErrorKind::Envelope(what)).into()
}
