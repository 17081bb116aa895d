//! What takes the bytes of records.

use super::keylog::KeyLog;
use crate::flow::event::{Direction, Segment};
use crate::protocol::cursor::Place;
use crate::protocol::exchange::Pdu;
use crate::protocol::layer::Kind;

/// Type, version and length (RFC 8446 section 5.1), bytes.
pub(super) const HEAD_BYTES: usize = 5;
/// The type of records with content (RFC 8446 section 5.1).
pub(super) const APPLICATION_DATA: u8 = 23;

/// What becomes of the bytes of a connection.
pub trait Upper {
    fn keys(&self) -> &KeyLog;
    /// The next bytes are of that layer; there may be none.
    fn label(&mut self, kind: Kind, bytes: usize, segment: &Segment);
    fn pdu(&mut self, pdu: Pdu, segment: &Segment);
    /// The next bytes, decrypted.
    fn content(&mut self, place: &Place, bytes: &[u8]);
    /// Plain bytes are missing: that many, or `UNKNOWN_BYTES`.
    fn gap(&mut self, direction: Direction, offset: u64, bytes: u64);
}
