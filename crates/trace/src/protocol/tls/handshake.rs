//! Handshake messages, as far as decryption needs them (RFC 8446 section 4, RFC 5246
//! section 7.4).

use super::keylog::ClientRandom;
use super::suite::Version;

/// Types of messages (RFC 8446 section 4).
pub(super) mod kind {
    pub(crate) const CLIENT_HELLO: u8 = 1;
    pub(crate) const SERVER_HELLO: u8 = 2;
    pub(crate) const SERVER_HELLO_DONE: u8 = 14;
    pub(crate) const FINISHED: u8 = 20;
    pub(crate) const KEY_UPDATE: u8 = 24;
}

/// Types of extensions.
mod extension {
    pub(super) const PRE_SHARED_KEY: u16 = 41;
    pub(super) const EARLY_DATA: u16 = 42;
    pub(super) const SUPPORTED_VERSIONS: u16 = 43;
}

/// Type and length.
const HEAD_BYTES: usize = 4;
/// Longer hellos are not read, bytes.
const HELLO_MAX: usize = 1 << 16;

/// The random of a ServerHello that is a HelloRetryRequest (RFC 8446 section 4.1.3):
/// SHA-256 of that name.
const HELLO_RETRY: [u8; 32] = [
    0xCF, 0x21, 0xAD, 0x74, 0xE5, 0x9A, 0x61, 0x11, 0xBE, 0x1D, 0x8C, 0x02, 0x1E, 0x65, 0xB8, 0x91,
    0xC2, 0xA2, 0x11, 0x16, 0x7A, 0xBB, 0x8C, 0x5E, 0x07, 0x9E, 0x09, 0xE2, 0xC8, 0xA8, 0x33, 0x9C,
];

/// Cuts the content of handshake records into messages, which may span records.
#[derive(Debug, Default)]
pub(super) struct Messages {
    head: Vec<u8>,
    left: usize,
    /// Of hellos, what has come; other messages are skipped.
    body: Vec<u8>,
}

impl Messages {
    pub(super) fn state_bytes(&self) -> usize {
        self.head.capacity() + self.body.capacity()
    }

    /// Returns the messages that end in these bytes: their types, and the bodies of hellos.
    pub(super) fn take(&mut self, mut bytes: &[u8]) -> Vec<(u8, Vec<u8>)> {
        let mut messages = Vec::new();
        while !bytes.is_empty() {
            if self.head.len() < HEAD_BYTES {
                let used = bytes.len().min(HEAD_BYTES - self.head.len());
                self.head.extend_from_slice(&bytes[..used]);
                bytes = &bytes[used..];
                if let [_, high, middle, low] = self.head[..] {
                    self.left = u32::from_be_bytes([0, high, middle, low]) as usize;
                }
            }
            if self.head.len() < HEAD_BYTES {
                break;
            }
            let used = bytes.len().min(self.left);
            self.keep(&bytes[..used]);
            bytes = &bytes[used..];
            if self.left == 0 {
                messages.push((self.head[0], std::mem::take(&mut self.body)));
                self.head.clear();
            }
        }
        messages
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.left -= bytes.len();
        let is_hello = matches!(self.head[0], kind::CLIENT_HELLO | kind::SERVER_HELLO);
        if is_hello && self.body.len() + bytes.len() <= HELLO_MAX {
            self.body.extend_from_slice(bytes);
        }
    }
}

/// What a client offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ClientHello {
    pub(super) random: ClientRandom,
    pub(super) session_id: Vec<u8>,
    /// It sends data before the server has answered (RFC 8446 section 4.2.10).
    pub(super) offers_early_data: bool,
}

/// What the server chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServerHello {
    pub(super) random: [u8; 32],
    pub(super) session_id: Vec<u8>,
    pub(super) suite: u16,
    pub(super) version: Version,
    /// TLS 1.3: it resumes a session.
    pub(super) uses_psk: bool,
}

impl ClientHello {
    pub(super) fn parse(body: &[u8]) -> Option<ClientHello> {
        let mut fields = Fields(body);
        fields.u16()?;
        let random = fields.array()?;
        let session_id = fields.short()?.to_vec();
        let (_suites, _compressions) = (fields.long()?, fields.short()?);
        let found = fields.extension(extension::EARLY_DATA);
        Some(ClientHello {
            random,
            session_id,
            offers_early_data: found.is_some(),
        })
    }
}

impl ServerHello {
    /// None also for a HelloRetryRequest: the ServerHello follows.
    pub(super) fn parse(body: &[u8]) -> Option<ServerHello> {
        let mut fields = Fields(body);
        let legacy = fields.u16()?;
        let random = fields.array()?;
        if random == HELLO_RETRY {
            return None;
        }
        let session_id = fields.short()?.to_vec();
        let suite = fields.u16()?;
        fields.array::<1>()?;
        let version = fields.extension(extension::SUPPORTED_VERSIONS);
        let version = version.and_then(|chosen| Fields(chosen).u16());
        Some(ServerHello {
            random,
            session_id,
            suite,
            version: Version(version.unwrap_or(legacy)),
            uses_psk: fields.extension(extension::PRE_SHARED_KEY).is_some(),
        })
    }
}

/// Fields one after the other; None where the bytes end first.
#[derive(Debug, Clone, Copy)]
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*field)
    }

    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (field, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(field)
    }

    /// With its length in one byte in front.
    fn short(&mut self) -> Option<&'a [u8]> {
        let [length] = self.array()?;
        self.bytes(usize::from(length))
    }

    /// With its length in two bytes in front.
    fn long(&mut self) -> Option<&'a [u8]> {
        let length = self.u16()?;
        self.bytes(usize::from(length))
    }

    /// The extension of that type, of those that come next.
    fn extension(mut self, wanted: u16) -> Option<&'a [u8]> {
        let mut extensions = Fields(self.long()?);
        loop {
            let (found, content) = (extensions.u16()?, extensions.long()?);
            if found == wanted {
                return Some(content);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server_hello(random: [u8; 32], extensions: &[u8]) -> Vec<u8> {
        let length = (extensions.len() as u16).to_be_bytes();
        let parts = [
            &[3, 3][..],
            &random,
            &[2, 8, 9, 0x13, 1, 0],
            &length,
            extensions,
        ];
        parts.concat()
    }

    #[test]
    fn a_server_hello_says_its_version_and_whether_it_resumes() {
        let body = server_hello([5; 32], &[0, 43, 0, 2, 3, 4, 0, 41, 0, 2, 0, 0]);
        let hello = ServerHello::parse(&body).expect("whole");
        assert_eq!((hello.version, hello.suite), (Version::TLS13, 0x1301));
        assert!(hello.uses_psk && hello.session_id == [8, 9]);
        let hello = ServerHello::parse(&server_hello([5; 32], &[])).expect("whole");
        assert_eq!((hello.version, hello.uses_psk), (Version::TLS12, false));
        for end in 0..38 {
            assert_eq!(ServerHello::parse(&body[..end]), None, "{end}");
        }
        assert_eq!(ServerHello::parse(&server_hello(HELLO_RETRY, &[])), None);
    }

    #[test]
    fn messages_are_found_however_they_are_cut() {
        let hello = server_hello([1; 32], &[]);
        let mut bytes = vec![2, 0, 0, hello.len() as u8];
        bytes.extend_from_slice(&hello);
        bytes.extend_from_slice(&[14, 0, 0, 0, 20, 0, 0, 2, 7, 7]);
        let expected = vec![(2, hello), (14, vec![]), (20, vec![])];
        for size in 1..=bytes.len() {
            let mut messages = Messages::default();
            let pieces = bytes.chunks(size);
            let found: Vec<_> = pieces.flat_map(|piece| messages.take(piece)).collect();
            assert_eq!(found, expected, "{size}");
        }
    }

    #[test]
    fn a_message_of_16_mib_is_not_kept() {
        let mut messages = Messages::default();
        messages.take(&[1, 255, 255, 255]);
        for _ in 0..255 {
            assert_eq!(messages.take(&[0; 65_535]), []);
        }
        assert!(messages.state_bytes() <= 2 * HELLO_MAX);
    }
}
