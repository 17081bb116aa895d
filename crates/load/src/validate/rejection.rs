//! Why a call is no success.

use crate::record::error::{ErrorCode, ErrorKind};

/// Largest message that is accepted, in bytes.
pub(crate) const MESSAGE_BYTES_MAX: u32 = 256 << 20;

/// Bytes of an unwanted body that are shown.
const SHOWN_BYTES: usize = 160;

/// Why a call is no success.
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

    /// With the start of a text, escaped.
    pub(super) fn with_text(mut self, text: &str) -> Rejection {
        let shown: String = text.chars().take(SHOWN_BYTES).collect();
        self.reason = format!("{}: {}", self.reason, shown.escape_debug());
        self
    }

    /// With the start of the body that came with it, escaped.
    pub(super) fn with_body(mut self, body: &[u8]) -> Rejection {
        if !body.is_empty() {
            let shown = &body[..body.len().min(SHOWN_BYTES)];
            self.reason = format!("{}: {}", self.reason, shown.escape_ascii());
        }
        self
    }
}
