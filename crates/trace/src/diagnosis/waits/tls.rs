//! The handshake of TLS as far as the types of records show it.

use super::pending::Pending;
use super::sums::Sink;
use crate::diagnosis::cause::Cause;
use crate::diagnosis::finding::Occurrence;
use crate::diagnosis::path::Path;
use crate::flow::event::Direction;

/// What a handshake may take on top of its round trips, ns.
const COMPUTING_NS: u64 = 25_000_000;
/// A Finished is shorter, encrypted and with its tag (RFC 5246 section 7.4.9), and a ClientHello
/// longer, bytes.
const FINISHED_BYTES_MAX: u16 = 128;
/// A server sends its session tickets within this, ns.
const TICKETS_WITHIN_NS: u64 = 2_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Stage {
    #[default]
    None,
    /// By side: cipher changed (1), and its Finished sent (2), as in TLS 1.2.
    Handshake([u8; 2]),
    Done,
}

/// Of one connection.
#[derive(Debug, Default)]
pub(super) struct TlsTurns {
    stage: Stage,
    /// When the handshake began, and the packet.
    began: (u64, u64),
    /// The client sent a second ClientHello (HelloRetryRequest, RFC 8446 section 4.1.4).
    is_retried: bool,
    /// When a handshake of TLS 1.3 was over, as long as tickets may follow, ns.
    tickets_from: Option<u64>,
}

impl TlsTurns {
    pub(super) fn is_open(&self) -> bool {
        matches!(self.stage, Stage::Handshake(_))
    }

    pub(super) fn is_done(&self) -> bool {
        self.stage == Stage::Done
    }

    /// The connection is open: what came with its SYN (RFC 7413) began no sooner.
    pub(super) fn open(&mut self, at: (u64, u64)) {
        self.began = at;
    }

    /// What the server sends at once behind a handshake of TLS 1.3.
    pub(super) fn is_ticket(&mut self, pending: &Pending, path: &Path) -> bool {
        let segment = &pending.segment;
        let is_reply = segment.direction == Direction::Reply;
        let Some(done_at) = self.tickets_from.filter(|_| is_reply) else {
            return false;
        };
        let way = path.sender_rtt(Direction::Reply) + path.slack(Direction::Reply);
        let is_ticket = pending.records.look_like_tickets()
            && segment.at_ns.saturating_sub(done_at) <= way + TICKETS_WITHIN_NS;
        if segment.bytes > 0 && !is_ticket {
            self.tickets_from = None;
        }
        is_ticket
    }

    /// TLS 1.3 ends its handshake with the first record of data type of the client (its
    /// Finished, RFC 8446 section 5.2), TLS 1.2 with the second Finished, which is what
    /// follows a change of cipher (RFC 5246 section 7.1).
    pub(super) fn note(&mut self, pending: &Pending, path: &Path, sink: &mut Sink) {
        let (segment, records) = (&pending.segment, &pending.records);
        let side = segment.direction as usize;
        if self.stage == Stage::None && records.has_handshake {
            self.stage = Stage::Handshake([0; 2]);
            self.began = (segment.at_ns, segment.packet);
        }
        let Stage::Handshake(sides) = &mut self.stage else {
            return;
        };
        if records.changes_cipher {
            sides[side] = sides[side].max(1);
        }
        if sides[side] == 1 {
            match records.handshake_bytes {
                0 => {}
                1..=FINISHED_BYTES_MAX => sides[side] = 2,
                // A second ClientHello comes behind a change of cipher, too (RFC 8446
                // appendix D.4).
                _ => self.is_retried |= segment.direction == Direction::Request,
            }
        }
        let is_by_data = records.data > 0 && segment.direction == Direction::Request;
        if *sides == [2, 2] || is_by_data {
            self.stage = Stage::Done;
            self.tickets_from = is_by_data.then_some(segment.at_ns);
            // TLS 1.2 takes two round trips (RFC 5246 section 7.3), later versions one, or two
            // where the server asks for another ClientHello.
            let round_trips = if is_by_data && !self.is_retried { 1 } else { 2 };
            self.judge(pending, round_trips * path.round_trip(), sink);
        }
    }

    /// The handshake is over; `expected` is what the network takes for it, ns.
    fn judge(&self, pending: &Pending, expected: u64, sink: &mut Sink) {
        let segment = &pending.segment;
        let ns = segment.at_ns.saturating_sub(self.began.0);
        // Without both sides, the round trips are not known.
        if expected > 0 && ns >= expected + COMPUTING_NS {
            sink.find(Occurrence {
                cause: Cause::SlowTls,
                flow: sink.flow,
                exchange: None,
                direction: Direction::Reply,
                packets: vec![self.began.1, segment.packet],
                ns,
            });
        }
    }
}
