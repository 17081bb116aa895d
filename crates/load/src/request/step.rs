//! The kinds of calls that a group makes.

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
