//! Bytes of a reply that came together.

/// Bytes of a reply that came with less than 5 ms between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Burst {
    /// The packets of its first and its last byte.
    pub packets: [u64; 2],
    /// When these came, nanoseconds since the Unix epoch.
    pub at_ns: [u64; 2],
    /// Bytes of the reply's body up to its end.
    pub end: u64,
    /// Its last byte is inside an event.
    pub ends_inside: bool,
    /// Events that ended in it.
    pub events: u32,
    /// Of these, those that have a time of their own.
    pub timed: u32,
    /// The times of the first and of the last of these, nanoseconds of their maker's clock.
    pub made_ns: [u64; 2],
}
