//! Reading in big blocks, with everything that is asked for in one piece.

use std::io::{ErrorKind, Read};

use super::compression::Input;
use super::record::{Damage, Error};

/// One read asks for so much.
const BUFFER_BYTES: usize = 1 << 20;

/// A capture as a window that moves over it.
pub(super) struct Source<R: Read> {
    read: Input<R>,
    buffer: Box<[u8]>,
    begin: usize,
    end: usize,
    /// Of `begin` in the file.
    offset: u64,
    at_end: bool,
    damage: Option<Damage>,
}

impl<R: Read> Source<R> {
    pub(super) fn new(read: R) -> Result<Source<R>, Error> {
        let read = Input::new(read).map_err(|source| Error::Io { offset: 0, source })?;
        Ok(Source {
            read,
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            begin: 0,
            end: 0,
            offset: 0,
            at_end: false,
            damage: None,
        })
    }

    /// Why a compressed file could not be read to its end.
    pub(super) fn damage(&self) -> Option<&Damage> {
        self.damage.as_ref()
    }

    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// The next bytes: `wanted`, or fewer at the end of the file.
    #[inline]
    pub(super) fn peek(&mut self, needed: usize) -> Result<&[u8], Error> {
        // The common case is one comparison and no copy; refilling is cold.
        if self.end - self.begin < needed {
            self.fill(needed)?;
        }
        let end = self.end.min(self.begin + needed);
        Ok(&self.buffer[self.begin..end])
    }

    /// Takes bytes that were peeked at; at most those.
    #[inline]
    pub(super) fn consume(&mut self, bytes: usize) {
        let bytes = bytes.min(self.end - self.begin);
        self.begin += bytes;
        self.offset += bytes as u64;
    }

    /// Takes bytes that were peeked at, and gives them.
    #[inline]
    pub(super) fn take(&mut self, bytes: usize) -> &[u8] {
        let from = self.begin;
        self.consume(bytes);
        &self.buffer[from..self.begin]
    }

    /// Passes over bytes, be they more than the buffer holds. False when the file ends first.
    pub(super) fn skip(&mut self, mut bytes: u64) -> Result<bool, Error> {
        // In steps: a block that claims 4 GiB needs no buffer of that size.
        while bytes > 0 {
            let step = usize::try_from(bytes).map_or(BUFFER_BYTES, |b| b.min(BUFFER_BYTES));
            let there = self.peek(step)?.len();
            self.consume(there);
            bytes -= there as u64;
            if there < step {
                return Ok(false);
            }
        }
        Ok(true)
    }

    #[cold]
    fn fill(&mut self, needed: usize) -> Result<(), Error> {
        // At most one partial record moves per refill, that is per megabyte.
        self.buffer.copy_within(self.begin..self.end, 0);
        self.end -= self.begin;
        self.begin = 0;
        while self.end < needed && !self.at_end {
            if self.end == self.buffer.len() {
                self.grow();
            }
            match self.read.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.at_end = true,
                Ok(read) => self.end += read,
                // A signal may interrupt read(2) before any data came (EINTR); a pipe
                // that is resumed must not look damaged.
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // What came out before is a part of a capture, as of a file that is cut.
                Err(error) if let Some(format) = self.read.compression() => {
                    let reason = format!("the {format} file cannot be read further: {error}");
                    self.damage = Some(Damage::new(self.offset + self.end as u64, reason));
                    self.at_end = true;
                }
                Err(source) => {
                    let offset = self.offset + self.end as u64;
                    return Err(Error::Io { offset, source });
                }
            }
        }
        Ok(())
    }

    /// Only when it is full: what a file claims costs nothing until it is there.
    fn grow(&mut self) {
        // Doubling bounds the copies to a constant factor of the record's size.
        let mut larger = vec![0; self.buffer.len() * 2].into_boxed_slice();
        larger[..self.end].copy_from_slice(&self.buffer[..self.end]);
        self.buffer = larger;
    }
}
