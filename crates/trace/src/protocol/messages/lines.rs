//! Lines of JSON: a line feed ends each. Empty ones, as some servers send them to keep a connection
//! alive, are not messages.

use super::step::{End, Role, Step};

/// The position in lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// Something of the line has come that is not white space.
    has_text: bool,
    /// Until the next line feed.
    is_lost: bool,
}

impl Lines {
    /// What the next bytes are: up to the end of a line, or white space in front of one.
    pub(super) fn step(&mut self, rest: &[u8]) -> Step {
        let is_blank = |byte: &u8| *byte != b'\n' && byte.is_ascii_whitespace();
        let blank = rest.iter().take_while(|byte| is_blank(byte)).count();
        if blank > 0 && !self.has_text {
            return Step::between(blank);
        }
        let end = rest.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(rest.len(), |end| end + 1);
        self.has_text |= rest[0] != b'\n';
        let is_message = self.has_text && !self.is_lost;
        let (role, over) = if is_message {
            (Role::Body(None), End::Message)
        } else {
            (Role::Between, End::Nothing)
        };
        if end.is_some() {
            *self = Lines::default();
        }
        Step {
            used,
            role,
            end: end.map(|_| over),
        }
    }

    /// Never inside a known message.
    pub(super) fn miss(&mut self) -> bool {
        self.is_lost = true;
        false
    }
}
