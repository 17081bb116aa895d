//! What an examination found, by section.

use serde::Serialize;

/// What is examined of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Section {
    /// Good calls, alone and in sequences.
    Operations,
    /// Calls that the contract refuses, alone and with several reasons at once.
    Errors,
    /// The largest messages and numbers, and the first beyond.
    Limits,
    /// Messages as other writers write them, and bytes that are not a message.
    Vectors,
    /// Many connections at once: money is neither lost nor made.
    Money,
    /// Many connections at once: no record is lost or stored twice.
    Concurrency,
}

/// One difference between subject and model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was tried.
    pub name: String,
    /// The call, shortened.
    pub call: String,
    /// The answer of the model, shortened.
    pub expected: String,
    /// The response of the subject, shortened.
    pub found: String,
}

/// What a section found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Exam {
    /// The section.
    pub section: Section,
    /// Calls made; 0: the stack has nothing to be examined there.
    pub calls: u64,
    /// The first differences; none: the section is passed.
    pub findings: Vec<Finding>,
    /// What was left out, with the reason.
    pub left_out: Vec<String>,
}

/// What only a deep examination does.
pub(crate) fn only_deep(what: &str) -> Vec<String> {
    vec![format!("{what}: takes long, examined with --deep only")]
}
