//! A place in a document, and what is known there.

use wirelab_wire_own::infoset::scope::Scope;

use super::attributes::AttributeList;
use super::tag_cache::TagCache;

/// Where a scanner is.
#[derive(Clone)]
pub(super) struct Position<'de> {
    /// Bytes that have been read.
    pub(super) at: usize,
    /// Open elements, those included from which references were followed.
    pub(super) depth: usize,
    /// The open elements.
    // Names as ranges of the document: an end tag must repeat its start tag byte for
    // byte (XML 1.0 section 3, WFC Element Type Match).
    pub(super) open: Vec<Name>,
    pub(super) scope: Scope<'de>,
    /// Attributes of the element opened last.
    pub(super) attributes: AttributeList<'de>,
    /// Start tags that may come again.
    pub(super) tag_cache: TagCache<'de>,
    /// The element opened last, until the reader steps into it, where
    /// it holds nothing but plain characters.
    pub(super) leaf: Option<Leaf>,
    /// The element opened last was `<a/>` and has not been closed yet.
    pub(super) empty: bool,
    /// The root element has begun.
    pub(super) rooted: bool,
}

/// An element's name, as it is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Name {
    pub(super) offset: usize,
    pub(super) length: usize,
}

impl Name {
    /// That of the tag at `offset`.
    #[inline]
    pub(super) fn of(offset: usize, length: usize) -> Self {
        let offset = offset + 1;
        Name { offset, length }
    }
}

/// An element whose start tag has been read, and whose end is known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leaf {
    pub(super) name: Name,
    /// Where its text ends.
    pub(super) end: usize,
    /// Behind its end tag.
    pub(super) after: usize,
}

/// Open elements that there is room for from the begin: those of a message.
const ROOM: usize = 8;

impl<'de> Position<'de> {
    /// An element is open from now on.
    #[inline]
    pub(super) fn push(&mut self, name: Name) {
        self.open.push(name);
        self.depth += 1;
    }

    /// Takes the element opened last among the open ones, so that it can be
    /// stepped through.
    #[inline]
    pub(super) fn open_leaf(&mut self) {
        if let Some(leaf) = self.leaf.take() {
            self.push(leaf.name);
        }
    }

    /// A place outside every element.
    pub(super) fn at(offset: usize) -> Self {
        Position {
            at: offset,
            depth: 0,
            open: Vec::with_capacity(ROOM),
            scope: Scope::default(),
            attributes: AttributeList::default(),
            tag_cache: TagCache::default(),
            leaf: None,
            empty: false,
            rooted: false,
        }
    }
}
