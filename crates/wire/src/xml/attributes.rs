//! The attributes of one element.

use std::borrow::Cow;

use quick_xml::events::attributes::{AttrError, Attributes};

use super::chars;
use super::error::Error;
use super::reference;
use super::scope::Scope;

/// Attributes of one element, declarations of namespaces included.
const ATTRIBUTES_MAX: usize = 64;

/// Bytes of an attribute's value.
const VALUE_BYTES_MAX: usize = 4096;

/// The attributes of an element as they are written.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct AttributeList<'de> {
    raw: &'de str,
    offset: usize,
    /// Those that declare no namespace.
    others: usize,
}

struct Attribute<'de> {
    name: &'de str,
    value: &'de str,
    offset: usize,
}

/// Reads what follows an element's name in its tag: proves that every
/// attribute is well-formed, and takes the declarations of namespaces.
pub(super) fn opened<'de>(
    raw: &'de str,
    offset: usize,
    scope: &mut Scope<'de>,
    depth: usize,
) -> Result<AttributeList<'de>, Error> {
    let mut list = AttributeList {
        raw,
        offset,
        others: 0,
    };
    if raw.is_empty() {
        return Ok(list);
    }
    for (count, attribute) in list.iter().enumerate() {
        let attribute = attribute?;
        if count == ATTRIBUTES_MAX {
            return Err(Error::limit(attribute.offset, "attributes", ATTRIBUTES_MAX));
        }
        attribute.check()?;
        match Scope::declared_by(attribute.name) {
            Some(prefix) => attribute.declare(prefix, scope, depth)?,
            None => list.others += 1,
        }
    }
    list.prove_prefixes(scope)?;
    Ok(list)
}

impl<'de> AttributeList<'de> {
    /// Whether there is none but declarations of namespaces.
    pub(super) fn is_empty(&self) -> bool {
        self.others == 0
    }

    /// The value of one of them.
    pub(super) fn find(
        &self,
        scope: &Scope<'de>,
        namespace: &str,
        local: &str,
    ) -> Result<Option<Cow<'de, str>>, Error> {
        if self.is_empty() {
            return Ok(None);
        }
        for attribute in self.iter() {
            let attribute = attribute?;
            if Scope::declared_by(attribute.name).is_some() {
                continue;
            }
            if scope.attribute(attribute.name, attribute.offset)? == (namespace, local) {
                return reference::attribute(attribute.value, attribute.offset).map(Some);
            }
        }
        Ok(None)
    }

    /// All of them: names as they are written, values.
    pub(super) fn pairs(self) -> impl Iterator<Item = Result<(&'de str, Cow<'de, str>), Error>> {
        self.iter().map(|attribute| {
            let attribute = attribute?;
            let value = reference::attribute(attribute.value, attribute.offset)?;
            Ok((attribute.name, value))
        })
    }

    /// Every prefix must be declared, and no attribute may stand twice, not
    /// under two prefixes either (Namespaces in XML 1.0 section 6.3).
    fn prove_prefixes(&self, scope: &Scope<'de>) -> Result<(), Error> {
        if self.is_empty() {
            return Ok(());
        }
        let mut seen: Vec<(&str, &str)> = Vec::with_capacity(self.others);
        for attribute in self.iter() {
            let attribute = attribute?;
            if Scope::declared_by(attribute.name).is_some() {
                continue;
            }
            let name = scope.attribute(attribute.name, attribute.offset)?;
            if seen.contains(&name) {
                return Err(Error::syntax(attribute.offset, "an attribute stands twice"));
            }
            seen.push(name);
        }
        Ok(())
    }

    fn iter(self) -> impl Iterator<Item = Result<Attribute<'de>, Error>> {
        let base = self.raw.as_ptr() as usize;
        Attributes::new(self.raw, 0).map(move |found| match found {
            Ok(found) => {
                let name = found.key.into_inner();
                let value = match found.value {
                    Cow::Borrowed(value) => value,
                    Cow::Owned(_) => unreachable!("slices of the document are borrowed"),
                };
                let offset = self.offset + (name.as_ptr() as usize - base);
                self.prove_gap(name.as_ptr() as usize - base)?;
                Ok(Attribute {
                    name,
                    value,
                    offset,
                })
            }
            Err(AttrError::Duplicated(at, _)) => {
                Err(Error::syntax(self.offset + at, "an attribute stands twice"))
            }
            Err(_) => Err(Error::syntax(self.offset, "bad attribute")),
        })
    }

    /// White space stands before every attribute.
    fn prove_gap(&self, at: usize) -> Result<(), Error> {
        let before = at.checked_sub(1).map(|before| self.raw.as_bytes()[before]);
        if before.is_some_and(chars::is_space) {
            return Ok(());
        }
        Err(Error::syntax(
            self.offset + at,
            "white space must stand before an attribute",
        ))
    }
}

impl<'de> Attribute<'de> {
    fn check(&self) -> Result<(), Error> {
        if self.name.len() > chars::NAME_BYTES_MAX {
            let what = "bytes of a name";
            return Err(Error::limit(self.offset, what, chars::NAME_BYTES_MAX));
        }
        if self.value.len() > VALUE_BYTES_MAX {
            return Err(Error::limit(
                self.offset,
                "bytes of an attribute",
                VALUE_BYTES_MAX,
            ));
        }
        if self.value.contains('<') {
            return Err(Error::syntax(self.offset, "< in an attribute"));
        }
        if self.value.contains('&') {
            reference::attribute(self.value, self.offset)?;
        }
        Ok(())
    }

    fn declare(&self, prefix: &'de str, scope: &mut Scope<'de>, depth: usize) -> Result<(), Error> {
        if self.value.contains('&') {
            let text = "a namespace's name must be written without references";
            return Err(Error::syntax(self.offset, text));
        }
        if !prefix.is_empty() && chars::split_name(prefix).is_none() || prefix.contains(':') {
            return Err(Error::syntax(self.offset, "bad prefix"));
        }
        scope.declare(prefix, self.value, depth, self.offset)
    }
}
