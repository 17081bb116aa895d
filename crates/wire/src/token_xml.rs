//! Documents of [`wirelab_wire_own::token_xml`] and their text.

use wirelab_wire_own::infoset::{Sink, Source, Step};

use crate::xml;
use crate::xml::scanner::Scanner;
use crate::xml::text_sink::TextSink;

pub use wirelab_wire_own::token_xml::{
    Atom, Builder, Decoder, Document, EXPANDED_BYTES_MAX, Encoder, Error, ErrorKind, ITEMS_MAX,
    ReadError, TokenCache,
};

/// A document from its text, as the sender of Kangasharju, Tarkoma and Raatikainen
/// (2003, section 2) made it.
///
/// # Errors
/// When the text is not well-formed, or goes beyond a limit.
pub fn parse(text: &[u8]) -> Result<Document, xml::Error> {
    let mut scanner = Scanner::new(text)?;
    let mut builder = Builder::default();
    let mut pending = String::new();
    let mut open = Vec::new();
    loop {
        let step = scanner.step()?;
        // Text, CDATA and references that follow each other are one text of the document.
        if !matches!(step, Step::Text(_)) {
            builder.text(&pending);
            pending.clear();
        }
        match step {
            Step::Open(_) => {
                open.push(scanner.name());
                builder.open(scanner.name());
                for attribute in scanner.attributes() {
                    let (name, value) = attribute?;
                    builder.attribute(name, &value);
                }
            }
            Step::Text(text) => pending.push_str(&text.into_str()),
            // The root may be closed by a document that is refused later; `finish` below proves
            // its end.
            Step::Close => builder.close(open.pop().unwrap_or_default()),
        }
        if open.is_empty() {
            scanner.finish()?;
            return Ok(builder.finish());
        }
    }
}

/// The text of a document, as our writers write it.
#[must_use]
pub fn to_xml(document: &Document) -> Vec<u8> {
    let mut out = Vec::new();
    document.write(&mut TextSink::new(&mut out));
    out
}
