//! What is wrong with a capture.

use std::fmt;

/// Where a capture stops making sense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Where the damaged block or record begins, bytes from the start of the file.
    pub offset: u64,
    /// What is wrong with it.
    pub reason: String,
}

impl Damage {
    pub(super) fn new(offset: u64, reason: impl Into<String>) -> Damage {
        Damage {
            offset,
            reason: reason.into(),
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", self.offset, self.reason)
    }
}
