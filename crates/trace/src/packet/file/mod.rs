//! Capture files: pcap and pcapng are read, pcapng is written.
//!
//! Files are read front to back in a buffer of bounded size, so that a pipe
//! serves as well as a file of any length. Files compressed with gzip or zstd are read as they
//! are. What is damaged ends the reading,
//! and what was read until then is kept.
//!
//! Sources: draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng.

mod compression;
mod pcap;
mod pcapng;
mod reader;
mod record;
mod source;
mod writer;

pub use reader::Reader;
pub use record::{Damage, Error, Item, Record};
pub use writer::{InterfaceTotals, Writer};
