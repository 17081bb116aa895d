//! The engine's log of calls, line by line.
//!
//! It can come from anyone: a line that is none is counted and left out, and no
//! line takes more than [`LINE_BYTES_MAX`].

use std::io::{self, BufRead, BufReader, Read};

/// What a log begins with.
pub const HEAD: &str = "group,thread,connection,port,ordinal,operation,\
intended_ns,sent_ns,flushed_ns,first_byte_ns,done_ns,ok";

/// A longer line is none, bytes.
const LINE_BYTES_MAX: usize = 1_024;
/// Names that are counted separately.
const NAMES_MAX: usize = 32;
const OTHERS: &str = "(others)";
/// Later than any capture, ns since the Unix epoch.
pub(super) const TIME_MAX: u64 = 1 << 62;

/// Why a file is not a log of calls.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The file system failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It begins with something else.
    #[error("it is not a log of calls, which begins with `group,thread,connection,port,`")]
    Foreign,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ConnectionKey {
    pub(super) group: u32,
    pub(super) thread: u32,
    pub(super) connection: u64,
}

/// One call. Times are nanoseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) key: ConnectionKey,
    /// Of the client; 0 on a Unix socket.
    pub(super) port: u16,
    /// Which call of its connection, from 0.
    pub(super) ordinal: u64,
    /// Its name's number in [`CallLog::name`].
    pub(super) operation: usize,
    pub(super) intended: u64,
    pub(super) sent: u64,
    /// When its first byte was read; None without one.
    pub(super) first_byte: Option<u64>,
    pub(super) done: u64,
    pub(super) ok: bool,
}

/// A log that is being read.
#[derive(Debug)]
pub struct CallLog<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    names: Vec<String>,
    pub(super) damaged: u64,
    pub(super) error: Option<String>,
}

impl<R: Read> CallLog<R> {
    /// Reads the head.
    ///
    /// # Errors
    /// When the file system fails, or it is not a log of calls.
    pub fn new(input: R) -> Result<CallLog<R>, LogError> {
        let mut log = CallLog {
            input: BufReader::with_capacity(1 << 16, input),
            line: Vec::new(),
            names: Vec::new(),
            damaged: 0,
            error: None,
        };
        let is_there = log.read_line()?;
        if is_there && log.line == HEAD.as_bytes() {
            Ok(log)
        } else {
            Err(LogError::Foreign)
        }
    }

    pub(super) fn name(&self, number: usize) -> &str {
        self.names.get(number).map_or(OTHERS, String::as_str)
    }

    /// The next call; None at the end of the log.
    pub(super) fn next(&mut self) -> Option<Call> {
        loop {
            match self.read_line() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    self.error.get_or_insert(error.to_string());
                    return None;
                }
            }
            if let Some(call) = parse(&self.line, &mut self.names) {
                return Some(call);
            }
            self.damaged += 1;
        }
    }

    /// Puts the next line into `line`, without its end; what is too long is cut,
    /// so that it is not a call. False at the end of the file.
    fn read_line(&mut self) -> io::Result<bool> {
        self.line.clear();
        // One more byte than a line may have, to see that it is too long.
        let room = LINE_BYTES_MAX as u64 + 1;
        let mut bounded = (&mut self.input).take(room);
        if bounded.read_until(b'\n', &mut self.line)? == 0 {
            return Ok(false);
        }
        if self.line.pop_if(|last| *last == b'\n').is_none() && self.line.len() > LINE_BYTES_MAX {
            self.line.clear();
            self.input.skip_until(b'\n')?;
        }
        Ok(true)
    }
}

fn parse(line: &[u8], names: &mut Vec<String>) -> Option<Call> {
    let mut cells = line.split(|byte| *byte == b',');
    let mut next = || number(cells.next()?);
    let key = ConnectionKey {
        group: u32::try_from(next()?).ok()?,
        thread: u32::try_from(next()?).ok()?,
        connection: next()?,
    };
    let port = u16::try_from(next()?).ok()?;
    let ordinal = next()?;
    let name = cells.next()?;
    let mut time = || number(cells.next()?).filter(|ns| *ns < TIME_MAX);
    let [intended, sent, _flushed, first_byte, done] =
        [time()?, time()?, time()?, time()?, time()?];
    let ok = match cells.next()? {
        b"0" => false,
        b"1" => true,
        _ => return None,
    };
    // A first byte of 0 stands for none: the call failed, or has no reply.
    let is_in_order = intended <= sent && sent <= done && sent > 0;
    let is_possible = |stamp: u64| stamp == 0 || (sent..=done).contains(&stamp);
    if cells.next().is_some() || !is_in_order || !is_possible(first_byte) {
        return None;
    }
    Some(Call {
        key,
        port,
        ordinal,
        operation: number_of(name, names),
        intended,
        sent,
        first_byte: (first_byte > 0).then_some(first_byte),
        done,
        ok,
    })
}

fn number(cell: &[u8]) -> Option<u64> {
    // `parse` alone would accept a plus sign, which the log never has.
    let is_number = !cell.is_empty() && cell.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(cell).ok().filter(|_| is_number)?;
    text.parse().ok()
}

/// The number of a name; of all beyond [`NAMES_MAX`] together the last.
fn number_of(name: &[u8], names: &mut Vec<String>) -> usize {
    let known = names.iter().position(|known| known.as_bytes() == name);
    known.unwrap_or_else(|| {
        if names.len() < NAMES_MAX {
            names.push(String::from_utf8_lossy(name).into_owned());
            names.len() - 1
        } else {
            NAMES_MAX
        }
    })
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    const LINE: &str = "0,1,3,4711,9,Hello,100,107,108,190,200,1";

    fn log(lines: &str) -> CallLog<Cursor<String>> {
        CallLog::new(Cursor::new(format!("{HEAD}\n{lines}"))).expect("a log")
    }

    fn counts(lines: &str) -> (usize, u64) {
        let mut log = log(lines);
        let calls = std::iter::from_fn(|| log.next()).count();
        (calls, log.damaged)
    }

    #[test]
    fn a_line_is_a_call() {
        let mut log = log(&format!("{LINE}\n"));
        let call = log.next().expect("a call");
        let expected = Call {
            key: ConnectionKey {
                group: 0,
                thread: 1,
                connection: 3,
            },
            port: 4711,
            ordinal: 9,
            operation: 0,
            intended: 100,
            sent: 107,
            first_byte: Some(190),
            done: 200,
            ok: true,
        };
        assert_eq!(call, expected);
        assert_eq!((log.next(), log.damaged, log.name(0)), (None, 0, "Hello"));
    }

    #[test]
    fn the_last_line_needs_no_end_and_a_failed_call_no_reply() {
        assert_eq!(counts(LINE), (1, 0));
        assert_eq!(counts("0,1,3,4711,9,Hello,100,107,0,0,200,0\n"), (1, 0));
    }

    #[test]
    fn malformed_lines_are_counted_and_skipped() {
        for damage in [
            "",
            ",,,,,,,,,,,",
            "0,1,3,4711,9,Hello,100,107,108,190,200",
            "0,1,3,4711,9,Hello,100,107,108,190,200,1,1",
            "0,1,3,70000,9,Hello,100,107,108,190,200,1",
            "0,1,3,4711,-9,Hello,100,107,108,190,200,1",
            "0,1,3,4711,+9,Hello,100,107,108,190,200,1",
            "0,1,3,4711,9,Hello,108,107,108,190,200,1",
            "0,1,3,4711,9,Hello,100,107,108,190,106,1",
            "0,1,3,4711,9,Hello,100,107,108,201,200,1",
            "0,1,3,4711,9,Hello,0,0,0,0,200,1",
            "0,1,3,4711,9,Hello,100,107,108,190,200,2",
            "0,1,3,4711,9,Hello,100,107,108,190,99999999999999999999,1",
            "0,1,3,4711,9,Hello,100,107,108,190,9000000000000000000,1",
        ] {
            assert_eq!(counts(&format!("{damage}\n{LINE}\n")), (1, 1), "{damage}");
        }
    }

    #[test]
    fn a_line_without_an_end_takes_no_memory() {
        let long = "9".repeat(1 << 20);
        let mut log = log(&format!("{long}\n{LINE}\n{long}"));
        assert!(log.next().is_some() && log.next().is_none());
        assert_eq!(log.damaged, 2);
        assert!(log.line.capacity() <= 4 * LINE_BYTES_MAX);
    }

    #[test]
    fn names_beyond_the_limit_share_one_entry() {
        let line = |number: usize| LINE.replace("Hello", &format!("Hello{number}"));
        let lines: Vec<String> = (0..100).map(line).collect();
        let mut log = log(&lines.join("\n"));
        let calls: Vec<Call> = std::iter::from_fn(|| log.next()).collect();
        assert_eq!((log.names.len(), calls.len()), (NAMES_MAX, 100));
        assert_eq!(log.name(calls[31].operation), "Hello31");
        assert_eq!(log.name(calls[32].operation), OTHERS);
        assert_eq!(log.name(calls[99].operation), OTHERS);
    }

    #[test]
    fn a_foreign_file_is_rejected() {
        for text in ["", "a,b,c\n1,2,3\n", &HEAD[1..]] {
            let error = CallLog::new(Cursor::new(text)).expect_err("no log");
            assert!(matches!(error, LogError::Foreign), "{text}");
        }
    }

    #[test]
    fn a_disk_error_ends_the_log_and_is_reported() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("the disk is gone"))
            }
        }
        let text = format!("{HEAD}\n{LINE}\n");
        let mut log = CallLog::new(Cursor::new(text).chain(Broken)).expect("a log");
        assert!(log.next().is_some() && log.next().is_none());
        assert_eq!(log.error.as_deref(), Some("the disk is gone"));
    }
}
