//! The last records of a host, by thread and by connection, in bounded memory.

use std::collections::{HashMap, VecDeque};

use super::record::{Connection, OffCpu, Record, Totals, Transfer};

/// Older records are forgotten, ns.
const KEPT_NS: u64 = 60_000_000_000;
/// At most this many are kept: about 100 MB.
const RECORDS_MAX: usize = 1_000_000;
/// Records are forgotten in steps of this, ns: it costs a walk over all threads.
const STEP_NS: u64 = 1_000_000_000;

/// Reads and writes of one connection.
#[derive(Debug, Default)]
pub(super) struct Transfers {
    pub(super) reads: VecDeque<Transfer>,
    pub(super) writes: VecDeque<Transfer>,
}

/// What was recorded in the last seconds.
#[derive(Debug, Default)]
pub struct Timeline {
    threads: HashMap<u32, VecDeque<OffCpu>>,
    connections: HashMap<Connection, Transfers>,
    records: usize,
    now: u64,
    forgotten_at: u64,
    totals: Option<Totals>,
}

impl Timeline {
    /// Takes the next record. Records of one thread come in order.
    pub fn take(&mut self, record: &Record) {
        self.now = self.now.max(record.at());
        match record {
            Record::OffCpu(period) => {
                let periods = self.threads.entry(period.tid).or_default();
                let last_at = periods.back().map_or(0, |last| last.in_at);
                // Hostile files: one before the last says nothing.
                if last_at > period.in_at {
                    return;
                }
                periods.push_back(trim_overlap(period, last_at));
            }
            Record::Read(transfer) => {
                let of = self.connections.entry(transfer.connection).or_default();
                push_in_order(&mut of.reads, *transfer);
            }
            Record::Write(transfer) => {
                let of = self.connections.entry(transfer.connection).or_default();
                push_in_order(&mut of.writes, *transfer);
            }
            Record::Totals(totals) => {
                self.totals = Some(*totals);
                return;
            }
        }
        self.records += 1;
        if self.records > RECORDS_MAX
            || self.now - self.forgotten_at.min(self.now) > STEP_NS + KEPT_NS
        {
            self.forget();
        }
    }

    /// Until when records were taken, ns since the epoch.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// What the last record says, once it was taken.
    pub fn totals(&self) -> Option<Totals> {
        self.totals
    }

    pub(super) fn connection(&self, connection: &Connection) -> Option<&Transfers> {
        self.connections.get(connection)
    }

    /// The periods off the CPU of a thread that end after `from`, in order.
    pub(super) fn periods(&self, tid: u32, from: u64) -> impl Iterator<Item = &OffCpu> {
        let all = self.threads.get(&tid);
        let first = all.map_or(0, |all| all.partition_point(|one| one.in_at <= from));
        all.into_iter().flat_map(move |all| all.range(first..))
    }

    /// The last of them that ended before.
    pub(super) fn period_before(&self, tid: u32, at: u64) -> Option<&OffCpu> {
        let all = self.threads.get(&tid)?;
        let first = all.partition_point(|one| one.in_at <= at);
        all.get(first.checked_sub(1)?)
    }

    fn forget(&mut self) {
        // Where there are too many, half of the time.
        let kept = if self.records > RECORDS_MAX {
            (self.now - self.oldest()) / 2
        } else {
            KEPT_NS
        };
        let before = self.now.saturating_sub(kept);
        let mut left = 0;
        self.threads.retain(|_, periods| {
            let old = periods.partition_point(|one| one.in_at < before);
            periods.drain(..old);
            left += periods.len();
            !periods.is_empty()
        });
        self.connections.retain(|_, of| {
            for all in [&mut of.reads, &mut of.writes] {
                let old = all.partition_point(|one| one.at < before);
                all.drain(..old);
                left += all.len();
            }
            !of.reads.is_empty() || !of.writes.is_empty()
        });
        // Times that contradict each other would not be forgotten by time.
        if left > RECORDS_MAX / 2 && self.records > RECORDS_MAX {
            self.threads.clear();
            self.connections.clear();
            left = 0;
        }
        self.records = left;
        self.forgotten_at = before;
    }

    fn oldest(&self) -> u64 {
        let periods = self.threads.values().filter_map(VecDeque::front);
        let all = self.connections.values();
        let transfers = all.flat_map(|of| [of.reads.front(), of.writes.front()]);
        let firsts = periods
            .map(|one| one.in_at)
            .chain(transfers.flatten().map(|one| one.at));
        firsts.min().unwrap_or(self.now)
    }
}

/// The period without what overlaps the one before: the clocks of two records differ by the error
/// with which one clock was compared with the other.
fn trim_overlap(period: &OffCpu, last_at: u64) -> OffCpu {
    let out_at = period.out_at.max(last_at);
    let woken_at = match period.woken_at {
        0 => 0,
        at => at.max(out_at),
    };
    OffCpu {
        out_at,
        woken_at,
        ..*period
    }
}

/// Two threads may use one connection: their records come nearly in order.
fn push_in_order(all: &mut VecDeque<Transfer>, transfer: Transfer) {
    let is_late = all.back().is_some_and(|last| last.at > transfer.at);
    if is_late {
        let place = all.partition_point(|one| one.at <= transfer.at);
        // A kernel records nothing far out of order, and inserting it would cost quadratic time.
        if all.len() - place < 64 {
            all.insert(place, transfer);
        }
    } else {
        all.push_back(transfer);
    }
}
