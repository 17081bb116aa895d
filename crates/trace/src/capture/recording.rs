//! From the ring to a file.

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::{Capture, KernelTotals};
use crate::packet::file::{InterfaceTotals, Writer};
use crate::packet::link_layer::LinkType;

/// The kernel's counts are of 32 bits and begin again when read.
const STATISTICS_EVERY: Duration = Duration::from_secs(1);

/// What was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Recorded {
    /// Frames in the file.
    pub packets: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
    /// What the kernel counted.
    pub kernel: KernelTotals,
}

/// A capture that goes to a file.
pub struct Recording<W: Write> {
    capture: Capture,
    writer: Writer<W>,
    recorded: Recorded,
    started_ns: u64,
    statistics_at: Instant,
}

impl<W: Write> Recording<W> {
    /// Writes the head of the file. `out` should take big pieces at once; it
    /// is flushed between blocks of the ring, so that what is there after a
    /// sudden end is whole.
    ///
    /// # Errors
    /// The errors of the file.
    pub fn begin(
        capture: Capture,
        out: W,
        snap_bytes: u32,
        interface: &str,
    ) -> io::Result<Recording<W>> {
        let mut writer = Writer::new(out, capture.link_type(), snap_bytes, interface)?;
        writer.flush()?;
        Ok(Recording {
            capture,
            writer,
            recorded: Recorded::default(),
            started_ns: now_ns(),
            statistics_at: Instant::now(),
        })
    }

    /// Writes all frames that are there.
    ///
    /// # Errors
    /// The errors of the file or the kernel. What [`Recording::recorded`] counts is in the file.
    pub fn drain(&mut self) -> io::Result<()> {
        while self.block()? {}
        // At 10 million packets per second 32 bits wrap after 430 s; a second leaves
        // ample room.
        if self.statistics_at.elapsed() >= STATISTICS_EVERY {
            self.recorded.kernel = self.capture.totals()?;
            self.statistics_at = Instant::now();
        }
        Ok(())
    }

    fn block(&mut self) -> io::Result<bool> {
        let (writer, mut new) = (&mut self.writer, self.recorded);
        let is_there = self.capture.block(|frame| {
            new.packets += 1;
            new.bytes += u64::from(frame.wire_bytes);
            writer.write_frame(frame.at_ns, frame.wire_bytes, frame.data)
        })?;
        if is_there {
            self.writer.flush()?;
            self.recorded = new;
        }
        Ok(is_there)
    }

    /// How the frames begin.
    pub fn link_type(&self) -> LinkType {
        self.capture.link_type()
    }

    /// What was written so far.
    pub fn recorded(&self) -> &Recorded {
        &self.recorded
    }

    /// Ends the capture: writes what is in the ring, and the statistics.
    ///
    /// # Errors
    /// The errors of the file or the kernel.
    pub fn finish(&mut self) -> io::Result<Recorded> {
        // Stop, drain the full blocks, then wait for the block that only its timeout
        // hands over.
        self.capture.stop()?;
        self.drain()?;
        // The last block is handed over when its time has passed.
        std::thread::sleep(self.capture.settling());
        self.drain()?;
        self.recorded.kernel = self.capture.totals()?;
        self.writer.finish(&InterfaceTotals {
            started_ns: self.started_ns,
            ended_ns: now_ns(),
            received: self.recorded.kernel.received,
            drops: self.recorded.kernel.drops,
        })?;
        Ok(self.recorded)
    }
}

impl<W: Write> AsFd for Recording<W> {
    /// Readable when there is something to drain.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.capture.as_fd()
    }
}

fn now_ns() -> u64 {
    // A clock before 1970 gives 0: it is not a reason to lose a capture.
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as u64)
}
