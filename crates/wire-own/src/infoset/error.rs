//! Why a document is not the message that was asked for.

use std::fmt;

/// What is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset}: {kind}")]
pub struct Error {
    /// Bytes before the place at fault; for tokens, items before it.
    pub offset: usize,
    /// What is wrong there.
    pub kind: ErrorKind,
}

/// What is wrong with a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Not UTF-8, or declared as something else.
    #[error("{0}; send the document in UTF-8")]
    Encoding(String),
    /// A character that XML 1.0 section 2.2 does not allow.
    #[error("character U+{0:04X} is not allowed in XML 1.0")]
    Character(u32),
    /// A document type declaration, whatever it holds.
    #[error("document type declarations are refused")]
    // SOAP forbids it (SOAP 1.1 section 3; SOAP 1.2 part 1, section 5), and without it
    // there are no entities to expand, neither from files nor exponentially.
    DocumentType,
    /// The document ends in the middle.
    #[error("the document ends too early")]
    // Separate from `Syntax`: a document that is cut off points to the transport, not
    // to its writer.
    Truncated,
    /// Something behind the root element.
    #[error("nothing may follow the root element")]
    Trailing,
    /// Not well-formed in another way.
    #[error("not well-formed: {0}")]
    Syntax(String),
    /// Something is larger than any message needs.
    #[error("{what}: at most {limit}")]
    Limit {
        /// What is too large.
        what: &'static str,
        /// How large it may be.
        limit: usize,
    },
    /// A prefix without a declaration.
    #[error("prefix {0:?} is not declared")]
    UndeclaredPrefix(String),
    /// An element is in the place of another.
    #[error("expected element {expected}, found {found}")]
    Element {
        /// The expected one, as `{namespace}name`.
        expected: String,
        /// The one that was found, as `{namespace}name`.
        found: String,
    },
    /// Text where only elements are allowed.
    #[error("text where only elements are allowed")]
    UnexpectedText,
    /// A reference to an entity that is not one of the predefined five.
    #[error("entity {0:?} is not defined")]
    Entity(String),
    /// A text that is not of its field's type.
    #[error("{text:?} is not {expected}")]
    Value {
        /// The wanted type with an article.
        expected: &'static str,
        /// The start of the text.
        text: String,
    },
    /// A reference of SOAP 1.1 section 5 that leads nowhere or back to itself.
    #[error("reference {id:?} {fault}")]
    Reference {
        /// The identifier, without `#`.
        id: String,
        /// What is wrong with it.
        fault: &'static str,
    },
    /// An envelope that breaks a rule of SOAP.
    #[error("{0}")]
    Envelope(&'static str),
    /// The error of the message's own deserializer.
    #[error("{0}")]
    Message(String),
}

impl Error {
    /// What is wrong at a place.
    #[must_use]
    pub fn new(offset: usize, kind: ErrorKind) -> Self {
        Error { offset, kind }
    }

    /// More of something than any message needs.
    #[must_use]
    pub fn limit(offset: usize, what: &'static str, limit: usize) -> Self {
        Error::new(offset, ErrorKind::Limit { what, limit })
    }

    /// Something that is not well-formed.
    #[must_use]
    pub fn syntax(offset: usize, text: impl Into<String>) -> Self {
        Error::new(offset, ErrorKind::Syntax(text.into()))
    }

    /// The same error with a place, where the message's reader knew none.
    #[must_use]
    pub fn at_offset(mut self, offset: usize) -> Self {
        if self.offset == UNKNOWN_OFFSET {
            self.offset = offset;
        }
        self
    }
}

/// Errors made by serde's own code have no place until their caller gives one.
const UNKNOWN_OFFSET: usize = usize::MAX;

/// A message's reader hands results through many small functions: an error that
/// lies elsewhere keeps them short.
impl serde::de::Error for Box<Error> {
    fn custom<T: fmt::Display>(text: T) -> Self {
        Box::new(Error::new(
            UNKNOWN_OFFSET,
            ErrorKind::Message(text.to_string()),
        ))
    }
}
