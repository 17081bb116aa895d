//! How long a round trip takes, from where the capture stands.

use crate::stream::Direction;

/// The shortest round trips seen on one flow. The capture may stand at either
/// end or between: what counts is how long it takes from the capture to one side
/// and back, and that differs by side.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Path {
    /// From the capture to the client and back, and to the server and back, ns.
    to: [Option<u64>; 2],
}

impl Path {
    /// A packet passed towards the receiver of `direction`, and its answer came back
    /// after that long.
    pub(crate) fn answered(&mut self, direction: Direction, ns: u64) {
        let shortest = &mut self.to[direction.opposite() as usize];
        *shortest = Some(shortest.unwrap_or(LONGEST_NS).min(ns));
    }

    /// Takes what another flow between the same hosts has shown, where it is shorter.
    pub(crate) fn learn(&mut self, other: &Path) {
        for (mine, theirs) in self.to.iter_mut().zip(other.to) {
            *mine = match (*mine, theirs) {
                (Some(mine), Some(theirs)) => Some(mine.min(theirs)),
                (mine, theirs) => mine.or(theirs),
            };
        }
    }

    /// To the sender of `direction` and back, ns; 0 where nothing is known.
    pub(crate) fn near(&self, direction: Direction) -> u64 {
        self.to[direction as usize].unwrap_or(0)
    }

    /// To the receiver of `direction` and back, ns; 0 where nothing is known.
    pub(crate) fn far(&self, direction: Direction) -> u64 {
        self.near(direction.opposite())
    }

    /// From end to end and back, ns: its two parts; 0 where nothing is known.
    pub(crate) fn round_trip(&self) -> u64 {
        self.to.iter().flatten().sum()
    }

    /// The round trip in both parts has been seen.
    pub(crate) fn is_known(&self) -> bool {
        self.to.iter().all(Option::is_some)
    }

    /// How much later than [`Self::near`] the answer of the sender of `direction`
    /// may come and still be its kernel's answer, ns: half as long again for a link
    /// whose delay varies, and at least what a busy machine needs.
    pub(crate) fn slack(&self, direction: Direction) -> u64 {
        (self.near(direction) / 2).max(KERNEL_ANSWERS_NS)
    }
}

/// No round trip is longer: an hour, ns.
const LONGEST_NS: u64 = 3_600_000_000_000;
/// A kernel answers a packet in tens of microseconds, on a busy machine in this, ns.
const KERNEL_ANSWERS_NS: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capture_at_the_client_sees_the_way_to_the_server() {
        let mut path = Path::default();
        path.answered(Direction::Request, 14_000_000);
        path.answered(Direction::Reply, 20_000);
        path.answered(Direction::Request, 13_800_000);
        assert!(path.is_known());
        assert_eq!(path.near(Direction::Reply), 13_800_000);
        assert_eq!(path.far(Direction::Request), 13_800_000);
        assert_eq!(path.near(Direction::Request), 20_000);
        assert_eq!(path.round_trip(), 13_820_000);
    }

    #[test]
    fn another_flow_teaches_what_is_not_known() {
        let mut path = Path::default();
        let mut other = Path::default();
        other.answered(Direction::Request, 500);
        path.learn(&other);
        assert_eq!(path.near(Direction::Reply), 500);
        assert!(!path.is_known());
    }
}
