//! Numbers at places of a header. None where the bytes end first.

/// The byte order of a file's own numbers; headers of packets are big-endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ByteOrder {
    Big,
    Little,
}

impl ByteOrder {
    #[inline]
    pub(crate) fn u16(self, bytes: &[u8], at: usize) -> Option<u16> {
        // Every header field is read here. `first_chunk` checks the bound once and
        // yields an array: no unaligned read, and no panic on a frame that the snap
        // length cut.
        let field = *bytes.get(at..)?.first_chunk()?;
        Some(match self {
            ByteOrder::Big => u16::from_be_bytes(field),
            ByteOrder::Little => u16::from_le_bytes(field),
        })
    }

    #[inline]
    pub(crate) fn u32(self, bytes: &[u8], at: usize) -> Option<u32> {
        let field = *bytes.get(at..)?.first_chunk()?;
        Some(match self {
            ByteOrder::Big => u32::from_be_bytes(field),
            ByteOrder::Little => u32::from_le_bytes(field),
        })
    }

    #[inline]
    pub(crate) fn u64(self, bytes: &[u8], at: usize) -> Option<u64> {
        let field = *bytes.get(at..)?.first_chunk()?;
        Some(match self {
            ByteOrder::Big => u64::from_be_bytes(field),
            ByteOrder::Little => u64::from_le_bytes(field),
        })
    }
}

/// A big-endian number of two bytes.
#[inline]
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    ByteOrder::Big.u16(bytes, at)
}
