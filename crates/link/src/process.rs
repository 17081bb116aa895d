//! The life of a link's process: configured, ready, stopped.

use std::cell::RefCell;
use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;
use wirelab_contract::print_error;
use wirelab_contract::refusal::Refused;

use crate::control::{Control, Event};
use crate::error::LinkError;
use crate::link::Link;
use crate::model::config::{LinkConfig, ProfileChoice};
use crate::model::summary::LinkEnded;

const REFUSED_EXIT: u8 = 2;

const BROKEN_EXIT: u8 = 3;

/// The line on standard input that asks for the counts.
const STATS: &str = "stats";

/// Runs a link's process from its configuration to its end, as
/// docs/reference/process.md describes it. Call it first thing in `main`: it blocks signals
/// in the calling thread.
///
/// With the name of a `profile` no configuration is read: for interactive use.
///
/// Returns exit code 0 when it was stopped, 2 when the configuration was
/// refused, 3 when the machine failed.
#[must_use]
pub fn link_from_stdin(profile: Option<String>) -> ExitCode {
    match run(profile) {
        Ok(()) | Err(LinkError::Stopped) => ExitCode::SUCCESS,
        Err(LinkError::Refused(refusal)) => {
            print_error!("wirelab: refused: {refusal}");
            match print(&Refused { refused: refusal }) {
                Ok(()) => ExitCode::from(REFUSED_EXIT),
                Err(error) => report_broken(&error),
            }
        }
        Err(error) => report_broken(&error),
    }
}

fn report_broken(error: &dyn std::error::Error) -> ExitCode {
    print_error!("wirelab: {error}");
    ExitCode::from(BROKEN_EXIT)
}

fn run(profile: Option<String>) -> Result<(), LinkError> {
    let mut control = Control::new().map_err(LinkError::during("preparing for signals"))?;
    let config = match profile {
        Some(name) => LinkConfig::new(ProfileChoice::Named(name)),
        None => match control.next(None).map_err(input_error())? {
            Event::Line(line) => LinkConfig::parse(&line)?,
            // Standard input ended before a line: refused as an empty configuration.
            _ => LinkConfig::parse("")?,
        },
    };
    let polled = RefCell::new(&mut control);
    // Standard input that cannot be read means the same as its end.
    // Borrowed only while this is called, which is within the start alone.
    let stopped = || polled.borrow_mut().stopped().unwrap_or(true);
    let link = Link::start_unless(&config, &stopped)?;
    print(link.ready())?;
    serve(&link, &mut control)?;
    let summary = link.report();
    // Before the last line: its reader may start the next link at once. The summary's error
    // comes after it, so that nothing is left behind either way.
    drop(link);
    print(&LinkEnded { link: summary? })
}

/// Prints the counts on request until it is to stop.
fn serve(link: &Link, control: &mut Control) -> Result<(), LinkError> {
    loop {
        match control.next(link.failure()).map_err(input_error())? {
            Event::Stop => return Ok(()),
            Event::Report => report(link)?,
            Event::Line(line) if line.trim() == STATS => report(link)?,
            Event::Line(line) => {
                print_error!(
                    "wirelab: the link has no command {line:?}; it has stats, and Ctrl-C ends it"
                )
            }
            Event::Broken => {
                let error = io::Error::other("the emulator has ended");
                return Err(LinkError::during("carrying packets")(error));
            }
        }
    }
}

fn input_error() -> impl FnOnce(io::Error) -> LinkError {
    LinkError::during("standard input")
}

fn report(link: &Link) -> Result<(), LinkError> {
    print(&LinkEnded {
        link: link.report()?,
    })
}

fn print(document: &impl Serialize) -> Result<(), LinkError> {
    write(document).map_err(LinkError::during("standard output"))
}

fn write(document: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(document)?;
    line.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&line)?;
    out.flush()
}
