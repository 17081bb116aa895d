//! Messages as XML documents, by the mapping of contracts/README.md (XML 1.0
//! fifth edition, Namespaces in XML 1.0).
//!
//! A document's text is one source of elements and characters, and one sink for
//! them; which of them make a message is up to [`wirelab_wire_own::infoset`].
//!
//! Any bytes may come in. Nothing grows: there are no document types, hence no
//! entities; depth, names, attributes and namespaces are limited.

mod attributes;
mod content;
mod declaration;
#[cfg(test)]
mod differential_tests;
pub(crate) mod escape;
mod multi_reference;
mod name;
mod position;
pub mod scanner;
pub(crate) mod search;
mod tag_cache;
mod tags;
pub(crate) mod text_sink;

use serde::de::Deserialize;
use wirelab_contract::{Contract, Message};

pub use wirelab_wire_own::infoset::{DEPTH_MAX, Error, ErrorKind};

use scanner::Scanner;
use text_sink::TextSink;
use wirelab_wire_own::infoset::writer::write_root;
use wirelab_wire_own::infoset::{Shape, Sink, Source, reader, writer};

/// Name of the element of an application error, and of its message.
const ERROR: &str = "Error";

/// A message as a document.
#[must_use]
pub fn to_vec<M: Message>(message: &M) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    write(message, &mut out);
    out
}

/// Appends a message as a document to `out`.
pub fn write<M: Message>(message: &M, out: &mut Vec<u8>) {
    let mut sink = TextSink::new(out);
    let namespace = M::CONTRACT.namespace();
    write_root(&mut sink, M::NAME, namespace, |sink| {
        writer::fields(message, Shape::Literal, namespace, sink);
    });
}

/// Reads a message from a document.
///
/// # Errors
/// When the document is not well-formed, has a document type declaration,
/// goes beyond a limit, or is not this message.
pub fn from_slice<M: Message>(document: &[u8]) -> Result<M, Error> {
    from_slice_as(document, M::CONTRACT.namespace(), M::NAME)
}

/// Reads any structure, also one that borrows from the document, from an
/// element of that name.
///
/// # Errors
/// As [`from_slice`].
pub(crate) fn from_slice_as<'de, T: Deserialize<'de>>(
    document: &'de [u8],
    namespace: &str,
    name: &str,
) -> Result<T, Error> {
    let mut scanner = Scanner::new(document)?;
    open_root(&mut scanner, namespace, name)?;
    let message = reader::read(&mut scanner, namespace, Shape::Literal)?;
    scanner.finish()?;
    Ok(message)
}

/// An application error as a document: the element `Error` with `text`.
#[must_use]
pub fn error_element(contract: Contract, text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(160);
    let mut sink = TextSink::new(&mut out);
    write_root(&mut sink, ERROR, contract.namespace(), |sink| {
        sink.open("error");
        sink.text(text);
        sink.close("error");
    });
    out
}

/// Reads the text of an application error.
///
/// # Errors
/// As [`from_slice`].
pub fn read_error(contract: Contract, document: &[u8]) -> Result<String, Error> {
    let read: ErrorElement = from_slice_as(document, contract.namespace(), ERROR)?;
    Ok(read.error)
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct ErrorElement {
    error: String,
}

fn open_root<'de>(source: &mut impl Source<'de>, namespace: &str, name: &str) -> Result<(), Error> {
    match source.child()? {
        Some(root) if root.is(namespace, name) => Ok(()),
        Some(other) => Err(other.unexpected(format!("{{{namespace}}}{name}"))),
        // `child` returns None at an end tag only, and there is none before the root.
        None => unreachable!("no element is open before the root"),
    }
}
