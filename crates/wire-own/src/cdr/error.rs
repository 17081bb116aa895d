//! What can be wrong with CDR.

use std::fmt;

/// Bytes that are not the expected value, or a value without a form in CDR.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
// Places are bytes from the beginning of the reader's input, padding included; they
// find the value in a hex dump of the body.
pub enum Error {
    /// The bytes end within a value.
    #[error("CDR ends at byte {at}, {missing} bytes short of a value")]
    Truncated {
        /// Where the value begins.
        at: usize,
        /// Bytes that it lacks.
        missing: usize,
    },
    /// A length or count exceeds what the rest can hold.
    #[error("length {length} at byte {at}, but {rest} bytes follow")]
    Length {
        /// Where the length lies.
        at: usize,
        /// Its value.
        length: u32,
        /// Bytes behind it.
        rest: usize,
    },
    /// A boolean that is neither 0 nor 1 (section 9.3.1.5).
    #[error("boolean {value} at byte {at}; only 0 and 1 are")]
    Boolean {
        /// Where it lies.
        at: usize,
        /// What it is.
        value: u8,
    },
    /// A string that breaks section 9.3.2.7.
    #[error("string at byte {at}: {fault}")]
    String {
        /// Where its length lies.
        at: usize,
        /// What is wrong.
        fault: StringFault,
    },
    /// An optional field is a sequence of none or one.
    #[error("{count} values at byte {at} for an optional field; 0 or 1 are")]
    Optional {
        /// Where the count lies.
        at: usize,
        /// Its value.
        count: u32,
    },
    /// Bytes behind the last value.
    #[error("{bytes} bytes follow the last value, which ends at byte {at}")]
    Trailing {
        /// Where the last value ends.
        at: usize,
        /// How many follow.
        bytes: usize,
    },
    /// More than 2^32 - 1 of anything.
    #[error("{0} items or bytes; a length in CDR is at most 4294967295")]
    TooLong(usize),
    /// The lab's profile has no such type.
    #[error("{0} has no form in CDR; use the types of contracts/README.md, Mappings")]
    Unsupported(&'static str),
    /// The error of a message's own serializer or deserializer.
    #[error("{0}")]
    Message(String),
}

/// What is wrong with a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StringFault {
    /// Length 0, though the NUL counts.
    #[error("length 0, though its NUL counts")]
    NoRoom,
    /// The last byte is not NUL.
    #[error("its last byte is not NUL")]
    NoNul,
    /// NUL before the end.
    #[error("NUL within")]
    InnerNul,
    /// Not UTF-8, the code set that was agreed on.
    #[error("not UTF-8")]
    Utf8,
}

impl serde::ser::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Error::Message(message.to_string())
    }
}

impl serde::de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Error::Message(message.to_string())
    }
}
