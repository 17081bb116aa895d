//! Namespaces in scope (Namespaces in XML 1.0, third edition).

use super::chars;
use super::error::{Error, ErrorKind};

/// Declarations that may be in scope at once.
// Lookups are linear, which is quickest for the two or three of a message; the bound
// keeps it so for hostile ones.
pub const BINDINGS_MAX: usize = 128;

/// What the prefix `xml` stands for, always.
const XML: &str = "http://www.w3.org/XML/1998/namespace";

/// What the prefix `xmlns` stands for; it must not be declared.
const XMLNS: &str = "http://www.w3.org/2000/xmlns/";

#[derive(Debug, Clone, Copy)]
struct Binding<'de> {
    /// Empty for the default namespace.
    prefix: &'de str,
    /// Empty where a declaration takes the default namespace back.
    // Borrowed from the document, so that equal declarations can be compared by
    // address.
    namespace: &'de str,
    /// Open elements at the declaration, its own included.
    depth: usize,
}

/// The declarations in scope.
#[derive(Debug, Clone, Default)]
pub struct Scope<'de> {
    /// Innermost last.
    bindings: Vec<Binding<'de>>,
    /// The default namespace; empty for none.
    default: &'de str,
    /// The prefix `xsi` stands for something.
    has_xsi: bool,
    /// How often the declarations in scope became others.
    changes: usize,
}

impl<'de> Scope<'de> {
    /// The prefix that an attribute declares; `None` for any other attribute.
    pub fn prefix_declared_by(attribute: &str) -> Option<&str> {
        let rest = attribute.strip_prefix("xmlns")?;
        match rest.strip_prefix(':') {
            Some(prefix) => Some(prefix),
            // `xmlnsfoo` is an attribute like any other.
            None => rest.is_empty().then_some(""),
        }
    }

    /// Takes a declaration of the element that is being opened.
    ///
    /// # Errors
    /// When it breaks Namespaces in XML 1.0, section 3, or [`BINDINGS_MAX`].
    pub fn declare(
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
        // Namespaces in XML 1.0, section 2.2: only the default namespace can be undeclared.
        if namespace.is_empty() && !prefix.is_empty() {
            return Err(Error::syntax(offset, "a prefix must stand for a namespace"));
        }
        // XML 1.0 section 3.1, unique attribute specification; at another depth it is
        // shadowing, which is legal.
        let twice = |other: &Binding<'_>| other.depth == depth && same(other.prefix, prefix);
        if self.bindings.iter().any(twice) {
            return Err(Error::syntax(offset, "an attribute appears twice"));
        }
        if self.bindings.len() >= BINDINGS_MAX {
            return Err(Error::limit(offset, "namespaces in scope", BINDINGS_MAX));
        }
        self.bindings.push(Binding {
            prefix,
            namespace,
            depth,
        });
        self.changed();
        Ok(())
    }

    /// Forgets the declarations of elements deeper than `depth`.
    #[inline]
    pub fn leave(&mut self, depth: usize) {
        // Declarations are pushed in the order of depth, so that those to be dropped
        // are at the end.
        while self.bindings.last().is_some_and(|last| last.depth > depth) {
            self.bindings.pop();
            self.changed();
        }
    }

    /// The default namespace, which names without a prefix are in; empty for
    /// none.
    #[inline]
    pub fn default_namespace(&self) -> &'de str {
        self.default
    }

    /// Whether the prefix `xsi` stands for something.
    #[inline]
    pub fn has_xsi(&self) -> bool {
        self.has_xsi
    }

    /// A number that is another one as soon as other declarations are in scope.
    #[inline]
    pub fn changes(&self) -> usize {
        self.changes
    }

    fn changed(&mut self) {
        self.changes += 1;
        // Looked up once per change instead of once per element.
        self.default = self.find("").unwrap_or_default();
        self.has_xsi = self.find("xsi").is_some();
    }

    /// The namespace of an element whose name has that prefix.
    ///
    /// # Errors
    /// When the prefix is not declared.
    #[inline]
    pub fn of_element(&self, prefix: &str, offset: usize) -> Result<&'de str, Error> {
        match prefix {
            "" => Ok(self.default),
            prefix => self.prefixed(prefix, offset),
        }
    }

    /// What a prefix stands for that must stand for something.
    ///
    /// # Errors
    /// When the prefix is not declared.
    #[inline]
    pub fn prefixed(&self, prefix: &str, offset: usize) -> Result<&'de str, Error> {
        self.find(prefix).ok_or_else(|| undeclared(prefix, offset))
    }

    /// Namespace and local part of an attribute's name: without a prefix it
    /// is in no namespace (Namespaces in XML 1.0, section 6.2).
    ///
    /// # Errors
    /// When it is not a name, is too long, or has a prefix that is not declared.
    pub fn attribute<'n>(
        &self,
        name: &'n str,
        offset: usize,
    ) -> Result<(&'de str, &'n str), Error> {
        let (prefix, local) = parts(name, offset)?;
        // Namespaces in XML 1.0, section 6.2: the default namespace does not apply to
        // attributes.
        if prefix.is_empty() {
            return Ok(("", local));
        }
        Ok((self.prefixed(prefix, offset)?, local))
    }

    /// What a prefix stands for; the empty one is the default namespace.
    pub fn find(&self, prefix: &str) -> Option<&'de str> {
        let mut innermost_first = self.bindings.iter().rev();
        match innermost_first.find(|binding| same(binding.prefix, prefix)) {
            Some(binding) => Some(binding.namespace),
            // Bound by definition (Namespaces in XML 1.0, section 3), without any
            // declaration.
            None => (prefix == "xml").then_some(XML),
        }
    }
}

/// Whether two texts are equal, for those that mostly are the same bytes or
/// empty, where comparing places and lengths is quicker. (To compare no bytes
/// at an address where none are costs hundreds of cycles: a masked load that
/// faults is finished by the processor's microcode.)
#[inline]
pub fn same(one: &str, other: &str) -> bool {
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
        .ok_or_else(|| Error::syntax(offset, format!("{:?} is not a name", excerpt(name))))
}

fn undeclared(prefix: &str, offset: usize) -> Error {
    Error::new(offset, ErrorKind::UndeclaredPrefix(prefix.to_owned()))
}

/// The start of a text, for messages.
pub fn excerpt(text: &str) -> String {
    text.chars().take(40).collect()
}
