//! Why a call has failed.

use crate::call::error::{ErrorCode, ErrorKind};

/// Largest message that is accepted, in bytes.
pub(crate) const MESSAGE_BYTES_MAX: u32 = 256 << 20;

/// Bytes of an unwanted body that are shown.
const SHOWN_BYTES: usize = 160;

/// Why a call has failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rejection {
    pub(crate) kind: ErrorKind,
    pub(crate) code: ErrorCode,
    pub(crate) reason: String,
}

impl Rejection {
    pub(crate) fn new(kind: ErrorKind, reason: impl Into<String>) -> Rejection {
        Rejection {
            kind,
            code: kind.code(),
            reason: reason.into(),
        }
    }

    pub(crate) fn coded(self, code: ErrorCode) -> Rejection {
        Rejection { code, ..self }
    }

    /// With the start of a text.
    pub(crate) fn with_text(mut self, text: &str) -> Rejection {
        let shown: String = text.chars().take(SHOWN_BYTES).collect();
        self.reason = format!("{}: {}", self.reason, printable(&shown));
        self
    }

    /// With the start of the body that came with it.
    pub(crate) fn with_body(mut self, body: &[u8]) -> Rejection {
        if !body.is_empty() {
            let shown = &body[..body.len().min(SHOWN_BYTES)];
            self.reason = format!("{}: {}", self.reason, printable_bytes(shown));
        }
        self
    }
}

/// A text in which control characters are escaped: `\n`, `\u{1b}`.
pub(crate) fn printable(text: &str) -> String {
    let shown = |letter: char| match letter {
        '"' | '\'' | '\\' => letter.to_string(),
        _ => letter.escape_debug().to_string(),
    };
    text.chars().map(shown).collect()
}

/// The same of bytes; those that are not text are shown as `\xff`.
fn printable_bytes(bytes: &[u8]) -> String {
    let shown = |chunk: std::str::Utf8Chunk| {
        let other: String = chunk.invalid().escape_ascii().to_string();
        printable(chunk.valid()) + &other
    };
    bytes.utf8_chunks().map(shown).collect()
}
