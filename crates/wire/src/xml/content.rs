//! What lies between tags: text, references and CDATA sections (XML 1.0
//! sections 2.4, 2.7 and 4.1), and what does not show: comments and
//! processing instructions (sections 2.5 and 2.6). Document type declarations
//! are refused.

use std::borrow::Cow;

use memchr::memmem;
use wirelab_wire_own::infoset::{Error, ErrorKind, Source, Step, Text, chars};

use super::escape;
use super::scanner::Scanner;
use super::search;

/// A text up to the next markup or reference.
struct Run {
    end: usize,
    /// It holds a carriage return.
    returns: bool,
}

impl<'de> Scanner<'de> {
    /// The text of the open element, which ends.
    #[inline(never)]
    pub(super) fn whole_text(&mut self) -> Result<Cow<'de, str>, Error> {
        if self.position.empty {
            self.close();
            return Ok(Cow::Borrowed(""));
        }
        let begin = self.position.at;
        let run = self.run()?;
        // One piece without line ends to normalize is borrowed from the document.
        if run.returns || !self.document.as_bytes()[run.end..].starts_with(b"</") {
            return self.joined_text();
        }
        self.position.at = run.end;
        self.end_tag()?;
        Ok(Cow::Borrowed(&self.document[begin..run.end]))
    }

    /// The same, in several pieces.
    fn joined_text(&mut self) -> Result<Cow<'de, str>, Error> {
        let mut whole = String::new();
        loop {
            let offset = self.position.at;
            match *self.rest() {
                [b'&', ..] => {
                    let (character, bytes) =
                        escape::read_reference(&self.document[offset..], offset)?;
                    self.position.at += bytes;
                    // A character reference is not normalized: `&#13;` stays a carriage return.
                    whole.push(character);
                }
                [b'<', ..] | [] => match self.step()? {
                    Step::Close => return Ok(Cow::Owned(whole)),
                    Step::Open(element) => return Err(element.unexpected("text")),
                    Step::Text(piece) => whole.push_str(&piece.into_str()),
                },
                _ => {
                    let run = self.run()?;
                    let raw = &self.document[offset..run.end];
                    whole.push_str(&if run.returns {
                        normalize_line_ends(raw)
                    } else {
                        raw.into()
                    });
                    self.position.at = run.end;
                }
            }
        }
    }

    /// Reads text up to the next markup or reference; outside the root only
    /// white space is allowed.
    pub(super) fn plain_text(&mut self) -> Result<Option<Step<'de>>, Error> {
        let run = self.run()?;
        let raw = &self.document[self.position.at..run.end];
        if self.position.depth == 0 {
            // XML 1.0 production 1: outside of the root only comments, instructions and white
            // space.
            self.check_outside_root(chars::is_blank(raw))?;
            self.position.at = run.end;
            return Ok(None);
        }
        self.position.at = run.end;
        let text = if run.returns {
            normalize_line_ends(raw)
        } else {
            raw.into()
        };
        Ok(Some(Step::Text(Text::Str(text))))
    }

    /// Reads a reference.
    pub(super) fn reference(&mut self) -> Result<Step<'de>, Error> {
        self.check_inside_root()?;
        let offset = self.position.at;
        let (character, bytes) = escape::read_reference(&self.document[offset..], offset)?;
        self.position.at += bytes;
        Ok(Step::Text(Text::Str(Cow::Owned(character.into()))))
    }

    /// Reads what begins with `<!`.
    pub(super) fn markup_declaration(&mut self) -> Result<Option<Step<'de>>, Error> {
        let rest = self.rest();
        if rest.starts_with(b"<!--") {
            return self.comment().map(|()| None);
        }
        if rest.starts_with(b"<![CDATA[") {
            return self.cdata_section().map(Some);
        }
        let begun = |markup: &[u8]| markup.starts_with(rest);
        Err(match rest.get(2) {
            // No DTD, hence no entity expansion ("billion laughs") and no external entity
            // (XXE).
            Some(b'D' | b'd') => self.error(ErrorKind::DocumentType),
            _ if begun(b"<!--") || begun(b"<![CDATA[") => self.error(ErrorKind::Truncated),
            _ => Error::syntax(self.position.at, "unknown markup after <!"),
        })
    }

    fn cdata_section(&mut self) -> Result<Step<'de>, Error> {
        self.check_inside_root()?;
        let begin = self.position.at + "<![CDATA[".len();
        let end = self.find(begin, b"]]>")?;
        self.position.at = end + "]]>".len();
        Ok(Step::Text(Text::Str(normalize_line_ends(
            &self.document[begin..end],
        ))))
    }

    fn comment(&mut self) -> Result<(), Error> {
        let begin = self.position.at + "<!--".len();
        let hyphens = self.find(begin, b"--")?;
        match self.document.as_bytes().get(hyphens + 2) {
            Some(b'>') => {}
            // XML 1.0 section 2.5: `--` must not occur within comments.
            Some(_) => return Err(Error::syntax(hyphens, "-- in a comment")),
            None => return Err(Error::new(hyphens, ErrorKind::Truncated)),
        }
        self.position.at = hyphens + "-->".len();
        Ok(())
    }

    /// Reads a processing instruction.
    pub(super) fn instruction(&mut self) -> Result<(), Error> {
        let offset = self.position.at;
        let begin = offset + "<?".len();
        let end = self.find(begin, b"?>")?;
        let target_end = chars::name_end(self.document.as_bytes(), begin).min(end);
        let target = &self.document[begin..target_end];
        // Section 2.6 reserves the target; a declaration is at the very beginning.
        if target == "xml" {
            return Err(Error::syntax(
                offset,
                "an XML declaration is allowed only at the beginning",
            ));
        }
        let next = self.document.as_bytes()[target_end];
        let named = matches!(chars::split_name(target), Some(("", _)));
        if !named || (target_end < end && !chars::is_space(next)) {
            let text = "bad target of a processing instruction";
            return Err(Error::syntax(offset, text));
        }
        self.position.at = end + "?>".len();
        Ok(())
    }

    /// Where the text ends that has been reached.
    #[inline]
    fn run(&self) -> Result<Run, Error> {
        let bytes = self.document.as_bytes();
        let begin = self.position.at;
        let (mut end, mut returns) = (begin, false);
        loop {
            end = search::find_special(bytes, end);
            match bytes.get(end) {
                Some(b'\r') => returns = true,
                Some(b'>') => self.check_no_cdata_end(begin, end)?,
                _ => return Ok(Run { end, returns }),
            }
            end += 1;
        }
    }

    /// A `>` at `at` must not end `]]>` (XML 1.0 section 2.4).
    fn check_no_cdata_end(&self, begin: usize, at: usize) -> Result<(), Error> {
        // For compatibility with SGML, section 2.4 forbids `]]>` in content.
        if self.document.as_bytes()[begin..at].ends_with(b"]]") {
            return Err(Error::syntax(at - 2, "]]> in text"));
        }
        Ok(())
    }

    /// The first position of `mark` from `begin` on.
    fn find(&self, begin: usize, mark: &[u8]) -> Result<usize, Error> {
        let bytes = self.document.as_bytes();
        match memmem::find(&bytes[begin..], mark) {
            Some(length) => Ok(begin + length),
            None => Err(Error::new(bytes.len(), ErrorKind::Truncated)),
        }
    }

    /// Fails outside the root element, except where the content is `allowed` there.
    fn check_outside_root(&self, allowed: bool) -> Result<(), Error> {
        match (allowed, self.position.rooted) {
            (true, _) => Ok(()),
            (false, true) => Err(self.error(ErrorKind::Trailing)),
            (false, false) => {
                let text = "text before the root element";
                Err(Error::syntax(self.position.at, text))
            }
        }
    }

    fn check_inside_root(&self) -> Result<(), Error> {
        self.check_outside_root(self.position.depth > 0)
    }
}

/// A text with every line end as a line feed (XML 1.0 section 2.11).
fn normalize_line_ends(raw: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\r', raw.as_bytes()).is_none() {
        return Cow::Borrowed(raw);
    }
    // CRLF first, or it would become two line feeds.
    Cow::Owned(raw.replace("\r\n", "\n").replace('\r', "\n"))
}
