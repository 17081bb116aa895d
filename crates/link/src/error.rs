//! Why a link does not exist.

use std::io;

use wirelab_contract::refusal::Refusal;

/// Why a link could not be made, or could not go on.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// What was asked for cannot be had here.
    #[error("refused: {0}")]
    Refused(#[from] Refusal),
    /// It was told to stop before it was ready.
    #[error("stopped before it was ready")]
    Stopped,
    /// The machine did something else than it was told.
    #[error("{doing}: {error}")]
    Machine {
        /// What was being done.
        doing: String,
        /// What the kernel said.
        error: io::Error,
    },
}

impl LinkError {
    /// Makes an [`io::Error`] one of the machine, met while `doing` something.
    pub(crate) fn during(doing: impl Into<String>) -> impl FnOnce(io::Error) -> LinkError {
        let doing = doing.into();
        move |error| LinkError::Machine { doing, error }
    }
}
