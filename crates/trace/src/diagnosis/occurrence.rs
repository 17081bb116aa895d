//! One exchange that one cause delayed.

use crate::diagnosis::cause::Cause;
use crate::flow::event::{Direction, FlowId};

/// One exchange, or opening of a connection, and one cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occurrence {
    /// Why.
    pub cause: Cause,
    /// The connection.
    pub flow: FlowId,
    /// Which exchange of it; None where messages cannot be read, or an opening
    /// without any.
    pub exchange: Option<u64>,
    /// The way of the bytes that were held up, or whose sender split them.
    pub direction: Direction,
    /// Packets that show it, in order; at most 8.
    pub packets: Vec<u64>,
    /// Time charged, nanoseconds. Time that is charged to a cause before it in
    /// [`Cause::ALL`] is not in it, so that of a pattern may be 0.
    pub ns: u64,
}
