//! `href` to elements with an `id` next to the first child of a SOAP body
//! (SOAP 1.1 section 5.2.1: such elements are independent, at the top of the
//! serialization). Apache Axis 1.4 writes them.
//!
//! A place is remembered, not a copy, and what is read by way of references
//! is counted, so that a document cannot be made to grow.

use std::collections::HashMap;

use wirelab_wire_own::infoset::scope::{Scope, excerpt};
use wirelab_wire_own::infoset::{DEPTH_MAX, Error, ErrorKind};

use super::position::Position;

/// Bytes that may be read by way of references, for each byte of the document:
/// room for a text that many records share, none for a bomb.
const GROWTH_MAX: usize = 16;

/// What a scanner knows of references.
#[derive(Default)]
pub(super) struct References<'de> {
    /// Made when the first reference is met.
    index: Option<Index<'de>>,
    /// The way back, one entry for every reference being followed.
    followed: Vec<(String, Position<'de>)>,
    /// Bytes read by way of references.
    read: usize,
}

/// The elements with an `id`.
#[derive(Default)]
pub(super) struct Index<'de> {
    elements: HashMap<String, Target>,
    /// The namespaces in scope at their place.
    scope: Scope<'de>,
}

#[derive(Clone, Copy)]
struct Target {
    offset: usize,
    bytes: usize,
}

impl<'de> References<'de> {
    pub(super) fn is_indexed(&self) -> bool {
        self.index.is_some()
    }

    pub(super) fn set_index(&mut self, index: Index<'de>) {
        self.index = Some(index);
    }

    /// Moves `here` before the element with this `id`, in a document of that number of bytes.
    /// The index must have been set.
    pub(super) fn follow(
        &mut self,
        id: &str,
        document_bytes: usize,
        here: &mut Position<'de>,
    ) -> Result<(), Error> {
        let fail = |fault| {
            let id = excerpt(id);
            Err(Error::new(here.at, ErrorKind::Reference { id, fault }))
        };
        let index = self.index.as_ref().expect("the index is set first");
        let Some(target) = index.elements.get(id).copied() else {
            // Only elements at the top of the body are indexed: that is where SOAP 1.1
            // section 5.2.1 puts them, and a search of the whole document would be
            // costly.
            return fail("leads nowhere");
        };
        // A cycle would never end.
        if self.followed.iter().any(|(open, _)| open == id) {
            return fail("leads back to itself");
        }
        if self.followed.len() >= DEPTH_MAX {
            let what = "references within references";
            return Err(Error::limit(here.at, what, DEPTH_MAX));
        }
        // Counted per document, so that nested references cannot multiply beyond the bound.
        self.read += target.bytes;
        if self.read > document_bytes * GROWTH_MAX {
            return fail("makes the document grow beyond measure");
        }
        let mut there = Position::at(target.offset);
        there.scope = index.scope.clone();
        // Elements reached by references count for the limit of depth.
        there.depth = here.depth;
        let from = std::mem::replace(here, there);
        self.followed.push((id.to_owned(), from));
        Ok(())
    }

    /// Moves `here` back to where the last reference was followed from.
    pub(super) fn back(&mut self, here: &mut Position<'de>) {
        if let Some((_, from)) = self.followed.pop() {
            *here = from;
        }
    }
}

impl<'de> Index<'de> {
    /// Forgets all elements: those to come are in this scope.
    pub(super) fn begin(&mut self, scope: &Scope<'de>) {
        self.elements.clear();
        self.scope = scope.clone();
    }

    pub(super) fn add(&mut self, id: String, offset: usize, end: usize) -> Result<(), Error> {
        let bytes = end - offset;
        match self.elements.insert(id, Target { offset, bytes }) {
            None => Ok(()),
            // SOAP 1.1 section 5.1: `id` is of type ID, which is unique in a document.
            Some(_) => Err(Error::syntax(offset, "an id appears twice")),
        }
    }
}
