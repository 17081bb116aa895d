//! A link without the engine around it, by the process contract.

use std::process::ExitCode;

fn main() -> ExitCode {
    wirelab_link::link_from_stdin(None)
}
