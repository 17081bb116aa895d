//! `merge`: the results of the parts of one load in, their sum out, as JSON lines.

use std::io::{self, BufRead, Read};
use std::process::ExitCode;

use wirelab_load::result::{Event, Fault, FaultKind, Outcome};

use crate::drive::print_outcome;

/// A result has histograms, which explains the size.
const LINE_BYTES_MAX: u64 = 64 << 20;

pub(crate) fn merge() -> ExitCode {
    print_outcome(read_outcomes().and_then(wirelab_load::merge))
}

fn read_outcomes() -> Result<Vec<Outcome>, Fault> {
    let mut input = io::stdin().lock();
    let mut outcomes = Vec::new();
    loop {
        let mut line = Vec::new();
        let read = (&mut input)
            .take(LINE_BYTES_MAX)
            .read_until(b'\n', &mut line);
        match read {
            Ok(0) => return Ok(outcomes),
            Ok(_) => outcomes.push(read_outcome(&line, outcomes.len() + 1)?),
            Err(error) => return Err(refused(format!("standard input: {error}"))),
        }
    }
}

fn read_outcome(line: &[u8], number: usize) -> Result<Outcome, Fault> {
    match serde_json::from_slice(line) {
        Ok(Event::Result(outcome)) => Ok(*outcome),
        Ok(_) => Err(refused(format!("line {number} is not a result"))),
        Err(error) => Err(refused(format!("line {number}: {error}"))),
    }
}

fn refused(message: String) -> Fault {
    Fault {
        kind: FaultKind::Plan,
        message,
        remedy: "send the last line of each `wirelab-engine drive`".into(),
    }
}
