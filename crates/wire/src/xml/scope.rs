//! Namespaces in scope (Namespaces in XML 1.0, third edition).

use super::chars;
use super::error::{Error, ErrorKind};

/// Declarations that may be in scope at once.
pub(crate) const BINDINGS_MAX: usize = 128;

/// What the prefix `xml` stands for, always.
const XML: &str = "http://www.w3.org/XML/1998/namespace";

/// What the prefix `xmlns` stands for; it must not be declared.
const XMLNS: &str = "http://www.w3.org/2000/xmlns/";

#[derive(Debug, Clone, Copy)]
struct Binding<'de> {
    /// Empty for the default namespace.
    prefix: &'de str,
    /// Empty where a declaration takes the default namespace back.
    namespace: &'de str,
    /// Open elements at the declaration, its own included.
    depth: usize,
}

/// The declarations in scope, innermost last.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope<'de>(Vec<Binding<'de>>);

impl<'de> Scope<'de> {
    /// The prefix that an attribute declares; `None` for any other attribute.
    pub(crate) fn declared_by(attribute: &str) -> Option<&str> {
        let rest = attribute.strip_prefix("xmlns")?;
        match rest.strip_prefix(':') {
            Some(prefix) => Some(prefix),
            None => rest.is_empty().then_some(""),
        }
    }

    /// Takes a declaration of the element that is being opened.
    pub(crate) fn declare(
        &mut self,
        prefix: &'de str,
        namespace: &'de str,
        depth: usize,
        offset: usize,
    ) -> Result<(), Error> {
        let reserved = matches!(prefix, "xml" | "xmlns") || matches!(namespace, XML | XMLNS);
        if reserved && (prefix, namespace) != ("xml", XML) {
            return Err(Error::syntax(
                offset,
                "the prefixes xml and xmlns are reserved",
            ));
        }
        if namespace.is_empty() && !prefix.is_empty() {
            return Err(Error::syntax(offset, "a prefix must stand for a namespace"));
        }
        let twice = |other: &Binding<'_>| other.depth == depth && same(other.prefix, prefix);
        if self.0.iter().any(twice) {
            return Err(Error::syntax(offset, "an attribute stands twice"));
        }
        if self.0.len() >= BINDINGS_MAX {
            return Err(Error::limit(offset, "namespaces in scope", BINDINGS_MAX));
        }
        self.0.push(Binding {
            prefix,
            namespace,
            depth,
        });
        Ok(())
    }

    /// Forgets the declarations of elements deeper than `depth`.
    pub(crate) fn leave(&mut self, depth: usize) {
        while self.0.last().is_some_and(|last| last.depth > depth) {
            self.0.pop();
        }
    }

    /// Namespace and local part of an element's name.
    #[inline]
    pub(crate) fn element(
        &self,
        name: &'de str,
        offset: usize,
    ) -> Result<(&'de str, &'de str), Error> {
        let (prefix, local) = parts(name, offset)?;
        match self.find(prefix) {
            Some(namespace) => Ok((namespace, local)),
            None if prefix.is_empty() => Ok(("", local)),
            None => Err(undeclared(prefix, offset)),
        }
    }

    /// Namespace and local part of an attribute's name: without a prefix it
    /// is in no namespace.
    pub(crate) fn attribute<'n>(
        &self,
        name: &'n str,
        offset: usize,
    ) -> Result<(&'de str, &'n str), Error> {
        let (prefix, local) = parts(name, offset)?;
        match self.find(prefix) {
            _ if prefix.is_empty() => Ok(("", local)),
            Some(namespace) => Ok((namespace, local)),
            None => Err(undeclared(prefix, offset)),
        }
    }

    /// What a prefix stands for; the empty one is the default namespace.
    pub(crate) fn find(&self, prefix: &str) -> Option<&'de str> {
        let mut innermost_first = self.0.iter().rev();
        match innermost_first.find(|binding| same(binding.prefix, prefix)) {
            Some(binding) => Some(binding.namespace),
            None => (prefix == "xml").then_some(XML),
        }
    }
}

/// Whether two texts are equal, for those that mostly are the same bytes or
/// empty, where comparing places and lengths is quicker.
#[inline]
pub(crate) fn same(one: &str, other: &str) -> bool {
    one.len() == other.len()
        && (one.is_empty() || std::ptr::eq(one.as_ptr(), other.as_ptr()) || one == other)
}

#[inline]
fn parts(name: &str, offset: usize) -> Result<(&str, &str), Error> {
    if name.len() > chars::NAME_BYTES_MAX {
        return Err(Error::limit(
            offset,
            "bytes of a name",
            chars::NAME_BYTES_MAX,
        ));
    }
    chars::split_name(name)
        .ok_or_else(|| Error::syntax(offset, format!("{:?} is not a name", short(name))))
}

fn undeclared(prefix: &str, offset: usize) -> Error {
    Error::new(offset, ErrorKind::UndeclaredPrefix(prefix.to_owned()))
}

/// The start of a text, for messages.
pub(crate) fn short(text: &str) -> String {
    text.chars().take(40).collect()
}
