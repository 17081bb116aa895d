//! Server-sent events (WHATWG HTML, section 9.2.5): lines that end with LF, CR or both; an empty
//! line ends an event. One without data, such as a comment that keeps the connection alive, is not
//! dispatched, and so is not a message.

use super::step::{End, Role, Step};

const DATA: &[u8; 4] = b"data";

/// The position in a stream of events.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// Bytes of the line under way, and the first of them.
    line_bytes: u64,
    name: [u8; 5],
    /// The last byte was CR: LF would belong to it.
    is_behind_return: bool,
    is_inside: bool,
    has_data: bool,
    /// Until the next empty line.
    is_lost: bool,
}

impl Events {
    /// What the next bytes are: up to the end of a line.
    pub(super) fn step(&mut self, rest: &[u8]) -> Step {
        if std::mem::take(&mut self.is_behind_return) && rest[0] == b'\n' {
            return self.of_event(1);
        }
        let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let text = &rest[..end.unwrap_or(rest.len())];
        self.take_text(text);
        let Some(end) = end else {
            return self.of_event(text.len());
        };
        self.is_behind_return = rest[end] == b'\r';
        let is_empty = self.line_bytes == 0;
        let used = end + 1;
        if is_empty {
            return self.end(used);
        }
        self.is_inside = true;
        self.has_data |= self.is_data();
        self.line_bytes = 0;
        self.of_event(used)
    }

    fn take_text(&mut self, text: &[u8]) {
        let known = self.line_bytes.min(self.name.len() as u64) as usize;
        for (own, byte) in self.name[known..].iter_mut().zip(text) {
            *own = *byte;
        }
        self.line_bytes += text.len() as u64;
    }

    /// The line is a field with that name; one without a colon has an empty value.
    fn is_data(&self) -> bool {
        let is_whole = match self.line_bytes {
            0..4 => false,
            4 => true,
            _ => self.name[4] == b':',
        };
        is_whole && self.name.starts_with(DATA)
    }

    /// An empty line.
    fn end(&mut self, used: usize) -> Step {
        let is_event = self.has_data && !self.is_lost;
        let step = Step {
            end: Some(if is_event { End::Message } else { End::Nothing }),
            ..self.of_event(used)
        };
        (self.is_inside, self.has_data, self.is_lost) = (false, false, false);
        step
    }

    fn of_event(&self, used: usize) -> Step {
        let is_of_event = (self.is_inside || self.line_bytes > 0) && !self.is_lost;
        Step {
            used,
            role: if is_of_event {
                Role::Body(None)
            } else {
                Role::Between
            },
            end: None,
        }
    }

    /// Never inside a known message.
    pub(super) fn miss(&mut self) -> bool {
        *self = Events {
            is_lost: true,
            // What follows is the rest of a line.
            line_bytes: 1,
            ..Events::default()
        };
        false
    }
}
