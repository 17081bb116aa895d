//! A request that met the server's FIN on its way (RFC 9112 section 9.6).

use super::pending::Pending;
use crate::diagnosis::cause::Cause;
use crate::diagnosis::finding::Occurrence;
use crate::flow::event::{Direction, Segment};
use crate::packet::Flags;

/// What is known of the race on one connection.
#[derive(Debug, Default)]
pub(super) struct Race {
    /// The packet of that FIN.
    closed: Option<u64>,
    /// When the first request behind it was sent, and its packet.
    asked: Option<(u64, u64)>,
}

impl Race {
    pub(super) fn note(&mut self, pending: &Pending) {
        let segment = &pending.segment;
        if pending.starts_call && self.closed.is_some() {
            let at = (segment.at_ns, segment.packet);
            self.asked.get_or_insert(at);
        }
        if segment.flags.has(Flags::FIN) && segment.direction == Direction::Reply {
            self.closed.get_or_insert(segment.packet);
        }
    }

    /// The finding where this RST of the server answers such a request.
    pub(super) fn find(&self, reset: &Segment, flow: u32) -> Option<Occurrence> {
        let (closed, (asked_at, asked)) = self.closed.zip(self.asked)?;
        (reset.direction == Direction::Reply).then(|| Occurrence {
            cause: Cause::KeepAliveRace,
            flow,
            exchange: None,
            direction: Direction::Reply,
            packets: vec![closed, asked, reset.packet],
            ns: reset.at_ns.saturating_sub(asked_at),
        })
    }
}
