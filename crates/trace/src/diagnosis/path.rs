//! How long a round trip takes, from where the capture was taken.

use crate::flow::event::Direction;

const SAMPLES: usize = 16;
/// An answer this much later than the fastest may have been delayed on purpose (RFC 1122
/// section 4.2.3.2; Linux waits 40 ms), ns; of a long way an eighth.
const IMMEDIATE_NS: u64 = 20_000_000;

/// The last answers of a side's kernel that waited for nothing but the way, as far as
/// packets show.
#[derive(Debug, Clone, Copy, Default)]
struct Samples {
    ns: [u64; SAMPLES],
    taken: usize,
}

impl Samples {
    fn take(&mut self, ns: u64) {
        // A ring: the last ones count, because a path may change during a capture.
        self.ns[self.taken % SAMPLES] = ns;
        self.taken += 1;
    }

    /// How far above `shortest` nearly all of them lie, and as much again for each
    /// quarter of their number that is lacking: few show little of what may come.
    fn spread(&self, shortest: u64) -> u64 {
        // Delayed acknowledgments would look like variation of the path.
        let latest = shortest.saturating_add((shortest / 8).max(IMMEDIATE_NS));
        let mut known = self.ns;
        let known = &mut known[..self.taken.min(SAMPLES)];
        known.sort_unstable();
        let count = known.partition_point(|ns| *ns <= latest);
        let Some(last) = (count * 9).div_ceil(10).checked_sub(1) else {
            return 0;
        };
        let above = known[last].saturating_sub(shortest);
        // Four times the distance divided by the count: with 16 samples a quarter more,
        // with one five times as much.
        above + 4 * above / count as u64
    }
}

/// The shortest round trips seen on one flow, and how much they vary. The capture may
/// be taken at either end or between: what counts is the time from the capture to one side
/// and back, which differs by side.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Path {
    /// From the capture to the client and back, and to the server and back, ns.
    to: [Option<u64>; 2],
    samples: [Samples; 2],
}

impl Path {
    /// As [`Self::add_round_trip`], by a kernel that had nothing to wait for.
    pub(crate) fn add_sample(&mut self, direction: Direction, ns: u64) {
        self.add_round_trip(direction, ns);
        self.samples[direction.opposite() as usize].take(ns.min(ROUND_TRIP_MAX_NS));
    }

    /// A packet passed towards the receiver of `direction`, and its answer came back
    /// after that long.
    pub(crate) fn add_round_trip(&mut self, direction: Direction, ns: u64) {
        let shortest = &mut self.to[direction.opposite() as usize];
        // The minimum: queues and delayed acknowledgments only lengthen a round trip.
        *shortest = Some(shortest.unwrap_or(ROUND_TRIP_MAX_NS).min(ns));
    }

    /// Takes what another flow between the same hosts has shown: what is shorter, and
    /// what is newer.
    pub(crate) fn merge(&mut self, other: &Path) {
        for (mine, theirs) in self.to.iter_mut().zip(other.to) {
            *mine = match (*mine, theirs) {
                (Some(mine), Some(theirs)) => Some(mine.min(theirs)),
                (mine, theirs) => mine.or(theirs),
            };
        }
        for (mine, theirs) in self.samples.iter_mut().zip(other.samples) {
            if theirs.taken > 0 {
                *mine = theirs;
            }
        }
    }

    /// How much longer than [`Self::sender_rtt`] the way to the sender of `direction` and back
    /// may take, by what it took, ns; 0 where that never varied.
    pub(crate) fn spread(&self, direction: Direction) -> u64 {
        self.samples[direction as usize].spread(self.sender_rtt(direction))
    }

    /// To the sender of `direction` and back, ns; 0 where nothing is known.
    pub(crate) fn sender_rtt(&self, direction: Direction) -> u64 {
        self.to[direction as usize].unwrap_or(0)
    }

    /// To the receiver of `direction` and back, ns; 0 where nothing is known.
    pub(crate) fn receiver_rtt(&self, direction: Direction) -> u64 {
        self.sender_rtt(direction.opposite())
    }

    /// From end to end and back, ns: its two parts; 0 where nothing is known.
    pub(crate) fn round_trip(&self) -> u64 {
        // The capture point divides the way; both parts together are what the ends
        // measure.
        self.to.iter().flatten().sum()
    }

    pub(crate) fn is_known(&self) -> bool {
        self.to.iter().all(Option::is_some)
    }

    /// How much later than [`Self::sender_rtt`] the answer of the sender of `direction`
    /// may come and still be its kernel's answer, ns: half as long again for a link
    /// whose delay varies, and at least what a busy machine needs.
    pub(crate) fn slack(&self, direction: Direction) -> u64 {
        // Too little blames applications for what kernels do, too much the other way
        // round.
        (self.sender_rtt(direction) / 2).max(KERNEL_RESPONSE_NS)
    }
}

/// No round trip is longer: an hour, ns.
const ROUND_TRIP_MAX_NS: u64 = 3_600_000_000_000;
/// A kernel answers a packet in tens of microseconds, on a busy machine in this, ns.
const KERNEL_RESPONSE_NS: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capture_at_the_client_sees_the_way_to_the_server() {
        let mut path = Path::default();
        path.add_round_trip(Direction::Request, 14_000_000);
        path.add_round_trip(Direction::Reply, 20_000);
        path.add_round_trip(Direction::Request, 13_800_000);
        assert!(path.is_known());
        assert_eq!(path.sender_rtt(Direction::Reply), 13_800_000);
        assert_eq!(path.receiver_rtt(Direction::Request), 13_800_000);
        assert_eq!(path.sender_rtt(Direction::Request), 20_000);
        assert_eq!(path.round_trip(), 13_820_000);
    }

    #[test]
    fn the_spread_is_that_of_immediate_answers() {
        let mut path = Path::default();
        let to_server = Direction::Request;
        path.add_sample(to_server, 14_000_000);
        assert_eq!(path.spread(Direction::Reply), 0, "one shows no variation");
        path.add_sample(to_server, 16_000_000);
        path.add_round_trip(to_server, 30_000_000);
        assert_eq!(path.spread(Direction::Reply), 3 * 2_000_000);
        path.add_sample(to_server, 14_000_000 + 40_000_000);
        assert_eq!(path.spread(Direction::Reply), 3 * 2_000_000, "delayed");
        for _ in 0..SAMPLES {
            path.add_sample(to_server, 14_100_000);
        }
        assert_eq!(
            path.spread(Direction::Reply),
            125_000,
            "the last ones count"
        );
        assert_eq!(path.spread(to_server), 0, "of the client nothing is known");
    }

    #[test]
    fn another_flow_supplies_unknown_round_trips() {
        let mut path = Path::default();
        let mut other = Path::default();
        other.add_round_trip(Direction::Request, 500);
        path.merge(&other);
        assert_eq!(path.sender_rtt(Direction::Reply), 500);
        assert!(!path.is_known());
    }
}
