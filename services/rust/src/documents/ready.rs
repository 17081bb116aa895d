//! What a service reports of itself once it can answer.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One JSON line on standard output, printed when a real call can be answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
    /// Where one-way stacks report how far they have come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<String>,
    /// Process id.
    pub pid: u32,
    /// `rust`, `go`, …
    pub language: String,
    /// Version of the language's runtime or compiler.
    pub runtime: String,
    /// The libraries on the request path of this stack.
    pub libraries: Vec<Library>,
    /// What was actually set: `nagle`, `writes`, `processors`, `h2_window`, …
    pub set: BTreeMap<String, Value>,
}

/// A library on the request path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Library {
    /// What it does there.
    pub role: Role,
    /// Its name in the registry of its language, its package, or `lab's own`.
    pub name: String,
    /// Its version; that of the runtime for a part of the language's standard library.
    pub version: String,
}

/// What a library does for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Reads and writes connections and the protocol.
    Server,
    /// Turns bytes into messages and back.
    Codec,
    /// Compresses messages.
    Compression,
    /// Encrypts connections.
    Tls,
    /// Driver and pool of the database.
    Store,
}

/// The name of code of this project, where no maintained library does the work.
pub(crate) const OWN: &str = "lab's own";

/// The rows of a stack, each with the version that this service was built from.
pub(crate) fn libraries(rows: &[(Role, &str)]) -> Vec<Library> {
    rows.iter()
        .map(|&(role, name)| Library {
            role,
            name: name.to_owned(),
            version: version(name).to_owned(),
        })
        .collect()
}

fn version(name: &str) -> &'static str {
    if name == OWN {
        // Own code has no version of its own.
        return env!("CARGO_PKG_VERSION");
    }
    // Written by build.rs from Cargo.lock: the version that was linked, not the one asked for.
    env!("WIRELAB_LIBRARIES")
        .split(',')
        .filter_map(|entry| entry.split_once('='))
        .find_map(|(library, version)| (library == name).then_some(version))
        .unwrap_or_else(|| panic!("build.rs has no version of {name}: add it to LIBRARIES"))
}

/// The compiler that this service was built by.
pub(crate) fn runtime() -> String {
    // Rust has no runtime of its own; the compiler decides how fast the code is.
    format!("rustc {}", env!("WIRELAB_RUSTC"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_come_from_the_lock_file() {
        let found = libraries(&[(Role::Server, "axum"), (Role::Codec, "prost")]);
        assert_eq!(found.len(), 2);
        let lock = include_str!("../../../../Cargo.lock");
        for Library { name, version, .. } in found {
            assert!(lock.contains(&format!("name = \"{name}\"\nversion = \"{version}\"")));
        }
    }

    #[test]
    fn own_code_has_the_version_of_the_project() {
        let found = libraries(&[(Role::Codec, OWN)]);
        assert_eq!(found[0].version, env!("CARGO_PKG_VERSION"));
    }
}
