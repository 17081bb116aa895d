//! The attributes of one element.

use std::borrow::Cow;
use std::ops::Range;

use super::chars;
use super::error::{Error, ErrorKind};
use super::pair::Pair;
use super::reference;
use super::scope::{Scope, same};
use super::source::marks;

/// Attributes of one element, declarations of namespaces included.
const ATTRIBUTES_MAX: usize = 64;

/// The attributes of the element that was opened last.
///
/// Those that declare namespaces are taken by the scope; of most elements
/// nothing is left but one, which needs no memory of its own.
#[derive(Debug, Clone, Default)]
pub(super) struct AttributeList<'de> {
    document: &'de str,
    /// Where they begin and end in the document.
    place: Range<usize>,
    /// The first that declares no namespace.
    first: Option<Attribute<'de>>,
    /// The others that declare none.
    others: Vec<Attribute<'de>>,
    /// One of them says something of its element's value.
    marked: bool,
}

/// The attributes of a tag that may come again.
#[derive(Debug, Clone)]
pub(super) struct Remembered<'de> {
    place: Range<usize>,
    first: Option<Attribute<'de>>,
    marked: bool,
}

/// An attribute that declares no namespace.
#[derive(Debug, Clone, Copy)]
struct Attribute<'de> {
    pair: Pair<'de>,
    namespace: &'de str,
    local: &'de str,
}

/// How a start tag ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct TagEnd {
    /// Behind its `>`.
    pub(super) at: usize,
    /// It was `<a/>`.
    pub(super) empty: bool,
}

impl<'de> AttributeList<'de> {
    /// Takes over those of an equal tag in the same scope.
    #[inline]
    pub(super) fn recall(&mut self, tag: &Remembered<'de>) {
        self.place = tag.place.clone();
        self.first = tag.first;
        self.others.clear();
        self.marked = tag.marked;
    }

    /// What is worth to be remembered: one attribute at most.
    pub(super) fn remembered(&self) -> Option<Remembered<'de>> {
        self.others.is_empty().then(|| Remembered {
            place: self.place.clone(),
            first: self.first,
            marked: self.marked,
        })
    }

    /// Reads what follows an element's name, from `at` to the end of the tag:
    /// proves that every attribute is well-formed, and takes the declarations
    /// of namespaces.
    pub(super) fn read(
        &mut self,
        document: &'de str,
        at: usize,
        scope: &mut Scope<'de>,
        depth: usize,
    ) -> Result<TagEnd, Error> {
        self.clear();
        self.document = document;
        let mut count = 0;
        let mut pairs = Pairs { document, at };
        let end = loop {
            let pair = match pairs.next()? {
                Next::Pair(pair) => pair,
                Next::End(end) => break end,
            };
            if count == ATTRIBUTES_MAX {
                return Err(Error::limit(pair.offset, "attributes", ATTRIBUTES_MAX));
            }
            count += 1;
            match pair.name.declares() {
                Some(prefix) => declare(&pair, prefix, scope, depth)?,
                None => self.keep(pair),
            }
        };
        self.place = at..end.at;
        self.resolve(scope)?;
        Ok(end)
    }

    /// Forgets all of them.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.place = 0..0;
        self.first = None;
        self.others.clear();
        self.marked = false;
    }

    /// Whether one of them says something of its element's value, or where
    /// that is: see [`Element::marked`](super::source::Element::marked).
    #[inline]
    pub(super) fn marked(&self) -> bool {
        self.marked
    }

    /// The value of one of them.
    pub(super) fn find(
        &self,
        namespace: &str,
        local: &str,
    ) -> Result<Option<Cow<'de, str>>, Error> {
        let mut all = self.first.iter().chain(&self.others);
        match all.find(|found| found.local == local && same(found.namespace, namespace)) {
            None => Ok(None),
            Some(found) => reference::attribute(found.pair.value, found.pair.offset).map(Some),
        }
    }

    /// All of them, declarations of namespaces included: names as they are
    /// written, values.
    pub(super) fn pairs(
        &self,
    ) -> impl Iterator<Item = Result<(&'de str, Cow<'de, str>), Error>> + '_ {
        let mut pairs = Pairs {
            document: self.document,
            at: self.place.start,
        };
        let next = move || match pairs.next() {
            Ok(Next::Pair(pair)) => Some(Ok(pair)),
            Ok(Next::End(_)) => None,
            Err(error) => Some(Err(error)),
        };
        let whole = (!self.place.is_empty()).then_some(next);
        whole.into_iter().flat_map(std::iter::from_fn).map(|pair| {
            let pair = pair?;
            let value = reference::attribute(pair.value, pair.offset)?;
            Ok((pair.name.whole, value))
        })
    }

    fn keep(&mut self, pair: Pair<'de>) {
        let attribute = Attribute {
            pair,
            namespace: "",
            local: "",
        };
        match self.first {
            None => self.first = Some(attribute),
            Some(_) => self.others.push(attribute),
        }
    }

    /// Every prefix must be declared, and no attribute may stand twice, not
    /// under two prefixes either (Namespaces in XML 1.0 section 6.3).
    fn resolve(&mut self, scope: &Scope<'de>) -> Result<(), Error> {
        let Some(first) = &mut self.first else {
            return Ok(());
        };
        self.marked = first.resolve(scope)?;
        for at in 0..self.others.len() {
            let (before, rest) = self.others.split_at_mut(at);
            let found = &mut rest[0];
            self.marked |= found.resolve(scope)?;
            if found.is_twin(first) || before.iter().any(|other| found.is_twin(other)) {
                let text = "an attribute stands twice";
                return Err(Error::syntax(found.pair.offset, text));
            }
        }
        Ok(())
    }
}

impl<'de> Attribute<'de> {
    /// Takes its name apart. Returns whether it marks its element.
    fn resolve(&mut self, scope: &Scope<'de>) -> Result<bool, Error> {
        let name = self.pair.name;
        self.local = name.local;
        if !name.prefix.is_empty() {
            self.namespace = scope.prefixed(name.prefix, self.pair.offset)?;
        }
        Ok(marks(self.local))
    }

    fn is_twin(&self, other: &Attribute<'_>) -> bool {
        self.local == other.local && same(self.namespace, other.namespace)
    }
}

/// The attributes of a start tag one by one.
struct Pairs<'de> {
    document: &'de str,
    at: usize,
}

/// What comes next in a start tag.
enum Next<'de> {
    Pair(Pair<'de>),
    End(TagEnd),
}

impl<'de> Pairs<'de> {
    #[inline]
    fn next(&mut self) -> Result<Next<'de>, Error> {
        let bytes = self.document.as_bytes();
        let begin = chars::spaces_end(bytes, self.at);
        if let Some(end) = tag_end(bytes, begin)? {
            return Ok(Next::End(end));
        }
        if begin == self.at {
            let text = "white space must stand before an attribute";
            return Err(Error::syntax(begin, text));
        }
        let pair = Pair::read(self.document, begin)?;
        if pair.referring {
            reference::attribute(pair.value, pair.offset)?;
        }
        self.at = pair.end;
        Ok(Next::Pair(pair))
    }
}

/// The end of a start tag, if it lies at `at`.
#[inline]
fn tag_end(bytes: &[u8], at: usize) -> Result<Option<TagEnd>, Error> {
    let (length, empty) = match bytes.get(at) {
        Some(b'>') => (1, false),
        Some(b'/') if bytes.get(at + 1) == Some(&b'>') => (2, true),
        Some(b'/') if at + 1 < bytes.len() => return Err(Error::syntax(at, "/ in a start tag")),
        None | Some(b'/') => return Err(Error::new(bytes.len(), ErrorKind::Truncated)),
        Some(_) => return Ok(None),
    };
    let at = at + length;
    Ok(Some(TagEnd { at, empty }))
}

fn declare<'de>(
    pair: &Pair<'de>,
    prefix: &'de str,
    scope: &mut Scope<'de>,
    depth: usize,
) -> Result<(), Error> {
    if pair.referring || pair.value.contains(['\t', '\n', '\r']) {
        let text = "a namespace's name must be written without references or line breaks";
        return Err(Error::syntax(pair.offset, text));
    }
    scope.declare(prefix, pair.value, depth, pair.offset)
}
