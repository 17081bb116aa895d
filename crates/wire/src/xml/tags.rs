//! Start and end tags (XML 1.0 section 3.1).

use wirelab_wire_own::infoset::scope::excerpt;
use wirelab_wire_own::infoset::{DEPTH_MAX, Element, Error, ErrorKind, chars};

use super::attributes::{AttributeSpan, TagEnd, type_alone};
use super::name::{QName, plain_name_end};
use super::position::{Leaf, Name};
use super::scanner::Scanner;
use super::search::{BLOCK, block, letters_after_first, same_after_first};
use super::search::{find_special, same};
use super::tag_cache::Tag;

impl<'de> Scanner<'de> {
    /// Opens the next child where it lies as most do: at once, with a short
    /// name without attributes but perhaps its type, or with a tag that
    /// came before. Otherwise nothing happens, and [`Scanner::start_tag`] is to
    /// be asked.
    #[inline(always)]
    pub(super) fn fast_path_child(&mut self) -> Option<Element<'de>> {
        let position = &mut self.position;
        // The root and the limits are for the slow path.
        if position.empty || !(1..DEPTH_MAX).contains(&position.depth) {
            return None;
        }
        let (bytes, offset) = (self.document.as_bytes(), position.at);
        // 16 bytes hold `<`, a name of up to 14 letters, and its end.
        let start = block(bytes, offset)?;
        let length = letters_after_first(start);
        let name_end = offset + 1 + length;
        match start.get(1 + length) {
            _ if start[0] != b'<' || length == 0 => None,
            Some(b'>') => Some(self.bare_start_tag(offset, name_end, AttributeSpan::default())),
            Some(b' ') if let Some(span) = type_alone(bytes, name_end, &position.scope) => {
                Some(self.bare_start_tag(offset, name_end, span))
            }
            _ => {
                let changes = position.scope.changes();
                let tag = *position.tag_cache.predict(bytes, offset, changes)?;
                Some(self.read_repeated_start_tag(&tag, offset))
            }
        }
    }

    /// Reads the start tag at the current position.
    #[inline(always)]
    pub(super) fn start_tag(&mut self) -> Result<Element<'de>, Error> {
        let offset = self.position.at;
        if self.position.depth == 0 {
            if self.position.rooted {
                return Err(Error::new(offset, ErrorKind::Trailing));
            }
            // XML 1.0 production 1: exactly one root element.
            self.position.rooted = true;
        }
        if self.position.depth >= DEPTH_MAX {
            return Err(Error::limit(offset, "elements within elements", DEPTH_MAX));
        }
        let bytes = self.document.as_bytes();
        let changes = self.position.scope.changes();
        if let Some(tag) = self.position.tag_cache.predict(bytes, offset, changes) {
            let tag = *tag;
            return Ok(self.read_repeated_start_tag(&tag, offset));
        }
        let name_end = plain_name_end(bytes, offset + 1);
        let short = name_end - offset <= chars::NAME_BYTES_MAX && name_end > offset + 1;
        match bytes.get(name_end) {
            Some(b'>') if short => {
                Ok(self.bare_start_tag(offset, name_end, AttributeSpan::default()))
            }
            Some(b' ') if short => {
                let name = QName::plain(&self.document[offset + 1..name_end]);
                self.new_start_tag(offset, name)
            }
            _ => {
                let name = QName::read(self.document, offset + 1)?;
                self.new_start_tag(offset, name)
            }
        }
    }

    /// A start tag whose name has no prefix, with attributes that do not affect
    /// of its name or value.
    #[inline(always)]
    fn bare_start_tag(
        &mut self,
        offset: usize,
        name_end: usize,
        span: AttributeSpan,
    ) -> Element<'de> {
        let (_, local) = self.document[..name_end].split_at(offset + 1);
        self.position.attributes.restore(span);
        self.enter(offset, local.len(), span.find_end(name_end) + 1);
        Element {
            namespace: self.position.scope.default_namespace(),
            local,
            has_value_attribute: false,
            offset,
        }
    }

    /// A start tag with attributes or a prefix that came before.
    #[inline(always)]
    fn read_repeated_start_tag(&mut self, tag: &Tag<'de>, offset: usize) -> Element<'de> {
        self.position.attributes.restore(tag.attributes);
        let end = offset + tag.bytes;
        if tag.empty {
            self.position.at = end;
            self.position.push(Name::of(offset, tag.name_bytes));
            self.position.empty = true;
        } else {
            self.enter(offset, tag.name_bytes, end);
        }
        Element {
            offset,
            ..tag.element
        }
    }

    /// Enters the element whose start tag lies at `offset` and declares no
    /// namespace; `begin` is behind that tag. Of most elements the end is in
    /// sight, behind plain characters: such a leaf is not taken among the open
    /// ones unless the reader steps through it.
    #[inline(always)]
    fn enter(&mut self, offset: usize, name_bytes: usize, begin: usize) {
        let name = Name::of(offset, name_bytes);
        let end = find_special(self.document.as_bytes(), begin);
        self.position.at = begin;
        match self.end_of(name, end) {
            Some(after) => self.position.leaf = Some(Leaf { name, end, after }),
            None => self.position.push(name),
        }
    }

    /// A start tag with attributes or a prefix that is not expected.
    #[inline(never)]
    fn new_start_tag(&mut self, offset: usize, name: QName<'de>) -> Result<Element<'de>, Error> {
        let position = &mut self.position;
        let name_bytes = name.whole.len();
        let (scope, depth) = (&mut position.scope, position.depth + 1);
        let changes = scope.changes();
        let attributes = &mut position.attributes;
        let end = attributes.read(self.document, offset + 1 + name_bytes, scope, depth)?;
        let element = Element {
            namespace: scope.of_element(name.prefix, offset)?,
            local: name.local,
            has_value_attribute: attributes.span().has_value_attribute,
            offset,
        };
        // A tag that declares namespaces means something else in another scope.
        let declares = position.scope.changes() != changes;
        if !declares {
            self.remember(element, name_bytes, end);
        }
        if declares || end.empty {
            self.position.at = end.at;
            self.position.empty = end.empty;
            self.position.push(Name::of(offset, name_bytes));
        } else {
            self.enter(offset, name_bytes, end.at);
        }
        Ok(element)
    }

    /// Remembers a tag that declares no namespace.
    fn remember(&mut self, element: Element<'de>, name_bytes: usize, end: TagEnd) {
        let position = &mut self.position;
        let tag = Tag {
            element,
            bytes: end.at - element.offset,
            name_bytes,
            empty: end.empty,
            attributes: position.attributes.span(),
        };
        let changes = position.scope.changes();
        position
            .tag_cache
            .insert(self.document.as_bytes(), tag, changes);
    }

    /// Reads the end tag at the current position.
    #[inline]
    pub(super) fn end_tag(&mut self) -> Result<(), Error> {
        match self.fast_path_end_tag() {
            true => Ok(()),
            false => self.slow_path_end_tag(self.position.at + 2),
        }
    }

    /// Reads the end tag of the open element where it lies at once, without
    /// white space. Otherwise nothing happens.
    #[inline(always)]
    pub(super) fn fast_path_end_tag(&mut self) -> bool {
        let open = self.position.open.last();
        let end = open.and_then(|name| self.end_of(*name, self.position.at));
        if let Some(end) = end {
            self.position.at = end;
            self.close();
        }
        end.is_some()
    }

    /// Where the end tag at `at` ends, if one lies there, of that name and
    /// without white space.
    #[inline(always)]
    fn end_of(&self, name: Name, at: usize) -> Option<usize> {
        let bytes = self.document.as_bytes();
        let Name { offset, length } = name;
        let end = at + 2 + length;
        // Compares `<name` with `/name`, whose first bytes differ and are skipped.
        if let Some(start) = block(bytes, offset - 1)
            && let Some(tag) = block(bytes, at + 1)
            && length + 1 < BLOCK
        {
            let named = tag[0] == b'/' && tag[length + 1] == b'>';
            let own = bytes[at] == b'<' && named && same_after_first(start, tag, length);
            return own.then_some(end + 1);
        }
        let own = bytes.get(end) == Some(&b'>')
            && bytes[at] == b'<'
            && bytes[at + 1] == b'/'
            && same(bytes, offset, at + 2, length);
        own.then_some(end + 1)
    }

    /// An end tag with white space in it, or a wrong one.
    #[inline(never)]
    fn slow_path_end_tag(&mut self, begin: usize) -> Result<(), Error> {
        let bytes = self.document.as_bytes();
        let name_end = chars::name_end(bytes, begin);
        let end = chars::spaces_end(bytes, name_end);
        let found = &self.document[begin..name_end];
        let open = !self.position.open.is_empty();
        match bytes.get(end) {
            None => Err(Error::new(bytes.len(), ErrorKind::Truncated)),
            // XML 1.0 section 3, WFC: Element Type Match.
            Some(b'>') if open && self.name() == found => {
                self.position.at = end + 1;
                self.close();
                Ok(())
            }
            _ => {
                let text = format!("{:?} is not the end of the open element", excerpt(found));
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
