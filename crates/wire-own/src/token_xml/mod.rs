//! XML documents as tokens, after Kangasharju, Tarkoma and Raatikainen (2003,
//! section 2); docs/reference/token-xml.md has the format.
//!
//! A [`Document`] comes from a message directly, or from an XML text as the
//! study's had to; an [`Encoder`] makes tokens of it, a [`Decoder`] a document
//! of them again, from which the message is read without a text between.
//! Encoder and decoder live as long as their connection: names that were sent once
//! are tokens from then on, and so are texts where [`TokenCache`] has it so.
//!
//! Any bytes may come in: a document is refused or is well-formed, and the
//! memory that it takes is at most some 20 times that of its tokens and the
//! caches'.

mod atom;
mod builder;
mod byte_reader;
mod cache;
mod cursor;
mod decoder;
mod dictionary;
mod document;
mod encoder;
mod error;
mod token;

pub use atom::Atom;
pub use builder::Builder;
pub use cursor::Cursor;
pub use decoder::{Decoder, EXPANDED_BYTES_MAX, ITEMS_MAX};
pub use dictionary::TokenCache;
pub use document::Document;
pub use encoder::Encoder;
pub use error::{Error, ErrorKind, ReadError};
