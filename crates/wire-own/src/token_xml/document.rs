//! A document as a list of items: what lies between an XML text, its tokens
//! and a message.

use crate::infoset::Sink;

use super::atom::Atom;

/// A part of a document's characters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Span {
    // 32 bits are enough: the decoder's limit for a document is 192 MiB.
    start: u32,
    length: u32,
}

impl Span {
    #[inline]
    pub(super) fn bytes(self) -> usize {
        self.length as usize
    }
}

/// A name among a document's characters. It has at most
/// [`NAME_BYTES_MAX`](crate::infoset::chars::NAME_BYTES_MAX) bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Name {
    start: u32,
    length: u16,
    /// Where its local part begins, behind the colon; 0 without a prefix.
    local: u16,
}

impl Name {
    #[inline]
    pub(super) fn bytes(self) -> usize {
        usize::from(self.length)
    }

    #[inline]
    pub(super) fn is_prefixed(self) -> bool {
        self.local != 0
    }

    /// A name that begins with `prefix` and a colon; an empty
    /// one means none.
    pub(super) fn of(start: usize, text: &str, prefix: &str) -> Self {
        let local = match prefix.len() {
            0 => 0,
            bytes => bytes as u16 + 1,
        };
        Name {
            start: start as u32,
            length: u16::try_from(text.len()).expect("names are short"),
            local,
        }
    }
}

/// The prefix of a name that is known to be one.
#[inline]
pub(super) fn prefix(name: &str) -> &str {
    name.split_once(':').map_or("", |(prefix, _)| prefix)
}

/// Items that a document has room for from its begin, at most.
const ROOM_ITEMS_MAX: usize = 256;

/// One item of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    /// An element of this name begins.
    Open(Name),
    /// An attribute of this name; its value is the next item.
    Attribute(Name),
    /// Characters.
    Text(Span),
    /// Characters that have a shorter form.
    Atom(Atom),
    /// The element opened last ends.
    Close,
}

/// A well-formed XML document without comments and the like.
///
/// Two documents are equal when they have the same elements, attributes in
/// the same order, and texts.
#[derive(Debug, Clone, Default)]
pub struct Document {
    pub(super) items: Vec<Item>,
    /// The characters of names and texts.
    pub(super) characters: String,
}

impl Document {
    /// An empty one with room for about that number of items.
    pub(super) fn with_room(items: usize) -> Self {
        let items = items.min(ROOM_ITEMS_MAX);
        Document {
            items: Vec::with_capacity(items),
            // Four bytes per item is a guess: ends and numbers have no characters,
            // names about ten.
            characters: String::with_capacity(4 * items),
        }
    }

    /// Writes the document as our writers write it.
    pub fn write<S: Sink>(&self, sink: &mut S) {
        // Ends carry no name in tokens, XML's end tags do.
        let mut open = Vec::new();
        let mut items = self.items.iter();
        while let Some(item) = items.next() {
            match item {
                Item::Open(name) => {
                    sink.open(self.name(*name));
                    open.push(*name);
                }
                Item::Attribute(name) => {
                    let value = items.next().and_then(|value| self.value(value));
                    sink.attribute(self.name(*name), &value.unwrap_or_default());
                }
                Item::Text(text) => sink.text(self.text(*text)),
                // Digits and dates hold no character to escape.
                Item::Atom(atom) => sink.plain(&atom.text()),
                Item::Close => {
                    let name = open.pop().expect("elements are closed once");
                    sink.close(self.name(name));
                }
            }
        }
    }

    /// Elements, attributes, texts and ends of elements.
    #[must_use]
    pub fn items(&self) -> usize {
        self.items.len()
    }

    #[inline(always)]
    pub(super) fn text(&self, span: Span) -> &str {
        let start = span.start as usize;
        &self.characters[start..start + span.length as usize]
    }

    #[inline(always)]
    pub(super) fn name(&self, name: Name) -> &str {
        let start = name.start as usize;
        &self.characters[start..start + usize::from(name.length)]
    }

    /// Prefix and local part of a name; the prefix of one without is empty.
    #[inline]
    pub(super) fn parts(&self, name: Name) -> (&str, &str) {
        let whole = self.name(name);
        match usize::from(name.local) {
            0 => ("", whole),
            local => (&whole[..local - 1], &whole[local..]),
        }
    }

    /// Keeps a name with this prefix.
    #[inline]
    pub(super) fn keep_name(&mut self, text: &str, prefix: &str) -> Name {
        let name = Name::of(self.characters.len(), text, prefix);
        self.characters.push_str(text);
        name
    }

    /// Keeps a name that another document had as `name`.
    #[inline]
    pub(super) fn keep_known_name(&mut self, text: &str, name: Name) -> Name {
        let start = self.characters.len() as u32;
        self.characters.push_str(text);
        Name { start, ..name }
    }

    /// Keeps characters.
    #[inline]
    pub(super) fn keep(&mut self, text: &str) -> Span {
        let span = Span {
            start: self.characters.len() as u32,
            length: text.len() as u32,
        };
        self.characters.push_str(text);
        span
    }

    /// The characters of a value, `None` for another item.
    fn value(&self, item: &Item) -> Option<String> {
        match item {
            Item::Text(text) => Some(self.text(*text).to_owned()),
            // Exact, because a text becomes an atom only if it is written back the
            // same.
            Item::Atom(atom) => Some(atom.text()),
            Item::Open(_) | Item::Attribute(_) | Item::Close => None,
        }
    }
}

impl PartialEq for Document {
    fn eq(&self, other: &Self) -> bool {
        // By characters: places differ with the order in which texts were met.
        let same = |(mine, theirs): (&Item, &Item)| match (*mine, *theirs) {
            (Item::Open(a), Item::Open(b)) | (Item::Attribute(a), Item::Attribute(b)) => {
                self.name(a) == other.name(b)
            }
            (Item::Text(a), Item::Text(b)) => self.text(a) == other.text(b),
            (a, b) => a == b,
        };
        self.items.len() == other.items.len() && self.items.iter().zip(&other.items).all(same)
    }
}

impl Eq for Document {}
