//! The static and the dynamic table (RFC 7541 section 2.3).

use std::collections::VecDeque;

/// What an entry costs in addition to its bytes (RFC 7541 section 4.1).
pub(super) const ENTRY_OVERHEAD: usize = 32;

/// RFC 7541 appendix A; index 1 comes first.
const STATIC: [(&str, &str); 61] = [
    (":authority", ""),
    (":method", "GET"),
    (":method", "POST"),
    (":path", "/"),
    (":path", "/index.html"),
    (":scheme", "http"),
    (":scheme", "https"),
    (":status", "200"),
    (":status", "204"),
    (":status", "206"),
    (":status", "304"),
    (":status", "400"),
    (":status", "404"),
    (":status", "500"),
    ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"),
    ("accept-language", ""),
    ("accept-ranges", ""),
    ("accept", ""),
    ("access-control-allow-origin", ""),
    ("age", ""),
    ("allow", ""),
    ("authorization", ""),
    ("cache-control", ""),
    ("content-disposition", ""),
    ("content-encoding", ""),
    ("content-language", ""),
    ("content-length", ""),
    ("content-location", ""),
    ("content-range", ""),
    ("content-type", ""),
    ("cookie", ""),
    ("date", ""),
    ("etag", ""),
    ("expect", ""),
    ("expires", ""),
    ("from", ""),
    ("host", ""),
    ("if-match", ""),
    ("if-modified-since", ""),
    ("if-none-match", ""),
    ("if-range", ""),
    ("if-unmodified-since", ""),
    ("last-modified", ""),
    ("link", ""),
    ("location", ""),
    ("max-forwards", ""),
    ("proxy-authenticate", ""),
    ("proxy-authorization", ""),
    ("range", ""),
    ("referer", ""),
    ("refresh", ""),
    ("retry-after", ""),
    ("server", ""),
    ("set-cookie", ""),
    ("strict-transport-security", ""),
    ("transfer-encoding", ""),
    ("user-agent", ""),
    ("vary", ""),
    ("via", ""),
    ("www-authenticate", ""),
];

/// One field in the dynamic table.
#[derive(Debug, Clone)]
struct Entry {
    /// Name, then value.
    // One allocation for both parts, since entries are made and dropped as a whole.
    bytes: Box<[u8]>,
    name_len: usize,
}

impl Entry {
    fn field(&self) -> (&[u8], &[u8]) {
        self.bytes.split_at(self.name_len)
    }

    fn size(&self) -> usize {
        self.bytes.len() + ENTRY_OVERHEAD
    }
}

/// Where a field was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// Name and value at this index.
    Field(usize),
    /// The name only, at this index.
    Name(usize),
    /// Neither.
    Nothing,
}

/// The index space of one direction: 61 static entries, then the dynamic ones,
/// the youngest first.
#[derive(Debug, Clone)]
pub struct Table {
    entries: VecDeque<Entry>,
    size: usize,
    size_max: usize,
    version: u64,
}

impl Table {
    /// An empty dynamic table of at most `size_max` bytes, calculated like in
    /// RFC 7541 section 4.1. Allocates nothing.
    pub fn new(size_max: usize) -> Table {
        Table {
            entries: VecDeque::new(),
            size: 0,
            size_max,
            version: 0,
        }
    }

    /// Bytes in use, 32 for each entry included.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Bytes that may be in use.
    pub fn size_max(&self) -> usize {
        self.size_max
    }

    /// Number of dynamic entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True when there are no dynamic entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Changes whenever an index may have come to mean something else.
    #[inline]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Name and value at `index`, which counts from 1; None beyond the end.
    pub fn get(&self, index: usize) -> Option<(&[u8], &[u8])> {
        match index.checked_sub(1)? {
            at if at < STATIC.len() => {
                let (name, value) = STATIC[at];
                Some((name.as_bytes(), value.as_bytes()))
            }
            // Section 2.3.3: the youngest dynamic entry has the lowest index behind the static
            // ones.
            at => self.entries.get(at - STATIC.len()).map(Entry::field),
        }
    }

    pub(super) fn find(&self, name: &[u8], value: &[u8]) -> Found {
        let mut found = Found::Nothing;
        // Linear, because results are cached by version: this runs for new blocks only.
        for index in 1..=STATIC.len() + self.entries.len() {
            match self.get(index) {
                Some((n, v)) if n == name && v == value => return Found::Field(index),
                // The first match has the lowest index, which takes the fewest bytes.
                Some((n, _)) if n == name && found == Found::Nothing => found = Found::Name(index),
                _ => {}
            }
        }
        found
    }

    /// Adds an entry, dropping the oldest as room is needed; one that is larger
    /// than the table empties it (RFC 7541 section 4.4).
    pub(super) fn insert(&mut self, name: &[u8], value: &[u8]) {
        self.version += 1;
        let size = name.len() + value.len() + ENTRY_OVERHEAD;
        // Entries leave before the new one enters (section 4.4).
        self.evict(self.size_max.saturating_sub(size));
        if size <= self.size_max {
            self.size += size;
            let bytes = [name, value].concat().into_boxed_slice();
            self.entries.push_front(Entry {
                bytes,
                name_len: name.len(),
            });
        }
    }

    /// Sets the largest size, dropping the oldest entries (RFC 7541 section 4.3).
    pub(super) fn resize(&mut self, size_max: usize) {
        self.version += 1;
        self.size_max = size_max;
        self.evict(size_max);
    }

    fn evict(&mut self, size_left: usize) {
        while self.size > size_left {
            let Some(oldest) = self.entries.pop_back() else {
                return;
            };
            self.size -= oldest.size();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_youngest_entry_is_index_62_and_the_oldest_leaves_first() {
        let mut table = Table::new(2 * (ENTRY_OVERHEAD + 2));
        table.insert(b"a", b"1");
        table.insert(b"b", b"2");
        assert_eq!(table.get(62), Some((&b"b"[..], &b"2"[..])));
        assert_eq!(table.find(b"a", b"1"), Found::Field(63));
        table.insert(b"c", b"3");
        assert_eq!(table.find(b"a", b"1"), Found::Nothing);
        assert_eq!((table.len(), table.size()), (2, 68));
    }

    #[test]
    fn an_entry_larger_than_the_table_empties_it() {
        let mut table = Table::new(40);
        table.insert(b"a", b"1");
        table.insert(b"name", b"a value too long");
        assert!(table.is_empty());
        assert_eq!(table.size(), 0);
    }

    #[test]
    fn indices_out_of_range_are_none() {
        let table = Table::new(4_096);
        assert_eq!(table.get(0), None);
        assert_eq!(table.get(61), Some((&b"www-authenticate"[..], &b""[..])));
        assert_eq!(table.get(62), None);
        assert_eq!(table.get(usize::MAX), None);
    }

    #[test]
    fn every_change_changes_the_version() {
        let mut table = Table::new(4_096);
        let before = table.version();
        table.insert(b"a", b"1");
        let inserted = table.version();
        table.resize(0);
        assert!(before < inserted && inserted < table.version());
    }
}
