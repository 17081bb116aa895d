//! Bytes to fields.

use super::huffman;
use super::integer::Cursor;
use super::table::{ENTRY_OVERHEAD, Table};
use crate::ProtocolError;

/// Why a block could not be decoded. Either way the connection is lost: the
/// rest of the block has not been read, so the tables differ from now on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// RFC 7541 was violated: `COMPRESSION_ERROR`.
    #[error(transparent)]
    Compression(#[from] ProtocolError),
    /// The section is larger than this side takes, as RFC 9113 section 6.5.2
    /// calculates it (32 bytes more a field): the limit in bytes.
    #[error("more than {0} bytes of fields")]
    TooLarge(usize),
}

/// The receiving side's compression state.
///
/// No input makes it panic, and a block makes it do no more work than its own
/// length and the limit on the section allow.
#[derive(Debug)]
pub struct Decoder {
    table: Table,
    table_max: usize,
    section_max: usize,
    /// The table lacks what was inserted before this decoder listened.
    // Only passive readers set it; for an endpoint an unknown index means that the
    // tables differ (RFC 7541 section 2.3.3).
    mid_stream: bool,
    name: Vec<u8>,
    value: Vec<u8>,
}

impl Decoder {
    /// `table_max` is this side's `SETTINGS_HEADER_TABLE_SIZE`, `section_max`
    /// its `SETTINGS_MAX_HEADER_LIST_SIZE`, both in bytes.
    pub fn new(table_max: u32, section_max: u32) -> Decoder {
        Decoder {
            table: Table::new(table_max as usize),
            table_max: table_max as usize,
            section_max: section_max as usize,
            mid_stream: false,
            name: Vec::new(),
            value: Vec::new(),
        }
    }

    /// For a passive decoder whose capture starts mid-stream: an
    /// index beyond the table is an empty field, since indices count from the
    /// youngest entry (RFC 7541 section 2.3.3) and those known stay right.
    #[must_use]
    pub fn mid_stream(mut self) -> Decoder {
        self.mid_stream = true;
        self
    }

    /// The table, for its version and size.
    #[inline]
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Decodes one block, handing each field's name and value to `sink`.
    ///
    /// # Errors
    /// When RFC 7541 is violated or the section is too large.
    pub fn decode(
        &mut self,
        block: &[u8],
        mut sink: impl FnMut(&[u8], &[u8]),
    ) -> Result<(), DecodeError> {
        let mut cursor = Cursor::new(block);
        let mut left = self.section_max;
        let mut fields = 0_usize;
        while let Some(first) = cursor.peek() {
            // RFC 7541 section 6: 1xxxxxxx indexed, 01 inserted literal, 001 size update, else
            // literal.
            let size = match first.leading_zeros() {
                0 => self.read_indexed(&mut cursor, &mut sink)?,
                1 => self.literal(&mut cursor, 6, true, &mut sink)?,
                2 => {
                    self.size_update(&mut cursor, fields)?;
                    continue;
                }
                _ => self.literal(&mut cursor, 4, false, &mut sink)?,
            };
            fields += 1;
            // The limit counts decoded sizes: a few bytes of indices may stand for much (HPACK
            // bomb).
            left = left
                .checked_sub(size)
                .ok_or(DecodeError::TooLarge(self.section_max))?;
        }
        Ok(())
    }

    /// RFC 7541 section 6.1.
    fn read_indexed(
        &self,
        cursor: &mut Cursor<'_>,
        sink: &mut impl FnMut(&[u8], &[u8]),
    ) -> Result<usize, DecodeError> {
        let index = cursor.integer(7)?;
        let (name, value) = self.entry(index)?;
        sink(name, value);
        Ok(name.len() + value.len() + ENTRY_OVERHEAD)
    }

    /// RFC 7541 section 6.2.
    fn literal(
        &mut self,
        cursor: &mut Cursor<'_>,
        prefix: u8,
        insert: bool,
        sink: &mut impl FnMut(&[u8], &[u8]),
    ) -> Result<usize, DecodeError> {
        let index = cursor.integer(prefix)?;
        if index == 0 {
            string(cursor, &mut self.name)?;
        } else {
            // `entry` borrows the whole decoder, so that the buffer is taken out meanwhile.
            let mut known = std::mem::take(&mut self.name);
            known.clear();
            known.extend_from_slice(self.entry(index)?.0);
            self.name = known;
        }
        string(cursor, &mut self.value)?;
        // Before the insertion, which may evict the entry that the name came from.
        sink(&self.name, &self.value);
        if insert {
            self.table.insert(&self.name, &self.value);
        }
        Ok(self.name.len() + self.value.len() + ENTRY_OVERHEAD)
    }

    /// Name and value of an index.
    fn entry(&self, index: u32) -> Result<(&[u8], &[u8]), ProtocolError> {
        match self.table.get(index as usize) {
            Some(entry) => Ok(entry),
            None if self.mid_stream && index > 0 => Ok((b"", b"")),
            None => Err(no_entry(index)),
        }
    }

    /// RFC 7541 section 6.3.
    fn size_update(&mut self, cursor: &mut Cursor<'_>, fields: usize) -> Result<(), ProtocolError> {
        let size = cursor.integer(5)?;
        // Section 4.2: a change is signalled at the beginning of the first block after it.
        if fields > 0 {
            return Err(ProtocolError {
                rule: "table size updates are at the beginning of a block \
                       (RFC 7541 section 4.2)",
                found: format!("one after {fields} fields"),
            });
        }
        if size as usize > self.table_max {
            return Err(ProtocolError {
                rule: "a table size update stays within SETTINGS_HEADER_TABLE_SIZE \
                       (RFC 7541 section 6.3)",
                found: format!("{size}, where {} is allowed", self.table_max),
            });
        }
        // The peer may shrink its table at will below our setting, e.g. to save memory.
        self.table.resize(size as usize);
        Ok(())
    }
}

fn no_entry(index: u32) -> ProtocolError {
    ProtocolError {
        rule: "an index names an entry of the tables (RFC 7541 section 2.3.3)",
        found: format!("index {index}"),
    }
}

/// RFC 7541 section 5.2. Reads into `out`, replacing what it held.
fn string(cursor: &mut Cursor<'_>, out: &mut Vec<u8>) -> Result<(), ProtocolError> {
    // The H bit is the highest of the byte that begins the length (RFC 7541 section 5.2).
    let coded = cursor.peek().is_some_and(|first| first & 0x80 != 0);
    let length = cursor.integer(7)?;
    let bytes = cursor.take(length as usize)?;
    out.clear();
    if coded {
        huffman::decode(bytes, out)
    } else {
        out.extend_from_slice(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Index 63 was inserted before, 62 since.
    #[test]
    fn a_mid_stream_decoder_knows_entries_inserted_since() {
        let block = [&b"\x40\x01a\x01b"[..], &[0x80 | 62, 0x80 | 63]].concat();
        let mut fields = Vec::new();
        let mut decoder = Decoder::new(4_096, 4_096).mid_stream();
        let decoded = decoder.decode(&block, |name, value| {
            fields.push((name.to_vec(), value.to_vec()));
        });
        assert_eq!(decoded, Ok(()));
        let known = (b"a".to_vec(), b"b".to_vec());
        assert_eq!(fields, [known.clone(), known, Default::default()]);
        assert!(
            Decoder::new(4_096, 4_096)
                .decode(&block, |_, _| ())
                .is_err()
        );
    }
}
