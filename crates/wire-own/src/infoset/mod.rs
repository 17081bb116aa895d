//! The content of XML documents, independent of their bytes (W3C XML Information Set):
//! elements, attributes and characters, read from a [`Source`] and written into a
//! [`Sink`]; and the messages of the contracts in them, by the mapping of
//! contracts/README.md.
//!
//! The text of a document is one source (the engine's crate `wirelab-wire`), the
//! tokens of [`crate::token_xml`] are another.

pub mod chars;
mod error;
pub mod reader;
pub mod scope;
pub mod source;
pub mod value;
pub mod writer;

pub use error::{Error, ErrorKind};
pub use reader::Shape;
pub use source::{DEPTH_MAX, Element, Source, Step, Text};
pub use writer::Sink;
