//! What the calls of one service process share, and how a call is served outside HTTP.

pub(crate) mod any_operation;
pub(crate) mod corruption;
pub(crate) mod exchange;
pub(crate) mod feed;
pub mod rows;
pub(crate) mod state;

use wirelab_contract::ApplicationError;

/// Why a call has no reply.
#[derive(Debug)]
pub enum CallError {
    /// The contract demands an error with this text.
    Application(String),
    /// The same, of a row that does not exist: a kind with a status of its own in REST and gRPC.
    NotFound(String),
    /// The database cannot be reached, or no connection of its pool is free.
    Unavailable,
}

impl CallError {
    /// The error that a mutant leaves, of which only the text is known.
    pub(crate) fn from_text(text: String) -> Self {
        match text == ApplicationError::NotFound.to_string() {
            true => CallError::NotFound(text),
            false => CallError::Application(text),
        }
    }
}

impl From<ApplicationError> for CallError {
    fn from(error: ApplicationError) -> Self {
        match error {
            ApplicationError::NotFound => CallError::NotFound(error.to_string()),
            _ => CallError::Application(error.to_string()),
        }
    }
}
