//! `verify`: a service in, what differs from the canonical model out.

mod bad_requests;
mod complete;
mod connection;
mod document;
mod items;
mod observed;
mod vectors;

use std::io::{self, Read, Write};
use std::process::ExitCode;

use serde::Serialize;
use wirelab_contract::{Contract, print_error};
use wirelab_load::result::{Fault, FaultKind};
use wirelab_stack::Binding;
use wirelab_verify::{Exam, examine};

use crate::interrupt;
use connection::Service;
pub use document::Document;
use document::refused;

/// A document is small; a larger one is a mistake or an attack.
const DOCUMENT_BYTES_MAX: u64 = 1 << 20;

/// The one line of output.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum VerifyEvent {
    Verified { exams: Vec<Exam> },
    Error(Fault),
}

pub(crate) fn verify() -> ExitCode {
    // An examination may take minutes; without its front nobody reads the result.
    interrupt::die_with_parent();
    let (observed, code) = match read().and_then(|document| exams(&document)) {
        Ok(exams) => (VerifyEvent::Verified { exams }, 0),
        Err(fault) => {
            let code = fault.exit_code();
            print_error!("wirelab-engine: {}; {}", fault.message, fault.remedy);
            (VerifyEvent::Error(fault), code)
        }
    };
    match print(&observed) {
        Ok(()) => ExitCode::from(code),
        Err(error) => {
            print_error!("wirelab-engine: standard output: {error}");
            ExitCode::from(3)
        }
    }
}

fn exams(document: &Document) -> Result<Vec<Exam>, Fault> {
    let (contract, store) = (document.contract()?, document.store());
    let service = Service::new(document)?;
    let unreachable = |message: String| Fault {
        kind: FaultKind::Connect,
        message: format!("the service cannot be examined: {message}"),
        remedy: "does it run, and on that address?".into(),
    };
    let mut exams = examine(contract, &store, &service, document.extent()).map_err(unreachable)?;
    let last = match (contract, document.binding()) {
        (Contract::Petclinic, Binding::Rest) => bad_requests::exam(&service),
        _ => vectors::exam(contract, &service),
    };
    exams.push(last.map_err(unreachable)?);
    Ok(exams)
}

fn read() -> Result<Document, Fault> {
    let mut text = String::new();
    let read = io::stdin()
        .lock()
        .take(DOCUMENT_BYTES_MAX)
        .read_to_string(&mut text);
    read.map_err(|error| refused(format!("standard input: {error}")))?;
    serde_json::from_str(&text).map_err(|error| refused(format!("document: {error}")))
}

fn print(observed: &VerifyEvent) -> io::Result<()> {
    let mut line = serde_json::to_vec(observed)?;
    line.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&line)?;
    out.flush()
}
