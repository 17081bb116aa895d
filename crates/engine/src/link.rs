//! `link`: the network between a caller and a service, as a process.

use std::process::ExitCode;

/// A link as an option: for use by hand.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A profile by its name (lan, wlan, mobile, wan, routed-wlan, gprs); nothing is
    /// read from standard input but its end. Without: one JSON line on standard
    /// input configures it (contracts/process/link.schema.json).
    #[arg(long)]
    profile: Option<String>,
}

pub(crate) fn link(arguments: Arguments) -> ExitCode {
    wirelab_link::link_from_stdin(arguments.profile)
}
