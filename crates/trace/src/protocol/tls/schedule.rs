//! From secrets to the keys of records.

use ring::aead::{LessSafeKey, UnboundKey};
use ring::{hkdf, hmac};

use super::keylog::{ClientRandom, Secret};
use super::suite::{Aead, Hash, Suite};

/// Bytes of a nonce of every suite here.
pub(super) const NONCE_BYTES: usize = 12;
/// Of those, in GCM of TLS 1.2 from the key block; each record has the others (RFC 5288
/// section 3).
const SALT_BYTES: usize = 4;

/// What opens the records of one direction.
pub(super) struct Keys {
    pub(super) key: LessSafeKey,
    /// TLS 1.2 with GCM: only the first four bytes are used.
    pub(super) iv: [u8; NONCE_BYTES],
}

/// The number of bytes that HKDF shall make.
struct Length(usize);

impl hkdf::KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

/// HKDF-Expand-Label without a context (RFC 8446 section 7.1). None where the secret or
/// `out` have a length that the hash cannot have.
fn expand_label(hash: Hash, secret: &[u8], label: &[u8], out: &mut [u8]) -> Option<()> {
    const PREFIX: &[u8] = b"tls13 ";
    let algorithm = match hash {
        Hash::Sha256 => hkdf::HKDF_SHA256,
        Hash::Sha384 => hkdf::HKDF_SHA384,
    };
    if secret.len() != hash.length() {
        return None;
    }
    let length = u16::try_from(out.len()).ok()?.to_be_bytes();
    let label_length = [(PREFIX.len() + label.len()) as u8];
    let info = [&length[..], &label_length, PREFIX, label, &[0]];
    let prk = hkdf::Prk::new_less_safe(algorithm, secret);
    let okm = prk.expand(&info, Length(out.len())).ok()?;
    okm.fill(out).ok()
}

/// The keys of TLS 1.3 from a traffic secret (RFC 8446 section 7.3).
pub(super) fn traffic_keys(suite: Suite, secret: &Secret) -> Option<Keys> {
    let mut key = [0; 32];
    let key = &mut key[..suite.aead.algorithm().key_len()];
    let mut iv = [0; NONCE_BYTES];
    expand_label(suite.hash, secret.bytes(), b"key", key)?;
    expand_label(suite.hash, secret.bytes(), b"iv", &mut iv)?;
    Keys::new(suite.aead, key, iv)
}

/// The traffic secret behind a KeyUpdate (RFC 8446 section 7.2).
pub(super) fn next_secret(suite: Suite, secret: &Secret) -> Option<Secret> {
    let mut next = [0; Secret::MAX];
    let next = &mut next[..suite.hash.length()];
    expand_label(suite.hash, secret.bytes(), b"traffic upd", next)?;
    Secret::new(next)
}

/// The keys of TLS 1.2 of a side: 0 the client's, 1 the server's (RFC 5246 section 6.3).
/// An AEAD needs no MAC keys.
pub(super) fn block_keys(
    suite: Suite,
    master: &Secret,
    client: &ClientRandom,
    server: &[u8; 32],
    side: usize,
) -> Option<Keys> {
    let key_bytes = suite.aead.algorithm().key_len();
    let iv_bytes = match suite.aead {
        Aead::Aes128Gcm | Aead::Aes256Gcm => SALT_BYTES,
        Aead::ChaCha20Poly1305 => NONCE_BYTES,
    };
    let mut block = [0; 2 * (32 + NONCE_BYTES)];
    let block = &mut block[..2 * (key_bytes + iv_bytes)];
    let seed = [server.as_slice(), client].concat();
    pseudorandom(suite.hash, master.bytes(), b"key expansion", &seed, block);
    let (keys, ivs) = block.split_at(2 * key_bytes);
    let mut iv = [0; NONCE_BYTES];
    iv[..iv_bytes].copy_from_slice(&ivs[side * iv_bytes..][..iv_bytes]);
    Keys::new(suite.aead, &keys[side * key_bytes..][..key_bytes], iv)
}

/// The PRF of TLS 1.2 (RFC 5246 section 5).
fn pseudorandom(hash: Hash, secret: &[u8], label: &[u8], seed: &[u8], out: &mut [u8]) {
    let algorithm = match hash {
        Hash::Sha256 => hmac::HMAC_SHA256,
        Hash::Sha384 => hmac::HMAC_SHA384,
    };
    let key = hmac::Key::new(algorithm, secret);
    let seed = [label, seed].concat();
    let mut a = hmac::sign(&key, &seed);
    for piece in out.chunks_mut(hash.length()) {
        let mut context = hmac::Context::with_key(&key);
        context.update(a.as_ref());
        context.update(&seed);
        piece.copy_from_slice(&context.sign().as_ref()[..piece.len()]);
        a = hmac::sign(&key, a.as_ref());
    }
}

impl Keys {
    fn new(aead: Aead, key: &[u8], iv: [u8; NONCE_BYTES]) -> Option<Keys> {
        let key = UnboundKey::new(aead.algorithm(), key).ok()?;
        Some(Keys {
            key: LessSafeKey::new(key),
            iv,
        })
    }
}

/// Digits with blanks between them, as RFCs print bytes.
#[cfg(test)]
pub(super) fn bytes(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pair = |pair: &[u8; 2]| {
        let text = str::from_utf8(pair).expect("digits");
        u8::from_str_radix(text, 16).expect("digits")
    };
    digits.as_chunks().0.iter().map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expand_label_gives_the_keys_of_rfc_8448() {
        // Section 3: the server's handshake traffic secret, its key and its iv.
        let secret = bytes(
            "b6 7b 7d 69 0c c1 6c 4e 75 e5 42 13 cb 2d 37 b4 e9 c9 12 bc de d9 10 5d 42 be fd \
             59 d3 91 ad 38",
        );
        let (mut key, mut iv) = ([0; 16], [0; 12]);
        expand_label(Hash::Sha256, &secret, b"key", &mut key).expect("lengths");
        expand_label(Hash::Sha256, &secret, b"iv", &mut iv).expect("lengths");
        let expected = bytes("3f ce 51 60 09 c2 17 27 d0 f2 e4 e8 6e e4 03 bc");
        assert_eq!(key[..], expected);
        assert_eq!(iv[..], bytes("5d 31 3e b2 67 12 76 ee 13 00 0b 30"));
    }

    #[test]
    fn a_secret_of_another_length_gives_no_key() {
        let suite = Suite::find(super::super::suite::Version::TLS13, 0x1302).expect("known");
        let secret = Secret::new(&[1; 32]).expect("short");
        assert!(traffic_keys(suite, &secret).is_none());
        assert_eq!(next_secret(suite, &secret), None);
    }

    #[test]
    fn the_prf_of_tls_1_2_gives_its_test_vector() {
        // https://mailarchive.ietf.org/arch/msg/tls/fzVCzk-z3FShgGJ6DOXqM1ydxms/
        let secret = bytes("9b be 43 6b a9 40 f0 17 b1 76 52 84 9a 71 db 35");
        let seed = bytes("a0 ba 9f 93 6c da 31 18 27 a6 f7 96 ff d5 19 8c");
        let mut out = [0; 100];
        pseudorandom(Hash::Sha256, &secret, b"test label", &seed, &mut out);
        let expected = bytes(
            "e3 f2 29 ba 72 7b e1 7b 8d 12 26 20 55 7c d4 53 c2 aa b2 1d 07 c3 d4 95 32 9b 52 d4 \
             e6 1e db 5a",
        );
        assert_eq!(out[..32], expected);
    }
}
