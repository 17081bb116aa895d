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
