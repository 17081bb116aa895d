//! The attributes of one element (XML 1.0 section 3.1).

use std::borrow::Cow;

use wirelab_wire_own::infoset::scope::{Scope, same};
use wirelab_wire_own::infoset::source::affects_value;
use wirelab_wire_own::infoset::{Error, ErrorKind, chars};

use super::escape;
use super::name::QName;
use super::search::{self, value_end_offset};

/// Attributes of one element, declarations of namespaces included.
const ATTRIBUTES_MAX: usize = 64;

/// The attributes of the element that was opened last, which are proven to be
/// well-formed. Few are ever asked for, so they stay where they lie.
#[derive(Debug, Clone, Default)]
pub(super) struct AttributeList<'de> {
    span: AttributeSpan,
    /// Room to compare those with each other that declare no namespace.
    others: Vec<Attribute<'de>>,
}

/// Where the attributes of an element lie.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct AttributeSpan {
    /// From behind the element's name to behind the tag; no byte where there
    /// are none.
    begin: usize,
    end: usize,
    /// One of them affects its element's value or refers to it:
    /// see [`Element::has_value_attribute`](wirelab_wire_own::infoset::source::Element::has_value_attribute).
    pub(super) has_value_attribute: bool,
}

/// An attribute that declares no namespace.
#[derive(Debug, Clone, Copy)]
struct Attribute<'de> {
    namespace: &'de str,
    prefix: &'de str,
    local: &'de str,
    offset: usize,
}

/// How a start tag ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct TagEnd {
    /// Behind its `>`.
    pub(super) at: usize,
    /// It was `<a/>`.
    pub(super) empty: bool,
}

impl AttributeSpan {
    /// Where the tag's `>` lies, whose name ends at `name_end`.
    #[inline(always)]
    pub(super) fn find_end(self, name_end: usize) -> usize {
        if self.end > self.begin {
            self.end - 1
        } else {
            name_end
        }
    }
}

impl<'de> AttributeList<'de> {
    /// Takes those of an equal tag in the same scope, or of one without any.
    #[inline]
    pub(super) fn restore(&mut self, span: AttributeSpan) {
        self.span = span;
    }

    /// Where they lie.
    pub(super) fn span(&self) -> AttributeSpan {
        self.span
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
        let mut first = None;
        self.others.clear();
        let mut count = 0;
        let mut pairs = AttributeParser { document, at };
        let end = loop {
            let pair = match pairs.next()? {
                Next::RawAttribute(pair) => pair,
                Next::End(end) => break end,
            };
            // The comparison of attributes with each other is quadratic, so that their number
            // is bound.
            if count == ATTRIBUTES_MAX {
                return Err(Error::limit(pair.offset, "attributes", ATTRIBUTES_MAX));
            }
            count += 1;
            match pair.name.declares() {
                Some(prefix) => declare(&pair, prefix, scope, depth)?,
                // One attribute is the common case and needs no list.
                None if first.is_none() => first = Some(Attribute::of(&pair)),
                None => self.others.push(Attribute::of(&pair)),
            }
        };
        self.span = AttributeSpan {
            begin: at,
            end: end.at,
            has_value_attribute: self.resolve(first, scope)?,
        };
        Ok(end)
    }

    /// The value of one of them, in the scope that they were read in.
    pub(super) fn find(
        &self,
        document: &'de str,
        scope: &Scope<'de>,
        namespace: &str,
        local: &str,
    ) -> Result<Option<Cow<'de, str>>, Error> {
        for pair in self.pairs(document) {
            let pair = pair?;
            // Declarations are attributes in syntax only (Namespaces in XML 1.0 section 3).
            if pair.name.local != local || pair.name.declares().is_some() {
                continue;
            }
            if same(Attribute::of(&pair).namespace(scope)?, namespace) {
                return escape::attribute_value(pair.value, pair.offset).map(Some);
            }
        }
        Ok(None)
    }

    /// All of them as they are written, declarations of namespaces included.
    pub(super) fn pairs(
        &self,
        document: &'de str,
    ) -> impl Iterator<Item = Result<RawAttribute<'de>, Error>> + use<'de> {
        let mut pairs = AttributeParser {
            document,
            at: self.span.begin,
        };
        let next = move || match pairs.next() {
            Ok(Next::RawAttribute(pair)) => Some(Ok(pair)),
            Ok(Next::End(_)) => None,
            Err(error) => Some(Err(error)),
        };
        let any = self.span.end > self.span.begin;
        any.then_some(next).into_iter().flat_map(std::iter::from_fn)
    }

    /// Every prefix must be declared, and no attribute may appear twice, not
    /// under two prefixes either (Namespaces in XML 1.0 section 6.3). Returns
    /// whether one marks its element.
    fn resolve(
        &mut self,
        first: Option<Attribute<'de>>,
        scope: &Scope<'de>,
    ) -> Result<bool, Error> {
        let Some(mut first) = first else {
            return Ok(false);
        };
        // Resolved behind the whole tag: a declaration may come after its use.
        first.namespace = first.namespace(scope)?;
        let mut has_value_attribute = affects_value(first.local);
        for at in 0..self.others.len() {
            let (before, rest) = self.others.split_at_mut(at);
            let found = &mut rest[0];
            found.namespace = found.namespace(scope)?;
            has_value_attribute |= affects_value(found.local);
            if found.is_duplicate(&first) || before.iter().any(|other| found.is_duplicate(other)) {
                let text = "an attribute appears twice";
                return Err(Error::syntax(found.offset, text));
            }
        }
        Ok(has_value_attribute)
    }
}

impl<'de> Attribute<'de> {
    /// One whose namespace is not known yet.
    fn of(pair: &RawAttribute<'de>) -> Self {
        Attribute {
            namespace: "",
            prefix: pair.name.prefix,
            local: pair.name.local,
            offset: pair.offset,
        }
    }

    /// What its prefix stands for; without one it is in no namespace.
    fn namespace(&self, scope: &Scope<'de>) -> Result<&'de str, Error> {
        match self.prefix {
            "" => Ok(""),
            prefix => scope.prefixed(prefix, self.offset),
        }
    }

    fn is_duplicate(&self, other: &Attribute<'_>) -> bool {
        self.local == other.local && same(self.namespace, other.namespace)
    }
}

/// The attributes behind an element's name, where there is nothing but one
/// that is written as most of rpc/encoded are, and that needs no closer look:
/// it declares nothing, refers to nothing and marks nothing.
#[inline(always)]
pub(super) fn type_alone(bytes: &[u8], at: usize, scope: &Scope<'_>) -> Option<AttributeSpan> {
    const BEGIN: &[u8] = b" xsi:type=\"";
    let value = bytes.get(at..)?.strip_prefix(BEGIN)?;
    let length = value_end_offset(value.first_chunk()?);
    let plain = scope.has_xsi() && value.get(length..)?.starts_with(b"\">");
    plain.then_some(AttributeSpan {
        begin: at,
        end: at + BEGIN.len() + length + 2,
        has_value_attribute: false,
    })
}

/// The attributes of a start tag one by one.
struct AttributeParser<'de> {
    document: &'de str,
    at: usize,
}

/// What comes next in a start tag.
enum Next<'de> {
    RawAttribute(RawAttribute<'de>),
    End(TagEnd),
}

impl<'de> AttributeParser<'de> {
    #[inline]
    fn next(&mut self) -> Result<Next<'de>, Error> {
        let bytes = self.document.as_bytes();
        let begin = chars::spaces_end(bytes, self.at);
        if let Some(end) = tag_end(bytes, begin)? {
            return Ok(Next::End(end));
        }
        // XML 1.0 production 40: `STag ::= '<' Name (S Attribute)* S? '>'`.
        if begin == self.at {
            let text = "white space is missing before an attribute";
            return Err(Error::syntax(begin, text));
        }
        let pair = RawAttribute::read(self.document, begin)?;
        // Resolved once to prove it, again only where the value is asked for.
        if pair.has_references {
            escape::attribute_value(pair.value, pair.offset)?;
        }
        self.at = pair.end;
        Ok(Next::RawAttribute(pair))
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
    pair: &RawAttribute<'de>,
    prefix: &'de str,
    scope: &mut Scope<'de>,
    depth: usize,
) -> Result<(), Error> {
    // Names are compared where they lie; normalization would need a copy.
    if pair.has_references || pair.value.contains(['\t', '\n', '\r']) {
        let text = "a namespace's name must be written without references or line breaks";
        return Err(Error::syntax(pair.offset, text));
    }
    scope.declare(prefix, pair.value, depth, pair.offset)
}

/// Bytes of an attribute's value.
pub(super) const VALUE_BYTES_MAX: usize = 4096;

/// An attribute as it is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct RawAttribute<'de> {
    pub(super) name: QName<'de>,
    /// Without its quotation marks, references unresolved.
    pub(super) value: &'de str,
    /// Whether the value holds an `&`.
    pub(super) has_references: bool,
    /// Where the name begins.
    pub(super) offset: usize,
    /// Behind the closing quotation mark.
    pub(super) end: usize,
}

impl<'de> RawAttribute<'de> {
    /// Reads the attribute whose name begins at `offset`. What
    /// the value's references stand for is for its user to prove.
    #[inline]
    pub(super) fn read(document: &'de str, offset: usize) -> Result<Self, Error> {
        let bytes = document.as_bytes();
        let name = QName::read(document, offset)?;
        let name_end = offset + name.whole.len();
        let start = value_start(bytes, name_end)?;
        let (end, has_references) = value_end(bytes, start)?;
        if end - start > VALUE_BYTES_MAX {
            let what = "bytes of an attribute";
            return Err(Error::limit(offset, what, VALUE_BYTES_MAX));
        }
        Ok(RawAttribute {
            name,
            value: &document[start..end],
            has_references,
            offset,
            end: end + 1,
        })
    }
}

/// Where the value begins, behind `=` and the opening quotation mark.
#[inline]
fn value_start(bytes: &[u8], name_end: usize) -> Result<usize, Error> {
    // As nearly all writers write it, without white space around the sign.
    if let [b'=', b'"', ..] = bytes[name_end..] {
        return Ok(name_end + 2);
    }
    let equals = chars::spaces_end(bytes, name_end);
    if bytes.get(equals) != Some(&b'=') {
        return Err(missing(bytes, equals, "an attribute without a value"));
    }
    let mark = chars::spaces_end(bytes, equals + 1);
    match bytes.get(mark) {
        Some(b'"' | b'\'') => Ok(mark + 1),
        _ => Err(missing(bytes, mark, "a value without quotation marks")),
    }
}

/// Where the value that begins at `start`, behind its quotation mark, ends,
/// and whether it holds an `&`.
#[inline]
fn value_end(bytes: &[u8], start: usize) -> Result<(usize, bool), Error> {
    let mark = bytes[start - 1];
    let mut has_references = false;
    let mut at = start;
    loop {
        // `<` must not appear in a value (XML 1.0 production 10), `&` begins a reference.
        at = search::find_any(bytes, at, [mark, b'<', b'&']);
        match bytes.get(at) {
            Some(b'&') => has_references = true,
            Some(b'<') => return Err(Error::syntax(at, "< in an attribute")),
            Some(_) => return Ok((at, has_references)),
            None => return Err(Error::new(at, ErrorKind::Truncated)),
        }
        at += 1;
    }
}

/// The error that something else was wanted at `at`, where there is anything.
fn missing(bytes: &[u8], at: usize, what: &str) -> Error {
    match bytes.get(at) {
        Some(_) => Error::syntax(at, what),
        None => Error::new(at, ErrorKind::Truncated),
    }
}
