//! Indented text.

/// Lines that are written one after the other, each at the depth of its block.
#[derive(Default)]
pub(crate) struct Lines {
    text: String,
    depth: usize,
}

impl Lines {
    /// One line; an empty one has no indentation.
    pub(crate) fn line(&mut self, line: &str) {
        if !line.is_empty() {
            self.text.push_str(&"  ".repeat(self.depth));
            self.text.push_str(line);
        }
        self.text.push('\n');
    }

    /// A line, and what follows is one level deeper.
    pub(crate) fn open(&mut self, line: &str) {
        self.line(line);
        self.deeper();
    }

    /// What follows is one level deeper.
    pub(crate) fn deeper(&mut self) {
        self.depth += 1;
    }

    /// Back by one level.
    pub(crate) fn shallower(&mut self) {
        self.depth -= 1;
    }

    /// Back by one level, and a line.
    pub(crate) fn close(&mut self, line: &str) {
        self.shallower();
        self.line(line);
    }

    /// Every line of `text` after `prefix`; nothing for an empty text.
    pub(crate) fn each(&mut self, prefix: &str, text: &str) {
        for line in text.lines() {
            self.line(format!("{prefix}{line}").trim_end());
        }
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }
}
