//! The verbs of the binary `wirelab-engine`: every one is a process of the lab.
//!
//! Documents come in on standard input and go out on standard output as JSON
//! lines; messages for people go to standard error. Exit codes: 0 done, 2 the
//! document was refused, 3 the machine failed the lab.

mod arrivals;
mod capture;
mod certificates;
mod describe;
mod dissect;
mod drive;
mod hops;
mod host;
mod interrupt;
mod link;
mod live;
mod merge;
mod output_file;
mod proto;
mod sockets;
mod usage;
mod verify;
mod waiting;

/// Documents that the verbs read and write, for their JSON Schemas.
pub mod documents {
    pub use crate::capture::{Config, Line};
    pub use crate::host::{HostConfig, HostLine};
    pub use crate::verify::Document;
}

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The load engine of wirelab.
#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Run a plan (one JSON document on standard input), report as JSON lines.
    Drive,
    /// Add up the results of the parts of one load (JSON lines on standard input), as JSON.
    Merge,
    /// Compare a service with the canonical model (one JSON document on standard input).
    Verify,
    /// Print what a capture holds: packets, bytes, calls and lost time, as JSON.
    Dissect(dissect::Arguments),
    /// Compare the packets in front of a proxy with those behind it, as one line of JSON.
    Hops(hops::Arguments),
    /// Dissect packets while they pass: the account of time every second, as JSON lines.
    Live(live::Arguments),
    /// Run a link: two network namespaces and the network between them.
    Link(link::Arguments),
    /// Print an arrival schedule, nanoseconds from its origin, one per line.
    Arrivals(arrivals::Arguments),
    /// Write the packets of an interface to a file (its configuration is one JSON
    /// line on standard input, or options).
    Capture(capture::Arguments),
    /// Write what the threads of processes do while packets wait to a file (its configuration
    /// is one JSON line on standard input, or options).
    Host(host::Arguments),
    /// Make certificates for trials with TLS.
    Certificates(certificates::Arguments),
    /// Print the methods of a .proto, a descriptor set or a server with reflection, and an
    /// example of each request, as JSON.
    Describe(describe::Arguments),
    /// Panic, to show whether a backtrace names functions.
    #[command(hide = true)]
    Panic,
}

/// Runs the verb that the command line names.
#[must_use]
pub fn main() -> ExitCode {
    match Arguments::parse().verb {
        Verb::Drive => drive::drive(),
        Verb::Merge => merge::merge(),
        Verb::Verify => verify::verify(),
        Verb::Dissect(arguments) => dissect::dissect(&arguments),
        Verb::Hops(arguments) => hops::hops(&arguments),
        Verb::Live(arguments) => live::run(&arguments),
        Verb::Link(arguments) => link::link(arguments),
        Verb::Arrivals(arguments) => arrivals::print(&arguments),
        Verb::Capture(arguments) => capture::run(arguments),
        Verb::Host(arguments) => host::run(arguments),
        Verb::Certificates(arguments) => certificates::make(&arguments),
        Verb::Describe(arguments) => describe::describe(&arguments),
        Verb::Panic => panic!("the command line asked for it"),
    }
}
