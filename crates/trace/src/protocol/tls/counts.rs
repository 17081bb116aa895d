//! What became of the TLS connections of a capture.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::session::{Reason, Report};
use super::suite;

/// Connections that are TLS, and what could be decrypted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Tls"))]
pub struct TlsCounts {
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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

impl TlsCounts {
    pub(crate) fn add(&mut self, report: &Report) {
        self.connections += 1;
        let encrypted = &mut self.encrypted;
        encrypted.failed_records += report.failed_records;
        if let (Some(version), Some(suite)) = (report.version, report.suite) {
            *self.versions.entry(version.name().to_owned()).or_default() += 1;
            *self.suites.entry(suite::name(suite)).or_default() += 1;
            self.resumed += u64::from(report.is_resumed);
            self.full += u64::from(!report.is_resumed);
        }
        *match report.reason {
            Some(Reason::NoSecrets) => &mut encrypted.no_secrets,
            Some(Reason::UnsupportedSuite) => &mut encrypted.unsupported_suite,
            Some(Reason::AuthenticationFailed) => &mut encrypted.authentication_failed,
            Some(Reason::HandshakeUnseen) => &mut encrypted.handshake_unseen,
            None if report.is_decrypted => &mut self.decrypted,
            None => &mut encrypted.unfinished,
        } += 1;
    }
}
