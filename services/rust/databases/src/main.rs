//! One service with drivers for databases, by the process contract.

use std::process::ExitCode;

fn main() -> ExitCode {
    wirelab_services::serve_from_stdin(Some(wirelab_service_databases::open))
}
