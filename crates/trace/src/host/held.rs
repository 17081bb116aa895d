//! How long bytes had been written when the kernel of their sender let them go.

use super::split::{WRITE_LATE_NS, Window};
use super::timeline::{Timeline, Transfers};

impl Timeline {
    /// The part of a time in which the server's kernel held bytes back that lies after the
    /// application had written them, ns: the least that follows from the record. `window` goes
    /// from the segment before those bytes until they were captured. 0 where the record does not
    /// show the writes of the connection.
    pub fn hold_after_write_ns(&self, window: &Window) -> u64 {
        let of_connection = self.connection(&window.connection);
        let written = of_connection.and_then(|transfers| last_write(transfers, window));
        let Some(written_at) = written else {
            return 0;
        };
        let length = window.to.saturating_sub(window.from);
        // The way from the server to the capture is not known, only the round trip.
        let sent_at = window.to.saturating_sub(window.path_ns);
        sent_at.saturating_sub(written_at).min(length)
    }
}

/// When the last write of the window returned, ns; it may have written what came late. None where
/// the write before the window is not in the record: then others may be missing, too.
fn last_write(transfers: &Transfers, window: &Window) -> Option<u64> {
    let since = window.from.saturating_sub(window.path_ns);
    // A write that sends at once returns behind its packet. What follows a read answers another
    // request.
    let reads = &transfers.reads;
    let next_read = reads.partition_point(|one| one.at <= window.to);
    let until = window.to.saturating_add(WRITE_LATE_NS);
    let until = reads.get(next_read).map_or(until, |one| until.min(one.at));
    let mut writes = transfers.writes.iter();
    writes
        .rfind(|one| one.at <= until)
        .map(|one| one.at)
        .filter(|at| *at >= since)
}
