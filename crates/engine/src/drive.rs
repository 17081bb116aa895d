//! `drive`: a plan in, JSON lines out.

use std::cell::RefCell;
use std::io::{self, Read, Write};
use std::process::ExitCode;

use prost_reflect::DescriptorPool;
use wirelab_contract::print_error;
use wirelab_load::plan::{Group, Plan};
use wirelab_load::result::{Event, Fault, FaultKind, Outcome};
use wirelab_load::target::Target;
use wirelab_load::{Prepared, prepare};

use crate::describe::reflection;
use crate::{interrupt, proto};

/// A plan is small; a larger document is a mistake or an attack.
// Bodies are in the plan as base64, which explains the size.
const PLAN_BYTES_MAX: u64 = 256 << 20;

pub(crate) fn drive() -> ExitCode {
    let interrupt = interrupt::flag();
    // A load without its front would go on with nobody to stop it.
    interrupt::die_with_parent();
    let outcome = read_plan().and_then(|plan| {
        // Every message is encoded and every .proto read before the first connection.
        let prepared = prepare_all(&plan)?;
        wirelab_load::run(&plan, &prepared, interrupt, |progress| {
            // The reader may be gone: printing the result will find that out.
            let _ = print(&Event::Progress(progress));
        })
    });
    print_outcome(outcome)
}

/// Prints the last line, and returns the exit code.
pub(crate) fn print_outcome(outcome: Result<Outcome, Fault>) -> ExitCode {
    let (event, code) = match outcome {
        Ok(outcome) => (Event::Result(Box::new(outcome)), 0),
        Err(fault) => {
            let code = fault.exit_code();
            // On both streams: the front reads the event, a person this line.
            print_error!("wirelab-engine: {}; {}", fault.message, fault.remedy);
            (Event::Error(fault), code)
        }
    };
    match print(&event) {
        Ok(()) => ExitCode::from(code),
        Err(error) => {
            print_error!("wirelab-engine: standard output: {error}");
            ExitCode::from(3)
        }
    }
}

fn print(event: &Event) -> io::Result<()> {
    let mut line = serde_json::to_vec(event)?;
    line.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&line)?;
    out.flush()
}

fn read_plan() -> Result<Plan, Fault> {
    let mut text = String::new();
    let read = io::stdin()
        .lock()
        .take(PLAN_BYTES_MAX)
        .read_to_string(&mut text);
    read.map_err(|error| refused(format!("standard input: {error}")))?;
    let mut from = serde_json::Deserializer::from_str(&text);
    serde_path(&mut from).map_err(|error| refused(format!("plan: {error}")))
}

fn serde_path(
    from: &mut serde_json::Deserializer<serde_json::de::StrRead>,
) -> Result<Plan, serde_json::Error> {
    let plan = serde::Deserialize::deserialize(&mut *from)?;
    // A second document behind the plan is an error, and not ignored.
    from.end()?;
    Ok(plan)
}

fn refused(message: String) -> Fault {
    let remedy = "send one JSON document as contracts/process/plan.schema.json describes it";
    Fault {
        kind: FaultKind::Plan,
        message,
        remedy: remedy.into(),
    }
}

fn prepare_all(plan: &Plan) -> Result<Vec<Prepared>, Fault> {
    let groups = plan.groups.iter();
    groups
        .map(|group| {
            // Asked once for all messages of a group.
            let server = RefCell::new(None);
            let reflect = |group: &Group| {
                if server.borrow().is_none() {
                    server.replace(Some(describe_server(group, plan.allow_any_target)?));
                }
                Ok(server.borrow().clone().expect("it has answered"))
            };
            let resolved = proto::resolve(group, &reflect);
            let prepared = resolved.and_then(|group| prepare(&group));
            prepared.map_err(|fault| add_group_name(&group.name, fault))
        })
        .collect()
}

/// What the group's server says that it has, where it may be called at all.
fn describe_server(group: &Group, any_target: bool) -> Result<DescriptorPool, Fault> {
    let remedy = "name the .proto as proto (--proto FILE)";
    if group.tls.is_some() {
        let message = "a server with TLS is not asked to describe itself";
        return Err(proto::refused(message, remedy));
    }
    let target = Target::parse(&group.target, any_target);
    match target.map_err(|error| proto::refused(error.to_string(), remedy))? {
        Target::Tcp(address) => reflection::fetch(&address.to_string()),
        Target::Unix(_) => Err(proto::refused(
            "a Unix socket is not asked to describe itself",
            remedy,
        )),
    }
}

fn add_group_name(group: &str, fault: Fault) -> Fault {
    Fault {
        message: format!("group {group:?}: {}", fault.message),
        ..fault
    }
}
