//! Rounds in which ours and the peer take turns.

use std::time::Duration;

use crate::cpu;

/// Encodes one message, decodes it and tells how many bytes it was.
pub type RoundTrip = Box<dyn FnMut() -> usize>;

/// How long one side's turn is meant to last.
const TURN: Duration = Duration::from_millis(4);

/// Nanoseconds per round trip, one figure a round: ours, then the peer's
/// (none without a peer). The peer goes first in every second round.
pub fn measured(
    ours: &mut RoundTrip,
    mut peer: Option<&mut RoundTrip>,
    rounds: usize,
) -> (Vec<f64>, Vec<f64>) {
    let our_trips = trips_of_a_turn(ours);
    let peer_trips = peer.as_mut().map_or(0, |peer| trips_of_a_turn(peer));
    let (mut ours_ns, mut peer_ns) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        if round % 2 == 0 {
            ours_ns.push(turn(ours, our_trips));
        }
        if let Some(peer) = peer.as_mut() {
            peer_ns.push(turn(peer, peer_trips));
        }
        if round % 2 == 1 {
            ours_ns.push(turn(ours, our_trips));
        }
    }
    (ours_ns, peer_ns)
}

/// How many round trips last about a [`TURN`]; finding it warms caches up.
fn trips_of_a_turn(trip: &mut RoundTrip) -> u32 {
    let mut trips = 1;
    loop {
        let took_ns = turn(trip, trips) * f64::from(trips);
        if took_ns * 2.0 >= TURN.as_nanos() as f64 {
            return trips;
        }
        trips *= 2;
    }
}

/// Nanoseconds per round trip, of that many.
fn turn(trip: &mut RoundTrip, trips: u32) -> f64 {
    let start = cpu::of_this_thread();
    for _ in 0..trips {
        trip();
    }
    (cpu::of_this_thread() - start).as_nanos() as f64 / f64::from(trips)
}
