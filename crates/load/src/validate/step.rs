//! The kinds of calls that a group makes, and what makes their replies right.

use std::sync::Arc;

use crate::validate::Validator;

/// One kind of call.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    /// Under which operation it is recorded; an operation may have several steps.
    pub(crate) operation: usize,
    /// The operation's name.
    pub(crate) name: String,
    pub(crate) validator: Arc<Validator>,
}

impl Step {
    /// The same as step `number` of its group.
    ///
    /// # Panics
    /// When its validator is in use already.
    pub(crate) fn numbered(mut self, number: usize) -> Step {
        let validator = Arc::get_mut(&mut self.validator);
        validator.expect("steps are numbered before a run").step = number;
        self
    }
}

/// Steps in one list. Those of one operation are recorded together.
pub(crate) fn join_steps(parts: impl Iterator<Item = Step>) -> Vec<Step> {
    let mut names: Vec<String> = Vec::new();
    let mut steps: Vec<Step> = Vec::new();
    for step in parts {
        let place = names.iter().position(|name| *name == step.name);
        let operation = place.unwrap_or_else(|| {
            names.push(step.name.clone());
            names.len() - 1
        });
        let step = step.numbered(steps.len());
        steps.push(Step { operation, ..step });
    }
    steps
}
