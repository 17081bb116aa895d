//! XML that people read: one element a line, attributes broken where a line would be long.

use super::lines::Lines;

const WIDTH_MAX: usize = 100;

/// Attributes in their order.
pub(crate) type Attributes<'a> = &'a [(&'a str, &'a str)];

/// An XML document under construction.
pub(crate) struct Markup {
    lines: Lines,
    open: Vec<String>,
}

impl Markup {
    /// A document with its declaration and a first comment.
    pub(crate) fn new(comment: &str) -> Self {
        let mut lines = Lines::default();
        lines.line(r#"<?xml version="1.0" encoding="UTF-8"?>"#);
        lines.line(&format!("<!-- {comment} -->"));
        Markup {
            lines,
            open: Vec::new(),
        }
    }

    /// A start tag; what follows is its content until [`Markup::end`].
    pub(crate) fn start(&mut self, name: &str, attributes: Attributes) {
        self.tag(name, attributes, ">");
        self.open.push(name.to_owned());
        self.lines.deeper();
    }

    /// The end tag of the element that was started last.
    pub(crate) fn end(&mut self) {
        if let Some(name) = self.open.pop() {
            self.lines.close(&format!("</{name}>"));
        }
    }

    /// An element without content.
    pub(crate) fn empty(&mut self, name: &str, attributes: Attributes) {
        self.tag(name, attributes, "/>");
    }

    /// An element with text; nothing for an empty text.
    pub(crate) fn text(&mut self, name: &str, text: &str) {
        let text = escape(text);
        match text.lines().count() {
            0 => {}
            1 => self.lines.line(&format!("<{name}>{text}</{name}>")),
            _ => {
                self.lines.open(&format!("<{name}>"));
                self.lines.each("", &text);
                self.lines.close(&format!("</{name}>"));
            }
        }
    }

    /// The document; every element that is still open ends.
    pub(crate) fn into_text(mut self) -> String {
        while !self.open.is_empty() {
            self.end();
        }
        self.lines.into_text()
    }

    fn tag(&mut self, name: &str, attributes: Attributes, end: &str) {
        let said: Vec<String> = attributes
            .iter()
            .map(|(name, value)| format!("{name}=\"{}\"", escape(value)))
            .collect();
        let line = format!(
            "<{}{end}",
            [&[name.to_owned()], &said[..]].concat().join(" ")
        );
        if line.len() <= WIDTH_MAX {
            return self.lines.line(&line);
        }
        self.lines.line(&format!("<{name}"));
        self.lines
            .each("    ", &format!("{}{end}", said.join("\n")));
    }
}

/// Text that is valid in content and in double quotes.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
