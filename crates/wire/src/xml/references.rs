//! `href` to elements with an `id` beside the first child of a SOAP body
//! (SOAP 1.1 section 5.2.1: such elements are independent, at the top of the
//! serialization). Apache Axis 1.4 writes them.
//!
//! A place is remembered, not a copy, and what is read by way of references
//! is counted, so that a document cannot be made to grow.

use std::collections::HashMap;

use wirelab_wire_own::infoset::scope::{Scope, short};
use wirelab_wire_own::infoset::{DEPTH_MAX, Element, Error, ErrorKind, Source, Step};

use super::scanner::{Position, Scanner};

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
struct Index<'de> {
    elements: HashMap<String, Target>,
    /// The namespaces in scope where they stand.
    scope: Scope<'de>,
}

#[derive(Clone, Copy)]
struct Target {
    offset: usize,
    bytes: usize,
}

/// See [`Source::follow`].
pub(super) fn follow<'de>(scanner: &mut Scanner<'de>, id: &str) -> Result<Element<'de>, Error> {
    let offset = scanner.offset();
    let fail = |fault| {
        let id = short(id);
        Err(Error::new(offset, ErrorKind::Reference { id, fault }))
    };
    if scanner.references.index.is_none() {
        scanner.references.index = Some(Index::of(scanner.document)?);
    }
    let Some(index) = &scanner.references.index else {
        unreachable!("made just now");
    };
    let Some(target) = index.elements.get(id).copied() else {
        return fail("leads nowhere");
    };
    if scanner
        .references
        .followed
        .iter()
        .any(|(open, _)| open == id)
    {
        return fail("leads back to itself");
    }
    if scanner.references.followed.len() >= DEPTH_MAX {
        let what = "references within references";
        return Err(Error::limit(offset, what, DEPTH_MAX));
    }
    scanner.references.read += target.bytes;
    if scanner.references.read > scanner.document.len() * GROWTH_MAX {
        return fail("makes the document grow beyond measure");
    }
    let mut there = Position::at(target.offset);
    there.scope = index.scope.clone();
    there.depth = scanner.position.depth;
    let here = std::mem::replace(&mut scanner.position, there);
    scanner.references.followed.push((id.to_owned(), here));
    match scanner.step()? {
        Step::Open(target) => Ok(target),
        Step::Text(_) | Step::Close => unreachable!("an element begins at every target"),
    }
}

/// See [`Source::back`].
pub(super) fn back(scanner: &mut Scanner<'_>) {
    if let Some((_, here)) = scanner.references.followed.pop() {
        scanner.position = here;
    }
}

impl<'de> Index<'de> {
    /// Goes once through the document, to the children of the last child of
    /// the root, which in an envelope is its body.
    fn of(document: &'de str) -> Result<Self, Error> {
        let mut scanner = Scanner::new(document.as_bytes())?;
        let mut index = Index {
            elements: HashMap::new(),
            scope: Scope::default(),
        };
        scanner.child()?;
        while scanner.child()?.is_some() {
            index.elements.clear();
            index.scope = scanner.position.scope.clone();
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

    fn add(&mut self, id: String, offset: usize, end: usize) -> Result<(), Error> {
        let bytes = end - offset;
        match self.elements.insert(id, Target { offset, bytes }) {
            None => Ok(()),
            Some(_) => Err(Error::syntax(offset, "an id stands twice")),
        }
    }
}
