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
/// Names that are told apart.
const NAMES_MAX: usize = 32;
/// Name of all others.
const OTHERS: &str = "(others)";
/// Later than any capture, ns since the Unix epoch.
pub(super) const TIME_MAX: u64 = 1 << 62;

/// Why a file is no log of calls.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The file system failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It begins with something else.
    #[error("it is no log of calls, which begins with `group,thread,connection,port,`")]
    Foreign,
}

/// Which connection of the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) group: u32,
    pub(super) thread: u32,
    pub(super) connection: u64,
}

/// One call. Times are nanoseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) place: Place,
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
    /// Names of operations, in the order in which they came.
    names: Vec<String>,
    /// Lines that were none.
    pub(super) damaged: u64,
    /// Why the reading ended before the log.
    pub(super) error: Option<String>,
}

impl<R: Read> CallLog<R> {
    /// Reads the head.
    ///
    /// # Errors
    /// When the file system fails, or it is no log of calls.
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

    /// The name of that number.
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
    /// so that it is no call. False at the end of the file.
    fn read_line(&mut self) -> io::Result<bool> {
        self.line.clear();
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
    let place = Place {
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
    let is_in_order = intended <= sent && sent <= done && sent > 0;
    let is_possible = |stamp: u64| stamp == 0 || (sent..=done).contains(&stamp);
    if cells.next().is_some() || !is_in_order || !is_possible(first_byte) {
        return None;
    }
    Some(Call {
        place,
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

/// Digits alone.
fn number(cell: &[u8]) -> Option<u64> {
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
