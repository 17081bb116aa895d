//! Why a `.proto` is outside the lab profile.

use std::fmt;

/// A definition that not every format can say, with what to do instead.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    /// The definition's full name, or the file's.
    pub(crate) name: String,
    pub(crate) reason: String,
    pub(crate) remedy: String,
}

impl Refused {
    pub(crate) fn new(
        name: impl Into<String>,
        reason: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Refused {
            name: name.into(),
            reason: reason.into(),
            remedy: remedy.into(),
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}: {}; {}", self.name, self.reason, self.remedy)
    }
}

impl std::error::Error for Refused {}
