//! Streams of events that a buffer holds on their way: events-in-bursts.
//!
//! A server that has several events at once sends them in one burst, too. Two things show that
//! events waited:
//!
//! - their own times: in at least three bursts, events that were made one after the other came
//!   together, the last of them just made. Of old events, as in the replay of a history, the last
//!   one is old;
//! - cuts: at least three bursts end inside an event, and are of one size. Whoever writes events
//!   writes whole ones; a buffer that is full does not.

use crate::diagnosis::cause::Cause;
use crate::diagnosis::stall::Stall;
use crate::diagnosis::waits::{Part, WaitRing};
use crate::protocol::exchange::{Burst, Exchange};

/// Events that wait less may wait for a busy machine, ns.
const HELD_MIN_NS: u64 = 20_000_000;
/// Fewer bursts show no buffer, but a pause.
const BURSTS_MIN: usize = 3;
/// Events with times in a burst, at least: the distance of two shows how late the last may be.
const TIMED_MIN: u32 = 3;
/// The part of the time in which events were made, as its divisor, within which they came.
const TOGETHER_DIVISOR: u64 = 4;
/// A smaller burst may be a part of one event, bytes.
const BUFFER_MIN: u64 = 512;
/// Sizes of one buffer differ by less than this part, as its divisor: what frames the chunks of
/// the server counts to the buffer, too.
const SIZE_DIVISOR: u64 = 16;

/// The times for which events of the reply were held: one for each burst that shows it.
/// `waits`: what the connection waited for meanwhile.
pub(crate) fn find_held_events(exchange: &Exchange, waits: &WaitRing) -> Vec<Stall> {
    let bursts = &exchange.bursts[..];
    if bursts.len() < BURSTS_MIN {
        return Vec::new();
    }
    let asked_ns = exchange.request.last_at_ns;
    let is_pause = |&(place, from): &(usize, u64)| is_pause((from, bursts[place].at_ns[0]), waits);
    let shown = |held: Vec<Held>| -> Vec<Held> { held.into_iter().filter(is_pause).collect() };
    let made = require_three(shown(find_held_by_times(bursts, asked_ns)));
    let cut = require_three(shown(find_held_by_cuts(bursts)));
    let stall = |(place, from): Held| {
        let (burst, before) = (&bursts[place], place.checked_sub(1));
        let to = burst.at_ns[0];
        Stall {
            cause: Cause::EventsInBursts,
            direction: exchange.caller.opposite(),
            from,
            released: to,
            to,
            ns: to - from,
            late: (0, 0),
            stream: None,
            packets: [
                before.map_or(0, |before| bursts[before].packets[1]),
                0,
                burst.packets[0],
            ],
        }
    };
    // Both where both are shown: time is attributed once.
    made.into_iter().chain(cut).map(stall).collect()
}

/// A burst whose events waited, by its place, and since when the first of them did, ns.
type Held = (usize, u64);

/// For half of that time or more nothing but the server's side kept it from sending: no window, and
/// no acknowledgment.
fn is_pause((from, to): (u64, u64), waits: &WaitRing) -> bool {
    let pauses = waits
        .waits_between(from, to)
        .filter(|wait| wait.part == Part::ServerStall);
    2 * pauses.map(|wait| wait.ns()).sum::<u64>() >= to - from
}

/// By the events' own times.
fn find_held_by_times(bursts: &[Burst], asked_ns: u64) -> Vec<Held> {
    // The clock of the maker is not that of the capture: the event that came soonest came at once.
    let timed = bursts.iter().filter(|burst| burst.timed > 0);
    let delays = timed.map(|burst| i128::from(burst.at_ns[1]) - i128::from(burst.made_ns[1]));
    let Some(delay) = delays.min() else {
        return Vec::new();
    };
    let held = (0..bursts.len()).filter_map(|place| {
        let since = hold_start_ns(&bursts[place], delay)?;
        let before = place
            .checked_sub(1)
            .map_or(0, |before| bursts[before].at_ns[1]);
        // What was made before the request did not wait for a buffer.
        let since = since.max(asked_ns).max(before);
        is_held(since, bursts[place].at_ns[0]).then_some((place, since))
    });
    held.collect()
}

/// When the first event of a burst was made that waited for the last, ns of the capture's clock.
fn hold_start_ns(burst: &Burst, delay: i128) -> Option<u64> {
    let [first, last] = burst.made_ns;
    let made = last
        .checked_sub(first)
        .filter(|_| burst.timed >= TIMED_MIN)?;
    let came = burst.at_ns[1] - burst.at_ns[0];
    let lateness = i128::from(burst.at_ns[1]) - i128::from(last) - delay;
    // The buffer was full with the event after the last: two intervals at most.
    let lateness_max =
        2 * i128::from(made / u64::from(burst.timed - 1)) + i128::from(HELD_MIN_NS / 2);
    let is_fresh = lateness <= lateness_max;
    let is_together = came <= made / TOGETHER_DIVISOR;
    let since = u64::try_from(i128::from(first) + delay).unwrap_or(0);
    (is_fresh && is_together && made >= HELD_MIN_NS).then_some(since)
}

/// By bursts of one size that end inside an event.
fn find_held_by_cuts(bursts: &[Burst]) -> Vec<Held> {
    let size = |place: usize| bursts[place].end - bursts[place - 1].end;
    // The last burst is what was left; the first has no size that is known.
    let cut = |place: &usize| bursts[*place].ends_inside && bursts[*place].events > 0;
    let mut sizes: Vec<u64> = (1..bursts.len() - 1).filter(cut).map(size).collect();
    sizes.sort_unstable();
    let Some(&usual) = sizes
        .get(sizes.len() / 2)
        .filter(|usual| **usual >= BUFFER_MIN)
    else {
        return Vec::new();
    };
    let is_full = |place: &usize| size(*place).abs_diff(usual) <= usual / SIZE_DIVISOR;
    let full = (1..bursts.len() - 1).filter(cut).filter(is_full);
    // What was cut off waited until the next burst came.
    let held = full.filter_map(|place| {
        let since = bursts[place].at_ns[1];
        is_held(since, bursts[place + 1].at_ns[0]).then_some((place + 1, since))
    });
    held.collect()
}

/// From when on to when it came, ns: long enough not to be a busy machine's.
fn is_held(since: u64, came: u64) -> bool {
    came.checked_sub(since).is_some_and(|ns| ns >= HELD_MIN_NS)
}

fn require_three(held: Vec<Held>) -> Vec<Held> {
    if held.len() < BURSTS_MIN {
        return Vec::new();
    }
    held
}
