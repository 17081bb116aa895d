//! An XML text as a source of elements and texts.
//!
//! quick-xml finds the tags and matches them. What it leaves to its users is
//! done here: the legal characters and names, namespaces, references, the
//! rules for what may stand outside the root, and limits.

use std::borrow::Cow;

use quick_xml::errors::{Error as ReadError, IllFormedError, SyntaxError};
use quick_xml::events::{BytesText, Event};
use quick_xml::reader::Reader;

use super::attributes::AttributeList;
use super::chars;
use super::declaration;
use super::error::{Error, ErrorKind};
use super::reference;
use super::references::References;
use super::scope::{Scope, short};
use super::source::{DEPTH_MAX, Element, Source, Step, Text};

/// A document that is being read.
pub(crate) struct Scanner<'de> {
    pub(super) document: &'de str,
    pub(super) position: Position<'de>,
    pub(super) references: References<'de>,
}

/// Where a scanner is.
#[derive(Clone)]
pub(super) struct Position<'de> {
    reader: Reader<&'de [u8]>,
    /// Offset of the reader's first byte in the document.
    base: usize,
    /// Open elements, those included from which references were followed.
    pub(super) depth: usize,
    pub(super) scope: Scope<'de>,
    /// Name of the element opened last.
    name: &'de str,
    /// Attributes of the element opened last.
    attributes: AttributeList<'de>,
    /// The element opened last was `<a/>` and has not been closed yet.
    empty: bool,
    /// The root element has begun.
    rooted: bool,
}

impl<'de> Scanner<'de> {
    /// A scanner before the root element.
    ///
    /// # Errors
    /// When the document is not UTF-8, declares to be something else, or
    /// holds a character that XML does not allow.
    pub(crate) fn new(bytes: &'de [u8]) -> Result<Self, Error> {
        let document = chars::checked(bytes)?;
        let after_mark = document.strip_prefix('\u{FEFF}').unwrap_or(document);
        let mark = document.len() - after_mark.len();
        let declaration = declaration::length(after_mark).map_err(|e| e.placed(mark))?;
        Ok(Scanner {
            document,
            position: Position::at(document, mark + declaration),
            references: References::default(),
        })
    }

    /// The name of the element opened last, as it is written.
    pub(crate) fn name(&self) -> &'de str {
        self.position.name
    }

    /// The attributes of the element opened last, declarations of namespaces
    /// included: names as they are written, values.
    pub(crate) fn attributes(
        &self,
    ) -> impl Iterator<Item = Result<(&'de str, Cow<'de, str>), Error>> + '_ {
        self.position.attributes.pairs()
    }

    #[inline]
    fn offset_now(&self) -> usize {
        self.position.offset()
    }

    #[inline]
    fn event(&mut self, offset: usize) -> Result<Event<'de>, Error> {
        let position = &mut self.position;
        position.reader.read_event().map_err(|error| {
            let at = position.base + position.reader.error_position() as usize;
            read_error(&error, at.max(offset))
        })
    }

    #[inline]
    fn open(&mut self, offset: usize, name_bytes: usize, empty: bool) -> Result<Step<'de>, Error> {
        let position = &mut self.position;
        if position.depth == 0 && position.rooted {
            return Err(Error::new(offset, ErrorKind::Trailing));
        }
        if position.depth >= DEPTH_MAX {
            return Err(Error::limit(offset, "elements within elements", DEPTH_MAX));
        }
        position.depth += 1;
        position.rooted = true;
        position.empty = empty;
        let end = position.offset() - if empty { 2 } else { 1 };
        let name_end = offset + 1 + name_bytes;
        position.attributes.read(
            &self.document[name_end..end],
            name_end,
            &mut position.scope,
            position.depth,
        )?;
        position.name = &self.document[offset + 1..name_end];
        let (namespace, local) = position.scope.element(position.name, offset)?;
        Ok(Step::Open(Element {
            namespace,
            local,
            attributed: !position.attributes.is_empty(),
            offset,
        }))
    }

    #[inline]
    fn close(&mut self) -> Step<'de> {
        self.position.depth -= 1;
        self.position.scope.leave(self.position.depth);
        self.position.empty = false;
        Step::Close
    }

    /// Text between tags; outside the root only white space is allowed.
    #[inline]
    fn text_step(&self, text: BytesText<'de>, offset: usize) -> Result<Option<Step<'de>>, Error> {
        let raw = text.xml10_content();
        if self.position.depth == 0 {
            return self.outside(chars::is_blank(&raw), offset);
        }
        let mut ends = memchr::memchr_iter(b'>', raw.as_bytes());
        if let Some(at) = ends.find(|at| raw.as_bytes()[..*at].ends_with(b"]]")) {
            return Err(Error::syntax(offset + at - 2, "]]> in text"));
        }
        Ok(Some(Step::Text(Text::Str(raw))))
    }

    /// What stands outside the root element.
    fn outside(&self, allowed: bool, offset: usize) -> Result<Option<Step<'de>>, Error> {
        match (allowed, self.position.rooted) {
            (true, _) => Ok(None),
            (false, true) => Err(Error::new(offset, ErrorKind::Trailing)),
            (false, false) => Err(Error::syntax(offset, "text before the root element")),
        }
    }

    /// The step that an event makes, or `None` for one that does not show.
    #[inline]
    fn step_of(&mut self, event: Event<'de>, offset: usize) -> Result<Option<Step<'de>>, Error> {
        match event {
            Event::Start(tag) => self
                .open(offset, tag.name().as_ref().len(), false)
                .map(Some),
            Event::Empty(tag) => self.open(offset, tag.name().as_ref().len(), true).map(Some),
            Event::End(_) => Ok(Some(self.close())),
            Event::Text(text) => self.text_step(text, offset),
            Event::CData(_) | Event::GeneralRef(_) if self.position.depth == 0 => {
                self.outside(false, offset)
            }
            Event::CData(data) => Ok(Some(Step::Text(Text::Str(data.xml10_content())))),
            Event::GeneralRef(name) => {
                let text = reference::resolve(&name, offset)?;
                Ok(Some(Step::Text(Text::Str(text.into()))))
            }
            Event::Comment(_) => Ok(None),
            Event::PI(instruction) => {
                let target = chars::split_name(instruction.target());
                match target {
                    Some(("", _)) => Ok(None),
                    _ => Err(Error::syntax(
                        offset,
                        "bad target of a processing instruction",
                    )),
                }
            }
            Event::Decl(_) => Err(Error::syntax(offset, "an XML declaration stands first")),
            Event::DocType(_) => Err(Error::new(offset, ErrorKind::DocumentType)),
            Event::Eof => Err(Error::new(offset, ErrorKind::Truncated)),
        }
    }
}

impl<'de> Position<'de> {
    /// A place outside every element.
    pub(super) fn at(document: &'de str, offset: usize) -> Self {
        let mut reader = Reader::from_str(&document[offset..]);
        reader.config_mut().check_comments = true;
        Position {
            reader,
            base: offset,
            depth: 0,
            scope: Scope::default(),
            name: "",
            attributes: AttributeList::default(),
            empty: false,
            rooted: false,
        }
    }

    pub(super) fn offset(&self) -> usize {
        self.base + self.reader.buffer_position() as usize
    }
}

impl<'de> Source<'de> for Scanner<'de> {
    fn step(&mut self) -> Result<Step<'de>, Error> {
        if self.position.empty {
            return Ok(self.close());
        }
        loop {
            let offset = self.offset_now();
            let event = self.event(offset)?;
            if let Some(step) = self.step_of(event, offset)? {
                return Ok(step);
            }
        }
    }

    fn attribute(&self, namespace: &str, local: &str) -> Result<Option<Cow<'de, str>>, Error> {
        self.position.attributes.find(namespace, local)
    }

    fn namespace(&self, prefix: &str) -> Option<&'de str> {
        self.position.scope.find(prefix)
    }

    fn follow(&mut self, id: &str) -> Result<Element<'de>, Error> {
        super::references::follow(self, id)
    }

    fn back(&mut self) {
        super::references::back(self);
    }

    fn finish(&mut self) -> Result<(), Error> {
        loop {
            let offset = self.offset_now();
            match self.event(offset)? {
                Event::Eof => return Ok(()),
                event => match self.step_of(event, offset)? {
                    None => {}
                    Some(_) => return Err(Error::new(offset, ErrorKind::Trailing)),
                },
            }
        }
    }

    fn offset(&self) -> usize {
        self.offset_now()
    }
}

/// What quick-xml found, in this module's words.
fn read_error(error: &ReadError, offset: usize) -> Error {
    let kind = match error {
        ReadError::Syntax(SyntaxError::InvalidBangMarkup) => {
            ErrorKind::Syntax("unknown markup after <!".to_owned())
        }
        ReadError::Syntax(SyntaxError::UnclosedDoctype) => ErrorKind::DocumentType,
        ReadError::Syntax(_) | ReadError::IllFormed(IllFormedError::MissingEndTag(_)) => {
            ErrorKind::Truncated
        }
        ReadError::IllFormed(IllFormedError::MissingDoctypeName) => ErrorKind::DocumentType,
        other => ErrorKind::Syntax(short(&other.to_string())),
    };
    Error::new(offset, kind)
}
