//! Opens the records of one direction.

use std::ops::Range;

use ring::aead::{Aad, Nonce};

use super::keylog::Secret;
use super::schedule::{Keys, NONCE_BYTES, next_secret, traffic_keys};
use super::suite::{Aead, Suite, Version};
use super::upper::HEAD_BYTES;

/// Bytes of the authentication tag of every suite here.
pub(super) const TAG_BYTES: usize = 16;
/// Bytes of the nonce that each record has in GCM of TLS 1.2 (RFC 5288 section 3).
const EXPLICIT_NONCE_BYTES: usize = 8;
/// Records of TLS 1.2 that are opened with the number of a lost one, at most: each costs
/// an attempt.
const LOST_RECORDS_MAX: u64 = 64;

/// A record that was opened.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Opened {
    /// Its content type, without the disguise of TLS 1.3.
    pub(super) kind: u8,
    /// Where its content lies in the payload, in plain text.
    pub(super) content: Range<usize>,
}

/// Where in TLS 1.3 a direction is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Epoch {
    /// Up to Finished; then the secret for application data holds.
    Handshake(Secret),
    /// With this secret; KeyUpdate makes the next one of it.
    Application(Secret),
    /// TLS 1.2 has one.
    Only,
}

/// The state of the cipher of one direction.
pub(super) struct Cipher {
    suite: Suite,
    keys: Keys,
    epoch: Epoch,
    /// Of the next record (RFC 8446 section 5.3).
    sequence: u64,
    /// Records are missing: how many is not known.
    is_uncertain: bool,
}

impl std::fmt::Debug for Cipher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Cipher({:?}, {})", self.suite, self.sequence)
    }
}

impl Cipher {
    /// TLS 1.2.
    pub(super) fn with_keys(suite: Suite, keys: Keys) -> Cipher {
        Cipher {
            suite,
            keys,
            epoch: Epoch::Only,
            sequence: 0,
            is_uncertain: false,
        }
    }

    /// TLS 1.3. None where a secret is none of the suite.
    pub(super) fn with_secrets(
        suite: Suite,
        handshake: &Secret,
        traffic: Secret,
    ) -> Option<Cipher> {
        let keys = traffic_keys(suite, handshake)?;
        Some(Cipher {
            epoch: Epoch::Handshake(traffic),
            ..Cipher::with_keys(suite, keys)
        })
    }

    /// What comes is data, as far as is known.
    pub(super) fn carries_data(&self) -> bool {
        !self.is_in_handshake()
    }

    pub(super) fn is_in_handshake(&self) -> bool {
        matches!(self.epoch, Epoch::Handshake(_))
    }

    pub(super) fn is_at_start(&self) -> bool {
        self.is_in_handshake() && self.sequence == 0
    }

    pub(super) fn is_uncertain(&self) -> bool {
        self.is_uncertain
    }

    /// A record cannot be read; the next one is the one behind it. It may have ended the
    /// handshake or changed the keys.
    pub(super) fn skip(&mut self) {
        self.sequence += 1;
        self.is_uncertain = true;
    }

    /// Records are missing.
    pub(super) fn lose(&mut self) {
        self.is_uncertain = true;
    }

    /// Finished or KeyUpdate of TLS 1.3: the next record has other keys. None where there
    /// are none.
    pub(super) fn advance(&mut self) -> Option<()> {
        let (keys, secret) = self.next_epoch()?;
        self.enter(keys, secret);
        Some(())
    }

    fn enter(&mut self, keys: Keys, secret: Secret) {
        self.keys = keys;
        self.epoch = Epoch::Application(secret);
        self.sequence = 0;
    }

    fn next_epoch(&self) -> Option<(Keys, Secret)> {
        let secret = match &self.epoch {
            Epoch::Handshake(traffic) => *traffic,
            Epoch::Application(secret) => next_secret(self.suite, secret)?,
            Epoch::Only => return None,
        };
        Some((traffic_keys(self.suite, &secret)?, secret))
    }

    /// Bytes in front of the content.
    fn nonce_bytes(&self) -> usize {
        let is_explicit =
            self.suite.version == Version::TLS12 && self.suite.aead != Aead::ChaCha20Poly1305;
        if is_explicit { EXPLICIT_NONCE_BYTES } else { 0 }
    }

    /// Bytes of content of a record with that payload, without padding.
    pub(super) fn content_bytes(&self, payload: usize) -> usize {
        let kind = usize::from(self.suite.version == Version::TLS13);
        payload.saturating_sub(self.nonce_bytes() + TAG_BYTES + kind)
    }

    /// Decrypts a payload in place. None where it is not authentic, and then its bytes
    /// are lost.
    pub(super) fn open(&mut self, head: [u8; HEAD_BYTES], payload: &mut [u8]) -> Option<Opened> {
        if self.is_uncertain {
            return self.search(head, payload);
        }
        let opened = self.attempt(&self.keys, self.sequence, head, payload)?;
        self.sequence += 1;
        Some(opened)
    }

    /// Finds the number of the record: one of the next few of this epoch, or of the next
    /// one.
    fn search(&mut self, head: [u8; HEAD_BYTES], payload: &mut [u8]) -> Option<Opened> {
        let encrypted = payload.to_vec();
        for sequence in (0..LOST_RECORDS_MAX).map(|lost| self.sequence.saturating_add(lost)) {
            // A failed attempt destroys what it tried to open.
            payload.copy_from_slice(&encrypted);
            if let Some(opened) = self.attempt(&self.keys, sequence, head, payload) {
                self.sequence = sequence + 1;
                return Some(opened);
            }
        }
        let (keys, secret) = self.next_epoch()?;
        for sequence in 0..LOST_RECORDS_MAX {
            payload.copy_from_slice(&encrypted);
            if let Some(opened) = self.attempt(&keys, sequence, head, payload) {
                self.enter(keys, secret);
                self.sequence = sequence + 1;
                return Some(opened);
            }
        }
        None
    }

    fn attempt(
        &self,
        keys: &Keys,
        sequence: u64,
        head: [u8; HEAD_BYTES],
        payload: &mut [u8],
    ) -> Option<Opened> {
        let explicit = self.nonce_bytes();
        let length = payload.len().checked_sub(explicit + TAG_BYTES)?;
        let (front, sealed) = payload.split_at_mut(explicit);
        let nonce = nonce(keys.iv, front, sequence);
        let plain = match self.suite.version {
            // The head as it was sent (RFC 8446 section 5.2).
            Version::TLS13 => keys.key.open_in_place(nonce, Aad::from(head), sealed),
            _ => {
                let about = additional_data(sequence, head, length as u16);
                keys.key.open_in_place(nonce, Aad::from(about), sealed)
            }
        };
        let plain = plain.ok()?;
        let (kind, length) = match self.suite.version {
            Version::TLS13 => inner(plain)?,
            _ => (head[0], plain.len()),
        };
        Some(Opened {
            kind,
            content: explicit..explicit + length,
        })
    }
}

/// TLS 1.3 and ChaCha20 add the number to the iv (RFC 8446 section 5.3, RFC 7905 section
/// 2); GCM of TLS 1.2 has the rest of its nonce in the record.
pub(super) fn nonce(mut iv: [u8; NONCE_BYTES], explicit: &[u8], sequence: u64) -> Nonce {
    let rest = &mut iv[NONCE_BYTES - 8..];
    if explicit.is_empty() {
        let number = sequence.to_be_bytes();
        rest.iter_mut().zip(number).for_each(|(own, of)| *own ^= of);
    } else {
        rest.copy_from_slice(explicit);
    }
    Nonce::assume_unique_for_key(iv)
}

/// What TLS 1.2 authenticates with a record (RFC 5246 section 6.2.3.3).
fn additional_data(sequence: u64, head: [u8; HEAD_BYTES], length: u16) -> [u8; 13] {
    let mut data = [0; 13];
    data[..8].copy_from_slice(&sequence.to_be_bytes());
    data[8..11].copy_from_slice(&head[..3]);
    data[11..].copy_from_slice(&length.to_be_bytes());
    data
}

/// The content type and the length of what TLS 1.3 hides: the last byte that is not
/// padding is the type (RFC 8446 section 5.2).
fn inner(plain: &[u8]) -> Option<(u8, usize)> {
    let length = plain.iter().rposition(|byte| *byte != 0)?;
    Some((plain[length], length))
}

#[cfg(test)]
mod tests {
    use super::super::schedule::bytes;
    use super::*;

    fn secret(text: &str) -> Secret {
        Secret::new(&bytes(text)).expect("48 bytes at most")
    }

    /// The client of RFC 8448 section 3.
    fn client() -> Cipher {
        let suite = Suite::find(Version::TLS13, 0x1301).expect("known");
        let handshake = secret(
            "b3 ed db 12 6e 06 7f 35 a7 80 b3 ab f4 5e 2d 8f 3b 1a 95 07 38 f5 2e 96 00 74 6a 0e \
             27 a5 5a 21",
        );
        let traffic = secret(
            "9e 40 64 6c e7 9a 7f 9d c0 5a f8 88 9b ce 65 52 87 5a fa 0b 06 df 00 87 f7 92 eb b7 \
             c1 75 04 a5",
        );
        Cipher::with_secrets(suite, &handshake, traffic).expect("32 bytes")
    }

    /// Its first record of application data, of 50 bytes: 0 to 49.
    fn data() -> ([u8; HEAD_BYTES], Vec<u8>) {
        let payload = bytes(
            "a2 3f 70 54 b6 2c 94 d0 af fa fe 82 28 ba 55 cb ef ac ea 42 f9 14 aa 66 bc ab 3f 2b \
             98 19 a8 a5 b4 6b 39 5b d5 4a 9a 20 44 1e 2b 62 97 4e 1f 5a 62 92 a2 97 70 14 bd 1e \
             3d ea e6 3a ee bb 21 69 49 15 e4",
        );
        ([23, 3, 3, 0, 67], payload)
    }

    #[test]
    fn the_record_of_rfc_8448_is_opened() {
        let (head, mut payload) = data();
        let mut cipher = client();
        cipher.advance().expect("a secret");
        let opened = cipher.open(head, &mut payload).expect("authentic");
        assert_eq!((opened.kind, opened.content.clone()), (23, 0..50));
        assert!(payload[opened.content].iter().copied().eq(0..50));
        assert_eq!(cipher.content_bytes(67), 50);
        // The same record has another number when it is read again.
        assert_eq!(cipher.open(head, &mut data().1), None);
    }

    #[test]
    fn a_lost_finished_is_passed_over_by_trying_the_next_keys() {
        let (head, mut payload) = data();
        let mut cipher = client();
        assert_eq!(cipher.open(head, &mut data().1), None);
        cipher.skip();
        assert!(cipher.open(head, &mut payload).is_some());
        assert!(cipher.carries_data());
    }

    #[test]
    fn records_that_were_changed_are_refused_whatever_their_length() {
        let (head, payload) = data();
        for place in 0..payload.len() {
            let mut cipher = client();
            cipher.advance();
            let mut changed = payload.clone();
            changed[place] ^= 1;
            assert_eq!(cipher.open(head, &mut changed), None);
            assert_eq!(cipher.open(head, &mut payload[..place].to_vec()), None);
        }
    }

    #[test]
    fn padding_is_not_content_and_a_record_of_padding_is_refused() {
        assert_eq!(inner(&[7, 8, 23, 0, 0]), Some((23, 2)));
        assert_eq!(inner(&[21]), Some((21, 0)));
        assert_eq!(inner(&[0, 0]), None);
        assert_eq!(inner(&[]), None);
    }

    #[test]
    fn the_nonce_of_a_record_has_its_number() {
        let nonce = |explicit: &[u8]| *nonce([1; 12], explicit, 0x0203).as_ref();
        assert_eq!(nonce(&[])[4..], [1, 1, 1, 1, 1, 1, 3, 2]);
        assert_eq!(nonce(&[9; 8]), [1, 1, 1, 1, 9, 9, 9, 9, 9, 9, 9, 9]);
    }
}
