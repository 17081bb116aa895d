//! The progress report of a one-way service (contracts/README.md, Raw).

use crate::ProtocolError;

/// Bytes of a record.
pub const RECORD_BYTES: usize = 12;

/// How far a service has come with one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// The port of the client's end of that connection.
    pub port: u16,
    /// Messages processed on it so far.
    pub count: u64,
}

impl Record {
    /// The record as bytes.
    #[must_use]
    pub fn bytes(&self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        // Network byte order, unlike CDR, where the sender chooses.
        bytes[..4].copy_from_slice(&u32::from(self.port).to_be_bytes());
        bytes[4..].copy_from_slice(&self.count.to_be_bytes());
        bytes
    }

    fn parse(bytes: [u8; RECORD_BYTES]) -> Result<Record, ProtocolError> {
        let [a, b, c, d, count @ ..] = bytes;
        // Four bytes on the wire, of which a port fills two.
        let port = u32::from_be_bytes([a, b, c, d]);
        let port = u16::try_from(port).map_err(|_| ProtocolError {
            rule: "a record begins with a TCP port (contracts/README.md, Raw)",
            found: port.to_string(),
        })?;
        Ok(Record {
            port,
            count: u64::from_be_bytes(count),
        })
    }
}

/// Finds the records in a stream, whatever its pieces are.
#[derive(Debug, Default)]
pub struct Records {
    bytes: [u8; RECORD_BYTES],
    filled: usize,
}

impl Records {
    /// For a fresh report connection.
    #[must_use]
    pub fn new() -> Records {
        Records::default()
    }

    /// Takes the next record off the front of `input`; `None` when `input` is
    /// used up.
    ///
    /// # Errors
    /// When a record names no port; the connection must be closed.
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Option<Record>, ProtocolError> {
        let (taken, rest) = input.split_at(input.len().min(RECORD_BYTES - self.filled));
        *input = rest;
        self.bytes[self.filled..][..taken.len()].copy_from_slice(taken);
        self.filled += taken.len();
        if self.filled < RECORD_BYTES {
            return Ok(None);
        }
        self.filled = 0;
        Record::parse(self.bytes).map(Some)
    }
}
