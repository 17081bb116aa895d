//! What became of the TLS connections of a capture.

use std::collections::BTreeMap;

use super::session::{Reason, Report};
use super::suite;

/// Sums over connections.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TlsCounts {
    /// Connections that are TLS.
    pub connections: u64,
    /// Of those, decrypted from their handshake on.
    pub decrypted: u64,
    /// Of those with a handshake in the capture, that resumed a session.
    pub resumed: u64,
    /// Of those with a handshake in the capture, that did not.
    pub full: u64,
    /// By version, of those with a ServerHello in the capture.
    pub versions: BTreeMap<String, u64>,
    /// By cipher suite, of the same.
    pub suites: BTreeMap<String, u64>,
    /// Encrypted for lack of secrets.
    pub no_secrets: u64,
    /// Encrypted with a version or suite that is not decrypted.
    pub unsupported_suite: u64,
    /// Encrypted, in part or whole, because a record was not authentic.
    pub authentication_failed: u64,
    /// Encrypted because the capture lacks their handshake.
    pub handshake_unseen: u64,
    /// Over before anything was encrypted.
    pub unfinished: u64,
    /// Records that were not authentic.
    pub failed_records: u64,
}

impl TlsCounts {
    pub(crate) fn add(&mut self, report: &Report) {
        self.connections += 1;
        self.failed_records += report.failed_records;
        if let (Some(version), Some(suite)) = (report.version, report.suite) {
            *self.versions.entry(version.name().to_owned()).or_default() += 1;
            *self.suites.entry(suite::name(suite)).or_default() += 1;
            self.resumed += u64::from(report.is_resumed);
            self.full += u64::from(!report.is_resumed);
        }
        *match report.reason {
            Some(Reason::NoSecrets) => &mut self.no_secrets,
            Some(Reason::UnsupportedSuite) => &mut self.unsupported_suite,
            Some(Reason::AuthenticationFailed) => &mut self.authentication_failed,
            Some(Reason::HandshakeUnseen) => &mut self.handshake_unseen,
            None if report.is_decrypted => &mut self.decrypted,
            None => &mut self.unfinished,
        } += 1;
    }
}
