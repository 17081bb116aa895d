//! What our own envelopes begin with, up to the body's child.
//!
//! Between ends that are both ours every envelope begins alike; it is read
//! once, and from then on only compared.

use std::sync::OnceLock;

use crate::xml::scanner::Scanner;
use crate::xml::source::Source;
use crate::xml::text_sink::TextSink;

use super::form::{Form, Style, Version};
use super::writing;

/// The begin of an envelope that has no header.
pub(super) struct Beginning {
    /// Rpc/literal begins as document/literal.
    form: Form,
    /// Inside of the body.
    pub(super) scanner: Scanner<'static>,
}

impl Beginning {
    /// The one that a document has.
    pub(super) fn of(document: &[u8]) -> Option<&'static Self> {
        let mut all = Beginning::all().iter();
        all.find(|usual| document.starts_with(usual.text()))
    }

    /// The one that envelopes of a form are written with.
    pub(super) fn of_form(form: Form) -> &'static Self {
        let encoded = |form: Form| form.style() == Style::Encoded;
        let begins =
            |usual: &Form| usual.version() == form.version() && encoded(*usual) == encoded(form);
        let mut all = Beginning::all().iter();
        all.find(|usual| begins(&usual.form))
            .expect("every form has a begin")
    }

    /// Its text.
    pub(super) fn text(&self) -> &'static [u8] {
        self.scanner.passed()
    }

    /// The version of SOAP.
    pub(super) fn version(&self) -> Version {
        self.form.version()
    }

    fn all() -> &'static [Self] {
        static ALL: OnceLock<Vec<Beginning>> = OnceLock::new();
        ALL.get_or_init(Beginning::made)
    }

    fn made() -> Vec<Self> {
        let forms = [
            (Version::V11, Style::Literal),
            (Version::V12, Style::Literal),
            (Version::V11, Style::Encoded),
        ];
        let forms = forms.map(|(version, style)| Form::new(version, style));
        let known = forms.into_iter().flatten();
        known.map(Beginning::read).collect()
    }

    fn read(form: Form) -> Self {
        let mut text = Vec::new();
        writing::begin(form, None, &mut TextSink::new(&mut text));
        let text: &'static [u8] = text.leak();
        let mut scanner = Scanner::new(text).expect("our own envelopes are XML");
        for _ in [form.names().envelope, form.names().body] {
            let opened = scanner.child();
            assert!(
                matches!(opened, Ok(Some(_))),
                "our own envelopes have a body"
            );
        }
        Beginning { form, scanner }
    }
}
