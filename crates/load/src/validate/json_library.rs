//! JSON Schema and JSONPath for replies, by libraries that the program may have.
//!
//! This library links none: together they take longer to compile than all else here. The program
//! that has them (`crates/engine-json`) calls [`provide`] before its first plan.

use std::fmt::Debug;
use std::sync::OnceLock;

use serde_json::Value;

use crate::call::fault;
use crate::call::result::Fault;

/// A compiled schema.
pub trait Schema: Debug + Send + Sync {
    /// Validates a document.
    ///
    /// # Errors
    /// The first violation.
    fn check(&self, document: &Value) -> Result<(), Violation>;
}

/// Why a document does not follow a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The value at fault, as a JSON Pointer (RFC 6901); empty for the whole document.
    pub place: String,
    /// What is wrong with it.
    pub reason: String,
}

/// A JSONPath (RFC 9535).
pub trait Path: Debug + Send + Sync {
    /// The first value that it selects.
    fn first<'a>(&self, document: &'a Value) -> Option<&'a Value>;
}

/// What a program has.
#[derive(Debug, Clone, Copy)]
pub struct JsonLibrary {
    /// Compiles a schema; documents that it names elsewhere are not fetched. The error says what is
    /// wrong with it.
    pub compile_schema: fn(&Value) -> Result<Box<dyn Schema>, String>,
    /// Reads a JSONPath. The error says what is wrong with it.
    pub parse_path: fn(&str) -> Result<Box<dyn Path>, String>,
}

static LIBRARY: OnceLock<JsonLibrary> = OnceLock::new();

/// Makes the program able to validate by JSON Schema and to read JSONPath. Later calls change
/// nothing.
pub fn provide(library: JsonLibrary) {
    LIBRARY.get_or_init(|| library);
}

/// # Errors
/// `key` of the plan needs a library that this program does not have.
pub(super) fn library(key: &str) -> Result<&'static JsonLibrary, Fault> {
    LIBRARY.get().ok_or_else(|| {
        fault::plan(
            format!("{key}: this engine was built without JSON Schema and JSONPath"),
            "start wirelab-engine-json instead",
        )
    })
}
