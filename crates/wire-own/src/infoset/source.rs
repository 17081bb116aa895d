//! Where a message's reader gets its elements and texts from: an XML text, or
//! tokens that stand for one.

use std::borrow::Cow;

use super::chars;
use super::error::{Error, ErrorKind};
use super::scope::same;

/// Levels of elements within elements; a message needs four.
// XML has no limit. Readers keep state for every open element; the bound keeps that
// small, whatever comes in.
pub const DEPTH_MAX: usize = 64;

/// An element that has just been opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element<'de> {
    /// Empty for none.
    pub namespace: &'de str,
    /// The name without its prefix.
    pub local: &'de str,
    /// Whether it has an attribute that affects its value or gives the place of
    /// that is: `nil`, `href`, `offset` or `position`, in any namespace.
    // Found once while the tag is read. Nearly all elements lack such attributes, and
    // searching them by namespace would cost more than reading the value.
    pub has_value_attribute: bool,
    /// Where it begins.
    pub offset: usize,
}

impl Element<'_> {
    /// Whether it has that name.
    #[inline]
    #[must_use]
    pub fn is(&self, namespace: &str, local: &str) -> bool {
        self.local == local && same(self.namespace, namespace)
    }

    /// `{namespace}name`, for messages.
    pub fn name(&self) -> String {
        format!("{{{}}}{}", self.namespace, self.local)
    }

    /// The error that another element was wanted here.
    pub fn unexpected(&self, expected: impl Into<String>) -> Error {
        let kind = ErrorKind::Element {
            expected: expected.into(),
            found: self.name(),
        };
        Error::new(self.offset, kind)
    }
}

/// The text between two tags.
#[derive(Debug, Clone, PartialEq)]
pub enum Text<'de> {
    /// Characters.
    Str(Cow<'de, str>),
    /// The decimal digits of this number.
    // Tokens hold numbers; turning them into digits only to parse those again is
    // avoided.
    Int(i64),
    /// `true` or `false`.
    Bool(bool),
}

impl<'de> Text<'de> {
    /// The characters.
    #[inline]
    #[must_use]
    pub fn into_str(self) -> Cow<'de, str> {
        match self {
            Text::Str(text) => text,
            Text::Int(number) => Cow::Owned(number.to_string()),
            Text::Bool(value) => Cow::Borrowed(if value { "true" } else { "false" }),
        }
    }

    /// Whether there is nothing but white space.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        matches!(self, Text::Str(text) if chars::is_blank(text))
    }
}

/// Whether an attribute of this local name, in whatever namespace, makes its
/// element [`Element::has_value_attribute`].
pub fn affects_value(local: &str) -> bool {
    matches!(local, "nil" | "href" | "offset" | "position")
}

/// One step through a document.
#[derive(Debug, Clone, PartialEq)]
pub enum Step<'de> {
    /// An element begins.
    Open(Element<'de>),
    /// Characters, of which several pieces may follow each other.
    Text(Text<'de>),
    /// The element that was opened last and not yet closed ends.
    Close,
}

/// A document, read once from its begin to its end. Comments and processing
/// instructions do not show; tags match.
pub trait Source<'de> {
    /// Advances by one step.
    ///
    /// # Errors
    /// When the document breaks a rule, or has ended.
    fn step(&mut self) -> Result<Step<'de>, Error>;

    /// An attribute of the element that the last step opened.
    fn attribute(&self, namespace: &str, local: &str) -> Result<Option<Cow<'de, str>>, Error>;

    /// What a prefix stands for here; empty asks for the default namespace.
    fn namespace(&self, prefix: &str) -> Option<&'de str>;

    /// Opens the element with this `id`, so that the next step reads its
    /// content; [`Source::back`] must follow its end.
    ///
    /// # Errors
    /// When there is none, or it is being read already.
    fn follow(&mut self, id: &str) -> Result<Element<'de>, Error>;

    /// Goes back to where [`Source::follow`] was called.
    fn back(&mut self);

    /// Proves that nothing follows the root element.
    fn finish(&mut self) -> Result<(), Error>;

    /// The place of the next step.
    fn offset(&self) -> usize;

    /// The next child of the open element, or `None` when that one ends.
    ///
    /// # Errors
    /// When there is text other than white space between children.
    fn child(&mut self) -> Result<Option<Element<'de>>, Error> {
        loop {
            let offset = self.offset();
            match self.step()? {
                Step::Open(element) => return Ok(Some(element)),
                Step::Close => return Ok(None),
                // Indentation between elements means nothing in a message.
                Step::Text(text) if text.is_blank() => {}
                Step::Text(_) => return Err(Error::new(offset, ErrorKind::UnexpectedText)),
            }
        }
    }

    /// What is left of the open element's text; the element ends.
    ///
    /// # Errors
    /// When there is an element in it.
    fn text(&mut self) -> Result<Text<'de>, Error> {
        joined_text(self)
    }

    /// Passes over the rest of the open element; the element ends.
    fn skip(&mut self) -> Result<(), Error> {
        // A counter instead of recursion: what is passed over may be as deep as the
        // source allows.
        let mut open = 1;
        while open > 0 {
            match self.step()? {
                Step::Open(_) => open += 1,
                Step::Close => open -= 1,
                Step::Text(_) => {}
            }
        }
        Ok(())
    }
}

/// [`Source::text`], piece by piece.
///
/// # Errors
/// When there is an element in the text, or the source fails.
pub fn joined_text<'de, S: Source<'de> + ?Sized>(source: &mut S) -> Result<Text<'de>, Error> {
    let mut whole: Option<Text<'de>> = None;
    loop {
        match source.step()? {
            // `<a/>` and `<a></a>` are the same element with an empty text (XML 1.0
            // section 3.1).
            Step::Close => return Ok(whole.unwrap_or(Text::Str(Cow::Borrowed("")))),
            Step::Open(element) => return Err(element.unexpected("text")),
            Step::Text(next) => {
                whole = Some(match whole {
                    None => next,
                    Some(before) => join(before, next),
                });
            }
        }
    }
}

fn join<'de>(before: Text<'de>, next: Text<'de>) -> Text<'de> {
    // Copied only here: CDATA sections, comments and references cut a text into pieces,
    // which is rare.
    let mut text = before.into_str().into_owned();
    text.push_str(&next.into_str());
    Text::Str(Cow::Owned(text))
}
