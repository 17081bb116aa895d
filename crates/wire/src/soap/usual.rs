//! Envelopes as our own writers lay them out.

use std::sync::OnceLock;

use wirelab_contract::Operation;

use crate::xml::text_sink::TextSink;
use crate::xml::usual::Layout;

use super::form::{Form, Style, Version};
use super::writing;

/// What envelopes without a header have around the body's child.
pub(super) struct Usual {
    /// Rpc/literal is as document/literal.
    form: Form,
    pub(super) begin: Vec<u8>,
    end: Vec<u8>,
}

impl Usual {
    /// What those of a form have.
    pub(super) fn of(form: Form) -> &'static Self {
        static ALL: OnceLock<Vec<Usual>> = OnceLock::new();
        let encoded = |form: Form| form.style() == Style::Encoded;
        let alike = |usual: &&Usual| {
            usual.form.version() == form.version() && encoded(usual.form) == encoded(form)
        };
        let mut all = ALL.get_or_init(Usual::made).iter();
        all.find(alike).expect("every form has an envelope")
    }

    fn made() -> Vec<Self> {
        let forms = [
            (Version::V11, Style::Literal),
            (Version::V12, Style::Literal),
            (Version::V11, Style::Encoded),
        ];
        let forms = forms.map(|(version, style)| Form::new(version, style));
        forms.into_iter().flatten().map(Usual::written).collect()
    }

    fn written(form: Form) -> Self {
        let (mut begin, mut end) = (Vec::new(), Vec::new());
        writing::begin(form, None, &mut TextSink::new(&mut begin));
        writing::end(form, &mut TextSink::within(&[], &mut end));
        Usual { form, begin, end }
    }
}

/// How an envelope of a form is laid out whose body's child has that name, which
/// is in two parts.
pub(super) fn layout<'a>(form: Form, operation: Operation, name: [&'a str; 2]) -> Layout<'a, 8, 6> {
    let namespace = operation.contract().namespace();
    let (prefix, declaration): (&str, [&str; 3]) = match form.style() {
        Style::Literal => ("", [" xmlns=\"", namespace, "\">"]),
        Style::Rpc => ("w:", [" xmlns:w=\"", namespace, "\">"]),
        Style::Encoded => ("", ["", "", ">"]),
    };
    let Usual { begin, end, .. } = Usual::of(form);
    let [prefix, name, rest] = [prefix, name[0], name[1]].map(str::as_bytes);
    let [before, declared, after] = declaration.map(str::as_bytes);
    Layout {
        begin: [begin, b"<", prefix, name, rest, before, declared, after],
        end: [b"</", prefix, name, rest, b">", end],
        namespace,
        shape: form.shape(),
    }
}
