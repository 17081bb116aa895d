//! Why bytes are not a document, or a document is not a message.

use crate::soap::EnvelopeError;

/// Why tokens are not the message that was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// They are not a document.
    #[error(transparent)]
    Tokens(#[from] Error),
    /// They are, of something else.
    #[error(transparent)]
    Envelope(#[from] EnvelopeError),
}

/// What is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset}: {kind}")]
pub struct Error {
    /// Bytes before the token at fault.
    pub offset: usize,
    /// What is wrong there.
    pub kind: ErrorKind,
}

/// What is wrong with tokens.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes end in the middle.
    #[error("the document ends too early")]
    Truncated,
    /// Bytes behind the root element.
    #[error("nothing may follow the root element")]
    Trailing,
    /// A byte that begins no token.
    #[error("0x{0:02X} begins no token")]
    UnknownToken(u8),
    /// A number of a name or a text that the cache does not hold.
    #[error("the cache holds no {what} {number}")]
    Unknown {
        /// `name` or `text`.
        what: &'static str,
        /// Its number.
        number: u64,
    },
    /// A number that is longer than it may be.
    #[error("a number of more than 64 bits, or not in its shortest form")]
    // Several forms of one number would make equal documents differ in their bytes.
    Number,
    /// A length beyond what is there, or beyond a limit.
    #[error("{what} of {bytes} bytes; at most {limit}")]
    Length {
        /// What is too long.
        what: &'static str,
        /// Its length, bytes.
        bytes: u64,
        /// How long it may be, bytes.
        limit: usize,
    },
    /// A name or a text that XML does not allow.
    #[error("not {0} of XML")]
    Characters(&'static str),
    /// A date outside of the years 1 to 9999.
    #[error("a date outside of the years 1 to 9999")]
    Date,
    /// A token where none of its kind is allowed.
    #[error("{0}")]
    Order(&'static str),
    /// More of something than any message needs.
    #[error("{what}: at most {limit}")]
    Limit {
        /// What there is too much of.
        what: &'static str,
        /// How much there may be.
        limit: usize,
    },
    /// An earlier document was not read to its end, so that the caches of
    /// both ends differ.
    #[error("an earlier document was refused; open a new connection")]
    OutOfSync,
}
