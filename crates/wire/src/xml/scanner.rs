//! An XML text as a source of elements and texts: our own reader, because
//! this is where the engine spends its time with XML, and because a message
//! needs few of XML's rules. Names and texts are parts of the document, no
//! copies, wherever no reference or line end makes them others.
//!
//! The document is proven once to be UTF-8 and to hold only XML's characters
//! ([`check`]); tags are read by [`super::tags`], what lies between
//! them by [`super::content`].

use std::borrow::Cow;

use wirelab_wire_own::infoset::{Element, Error, ErrorKind, Source, Step, Text, chars};

use super::declaration;
use super::escape;
use super::multi_reference::{Index, References};
use super::position::{Leaf, Position};

/// A document that is being read.
pub struct Scanner<'de> {
    pub(crate) document: &'de str,
    pub(super) position: Position<'de>,
    pub(super) references: References<'de>,
}

impl<'de> Scanner<'de> {
    /// A scanner before the root element.
    ///
    /// # Errors
    /// When the document is not UTF-8, declares to be something else, or
    /// holds a character that XML does not allow.
    pub(crate) fn new(bytes: &'de [u8]) -> Result<Self, Error> {
        let document = check(bytes)?;
        // A byte order mark is allowed before the declaration (XML 1.0 section 4.3.3).
        let after_mark = document.strip_prefix('\u{FEFF}').unwrap_or(document);
        let mark = document.len() - after_mark.len();
        let declaration = declaration::length(after_mark).map_err(|e| e.at_offset(mark))?;
        Ok(Scanner {
            document,
            position: Position::at(mark + declaration),
            references: References::default(),
        })
    }

    /// The name of the element opened last, as it is written.
    pub(crate) fn name(&self) -> &'de str {
        let position = &self.position;
        let leaf = position.leaf.as_ref().map(|leaf| &leaf.name);
        leaf.or(position.open.last()).map_or("", |name| {
            &self.document[name.offset..name.offset + name.length]
        })
    }

    /// The attributes of the element opened last, declarations of namespaces
    /// included: names as they are written, values.
    pub(crate) fn attributes(
        &self,
    ) -> impl Iterator<Item = Result<(&'de str, Cow<'de, str>), Error>> + use<'de> {
        let pairs = self.position.attributes.pairs(self.document);
        pairs.map(|pair| {
            let pair = pair?;
            let value = escape::attribute_value(pair.value, pair.offset)?;
            Ok((pair.name.whole, value))
        })
    }

    /// What has not been read yet.
    #[inline]
    pub(super) fn rest(&self) -> &'de [u8] {
        self.document
            .as_bytes()
            .get(self.position.at..)
            .unwrap_or_default()
    }

    /// One step through an open element, or before the root; `None` for what
    /// does not show.
    #[inline]
    fn next_event(&mut self) -> Result<Option<Step<'de>>, Error> {
        match *self.rest() {
            [b'<', b'/', ..] => self.end_tag().map(|()| Some(Step::Close)),
            // Ordered by the second byte, which decides for all markup.
            [b'<', b'!', ..] => self.markup_declaration(),
            [b'<', b'?', ..] => self.instruction().map(|()| None),
            [b'<', _, ..] => self.start_tag().map(|element| Some(Step::Open(element))),
            [b'&', ..] => self.reference().map(Some),
            [] | [b'<'] => Err(self.error(ErrorKind::Truncated)),
            _ => self.plain_text(),
        }
    }

    /// The next child, whatever comes before it.
    #[inline(never)]
    fn slow_path_child(&mut self) -> Result<Option<Element<'de>>, Error> {
        loop {
            if self.position.empty {
                self.close();
                return Ok(None);
            }
            match *self.rest() {
                [b'<', b'/', ..] => return self.end_tag().map(|()| None),
                [b'<', next, ..] if chars::starts_name(next) => return self.start_tag().map(Some),
                _ => {}
            }
            let offset = self.offset();
            match self.step()? {
                Step::Open(element) => return Ok(Some(element)),
                Step::Close => return Ok(None),
                Step::Text(text) if text.is_blank() => {}
                Step::Text(_) => return Err(Error::new(offset, ErrorKind::UnexpectedText)),
            }
        }
    }

    /// An error at the place that has been reached.
    pub(super) fn error(&self, kind: ErrorKind) -> Error {
        Error::new(self.position.at, kind)
    }
}

impl<'de> Source<'de> for Scanner<'de> {
    #[inline]
    fn step(&mut self) -> Result<Step<'de>, Error> {
        self.position.open_leaf();
        if self.position.empty {
            self.close();
            return Ok(Step::Close);
        }
        loop {
            if let Some(step) = self.next_event()? {
                return Ok(step);
            }
        }
    }

    #[inline]
    fn child(&mut self) -> Result<Option<Element<'de>>, Error> {
        self.position.open_leaf();
        // Three steps: the expected tag, the end of the parent, anything else.
        if let Some(element) = self.fast_path_child() {
            return Ok(Some(element));
        }
        if !self.position.empty && self.fast_path_end_tag() {
            return Ok(None);
        }
        self.slow_path_child()
    }

    #[inline]
    fn text(&mut self) -> Result<Text<'de>, Error> {
        let Some(Leaf { end, after, .. }) = self.position.leaf.take() else {
            return self.whole_text().map(Text::Str);
        };
        // A leaf's end tag was verified when the leaf was entered.
        let begin = std::mem::replace(&mut self.position.at, after);
        Ok(Text::Str(Cow::Borrowed(&self.document[begin..end])))
    }

    fn attribute(&self, namespace: &str, local: &str) -> Result<Option<Cow<'de, str>>, Error> {
        let Position {
            attributes, scope, ..
        } = &self.position;
        attributes.find(self.document, scope, namespace, local)
    }

    fn namespace(&self, prefix: &str) -> Option<&'de str> {
        self.position.scope.find(prefix)
    }

    fn follow(&mut self, id: &str) -> Result<Element<'de>, Error> {
        self.position.open_leaf();
        // Built on the first reference: documents without any pay nothing.
        if !self.references.is_indexed() {
            self.references.set_index(index(self.document)?);
        }
        let bytes = self.document.len();
        self.references.follow(id, bytes, &mut self.position)?;
        match self.step()? {
            Step::Open(target) => Ok(target),
            Step::Text(_) | Step::Close => unreachable!("an element begins at every target"),
        }
    }

    fn back(&mut self) {
        self.references.back(&mut self.position);
    }

    fn finish(&mut self) -> Result<(), Error> {
        self.position.open_leaf();
        while !self.rest().is_empty() {
            let offset = self.offset();
            if self.next_event()?.is_some() {
                return Err(Error::new(offset, ErrorKind::Trailing));
            }
        }
        Ok(())
    }

    #[inline]
    fn offset(&self) -> usize {
        self.position.at
    }
}

/// The elements to which references may lead: the document is read once, to the
/// children of the last child of the root, which in an envelope is its body.
fn index(document: &str) -> Result<Index<'_>, Error> {
    let mut scanner = Scanner::new(document.as_bytes())?;
    let mut index = Index::default();
    scanner.child()?;
    while scanner.child()?.is_some() {
        index.begin(&scanner.position.scope);
        while let Some(child) = scanner.child()? {
            let id = scanner.attribute("", "id")?;
            scanner.skip()?;
            if let Some(id) = id {
                index.add(id.into_owned(), child.offset, scanner.offset())?;
            }
        }
    }
    Ok(index)
}

/// Proves once for a whole document that it is UTF-8 and holds only the
/// characters of XML 1.0 section 2.2, so that nothing behind has to ask again.
fn check(document: &[u8]) -> Result<&str, Error> {
    let text = utf8(document)?;
    match chars::find_illegal(text) {
        None => Ok(text),
        Some((at, found)) => Err(Error::new(at, ErrorKind::Character(found))),
    }
}

fn utf8(document: &[u8]) -> Result<&str, Error> {
    // The fast validator reports no offset.
    if let Ok(text) = simdutf8::basic::from_utf8(document) {
        return Ok(text);
    }
    // Slower, and gives the offset.
    std::str::from_utf8(document).map_err(|error| {
        let at = error.valid_up_to();
        Error::new(at, ErrorKind::Encoding("not UTF-8".to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_utf8_and_characters_of_xml_1_0_pass() {
        let text = "a\t\n\r ü€😀\u{FFFD}";
        assert_eq!(check(text.as_bytes()), Ok(text));
        let refused = check("ü\u{FFFE}".as_bytes()).unwrap_err();
        assert_eq!(refused, Error::new(2, ErrorKind::Character(0xFFFE)));
        let not_utf8 = check(b"abc\xC3").unwrap_err();
        assert_eq!(not_utf8.offset, 3);
        assert!(matches!(not_utf8.kind, ErrorKind::Encoding(_)));
    }
}
