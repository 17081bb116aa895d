//! TLS, as the document has it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::protocol::tls::counts::TlsCounts;

/// Connections that are TLS, and what could be decrypted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tls {
    /// Connections that are TLS.
    pub connections: u64,
    /// Of those, decrypted: their messages are among the exchanges.
    pub decrypted: u64,
    /// Handshakes that resumed a session.
    pub resumed: u64,
    /// Handshakes that did not.
    pub full: u64,
    /// Handshakes by version: `TLS 1.3`, …
    pub versions: BTreeMap<String, u64>,
    /// Handshakes by cipher suite, by its name in the registry of IANA.
    pub suites: BTreeMap<String, u64>,
    /// Connections that are not decrypted.
    pub encrypted: Encrypted,
    /// Secrets that were given: by a key log, and by the capture itself.
    pub secrets: u64,
}

/// Connections that are not decrypted, by the reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Encrypted {
    /// There are no secrets for them.
    pub no_secrets: u64,
    /// Their version or cipher suite is not decrypted.
    pub unsupported_suite: u64,
    /// A record was not authentic: from there on they stay encrypted.
    pub authentication_failed: u64,
    /// The capture lacks their handshake.
    pub handshake_unseen: u64,
    /// They ended before anything was encrypted.
    pub unfinished: u64,
    /// Records that were not authentic.
    pub failed_records: u64,
}

impl Tls {
    pub(crate) fn new(counts: &TlsCounts, secrets: usize) -> Tls {
        Tls {
            connections: counts.connections,
            decrypted: counts.decrypted,
            resumed: counts.resumed,
            full: counts.full,
            versions: counts.versions.clone(),
            suites: counts.suites.clone(),
            encrypted: Encrypted {
                no_secrets: counts.no_secrets,
                unsupported_suite: counts.unsupported_suite,
                authentication_failed: counts.authentication_failed,
                handshake_unseen: counts.handshake_unseen,
                unfinished: counts.unfinished,
                failed_records: counts.failed_records,
            },
            secrets: secrets as u64,
        }
    }
}
