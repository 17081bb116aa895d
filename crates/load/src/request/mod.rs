//! What goes out for a call: workload, body, head, and the calls of a sequence.

pub(crate) mod body;
pub(crate) mod data;
pub(crate) mod forward;
pub(crate) mod head;
pub(crate) mod mix;
pub(crate) mod own_sequence;
pub(crate) mod placeholders;
pub(crate) mod request_generator;
pub(crate) mod rows;
pub(crate) mod script;
pub(crate) mod sequences;
pub(crate) mod steps;
