//! `stack.json`: the tables as a document for other languages.

use serde_json::{Value, json};

use crate::axes::{COUNT_MAX, TABLE};
use crate::bindings::BINDINGS;
use crate::rules::RULES;

/// Bindings, axes and rules as JSON.
#[must_use]
pub fn document() -> Value {
    json!({
        "about": "Generated from crates/stack by `make generate`.",
        "bindings": BINDINGS,
        "count_max": COUNT_MAX,
        "axes": TABLE,
        "rules": *RULES,
    })
}
