//! What a service says of itself once it can answer.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One JSON line on standard output, printed when a real call can be answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ready {
    /// Always true.
    pub ready: bool,
    /// Where it listens: `127.0.0.1:43210` or `unix:/path`.
    pub address: String,
    /// Where metrics are.
    pub metrics: String,
    /// The reference to the service, with binding iiop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ior: Option<String>,
    /// Where one-way stacks tell how far they have come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<String>,
    /// Process id.
    pub pid: u32,
    /// `rust`, `go`, …
    pub language: String,
    /// Version of the language's runtime or compiler.
    pub runtime: String,
    /// Libraries in use and their versions.
    pub libraries: BTreeMap<String, String>,
    /// What was actually set: `nagle`, `writes`, `processors`, `h2_window`, …
    pub set: BTreeMap<String, Value>,
}

/// Versions of the libraries that this service was built from.
pub(crate) fn libraries(names: &[&str]) -> BTreeMap<String, String> {
    env!("WIRELAB_LIBRARIES")
        .split(',')
        .filter_map(|entry| entry.split_once('='))
        .filter(|(name, _)| names.contains(name))
        .map(|(name, version)| (name.to_owned(), version.to_owned()))
        .collect()
}

/// The compiler that this service was built by.
pub(crate) fn runtime() -> String {
    format!("rustc {}", env!("WIRELAB_RUSTC"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_come_from_the_lock_file() {
        let found = libraries(&["axum", "tonic"]);
        assert_eq!(found.len(), 2);
        let lock = include_str!("../../../Cargo.lock");
        for (name, version) in found {
            assert!(lock.contains(&format!("name = \"{name}\"\nversion = \"{version}\"")));
        }
    }
}
