//! JSON Schema for replies, by a validator that the program may have.
//!
//! This library links none, because it would take longer to compile than everything else here. The
//! program that has one (`crates/engine-schema`) calls [`provide`] before its first plan.

use std::fmt::Debug;
use std::sync::OnceLock;

use serde_json::Value;

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

/// Compiles a schema; documents that it names elsewhere are not fetched.
///
/// # Errors
/// What is wrong with the schema.
pub type Compile = fn(&Value) -> Result<Box<dyn Schema>, String>;

static COMPILE: OnceLock<Compile> = OnceLock::new();

/// Makes the program able to validate by JSON Schema. Later calls change nothing.
pub fn provide(compile: Compile) {
    COMPILE.get_or_init(|| compile);
}

pub(super) fn compiler() -> Option<Compile> {
    COMPILE.get().copied()
}
