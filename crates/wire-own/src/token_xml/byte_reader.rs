//! Bytes as they are read.

use super::error::{Error, ErrorKind};

/// Tokens that are being read.
pub(super) struct ByteReader<'i> {
    bytes: &'i [u8],
    at: usize,
    /// Where the token begins that is being read.
    token: usize,
}

impl<'i> ByteReader<'i> {
    pub(super) fn new(bytes: &'i [u8]) -> Self {
        ByteReader {
            bytes,
            at: 0,
            token: 0,
        }
    }

    #[inline]
    pub(super) fn begin_token(&mut self) {
        self.token = self.at;
    }

    /// An error of the token that is being read.
    #[cold]
    pub(super) fn error(&self, kind: ErrorKind) -> Error {
        let offset = self.token;
        Error { offset, kind }
    }

    #[inline]
    pub(super) fn byte(&mut self) -> Result<u8, Error> {
        let byte = self.bytes.get(self.at).copied();
        // Also beyond the end: the reader is not used after an error.
        self.at += 1;
        byte.ok_or_else(|| self.error(ErrorKind::Truncated))
    }

    /// A number of at most 64 bits in its shortest form.
    #[inline]
    pub(super) fn number(&mut self) -> Result<u64, Error> {
        let mut number = 0;
        // LEB128, least significant group first: 64 bits need ten groups.
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let group = u64::from(byte & 0x7F);
            // The tenth group holds bit 63 only; a last group of 0 would be a longer form.
            if shift == 63 && group > 1 || shift > 0 && byte == 0 {
                break;
            }
            number |= group << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(self.error(ErrorKind::Number))
    }

    /// A length, and that number of bytes of UTF-8.
    #[inline]
    pub(super) fn characters(
        &mut self,
        what: &'static str,
        limit: usize,
    ) -> Result<&'i str, Error> {
        let found = self.bytes(what, limit)?;
        std::str::from_utf8(found).map_err(|_| self.error(ErrorKind::Characters("UTF-8")))
    }

    /// A length, and that number of bytes.
    #[inline]
    pub(super) fn bytes(&mut self, what: &'static str, limit: usize) -> Result<&'i [u8], Error> {
        let bytes = self.number()?;
        let length = usize::try_from(bytes).unwrap_or(usize::MAX);
        if length > limit {
            return Err(self.error(ErrorKind::Length { what, bytes, limit }));
        }
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        // A slice of the input: nothing is allocated for a length before its bytes are
        // proved to be there.
        let found = rest.get(..length);
        let found = found.ok_or_else(|| self.error(ErrorKind::Truncated))?;
        self.at += length;
        Ok(found)
    }

    /// Proves that nothing is left.
    pub(super) fn end(&self) -> Result<(), Error> {
        if self.at == self.bytes.len() {
            return Ok(());
        }
        Err(Error {
            offset: self.at,
            kind: ErrorKind::Trailing,
        })
    }
}
