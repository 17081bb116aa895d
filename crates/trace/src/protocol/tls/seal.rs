//! Makes records of TLS 1.3, for fuzzers.

use ring::aead::Aad;

use super::cipher::{TAG_BYTES, nonce};
use super::keylog::Secret;
use super::schedule::{Keys, next_secret, traffic_keys};
use super::suite::{Aead, Hash, Suite, Version};
use super::upper::APPLICATION_DATA;

const SUITE: Suite = Suite {
    version: Version::TLS13,
    aead: Aead::Aes128Gcm,
    hash: Hash::Sha256,
};

/// One direction of a connection with TLS_AES_128_GCM_SHA256.
pub(crate) struct Sealer {
    keys: Keys,
    next: Secret,
    sequence: u64,
}

impl Sealer {
    pub(crate) fn new(handshake: &[u8; 32], traffic: &[u8; 32]) -> Sealer {
        let secret = |bytes| Secret::new(bytes).expect("48 bytes at most");
        Sealer {
            keys: traffic_keys(SUITE, &secret(handshake)).expect("32 bytes"),
            next: secret(traffic),
            sequence: 0,
        }
    }

    /// From here on with the next keys.
    pub(crate) fn advance(&mut self) {
        self.keys = traffic_keys(SUITE, &self.next).expect("32 bytes");
        self.next = next_secret(SUITE, &self.next).expect("32 bytes");
        self.sequence = 0;
    }

    pub(crate) fn seal(&mut self, kind: u8, content: &[u8]) -> Vec<u8> {
        let mut sealed = [content, &[kind]].concat();
        let [high, low] = ((sealed.len() + TAG_BYTES) as u16).to_be_bytes();
        let head = [APPLICATION_DATA, 3, 3, high, low];
        let nonce = nonce(self.keys.iv, &[], self.sequence);
        let key = &self.keys.key;
        key.seal_in_place_append_tag(nonce, Aad::from(head), &mut sealed)
            .expect("far below the limits of the cipher");
        self.sequence += 1;
        [&head[..], &sealed].concat()
    }
}
