//! Secrets of connections, in the format of NSS key logs: what SSLKEYLOGFILE makes
//! programs write (draft-ietf-tls-keylogfile).

use std::collections::HashMap;
use std::fmt;
use std::io::{self, BufRead};

/// The random of a ClientHello, which names its connection.
pub(super) type ClientRandom = [u8; 32];

/// Secrets that are kept; a file of more is an attack on memory.
const SECRETS_MAX: usize = 1 << 20;
/// A label, 32 bytes and 48 bytes in hexadecimal, and blanks, with room to spare.
const LINE_MAX: usize = 1024;

/// What a secret is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Label {
    /// TLS 1.2: the master secret (RFC 5246 section 8.1).
    Master,
    /// TLS 1.3 (RFC 8446 section 7.1), by side: 0 the client's, 1 the server's.
    Handshake(u8),
    /// The first one for application data, by side.
    Traffic(u8),
}

impl Label {
    fn parse(text: &[u8]) -> Option<Label> {
        Some(match text {
            b"CLIENT_RANDOM" => Label::Master,
            b"CLIENT_HANDSHAKE_TRAFFIC_SECRET" => Label::Handshake(0),
            b"SERVER_HANDSHAKE_TRAFFIC_SECRET" => Label::Handshake(1),
            b"CLIENT_TRAFFIC_SECRET_0" => Label::Traffic(0),
            b"SERVER_TRAFFIC_SECRET_0" => Label::Traffic(1),
            _ => return None,
        })
    }
}

/// A secret: as long as the hash that it is for, 48 bytes at most (SHA-384).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Secret {
    bytes: [u8; Secret::MAX],
    length: u8,
}

impl Secret {
    pub(super) const MAX: usize = 48;

    /// None where it is longer than any.
    pub(super) fn new(bytes: &[u8]) -> Option<Secret> {
        let mut secret = Secret {
            bytes: [0; Secret::MAX],
            length: bytes.len() as u8,
        };
        secret.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(secret)
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl fmt::Debug for Secret {
    /// Without its bytes: what is printed may be kept.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({} bytes)", self.length)
    }
}

/// All secrets that are known.
#[derive(Debug, Default)]
pub struct KeyLog {
    secrets: HashMap<(ClientRandom, Label), Secret>,
    /// Lines that are none of the format.
    malformed: u64,
    well_formed: u64,
}

impl KeyLog {
    /// Reads a key log to its end.
    ///
    /// # Errors
    /// When the file system fails.
    pub fn read(mut lines: impl BufRead) -> io::Result<KeyLog> {
        let mut log = KeyLog::default();
        let mut line = Vec::new();
        loop {
            line.clear();
            // Bounded: a file without line ends is not read into memory as one line.
            let mut limited = io::Read::take(&mut lines, LINE_MAX as u64);
            if limited.read_until(b'\n', &mut line)? == 0 {
                return Ok(log);
            }
            log.line(&line);
        }
    }

    /// Adds the lines of a text.
    pub fn add(&mut self, text: &[u8]) {
        for line in text.split(|byte| *byte == b'\n') {
            self.line(line);
        }
    }

    /// Lines were read, and none of them is of this format.
    pub fn is_foreign(&self) -> bool {
        self.malformed > 0 && self.well_formed == 0
    }

    /// How many secrets there are.
    pub fn count(&self) -> usize {
        self.secrets.len()
    }

    pub(super) fn find(&self, random: &ClientRandom, label: Label) -> Option<Secret> {
        self.secrets.get(&(*random, label)).copied()
    }

    fn line(&mut self, line: &[u8]) {
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") {
            return;
        }
        let Some((label, random, secret)) = parse(line) else {
            self.malformed += 1;
            return;
        };
        self.well_formed += 1;
        // Other labels (EXPORTER_SECRET and its like) open no records.
        if let Some(label) = label
            && self.secrets.len() < SECRETS_MAX
        {
            self.secrets.insert((random, label), secret);
        }
    }
}

/// A label, the random and the secret. A label that is not known is None.
fn parse(line: &[u8]) -> Option<(Option<Label>, ClientRandom, Secret)> {
    let mut words = line.split(u8::is_ascii_whitespace);
    let (label, random, secret) = (words.next()?, words.next()?, words.next()?);
    let random = hexadecimal(random)?.try_into().ok()?;
    let known = Label::parse(label);
    // Of others the length is not known.
    let secret = match Secret::new(&hexadecimal(secret)?) {
        None if known.is_none() => Secret::new(&[])?,
        secret => secret?,
    };
    Some((known, random, secret))
}

fn hexadecimal(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let (pairs, []) = text.as_chunks::<2>() else {
        return None;
    };
    let byte = |[high, low]: &[u8; 2]| Some(digit(*high)? << 4 | digit(*low)?);
    pairs.iter().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(label: &str, random: &str, secret: &str) -> String {
        format!("{label} {} {}\n", random.repeat(32), secret.repeat(32))
    }

    #[test]
    fn secrets_are_found_by_random_and_label() {
        let text = [
            "# a comment\r\n".to_owned(),
            line("CLIENT_RANDOM", "0a", "01"),
            line("CLIENT_TRAFFIC_SECRET_0", "0A", "02"),
            line("SERVER_HANDSHAKE_TRAFFIC_SECRET", "0b", "03"),
            line("EXPORTER_SECRET", "0b", "04"),
            "no such line\n".to_owned(),
        ];
        let log = KeyLog::read(text.concat().as_bytes()).expect("memory");
        let find = |random, label| log.find(&[random; 32], label).map(|one| one.bytes()[0]);
        assert_eq!(find(10, Label::Master), Some(1));
        assert_eq!(find(10, Label::Traffic(0)), Some(2));
        assert_eq!(find(11, Label::Handshake(1)), Some(3));
        assert_eq!(find(11, Label::Master), None);
        assert_eq!((log.count(), log.malformed), (3, 1));
        assert!(!log.is_foreign());
    }

    #[test]
    fn other_files_are_foreign_and_take_no_memory() {
        for text in [&b"a picture"[..], &[b'a'; 100_000], b"CLIENT_RANDOM 0g 00"] {
            let log = KeyLog::read(text).expect("memory");
            assert!(log.is_foreign() && log.count() == 0);
        }
        assert!(!KeyLog::read(&b""[..]).expect("memory").is_foreign());
    }

    #[test]
    fn a_secret_is_not_printed() {
        let secret = Secret::new(&[7; 32]).expect("short enough");
        assert_eq!(format!("{secret:?}"), "Secret(32 bytes)");
        assert_eq!(Secret::new(&[0; 49]), None);
    }
}
