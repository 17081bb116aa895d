//! Rounds in which ours and the peer take turns.

use std::time::Duration;

use crate::cpu;

/// Encodes one message, decodes it and returns its size in bytes.
pub type RoundTrip = Box<dyn FnMut() -> usize>;

/// How long one side's turn is meant to last.
const TURN: Duration = Duration::from_millis(4);

/// Ours compared with the peer.
pub struct Race {
    ours: Side,
    peer: Option<Side>,
}

impl Race {
    pub fn new(ours: RoundTrip, peer: Option<RoundTrip>) -> Race {
        Race {
            ours: Side::new(ours),
            peer: peer.map(Side::new),
        }
    }

    /// One round: a turn of each side. The peer goes first in every second one.
    pub fn round(&mut self, number: usize) {
        // Whoever goes second finds caches warm with the same message. Taking turns gives
        // both that advantage.
        let ours_first = number.is_multiple_of(2);
        if ours_first {
            self.ours.turn();
        }
        if let Some(peer) = &mut self.peer {
            peer.turn();
        }
        if !ours_first {
            self.ours.turn();
        }
    }

    /// Bytes of our message.
    pub fn bytes(&mut self) -> usize {
        (self.ours.trip)()
    }

    /// Nanoseconds per round trip, one figure a round: ours, then the peer's
    /// (none without a peer).
    pub fn figures(self) -> (Vec<f64>, Vec<f64>) {
        (self.ours.ns, self.peer.map_or(Vec::new(), |peer| peer.ns))
    }
}

struct Side {
    trip: RoundTrip,
    /// How many round trips last about a [`TURN`].
    trips: u32,
    ns: Vec<f64>,
}

impl Side {
    /// Finding how many trips make a turn warms caches up.
    fn new(mut trip: RoundTrip) -> Side {
        let mut trips = 1;
        // Turns long enough for the clock, short enough that a disturbance meets few of
        // them.
        while time_trips(&mut trip, trips) * f64::from(trips) * 2.0 < TURN.as_nanos() as f64 {
            trips *= 2;
        }
        let ns = Vec::new();
        Side { trip, trips, ns }
    }

    fn turn(&mut self) {
        self.ns.push(time_trips(&mut self.trip, self.trips));
    }
}

/// Nanoseconds per round trip, of that many.
fn time_trips(trip: &mut RoundTrip, trips: u32) -> f64 {
    let start = cpu::of_this_thread();
    for _ in 0..trips {
        trip();
    }
    (cpu::of_this_thread() - start).as_nanos() as f64 / f64::from(trips)
}
