//! Every call as a line of a file, to be compared with its packets.
//!
//! CSV with a head line. Times are nanoseconds of CLOCK_REALTIME, in which
//! packets are stamped. Memory does not grow with the calls.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use crate::call::calls::{Call, CallOrigin};
use crate::call::clock::realtime_offset_ns;
use crate::call::fault;
use crate::call::result::{CallLogOutcome, Fault};

const HEAD: &str = "group,thread,connection,port,ordinal,operation,\
intended_ns,sent_ns,flushed_ns,first_byte_ns,done_ns,ok\n";

/// A thread writes when it has this number of bytes.
const BLOCK_BYTES: usize = 64 * 1024;

/// The file of one engine process, which all threads append to.
#[derive(Debug)]
pub(crate) struct CallLog {
    file: File,
}

impl CallLog {
    /// Makes the file, which must not exist: measurements are never overwritten.
    ///
    /// # Errors
    /// A fault of the plan that names the file.
    pub(crate) fn create(path: &str) -> Result<Arc<CallLog>, Fault> {
        let opened = File::options()
            // O_APPEND: the kernel moves to the end and writes in one step (open(2)),
            // so that threads do not overwrite each other's lines without a lock.
            // Blocks end with a whole line.
            .append(true)
            .create_new(true)
            .open(Path::new(path));
        let written = opened.and_then(|mut file| {
            file.write_all(HEAD.as_bytes())?;
            Ok(file)
        });
        written
            .map(|file| Arc::new(CallLog { file }))
            .map_err(|error| {
                fault::plan(
                    format!("call_log: {path}: {error}"),
                    "name a new file in a folder that can be written",
                )
            })
    }
}

/// One thread's lines of one group, on their way into the file.
#[derive(Debug)]
pub(crate) struct CallLines {
    log: Arc<CallLog>,
    group: u32,
    thread: u32,
    block: Vec<u8>,
    outcome: CallLogOutcome,
}

impl CallLines {
    pub(crate) fn new(log: Arc<CallLog>, group: u32, thread: u32) -> CallLines {
        CallLines {
            log,
            group,
            thread,
            // A line is shorter than 512 bytes: the block is written before it grows.
            block: Vec::with_capacity(BLOCK_BYTES + 512),
            outcome: CallLogOutcome::default(),
        }
    }

    /// Adds a call that has ended, if it was sent. An error of the file is reported at the end.
    pub(crate) fn add(&mut self, call: &Call, origin: CallOrigin, operation: &str) {
        if call.sent == 0 || self.outcome.error.is_some() {
            return;
        }
        // One offset for all stamps of a call, so that their differences stay exact.
        let offset = realtime_offset_ns();
        let real = |stamp: u64| match stamp {
            0 => 0,
            stamp => stamp as i64 + offset,
        };
        let line = writeln!(
            self.block,
            "{},{},{},{},{},{operation},{},{},{},{},{},{}",
            self.group,
            self.thread,
            origin.connection,
            origin.port,
            call.ordinal,
            real(call.waiting.intended),
            real(call.sent),
            real(call.flushed),
            real(call.first_byte),
            real(call.done),
            u8::from(!call.failed),
        );
        self.outcome.calls += 1;
        if line.is_ok() && self.block.len() >= BLOCK_BYTES {
            self.write();
        }
    }

    fn write(&mut self) {
        if let Err(error) = append(&self.log.file, &self.block) {
            self.outcome.error = Some(error.to_string());
        }
        self.block.clear();
    }

    /// Writes what is left; what came of it all.
    pub(crate) fn end(mut self) -> CallLogOutcome {
        if self.outcome.error.is_none() {
            self.write();
        }
        self.outcome
    }
}

fn append(mut file: &File, block: &[u8]) -> io::Result<()> {
    file.write_all(block)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::waiting::Waiting;

    fn call(ordinal: u64, sent: u64) -> Call {
        let mut call = Call::default();
        call.waiting = Waiting::arrival(0, 5);
        (call.ordinal, call.sent, call.done) = (ordinal, sent, sent + 9);
        call.failed = ordinal == 1;
        call
    }

    fn scratch(name: &str) -> String {
        let path = std::env::temp_dir().join(format!("wirelab-{name}-{}", std::process::id()));
        path.to_string_lossy().into_owned()
    }

    #[test]
    fn a_line_holds_the_place_and_the_stamps_and_calls_never_sent_have_none() {
        let path = scratch("call-log");
        let mut lines = CallLines::new(CallLog::create(&path).unwrap(), 0, 1);
        let origin = CallOrigin {
            connection: 3,
            port: 4711,
        };
        [call(0, 7), call(1, 8), call(2, 0)]
            .iter()
            .for_each(|call| lines.add(call, origin, "Hello"));
        assert_eq!(
            lines.end(),
            CallLogOutcome {
                calls: 2,
                error: None
            }
        );
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
        assert_eq!(rows.len(), 3);
        assert!(rows.iter().all(|row| row.len() == 12), "{text}");
        assert_eq!(rows[1][..6], ["0", "1", "3", "4711", "0", "Hello"]);
        let ns = |place: usize| rows[1][place].parse::<i64>().unwrap();
        assert_eq!((ns(10) - ns(7), ns(8), ns(6) - ns(7)), (9, 0, -2));
        assert_eq!((rows[1][11], rows[2][11]), ("1", "0"));
    }

    #[test]
    fn a_file_that_exists_is_refused_by_name() {
        let path = scratch("call-log-twice");
        let first = CallLog::create(&path);
        let twice = CallLog::create(&path);
        std::fs::remove_file(&path).unwrap();
        assert!(first.is_ok());
        let fault = twice.unwrap_err();
        assert!(fault.message.contains(&path), "{}", fault.message);
    }

    #[test]
    fn a_full_disk_is_reported_and_ends_the_log_but_not_the_calls() {
        let full = CallLog {
            file: File::options().append(true).open("/dev/full").unwrap(),
        };
        let mut lines = CallLines::new(Arc::new(full), 0, 0);
        lines.add(&call(0, 7), CallOrigin::default(), "Hello");
        let outcome = lines.end();
        assert!(
            outcome
                .error
                .is_some_and(|reason| reason.contains("No space left"))
        );
    }
}
