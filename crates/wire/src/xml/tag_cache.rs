//! Start tags that come again, letter by letter.
//!
//! A message repeats itself: the tags of a record are those of the record
//! before, in the same order. As long as no other namespaces are in scope, an
//! equal tag means the same, and need not be parsed again.

use wirelab_wire_own::infoset::Element;

use super::attributes::AttributeSpan;
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
    /// Where those of the first one lie: equal ones mean the same.
    pub(super) attributes: AttributeSpan,
}

/// The tags that were met.
#[derive(Debug, Clone, Default)]
pub(super) struct TagCache<'de> {
    entries: Vec<Entry<'de>>,
    /// The one that came last.
    last: usize,
    /// The scope's number of changes when they were met.
    changes: usize,
}

#[derive(Debug, Clone)]
struct Entry<'de> {
    tag: Tag<'de>,
    /// The tag that followed.
    next: usize,
}

impl<'de> TagCache<'de> {
    /// The tag at `offset`, if it is the expected one.
    #[inline]
    pub(super) fn predict(
        &mut self,
        document: &[u8],
        offset: usize,
        changes: usize,
    ) -> Option<&Tag<'de>> {
        // Predicted by what followed the last tag before, as in a branch predictor.
        let next = self.entries.get(self.last)?.next;
        let tag = &self.entries.get(next)?.tag;
        if self.changes != changes || !same(document, tag.element.offset, offset, tag.bytes) {
            return None;
        }
        self.last = next;
        Some(tag)
    }

    /// Remembers a tag that was not expected.
    pub(super) fn insert(&mut self, document: &[u8], tag: Tag<'de>, changes: usize) {
        if self.changes != changes {
            self.entries.clear();
            self.last = 0;
            self.changes = changes;
        }
        let (offset, bytes) = (tag.element.offset, tag.bytes);
        let equal = |Entry { tag, .. }: &Entry<'_>| {
            tag.bytes == bytes && same(document, tag.element.offset, offset, bytes)
        };
        let found = self.entries.iter().position(equal);
        let at = found.unwrap_or(self.entries.len());
        // A document with more distinct tags gains nothing from the cache.
        if at == TAGS_MAX {
            return;
        }
        if let Some(last) = self.entries.get_mut(self.last) {
            last.next = at;
        }
        self.last = at;
        if found.is_none() {
            // The next tag is not known yet: any guess will do, so the first.
            self.entries.push(Entry { tag, next: 0 });
        }
    }
}
