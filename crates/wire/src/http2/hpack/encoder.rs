//! Fields to bytes.

use super::table::{ENTRY_OVERHEAD, Found, Table};
use super::{huffman, integer};

/// How a field is to be represented (RFC 7541 section 6.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Indexing {
    /// Into the dynamic table, so that the next time it is one index.
    Incremental,
    /// As a literal.
    Without,
    /// As a literal that no intermediary may index either: for secrets
    /// (RFC 7541 section 7.1.3).
    Never,
}

/// Whether strings are Huffman-coded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Huffman {
    /// When that is not longer.
    WhenNotLonger,
    /// Never.
    Never,
}

/// A change of the table's size that has not been sent to the peer.
#[derive(Debug, Clone, Copy)]
struct Resize {
    /// The smallest size since the last block.
    least: usize,
    /// The size from now on.
    now: usize,
}

/// The sending side's compression state.
#[derive(Debug)]
pub struct Encoder {
    table: Table,
    // The peer's setting is an upper bound, not a demand: an encoder may use less
    // (section 4.2).
    preferred_size_max: usize,
    huffman: Huffman,
    resize: Option<Resize>,
}

impl Encoder {
    /// Starts with an empty table of `size_max` bytes, which must not be above
    /// the peer's `SETTINGS_HEADER_TABLE_SIZE`; later it never grows above it.
    pub fn new(size_max: u32, huffman: Huffman) -> Encoder {
        let preferred_size_max = size_max as usize;
        Encoder {
            table: Table::new(preferred_size_max),
            preferred_size_max,
            huffman,
            resize: None,
        }
    }

    /// The table, for its version and size.
    #[inline]
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// True when the next block carries size updates that no later one repeats.
    pub fn has_pending_resize(&self) -> bool {
        self.resize.is_some()
    }

    /// Takes the peer's new `SETTINGS_HEADER_TABLE_SIZE`. The next block begins
    /// with the size updates that RFC 7541 section 4.2 asks for.
    pub fn limit(&mut self, peer_max: u32) {
        let now = self.preferred_size_max.min(peer_max as usize);
        if now == self.table.size_max() {
            return;
        }
        // Section 4.2: the smallest value between two blocks is signalled too: it evicted
        // entries.
        let least = self.resize.map_or(now, |pending| pending.least.min(now));
        self.resize = Some(Resize { least, now });
        self.table.resize(now);
    }

    /// Begins a block: appends size updates where they are due.
    pub fn begin_block(&mut self, out: &mut Vec<u8>) {
        let Some(Resize { least, now }) = self.resize.take() else {
            return;
        };
        // 0x20 is the pattern 001 with a 5-bit prefix (RFC 7541 section 6.3).
        if least < now {
            integer::write(out, 0x20, 5, least);
        }
        integer::write(out, 0x20, 5, now);
    }

    /// Appends one field; `name` must be in lower case.
    pub fn field(&mut self, name: &[u8], value: &[u8], indexing: Indexing, out: &mut Vec<u8>) {
        let found = self.table.find(name, value);
        // Never-indexed fields stay literals even where the table has them.
        if let (Found::Field(index), false) = (found, indexing == Indexing::Never) {
            return integer::write(out, 0x80, 7, index);
        }
        // A larger entry would empty the table (section 4.4).
        let fits = name.len() + value.len() + ENTRY_OVERHEAD <= self.table.size_max();
        // RFC 7541 sections 6.2.1, 6.2.3 and 6.2.2.
        let (bits, prefix) = match indexing {
            Indexing::Incremental if fits => (0x40, 6),
            Indexing::Never => (0x10, 4),
            _ => (0x00, 4),
        };
        match found {
            Found::Field(index) | Found::Name(index) => integer::write(out, bits, prefix, index),
            Found::Nothing => {
                out.push(bits);
                self.string(name, out);
            }
        }
        self.string(value, out);
        // After the field has been written, as the decoder inserts after it has read
        // it: an index written here refers to the table before.
        if bits == 0x40 {
            self.table.insert(name, value);
        }
    }

    /// RFC 7541 section 5.2.
    fn string(&self, plain: &[u8], out: &mut Vec<u8>) {
        let coded_len = huffman::code_len(plain);
        let shorter = !plain.is_empty() && coded_len <= plain.len();
        if shorter && self.huffman == Huffman::WhenNotLonger {
            integer::write(out, 0x80, 7, coded_len);
            huffman::encode(plain, out);
        } else {
            integer::write(out, 0x00, 7, plain.len());
            out.extend_from_slice(plain);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_shrunk_and_grown_again_is_announced_by_both_sizes() {
        let mut encoder = Encoder::new(4_096, Huffman::WhenNotLonger);
        encoder.limit(100);
        encoder.limit(1_000_000);
        let mut out = Vec::new();
        encoder.begin_block(&mut out);
        assert_eq!(out, [0x3f, 0x45, 0x3f, 0xe1, 0x1f]);
        out.clear();
        encoder.begin_block(&mut out);
        assert!(out.is_empty());
    }

    #[test]
    fn a_secret_is_never_indexed_not_even_when_it_could_be() {
        let mut encoder = Encoder::new(4_096, Huffman::Never);
        let mut out = Vec::new();
        encoder.field(b"authorization", b"x", Indexing::Never, &mut out);
        assert_eq!(out, [0x1f, 0x08, 0x01, b'x']);
        assert!(encoder.table().is_empty());
    }
}
