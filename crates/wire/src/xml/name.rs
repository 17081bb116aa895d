//! Qualified names as they are written (Namespaces in XML 1.0, section 4).

use wirelab_wire_own::infoset::chars::{self, Class, NAME_BYTES_MAX};
use wirelab_wire_own::infoset::scope::excerpt;
use wirelab_wire_own::infoset::{Error, ErrorKind};

use super::search;

/// A name and its parts.
#[derive(Debug, Clone, Copy)]
pub(super) struct QName<'de> {
    pub(super) whole: &'de str,
    /// Empty for none.
    pub(super) prefix: &'de str,
    pub(super) local: &'de str,
}

impl<'de> QName<'de> {
    /// Reads the name that begins at `at`.
    #[inline]
    pub(super) fn read(document: &'de str, at: usize) -> Result<Self, Error> {
        let bytes = document.as_bytes();
        // Nearly all names of messages are ASCII; the slow path knows all of XML 1.0
        // production 4.
        let first = plain_name_end(bytes, at);
        let (local, end) = match bytes.get(first) {
            Some(b':') if first > at => (first + 1, plain_name_end(bytes, first + 1)),
            _ => (at, first),
        };
        // Anything else is left to the slow path, which decides by all rules.
        let ended = |byte: &u8| byte.is_ascii() && *byte != b':';
        if end == local || !bytes.get(end).is_some_and(ended) {
            return QName::read_any(document, at);
        }
        // Names are copied into messages of errors and caches.
        if end - at > NAME_BYTES_MAX {
            return Err(Error::limit(at, "bytes of a name", NAME_BYTES_MAX));
        }
        Ok(QName {
            whole: &document[at..end],
            prefix: if local == at {
                ""
            } else {
                &document[at..first]
            },
            local: &document[local..end],
        })
    }

    /// A name that is known to be one, and to have no prefix.
    pub(super) fn plain(name: &'de str) -> Self {
        QName {
            whole: name,
            prefix: "",
            local: name,
        }
    }

    /// The same with characters beyond ASCII, or of text that is not a name.
    #[cold]
    fn read_any(document: &'de str, at: usize) -> Result<Self, Error> {
        let end = chars::name_end(document.as_bytes(), at);
        if end == document.len() {
            return Err(Error::new(end, ErrorKind::Truncated));
        }
        if end - at > NAME_BYTES_MAX {
            return Err(Error::limit(at, "bytes of a name", NAME_BYTES_MAX));
        }
        let whole = &document[at..end];
        let Some((prefix, local)) = chars::split_name(whole) else {
            return Err(Error::syntax(
                at,
                format!("{:?} is not a name", excerpt(whole)),
            ));
        };
        Ok(QName {
            whole,
            prefix,
            local,
        })
    }

    /// The prefix that an attribute of this name declares; `None` for any
    /// other attribute.
    #[inline]
    pub(super) fn declares(&self) -> Option<&'de str> {
        match self.prefix {
            "xmlns" => Some(self.local),
            "" if self.local == "xmlns" => Some(""),
            _ => None,
        }
    }
}

/// Where a name of plain ASCII without a prefix ends that begins at `at`: at
/// `at` itself where none begins. It goes on where a colon or a character
/// beyond ASCII follows.
#[inline]
pub(super) fn plain_name_end(bytes: &[u8], at: usize) -> usize {
    // Most names are nothing but letters.
    let letters = search::letters_end(bytes, at);
    if letters > at && bytes.get(letters) == Some(&b'>') {
        return letters;
    }
    let rest = bytes.get(letters..).unwrap_or_default();
    if letters == at
        && !matches!(
            rest.first().map(|byte| chars::class(*byte)),
            Some(Class::Start)
        )
    {
        return at;
    }
    let inside = |byte: &&u8| matches!(chars::class(**byte), Class::Start | Class::Inner);
    letters + rest.iter().take_while(inside).count()
}
