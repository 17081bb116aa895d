//! Counts and times of all records, without packets.

use std::collections::HashSet;

use super::part::{HostDivision, HostPart};
use super::reason::classify_block;
use super::record::{OffCpu, Record, Transfer};

/// Threads that are counted, at most.
const THREADS_MAX: usize = 65_536;

/// Counts and times of all records.
#[derive(Debug, Default)]
pub struct HostTally {
    /// Times in which a thread was off the CPU.
    pub off_cpu: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Times of all threads: until data was read, and off the CPU.
    pub times: HostDivision,
    threads: HashSet<u32>,
}

impl HostTally {
    /// Takes a record.
    pub fn take(&mut self, record: &Record) {
        match record {
            Record::OffCpu(period) => self.add_off_cpu(period),
            Record::Read(transfer) => self.add_read(transfer),
            Record::Write(_) => self.writes += 1,
            Record::Totals(_) => {}
        }
    }

    /// How many were off the CPU.
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    fn add_off_cpu(&mut self, period: &OffCpu) {
        self.off_cpu += 1;
        if self.threads.len() < THREADS_MAX {
            self.threads.insert(period.tid);
        }
        let runnable_at = match period.woken_at {
            0 => period.in_at,
            woken_at => woken_at,
        };
        self.times
            .add(HostPart::Runnable, period.in_at - runnable_at);
        if !period.is_preempted {
            let blocked = runnable_at - period.out_at;
            self.times.add(classify_block(period), blocked);
        }
    }

    fn add_read(&mut self, transfer: &Transfer) {
        self.reads += 1;
        if transfer.ready_at > 0 {
            let unread = transfer.at.saturating_sub(transfer.ready_at);
            self.times.add(HostPart::Unread, unread);
        }
    }
}
