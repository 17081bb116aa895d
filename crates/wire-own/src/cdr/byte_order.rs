//! The two orders of a number's bytes.

/// Which byte of a number comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ByteOrder {
    /// The most significant; flag 0.
    Big,
    /// The least significant; flag 1.
    #[default]
    Little,
}

impl ByteOrder {
    /// The order that the lowest bit of a flag octet tells.
    #[must_use]
    pub fn from_flag(flag: u8) -> ByteOrder {
        if flag & 1 == 0 {
            ByteOrder::Big
        } else {
            ByteOrder::Little
        }
    }

    /// The octet that tells this order.
    #[must_use]
    pub fn flag(self) -> u8 {
        match self {
            ByteOrder::Big => 0,
            ByteOrder::Little => 1,
        }
    }
}
