//! Versions and cipher suites (the IANA registry of TLS parameters).

use ring::aead;

/// What a connection speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(pub(super) u16);

impl Version {
    pub(super) const TLS12: Version = Version(0x0303);
    pub(super) const TLS13: Version = Version(0x0304);

    pub(super) fn name(self) -> &'static str {
        match self.0 {
            0x0300 => "SSL 3.0",
            0x0301 => "TLS 1.0",
            0x0302 => "TLS 1.1",
            0x0303 => "TLS 1.2",
            0x0304 => "TLS 1.3",
            _ => "unknown",
        }
    }
}

/// The hash of the key schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hash {
    Sha256,
    Sha384,
}

impl Hash {
    /// Bytes of its output, and of the secrets of TLS 1.3.
    pub(super) fn length(self) -> usize {
        match self {
            Hash::Sha256 => 32,
            Hash::Sha384 => 48,
        }
    }
}

/// What encrypts the records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Aead {
    Aes128Gcm,
    Aes256Gcm,
    ChaCha20Poly1305,
}

impl Aead {
    pub(super) fn algorithm(self) -> &'static aead::Algorithm {
        match self {
            Aead::Aes128Gcm => &aead::AES_128_GCM,
            Aead::Aes256Gcm => &aead::AES_256_GCM,
            Aead::ChaCha20Poly1305 => &aead::CHACHA20_POLY1305,
        }
    }
}

/// A suite that is decrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Suite {
    pub(super) version: Version,
    pub(super) aead: Aead,
    pub(super) hash: Hash,
}

impl Suite {
    /// None for suites that are not decrypted: CBC, CCM, RC4 and their like.
    pub(super) fn find(version: Version, id: u16) -> Option<Suite> {
        let (aead, hash) = match id {
            0x1301 | 0x009C | 0x009E | 0x00A2 | 0xC02B | 0xC02D | 0xC02F | 0xC031 => {
                (Aead::Aes128Gcm, Hash::Sha256)
            }
            0x1302 | 0x009D | 0x009F | 0x00A3 | 0xC02C | 0xC02E | 0xC030 | 0xC032 => {
                (Aead::Aes256Gcm, Hash::Sha384)
            }
            0x1303 | 0xCCA8..=0xCCAA => (Aead::ChaCha20Poly1305, Hash::Sha256),
            _ => return None,
        };
        // The suites of TLS 1.3 name no key exchange; neither version has the other's.
        let fits = match version {
            Version::TLS12 => id >> 8 != 0x13,
            Version::TLS13 => id >> 8 == 0x13,
            _ => false,
        };
        fits.then_some(Suite {
            version,
            aead,
            hash,
        })
    }
}

/// Its name in the registry; its number where it is rare.
pub(super) fn name(id: u16) -> String {
    let known = match id {
        0x1301 => "TLS_AES_128_GCM_SHA256",
        0x1302 => "TLS_AES_256_GCM_SHA384",
        0x1303 => "TLS_CHACHA20_POLY1305_SHA256",
        0x1304 => "TLS_AES_128_CCM_SHA256",
        0x002F => "TLS_RSA_WITH_AES_128_CBC_SHA",
        0x0035 => "TLS_RSA_WITH_AES_256_CBC_SHA",
        0x003C => "TLS_RSA_WITH_AES_128_CBC_SHA256",
        0x009C => "TLS_RSA_WITH_AES_128_GCM_SHA256",
        0x009D => "TLS_RSA_WITH_AES_256_GCM_SHA384",
        0x009E => "TLS_DHE_RSA_WITH_AES_128_GCM_SHA256",
        0x009F => "TLS_DHE_RSA_WITH_AES_256_GCM_SHA384",
        0xC009 => "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
        0xC00A => "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
        0xC013 => "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
        0xC014 => "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
        0xC023 => "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
        0xC024 => "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA384",
        0xC027 => "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
        0xC028 => "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384",
        0xC02B => "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        0xC02C => "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
        0xC02F => "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        0xC030 => "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
        0xCCA8 => "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
        0xCCA9 => "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        0xCCAA => "TLS_DHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
        _ => return format!("0x{id:04X}"),
    };
    known.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_belongs_to_its_version() {
        assert!(Suite::find(Version::TLS13, 0x1302).is_some_and(|suite| suite.hash.length() == 48));
        assert_eq!(Suite::find(Version::TLS12, 0x1302), None);
        assert_eq!(Suite::find(Version::TLS13, 0xC02F), None);
        assert_eq!(Suite::find(Version(0x0302), 0xC02F), None);
        assert_eq!(Suite::find(Version::TLS12, 0xC013), None);
        assert_eq!(name(0xC013), "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA");
        assert_eq!(name(0x1A2B), "0x1A2B");
    }
}
