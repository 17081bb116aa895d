//! The life of a link's process: configured, ready, stopped.

use std::cell::RefCell;
use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;

use wirelab_contract::complain;

use crate::config::{LinkConfig, ProfileChoice};
use crate::ended::LinkEnded;
use crate::error::LinkError;
use crate::link::Link;
use crate::orders::{Order, Orders};
use crate::refusal::Refused;

/// Exit code of a refused configuration.
const REFUSED_EXIT: u8 = 2;

/// Exit code when the machine failed.
const BROKEN_EXIT: u8 = 3;

/// The line on standard input that asks for the counts.
const STATS: &str = "stats";

/// Is a link's process from its configuration to its end, by
/// docs/reference/process.md. Call it first thing in `main`: it blocks signals
/// in the calling thread.
///
/// With the name of a `profile` nothing is read first: a link for use by hand.
///
/// Returns exit code 0 after an order to stop, 2 when the configuration was
/// refused, 3 when the machine failed.
#[must_use]
pub fn link_from_stdin(profile: Option<String>) -> ExitCode {
    match run(profile) {
        Ok(()) | Err(LinkError::Stopped) => ExitCode::SUCCESS,
        Err(LinkError::Refused(refusal)) => {
            complain!("wirelab: refused: {refusal}");
            match print(&Refused { refused: refusal }) {
                Ok(()) => ExitCode::from(REFUSED_EXIT),
                Err(error) => broken(&error),
            }
        }
        Err(error) => broken(&error),
    }
}

fn broken(error: &dyn std::error::Error) -> ExitCode {
    complain!("wirelab: {error}");
    ExitCode::from(BROKEN_EXIT)
}

fn run(profile: Option<String>) -> Result<(), LinkError> {
    let mut orders = Orders::new().map_err(LinkError::while_("preparing for signals"))?;
    let config = match profile {
        Some(name) => LinkConfig::new(ProfileChoice::Named(name)),
        None => match orders.next(None).map_err(heard())? {
            Order::Line(line) => LinkConfig::parse(&line)?,
            _ => LinkConfig::parse("")?,
        },
    };
    let listening = RefCell::new(&mut orders);
    // Standard input that cannot be read is an order to stop, too.
    let stopped = || listening.borrow_mut().stopped().unwrap_or(true);
    let link = Link::start_unless(&config, &stopped)?;
    print(link.ready())?;
    serve(&link, &mut orders)?;
    let ended = link.report();
    drop(link);
    print(&LinkEnded { link: ended? })
}

/// Answers until the order to stop.
fn serve(link: &Link, orders: &mut Orders) -> Result<(), LinkError> {
    loop {
        match orders.next(link.alarm()).map_err(heard())? {
            Order::Stop => return Ok(()),
            Order::Tell => tell(link)?,
            Order::Line(line) if line.trim() == STATS => tell(link)?,
            Order::Line(line) => complain!("wirelab: {line:?} is no order; stats is"),
            Order::Broken => {
                let error = io::Error::other("the emulator has ended");
                return Err(LinkError::while_("carrying packets")(error));
            }
        }
    }
}

fn heard() -> impl FnOnce(io::Error) -> LinkError {
    LinkError::while_("standard input")
}

fn tell(link: &Link) -> Result<(), LinkError> {
    print(&LinkEnded {
        link: link.report()?,
    })
}

fn print(document: &impl Serialize) -> Result<(), LinkError> {
    write(document).map_err(LinkError::while_("standard output"))
}

fn write(document: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(document)?;
    line.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&line)?;
    out.flush()
}
