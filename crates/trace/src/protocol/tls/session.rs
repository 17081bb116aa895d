//! What the handshake of a connection shows, and what became of its records.

use super::cipher::Cipher;
use super::handshake::{ClientHello, ServerHello, kind};
use super::keylog::{KeyLog, Label};
use super::schedule::block_keys;
use super::suite::{Suite, Version};

/// Why a direction stays encrypted. In order: of several the first is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reason {
    /// A record was not what its secrets make authentic.
    AuthenticationFailed,
    /// There are no secrets for it.
    NoSecrets,
    /// Its version or cipher suite is not decrypted.
    UnsupportedSuite,
    /// The capture lacks its handshake.
    HandshakeUnseen,
}

/// Both hellos, and what follows from them.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// The direction of the client.
    client_side: Option<usize>,
    client: Option<ClientHello>,
    server: Option<ServerHello>,
    /// TLS 1.2: the server has ended its part of a full handshake.
    is_full: bool,
    /// Messages of the server are missing.
    pub(super) has_gap: bool,
    is_resumed: bool,
    was_opened: bool,
    reason: Option<Reason>,
    pub(super) failed_records: u64,
}

/// One connection, when it is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Report {
    /// As a ServerHello has it.
    pub(super) version: Option<Version>,
    pub(super) suite: Option<u16>,
    pub(super) is_resumed: bool,
    /// At least one record was decrypted, and none could not be.
    pub(super) is_decrypted: bool,
    /// Why not.
    pub(super) reason: Option<Reason>,
    pub(super) failed_records: u64,
}

impl Session {
    /// A message in plain text from that side.
    pub(super) fn take(&mut self, side: usize, message: u8, body: &[u8]) {
        match message {
            // After a HelloRetryRequest there is another one with the same random (RFC
            // 8446 section 4.1.2).
            kind::CLIENT_HELLO if self.server.is_none() => {
                self.client = ClientHello::parse(body).or(self.client.take());
                self.client_side = Some(side);
            }
            kind::SERVER_HELLO if self.server.is_none() => {
                self.server = ServerHello::parse(body);
                self.is_resumed = self.resumes();
            }
            kind::SERVER_HELLO_DONE => self.is_full = true,
            _ => {}
        }
    }

    /// What the ServerHello alone shows: a PSK (RFC 8446 section 4.2.11), or the id that
    /// the client named (RFC 5246 section 7.4.1.3, RFC 5077 section 3.4). In TLS 1.3 the
    /// id means nothing.
    fn resumes(&self) -> bool {
        let Some(server) = &self.server else {
            return false;
        };
        let is_same = |client: &ClientHello| {
            !client.session_id.is_empty() && client.session_id == server.session_id
        };
        match server.version {
            Version::TLS13 => server.uses_psk,
            _ => self.client.as_ref().is_some_and(is_same),
        }
    }

    /// A change of cipher in TLS 1.2, which a server sends without the rest of a handshake
    /// where it resumes a session by a ticket (RFC 5077 section 3.1).
    pub(super) fn change_cipher(&mut self, side: usize) {
        let is_server = self.client_side.is_some_and(|client| client != side);
        self.is_resumed |= is_server && !self.is_full && !self.has_gap;
    }

    pub(super) fn version(&self) -> Option<Version> {
        self.server.as_ref().map(|server| server.version)
    }

    /// Encrypted records may come before the ServerHello.
    pub(super) fn may_be_early(&self, side: usize) -> bool {
        let offers = |client: &ClientHello| client.offers_early_data;
        self.client_side == Some(side) && self.client.as_ref().is_some_and(offers)
    }

    /// What opens the records of a side.
    pub(super) fn cipher(&self, side: usize, keys: &KeyLog) -> Result<Cipher, Reason> {
        let (Some(client), Some(server)) = (&self.client, &self.server) else {
            return Err(Reason::HandshakeUnseen);
        };
        let suite = Suite::find(server.version, server.suite).ok_or(Reason::UnsupportedSuite)?;
        let is_server = self.client_side != Some(side);
        let find = |label| keys.find(&client.random, label).ok_or(Reason::NoSecrets);
        let cipher = if suite.version == Version::TLS13 {
            let side = u8::from(is_server);
            let handshake = find(Label::Handshake(side))?;
            Cipher::with_secrets(suite, &handshake, find(Label::Traffic(side))?)
        } else {
            let master = find(Label::Master)?;
            let side = usize::from(is_server);
            let keys = block_keys(suite, &master, &client.random, &server.random, side);
            keys.map(|keys| Cipher::with_keys(suite, keys))
        };
        // Secrets of another length than the hash of the suite has are of another
        // connection.
        cipher.ok_or(Reason::AuthenticationFailed)
    }

    pub(super) fn opened(&mut self) {
        self.was_opened = true;
    }

    /// Records stay encrypted.
    pub(super) fn refuse(&mut self, reason: Reason) {
        let first = self.reason.map_or(reason, |known| known.min(reason));
        self.reason = Some(first);
    }

    pub(super) fn report(&self) -> Report {
        Report {
            version: self.version(),
            suite: self.server.as_ref().map(|server| server.suite),
            is_resumed: self.is_resumed,
            is_decrypted: self.was_opened && self.reason.is_none(),
            reason: self.reason,
            failed_records: self.failed_records,
        }
    }
}
