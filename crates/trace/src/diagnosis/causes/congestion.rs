//! slow-start and idle-restart: the sender could have sent more, but its
//! congestion window was full.

use crate::diagnosis::cause::Cause;
use crate::diagnosis::path::Path;
use crate::diagnosis::sender::{Gap, Sender};
use crate::diagnosis::stall::Stall;

/// Linux never sets its retransmission timer shorter than this and a round trip
/// (TCP_RTO_MIN); after so long a pause it reduces the congestion window, ns.
const TIMEOUT_MIN_NS: u64 = 200_000_000;
/// RFC 6928, with the one segment more that a first acknowledgment may let out.
const INITIAL_SEGMENTS: u64 = 11;
/// Silences below this are those of a machine, not of a network, ns.
const SHORTEST_NS: u64 = 300_000;

/// A receiver acknowledges a flight of several segments at once (RFC 5681 section
/// 4.2). One that does not within this has other reasons than the network, ns.
const ACKNOWLEDGED_WITHIN_NS: u64 = 5_000_000;

/// What the flights of one direction have shown of its congestion window.
#[derive(Debug, Default)]
pub(crate) struct Congestion {
    /// The largest flight since the last loss, bytes.
    largest: u64,
    /// The flight before the last silence, bytes.
    last: u64,
    /// A pause has reduced it, and it has not grown to `largest` again.
    reduced: bool,
    has_lost: bool,
}

impl Congestion {
    /// Something was lost: from here on the window is small for that reason.
    pub(crate) fn note_loss(&mut self) {
        *self = Congestion {
            has_lost: true,
            ..Congestion::default()
        };
    }

    fn note_pause(&mut self, flight: u64) {
        self.largest = self.largest.max(flight);
        self.reduced = true;
        self.last = 0;
    }

    /// The cause of a silence after a flight of that many bytes.
    fn cause(&mut self, flight: u64, full: u64) -> Option<Cause> {
        // By 15 % at least. Slow start grows by half or more per round trip (RFC 5681
        // section 3.1), congestion avoidance by one segment.
        let grew = flight * 20 >= self.last * 23;
        // Below 90 % of the earlier largest flight the pause still limits the window.
        let cause = if self.reduced && flight * 10 < self.largest * 9 {
            Some(Cause::IdleRestart)
        } else if grew && (!self.has_lost || self.last > 0)
            || flight <= INITIAL_SEGMENTS * full && !self.has_lost
        {
            Some(Cause::SlowStart)
        } else {
            None
        };
        if flight >= self.largest {
            self.reduced = false;
            self.largest = flight;
        }
        self.last = flight;
        cause
    }

    /// The gap, if the sender was silent from the end of a flight until the first
    /// acknowledgment that it could not have known before.
    pub(crate) fn stall(&mut self, sender: &Sender, gap: &Gap, path: &Path) -> Option<Stall> {
        let round_trip = path.round_trip();
        if gap.ns() < (round_trip * 2 / 5).max(SHORTEST_NS) {
            return None;
        }
        // Flights as in T-RAT (Zhang, Breslau, Paxson, Shenker 2002): what is sent
        // between two waits shows the congestion window.
        let flight = sender.flight_bytes(gap.before.end, gap.before.at, path)?;
        let full = sender.full_segment();
        // Linux reduces the window after a pause of one timeout (RFC 2861,
        // tcp_slow_start_after_idle); the pause itself is the application's.
        if flight == 0 || gap.ns() >= TIMEOUT_MIN_NS + round_trip && gap.ns() > 2 * round_trip {
            self.note_pause(flight);
            return None;
        }
        let sender_rtt = path.sender_rtt(sender.direction);
        let release = sender
            .advertisements
            .progress_after(gap.before.at.saturating_sub(sender_rtt))?;
        let answer = gap.after.at.checked_sub(release.at)?;
        // The acknowledgment released the flight, if that came one way to the sender
        // and back later.
        let is_prompt = answer.abs_diff(sender_rtt) <= path.slack(sender.direction)
            && gap.ns() <= 2 * round_trip + ACKNOWLEDGED_WITHIN_NS;
        // Nagle's algorithm, too, holds back what is small behind what is small.
        let is_small = gap.before.is_small || gap.after.is_small;
        // The other small ones are left to `small_segments`.
        let least = if is_small { INITIAL_SEGMENTS - 2 } else { 2 };
        if flight < least * full || !is_prompt {
            return None;
        }
        Some(Stall {
            cause: self.cause(flight, full)?,
            direction: sender.direction,
            from: gap.before.at,
            released: release.at,
            to: gap.after.at,
            ns: gap.ns(),
            late: (gap.after.offset, gap.after.end),
            stream: None,
            packets: [gap.before.packet, release.packet, gap.after.packet],
        })
    }
}
