//! How a process of the lab refuses a configuration that it cannot honour
//! (docs/reference/process.md): the same text from every one.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a configuration was refused: one JSON line on standard output, exit code 2.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Refused {
    /// The reason.
    pub refused: Refusal,
}

/// The option at fault, what is wrong with it, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[error("{option}: {message} ({remedy})")]
pub struct Refusal {
    /// Path of the option in the configuration, e.g. `stack.codec`
    /// or `profile.forward.loss`.
    pub option: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
}

impl Refusal {
    /// A refusal of `option`.
    pub fn new(
        option: impl Into<String>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Refusal {
            option: option.into(),
            message: message.into(),
            remedy: remedy.into(),
        }
    }
}
