//! What the calls of one service process share, and how a call is served outside HTTP.

pub(crate) mod database;
pub(crate) mod exchange;
pub(crate) mod state;

use wirelab_contract::ApplicationError;

/// Why a call has no reply.
#[derive(Debug)]
pub(crate) enum CallError {
    /// The contract demands an error with this text.
    Application(String),
    /// The database cannot be reached, or no connection of its pool is free.
    Unavailable,
}

impl From<ApplicationError> for CallError {
    fn from(error: ApplicationError) -> Self {
        CallError::Application(error.to_string())
    }
}
