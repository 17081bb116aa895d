//! What a parser passes on of a document, and what is made of it.

use std::fmt::Write as _;
use std::hint::black_box;

use sha2::{Digest, Sha256};

/// Receives a document's content in document order; "" stands for no namespace, and
/// declarations of namespaces are not attributes.
pub(crate) trait Content {
    /// An element begins.
    fn start(&mut self, namespace: &str, name: &str);
    /// An attribute of the element that began last.
    fn attribute(&mut self, namespace: &str, name: &str, value: &str);
    /// A part of the text between two tags.
    fn text(&mut self, part: &str);
    /// The element that began last and is open ends.
    fn end(&mut self);
}

/// Reads every byte of texts and attribute values, which is the work that is timed.
#[derive(Default)]
pub(crate) struct Checksum(pub(crate) u64);

const PER_ELEMENT: u64 = 0x9E37_79B9_7F4A_7C15;

impl Content for Checksum {
    fn start(&mut self, _: &str, _: &str) {
        self.0 = self.0.wrapping_add(PER_ELEMENT);
    }

    fn attribute(&mut self, _: &str, _: &str, value: &str) {
        self.text(value);
    }

    fn text(&mut self, part: &str) {
        let sum: u64 = black_box(part).bytes().map(u64::from).sum();
        self.0 = self.0.wrapping_add(sum);
    }

    fn end(&mut self) {
        self.0 ^= 1;
    }
}

/// SHA-256 over elements, attributes and texts in the form that docs/reference/parsers.md
/// describes: equal for all parsers that saw the same document.
#[derive(Default)]
pub(crate) struct Fingerprint {
    digest: Sha256,
    text: String,
    attributes: Vec<String>,
}

impl Fingerprint {
    /// In hexadecimal digits.
    pub(crate) fn hex(self) -> String {
        self.digest
            .finalize()
            .iter()
            .fold(String::new(), |mut hex, byte| {
                write!(hex, "{byte:02x}").expect("a string takes everything");
                hex
            })
    }

    fn flush(&mut self) {
        self.attributes.sort_unstable();
        for attribute in std::mem::take(&mut self.attributes) {
            self.line("@", &attribute);
        }
        if !self.text.is_empty() {
            let text = std::mem::take(&mut self.text);
            self.line("-", &text);
        }
    }

    fn line(&mut self, kind: &str, value: &str) {
        self.digest.update(format!("{kind}{value}\n"));
    }
}

impl Content for Fingerprint {
    fn start(&mut self, namespace: &str, name: &str) {
        self.flush();
        self.line("(", &format!("{namespace}}}{name}"));
    }

    fn attribute(&mut self, namespace: &str, name: &str, value: &str) {
        self.attributes.push(format!("{namespace}}}{name}={value}"));
    }

    fn text(&mut self, part: &str) {
        self.text.push_str(part);
    }

    fn end(&mut self) {
        self.flush();
        self.line(")", "");
    }
}
