//! One time in which it was the server's turn, divided by what its threads did.
//!
//! Until the request is read, the thread that reads it counts; from then on the thread that
//! has it. Where another one writes the reply, the request changes hands by the wake-ups
//! that lead from the one to the other.

use super::part::{HostDivision, HostPart};
use super::reason::classify_block;
use super::record::{Connection, OffCpu, Transfer};
use super::timeline::{Timeline, Transfers};

/// A write returns after its packet was captured: so much later at most, ns.
pub(super) const WRITE_LATE_NS: u64 = 10_000_000;
/// Clocks are compared for each batch of records: so far apart may one moment be in two, ns.
const CLOCKS_NS: u64 = 100_000;
/// Threads that a request goes through on its way from the reader to the writer.
const HANDS_MAX: usize = 4;
/// Wake-ups of one thread that are looked at per time.
const WAKEUPS_MAX: usize = 16;

/// A time in which, by the packets, it was the server's turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// As the server has it.
    pub connection: Connection,
    /// From when on, ns since the epoch.
    pub from: u64,
    /// Until the first byte of the reply was captured, ns since the epoch.
    pub to: u64,
    /// The round trip between capture and server, which ends at `from`, ns.
    pub path_ns: u64,
}

impl Window {
    /// When the request was captured.
    fn asked_at(&self) -> u64 {
        self.from.saturating_sub(self.path_ns)
    }
}

/// What one thread did in a part of the time.
#[derive(Clone, Copy)]
enum State {
    Running,
    Runnable,
    Blocked(HostPart),
    Unknown,
}

impl Timeline {
    /// Divides the time by what the record shows; the parts add up to it. Call it when
    /// records of [`Self::SETTLED_NS`] behind the end have been taken.
    pub fn split(&self, window: &Window) -> HostDivision {
        let mut division = HostDivision::default();
        let length = window.to.saturating_sub(window.from);
        let turn = self
            .connection(&window.connection)
            .and_then(|transfers| Turn::of(transfers, window));
        let Some(turn) = turn else {
            division.add(HostPart::Unknown, length);
            return division;
        };
        // A capture at the client sees the reply later than the server wrote it.
        let late = window
            .to
            .saturating_sub(turn.write.map_or(window.to, |one| one.at));
        let late = late.min(window.path_ns);
        let (from, to) = (window.from.saturating_sub(late), window.to - late);
        let from = from.min(to);
        let read_at = turn.read.at.clamp(from, to);
        let ready_at = match turn.read.ready_at {
            0 => from,
            at => at.clamp(from, read_at),
        };
        division.add(HostPart::Delivery, ready_at - from);
        self.unread(turn.read.tid, ready_at, read_at, &mut division);
        let writer = turn.write.map_or(turn.read.tid, |one| one.tid);
        for (tid, from, to) in self.hands(turn.read.tid, writer, read_at, to) {
            self.states(tid, from, to, |state, ns| {
                let part = match state {
                    State::Running => HostPart::Running,
                    State::Runnable => HostPart::Runnable,
                    State::Blocked(part) => part,
                    State::Unknown => HostPart::Unknown,
                };
                division.add(part, ns);
            });
        }
        // `from` may have been cut at the epoch.
        division.add(HostPart::Unknown, length.saturating_sub(division.total()));
        division
    }

    /// Records up to so long behind a time may belong to it, ns.
    pub const SETTLED_NS: u64 = WRITE_LATE_NS;

    /// The data waits for `reader`, or for the thread that wakes it.
    fn unread(&self, reader: u32, from: u64, to: u64, division: &mut HostDivision) {
        let waker = self
            .periods(reader, from)
            .take_while(|one| one.out_at < to)
            .filter(|one| (from..to).contains(&one.woken_at))
            .filter(|one| one.is_woken_by_own && one.waker != reader && one.waker != 0)
            .map(|one| (one.waker, one.woken_at))
            .last();
        let (first, handed_at) = waker.unwrap_or((reader, from));
        for (tid, from, to) in [(first, from, handed_at), (reader, handed_at, to)] {
            self.states(tid, from, to, |state, ns| {
                let part = match state {
                    State::Runnable => HostPart::Runnable,
                    _ => HostPart::Unread,
                };
                division.add(part, ns);
            });
        }
    }

    /// Who had the request when, from the reader to the writer.
    fn hands(&self, reader: u32, writer: u32, from: u64, to: u64) -> Vec<(u32, u64, u64)> {
        if reader == writer {
            return vec![(reader, from, to)];
        }
        let Some(handed) = self.wakeups(reader, writer, (from, to), HANDS_MAX) else {
            // It was running when it took the request over; no record shows when.
            return vec![(writer, from, to)];
        };
        let mut hands = Vec::with_capacity(handed.len() + 1);
        let (mut tid, mut since) = (reader, from);
        for (next, at) in handed {
            hands.push((tid, since, at));
            (tid, since) = (next, at);
        }
        hands.push((tid, since, to));
        hands
    }

    /// The wake-ups, each with its thread and time, that lead to `to` from `from`.
    fn wakeups(
        &self,
        from: u32,
        to: u32,
        (since, until): (u64, u64),
        depth: usize,
    ) -> Option<Vec<(u32, u64)>> {
        let woken = || {
            self.periods(to, since)
                .take_while(|one| one.out_at < until)
                .filter(|one| one.woken_at > since && one.woken_at < until)
                .filter(|one| one.is_woken_by_own && one.waker != to)
                .take(WAKEUPS_MAX)
        };
        if let Some(direct) = woken().find(|one| one.waker == from) {
            return Some(vec![(to, direct.woken_at)]);
        }
        if depth <= 1 {
            return None;
        }
        // Few are deep: the reader wakes the writer, or the one that does.
        woken().take(2).find_map(|one| {
            let mut path = self.wakeups(from, one.waker, (since, one.woken_at), depth - 1)?;
            path.push((to, one.woken_at));
            Some(path)
        })
    }

    /// Divides a time of one thread.
    fn states(&self, tid: u32, from: u64, to: u64, mut each: impl FnMut(State, u64)) {
        let mut at = from;
        let mut ran_at = self.period_before(tid, from).map(|one| one.in_at);
        let mut until = |at: &mut u64, end: u64, state: State| {
            let end = end.clamp(*at, to);
            if end > *at {
                each(state, end - *at);
            }
            *at = end;
        };
        for period in self.periods(tid, from) {
            // It ran since other than the record before has it: one is missing.
            let is_other = |ran_at: u64| period.ran_at.abs_diff(ran_at) > CLOCKS_NS;
            if period.ran_at > 0 && ran_at.is_none_or(is_other) {
                until(&mut at, period.ran_at, State::Unknown);
            }
            if period.out_at >= to {
                break;
            }
            until(&mut at, period.out_at, State::Running);
            self.split_off_cpu(period, |end, state| until(&mut at, end, state));
            ran_at = Some(period.in_at);
        }
        until(&mut at, to, State::Running);
    }

    fn split_off_cpu(&self, period: &OffCpu, mut until: impl FnMut(u64, State)) {
        if period.is_preempted {
            until(period.in_at, State::Runnable);
        } else if period.woken_at == 0 {
            // The wake-up was not seen: all of it counts as blocked.
            until(period.in_at, State::Blocked(classify_block(period)));
        } else {
            until(period.woken_at, State::Blocked(classify_block(period)));
            until(period.in_at, State::Runnable);
        }
    }
}

/// The read and the write of a time.
struct Turn {
    read: Transfer,
    write: Option<Transfer>,
}

impl Turn {
    fn of(transfers: &Transfers, window: &Window) -> Option<Turn> {
        let (asked, to) = (window.asked_at(), window.to);
        let reads = &transfers.reads;
        let place = reads.partition_point(|one| one.at < asked);
        let own = reads.get(place).filter(|one| one.at <= to);
        // Without a read in it, the server goes on with what it had read before.
        let read = *own.or_else(|| reads.get(place.checked_sub(1)?))?;
        let after = if own.is_some() { read.at } else { asked };
        let first = transfers.writes.partition_point(|one| one.at <= after);
        let write = transfers.writes.get(first).copied();
        Some(Turn {
            read,
            write: write.filter(|one| one.at <= to.saturating_add(WRITE_LATE_NS)),
        })
    }
}
