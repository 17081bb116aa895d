//! The attributes of one element.

use std::borrow::Cow;

use quick_xml::events::attributes::Attributes;

use super::chars;
use super::error::Error;
use super::reference;
use super::scope::Scope;

/// Attributes of one element, declarations of namespaces included.
const ATTRIBUTES_MAX: usize = 64;

/// Bytes of an attribute's value.
const VALUE_BYTES_MAX: usize = 4096;

/// The attributes of the element that was opened last. Its room is used again
/// for the next one.
#[derive(Debug, Clone, Default)]
pub(super) struct AttributeList<'de> {
    list: Vec<Attribute<'de>>,
    /// Those that declare no namespace.
    others: usize,
}

#[derive(Debug, Clone, Copy)]
struct Attribute<'de> {
    /// As it is written.
    name: &'de str,
    /// As it is written, without its quotation marks.
    value: &'de str,
    /// `None`: a declaration of a namespace.
    namespace: Option<&'de str>,
    local: &'de str,
    offset: usize,
}

impl<'de> AttributeList<'de> {
    /// Reads what follows an element's name in its tag: proves that every
    /// attribute is well-formed, and takes the declarations of namespaces.
    #[inline]
    pub(super) fn read(
        &mut self,
        raw: &'de str,
        offset: usize,
        scope: &mut Scope<'de>,
        depth: usize,
    ) -> Result<(), Error> {
        self.list.clear();
        self.others = 0;
        if raw.is_empty() {
            return Ok(());
        }
        self.scan(raw, offset, scope, depth)?;
        self.resolve(scope)
    }

    /// Whether there is none but declarations of namespaces.
    pub(super) fn is_empty(&self) -> bool {
        self.others == 0
    }

    /// The value of one of them.
    pub(super) fn find(
        &self,
        namespace: &str,
        local: &str,
    ) -> Result<Option<Cow<'de, str>>, Error> {
        let wanted =
            |found: &&Attribute<'_>| found.local == local && found.namespace == Some(namespace);
        match self.list.iter().find(wanted) {
            None => Ok(None),
            Some(found) => reference::attribute(found.value, found.offset).map(Some),
        }
    }

    /// All of them: names as they are written, values.
    pub(super) fn pairs(
        &self,
    ) -> impl Iterator<Item = Result<(&'de str, Cow<'de, str>), Error>> + '_ {
        self.list.iter().map(|attribute| {
            let value = reference::attribute(attribute.value, attribute.offset)?;
            Ok((attribute.name, value))
        })
    }

    fn scan(
        &mut self,
        raw: &'de str,
        offset: usize,
        scope: &mut Scope<'de>,
        depth: usize,
    ) -> Result<(), Error> {
        let base = raw.as_ptr() as usize;
        // Names that stand twice are found below, without quick-xml's list.
        for found in Attributes::new(raw, 0).with_checks(false) {
            let found = found.map_err(|_| Error::syntax(offset, "bad attribute"))?;
            let name = found.key.into_inner();
            let value = match found.value {
                Cow::Borrowed(value) => value,
                Cow::Owned(_) => unreachable!("slices of the document are borrowed"),
            };
            let at = name.as_ptr() as usize - base;
            let mut attribute = Attribute {
                name,
                value,
                namespace: None,
                local: "",
                offset: offset + at,
            };
            attribute.check(raw.as_bytes().get(at.wrapping_sub(1)).copied())?;
            if self.list.len() == ATTRIBUTES_MAX {
                return Err(Error::limit(attribute.offset, "attributes", ATTRIBUTES_MAX));
            }
            match Scope::declared_by(name) {
                Some(prefix) => attribute.declare(prefix, scope, depth)?,
                None => {
                    attribute.namespace = Some("");
                    self.others += 1;
                }
            }
            self.list.push(attribute);
        }
        Ok(())
    }

    /// Every prefix must be declared, and no attribute may stand twice, not
    /// under two prefixes either (Namespaces in XML 1.0 section 6.3).
    fn resolve(&mut self, scope: &Scope<'de>) -> Result<(), Error> {
        if self.others == 0 {
            return Ok(());
        }
        for at in 0..self.list.len() {
            let attribute = self.list[at];
            if attribute.namespace.is_none() {
                continue;
            }
            let (namespace, local) = scope.attribute(attribute.name, attribute.offset)?;
            let same =
                |other: &Attribute<'_>| other.local == local && other.namespace == Some(namespace);
            if self.list[..at].iter().any(same) {
                return Err(Error::syntax(attribute.offset, "an attribute stands twice"));
            }
            self.list[at].namespace = Some(namespace);
            self.list[at].local = local;
        }
        Ok(())
    }
}

impl<'de> Attribute<'de> {
    /// Proves the attribute, before which the byte `before` stands.
    fn check(&self, before: Option<u8>) -> Result<(), Error> {
        if !before.is_some_and(chars::is_space) {
            let text = "white space must stand before an attribute";
            return Err(Error::syntax(self.offset, text));
        }
        if self.name.len() > chars::NAME_BYTES_MAX {
            let what = "bytes of a name";
            return Err(Error::limit(self.offset, what, chars::NAME_BYTES_MAX));
        }
        if self.value.len() > VALUE_BYTES_MAX {
            let what = "bytes of an attribute";
            return Err(Error::limit(self.offset, what, VALUE_BYTES_MAX));
        }
        match memchr::memchr2(b'<', b'&', self.value.as_bytes()) {
            None => Ok(()),
            Some(_) if self.value.contains('<') => {
                Err(Error::syntax(self.offset, "< in an attribute"))
            }
            Some(_) => reference::attribute(self.value, self.offset).map(drop),
        }
    }

    fn declare(&self, prefix: &'de str, scope: &mut Scope<'de>, depth: usize) -> Result<(), Error> {
        if self.value.contains(['&', '\t', '\n', '\r']) {
            let text = "a namespace's name must be written without references or line breaks";
            return Err(Error::syntax(self.offset, text));
        }
        let bare = self.name.len() == "xmlns".len();
        if !bare && !matches!(chars::split_name(prefix), Some(("", _))) {
            return Err(Error::syntax(self.offset, "bad prefix"));
        }
        scope.declare(prefix, self.value, depth, self.offset)
    }
}
