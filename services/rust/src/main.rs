//! One service without databases, by the process contract.

use std::process::ExitCode;

fn main() -> ExitCode {
    wirelab_services::serve_from_stdin(None)
}
