//! Start tags that come again, letter by letter.
//!
//! A message repeats itself: the tags of a record are those of the record
//! before, in the same order. As long as no other namespaces are in scope, an
//! equal tag means the same, and need not be taken apart again.

use wirelab_wire_own::infoset::Element;

use super::attributes::Met as Attributes;
use super::search::same;

/// Tags that are remembered; a message has fewer.
const TAGS_MAX: usize = 16;

/// A start tag with its attributes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tag<'de> {
    /// As it was read; begins where the tag was met first.
    pub(super) element: Element<'de>,
    /// From `<` to `>`.
    pub(super) bytes: usize,
    pub(super) name_bytes: usize,
    /// It is `<a/>`.
    pub(super) empty: bool,
    /// Where those of the first one lie: equal ones say the same.
    pub(super) attributes: Attributes,
}

/// The tags that were met.
#[derive(Debug, Clone, Default)]
pub(super) struct Repeats<'de> {
    met: Vec<Met<'de>>,
    /// The one that came last.
    last: usize,
    /// The scope's number of changes when they were met.
    changes: usize,
}

#[derive(Debug, Clone)]
struct Met<'de> {
    tag: Tag<'de>,
    /// The tag that followed.
    next: usize,
}

impl<'de> Repeats<'de> {
    /// The tag that lies at `offset`, if it is the one that is expected.
    #[inline]
    pub(super) fn expected(
        &mut self,
        document: &[u8],
        offset: usize,
        changes: usize,
    ) -> Option<&Tag<'de>> {
        let next = self.met.get(self.last)?.next;
        let tag = &self.met.get(next)?.tag;
        if self.changes != changes || !same(document, tag.element.offset, offset, tag.bytes) {
            return None;
        }
        self.last = next;
        Some(tag)
    }

    /// Remembers a tag that was not expected.
    pub(super) fn remember(&mut self, document: &[u8], tag: Tag<'de>, changes: usize) {
        if self.changes != changes {
            self.met.clear();
            self.last = 0;
            self.changes = changes;
        }
        let (offset, bytes) = (tag.element.offset, tag.bytes);
        let equal = |Met { tag, .. }: &Met<'_>| {
            tag.bytes == bytes && same(document, tag.element.offset, offset, bytes)
        };
        let found = self.met.iter().position(equal);
        let at = found.unwrap_or(self.met.len());
        if at == TAGS_MAX {
            return;
        }
        if let Some(last) = self.met.get_mut(self.last) {
            last.next = at;
        }
        self.last = at;
        if found.is_none() {
            // What follows is not known yet: the first one, as good as any.
            self.met.push(Met { tag, next: 0 });
        }
    }
}
