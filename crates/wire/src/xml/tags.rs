//! Start and end tags (XML 1.0 section 3.1).

use super::attributes::TagEnd;
use super::bytes::same;
use super::chars;
use super::error::{Error, ErrorKind};
use super::name::QName;
use super::repeats::Tag;
use super::scanner::{Name, Scanner};
use super::scope::short;
use super::source::{DEPTH_MAX, Element};

impl<'de> Scanner<'de> {
    /// Reads a start tag, before which the scanner stands.
    #[inline]
    pub(super) fn start_tag(&mut self) -> Result<Element<'de>, Error> {
        let offset = self.position.at;
        if self.position.depth == 0 && self.position.rooted {
            return Err(Error::new(offset, ErrorKind::Trailing));
        }
        if self.position.depth >= DEPTH_MAX {
            return Err(Error::limit(offset, "elements within elements", DEPTH_MAX));
        }
        self.position.depth += 1;
        self.position.rooted = true;
        let bytes = self.document.as_bytes();
        let name_end = chars::plain_name_end(bytes, offset + 1);
        let short = name_end - offset <= chars::NAME_BYTES_MAX && name_end > offset + 1;
        if short && bytes.get(name_end) == Some(&b'>') {
            return Ok(self.plain_start_tag(offset, name_end));
        }
        self.any_start_tag(offset)
    }

    /// A start tag that is nothing but a name without a prefix.
    #[inline]
    fn plain_start_tag(&mut self, offset: usize, name_end: usize) -> Element<'de> {
        let local = &self.document[offset + 1..name_end];
        self.position.attributes.clear();
        self.position.open.push(Name {
            offset: offset + 1,
            length: local.len(),
        });
        self.position.at = name_end + 1;
        Element {
            namespace: self.position.scope.default_namespace(),
            local,
            marked: false,
            offset,
        }
    }

    /// A start tag with attributes or a prefix: one that came before, or
    /// another.
    fn any_start_tag(&mut self, offset: usize) -> Result<Element<'de>, Error> {
        let position = &mut self.position;
        let (bytes, changes) = (self.document.as_bytes(), position.scope.changes());
        let Some(tag) = position.repeats.expected(bytes, offset, changes) else {
            return self.other_start_tag(offset);
        };
        position.attributes.recall(&tag.attributes);
        position.open.push(Name {
            offset: offset + 1,
            length: tag.name_bytes,
        });
        position.at = offset + tag.bytes;
        position.empty = tag.empty;
        let element = tag.element;
        Ok(Element { offset, ..element })
    }

    fn other_start_tag(&mut self, offset: usize) -> Result<Element<'de>, Error> {
        let position = &mut self.position;
        let name = QName::read(self.document, offset + 1)?;
        let name_bytes = name.whole.len();
        let (scope, depth) = (&mut position.scope, position.depth);
        let changes = scope.changes();
        let attributes = &mut position.attributes;
        let end = attributes.read(self.document, offset + 1 + name_bytes, scope, depth)?;
        let element = Element {
            namespace: scope.of_element(name.prefix, offset)?,
            local: name.local,
            marked: attributes.marked(),
            offset,
        };
        position.open.push(Name {
            offset: offset + 1,
            length: name_bytes,
        });
        position.at = end.at;
        position.empty = end.empty;
        if position.scope.changes() == changes {
            self.remember(element, name_bytes, end);
        }
        Ok(element)
    }

    /// Remembers a tag that declares no namespace.
    fn remember(&mut self, element: Element<'de>, name_bytes: usize, end: TagEnd) {
        let position = &mut self.position;
        let Some(attributes) = position.attributes.remembered() else {
            return;
        };
        let tag = Tag {
            element,
            bytes: end.at - element.offset,
            name_bytes,
            empty: end.empty,
            attributes,
        };
        let changes = position.scope.changes();
        position
            .repeats
            .remember(self.document.as_bytes(), tag, changes);
    }

    /// Reads an end tag, before which the scanner stands.
    #[inline]
    pub(super) fn end_tag(&mut self) -> Result<(), Error> {
        let bytes = self.document.as_bytes();
        let begin = self.position.at + 2;
        if let Some(&Name { offset, length }) = self.position.open.last()
            && bytes.get(begin + length) == Some(&b'>')
            && same(bytes, offset, begin, length)
        {
            self.position.at = begin + length + 1;
            self.close();
            return Ok(());
        }
        self.any_end_tag(begin)
    }

    /// An end tag with white space in it, or a wrong one.
    fn any_end_tag(&mut self, begin: usize) -> Result<(), Error> {
        let bytes = self.document.as_bytes();
        let name_end = chars::name_end(bytes, begin);
        let end = chars::spaces_end(bytes, name_end);
        let found = &self.document[begin..name_end];
        let open = !self.position.open.is_empty();
        match bytes.get(end) {
            None => Err(Error::new(bytes.len(), ErrorKind::Truncated)),
            Some(b'>') if open && self.name() == found => {
                self.position.at = end + 1;
                self.close();
                Ok(())
            }
            _ => {
                let text = format!("{:?} is not the end of the open element", short(found));
                Err(Error::syntax(begin - 2, text))
            }
        }
    }

    /// The element opened last ends.
    #[inline]
    pub(super) fn close(&mut self) {
        let position = &mut self.position;
        position.open.pop();
        position.depth -= 1;
        position.scope.leave(position.depth);
        position.empty = false;
    }
}
