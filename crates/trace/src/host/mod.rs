//! What the processes of the server did while a reply was waited for.
//!
//! Packets end at the socket. A record of the kernel's tracepoints (`wirelab-engine host`)
//! goes on from there: when data was ready, when which thread read it, ran, waited and wrote.
//! [`Timeline`] keeps the last of these records, and [`Timeline::split`] divides a time in
//! which the packets show that it was the server's turn. The parts of a time add up to it.

mod held;
mod part;
mod reason;
mod record;
mod split;
mod tally;
#[cfg(test)]
mod tests;
mod timeline;
mod windows;

pub use part::{HostDivision, HostPart};
pub use record::{
    Connection, HEADER_BYTES, OffCpu, RECORD_BYTES, RawRecord, Reader, Record, RecordError, Totals,
    Transfer, header,
};
pub use split::Window;
pub use tally::HostTally;
pub use timeline::Timeline;
pub use windows::{HostSums, HostWindows, WindowKind};
