//! Which SOAP: the version and the style.

use wirelab_contract::Operation;

use wirelab_stack::SoapVersion;

use crate::infoset::reader::Shape;

/// A version of SOAP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Version {
    /// SOAP 1.1 (W3C note, May 2000).
    V11,
    /// SOAP 1.2 (W3C recommendation, second edition).
    V12,
}

impl From<SoapVersion> for Version {
    fn from(version: SoapVersion) -> Version {
        match version {
            SoapVersion::V11 => Version::V11,
            SoapVersion::V12 => Version::V12,
        }
    }
}

impl Version {
    /// Both.
    pub const ALL: [Version; 2] = [Version::V11, Version::V12];

    /// The envelope's namespace.
    #[must_use]
    pub fn namespace(self) -> &'static str {
        match self {
            Version::V11 => "http://schemas.xmlsoap.org/soap/envelope/",
            Version::V12 => "http://www.w3.org/2003/05/soap-envelope",
        }
    }
}

/// How a message lies in the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Style {
    /// Document/literal, bare: the message's element.
    Literal,
    /// Rpc/literal: the operation's element, the fields in no namespace.
    Rpc,
    /// Rpc/encoded by SOAP 1.1 section 5.
    Encoded,
}

/// A version and a style that go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EnvelopeFormat {
    version: Version,
    style: Style,
}

/// A style that a version does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("soap-encoded is SOAP 1.1 section 5; use soap=1.1, or codec soap-literal or soap-rpc")]
pub struct UnsupportedStyle;

impl EnvelopeFormat {
    /// SOAP 1.1, document/literal: what the raw binding carries.
    pub const DOCUMENT_LITERAL: EnvelopeFormat = EnvelopeFormat {
        version: Version::V11,
        style: Style::Literal,
    };

    /// A version and a style.
    ///
    /// # Errors
    /// For rpc/encoded in SOAP 1.2.
    pub fn new(version: Version, style: Style) -> Result<Self, UnsupportedStyle> {
        match (version, style) {
            // SOAP 1.2 has an encoding of its own (part 2, section 3), with other
            // attributes than section 5 of SOAP 1.1.
            (Version::V12, Style::Encoded) => Err(UnsupportedStyle),
            _ => Ok(EnvelopeFormat { version, style }),
        }
    }

    /// The version.
    #[must_use]
    pub fn version(self) -> Version {
        self.version
    }

    /// The style.
    #[must_use]
    pub fn style(self) -> Style {
        self.style
    }

    pub(super) fn shape(self) -> Shape {
        match self.style {
            Style::Literal => Shape::Literal,
            Style::Rpc => Shape::Rpc,
            Style::Encoded => Shape::Encoded,
        }
    }

    /// The namespace of the fields of a message.
    pub(super) fn field_namespace(self, operation: Operation) -> &'static str {
        match self.style {
            Style::Literal => operation.contract().namespace(),
            // Part accessors are unqualified: WS-I Basic Profile 1.1, R2735, and SOAP
            // 1.1 section 7.1.
            Style::Rpc | Style::Encoded => "",
        }
    }

    /// The name of the body's child of a request, in two parts; `message` is the
    /// message's.
    pub(crate) fn request_child(self, operation: Operation, message: &str) -> [&str; 2] {
        self.child(message, [operation.lower_camel(), ""])
    }

    /// The same of a reply.
    pub(crate) fn reply_child(self, operation: Operation, message: &str) -> [&str; 2] {
        // WS-I Basic Profile 1.1, R2729: the operation's name with `Response` behind
        // it. In two parts, so that nothing is allocated to compare names.
        self.child(message, [operation.lower_camel(), "Response"])
    }

    fn child<'a>(self, message: &'a str, wrapper: [&'a str; 2]) -> [&'a str; 2] {
        match self.style {
            Style::Literal => [message, ""],
            Style::Rpc | Style::Encoded => wrapper,
        }
    }

    /// The prefix of the envelope's own elements, the study's in rpc/encoded.
    pub(super) fn names(self) -> &'static Names {
        match self.style {
            // Prefixes mean nothing to a reader, but their length counts: sizes can
            // then be compared with the study's.
            Style::Encoded => &STUDY,
            Style::Literal | Style::Rpc => &OURS,
        }
    }
}

/// The qualified names of the envelope's own elements.
pub(super) struct Names {
    pub(super) declaration: &'static str,
    pub(super) prefix: &'static str,
    pub(super) envelope: &'static str,
    pub(super) header: &'static str,
    pub(super) body: &'static str,
    pub(super) fault: &'static str,
    pub(super) must_understand: &'static str,
}

const OURS: Names = Names {
    declaration: "xmlns:soapenv",
    prefix: "soapenv",
    envelope: "soapenv:Envelope",
    header: "soapenv:Header",
    body: "soapenv:Body",
    fault: "soapenv:Fault",
    must_understand: "soapenv:mustUnderstand",
};

const STUDY: Names = Names {
    declaration: "xmlns:SOAP-ENV",
    prefix: "SOAP-ENV",
    envelope: "SOAP-ENV:Envelope",
    header: "SOAP-ENV:Header",
    body: "SOAP-ENV:Body",
    fault: "SOAP-ENV:Fault",
    must_understand: "SOAP-ENV:mustUnderstand",
};
