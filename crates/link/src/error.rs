//! Errors of links.

use std::io;

use wirelab_contract::refusal::Refusal;

/// Why a link could not be made, or could not go on.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The configuration cannot be honoured on this machine.
    #[error("refused: {0}")]
    Refused(#[from] Refusal),
    /// The start was stopped before the link was ready.
    #[error("stopped before it was ready")]
    Stopped,
    /// A system call or a command failed.
    #[error("{doing}: {error}")]
    Machine {
        /// What was attempted.
        doing: String,
        /// The kernel's or the command's error.
        error: io::Error,
    },
}

impl LinkError {
    /// For `map_err`: an [`io::Error`] met while `doing` something.
    pub(crate) fn during(doing: impl Into<String>) -> impl FnOnce(io::Error) -> LinkError {
        let doing = doing.into();
        move |error| LinkError::Machine { doing, error }
    }
}
