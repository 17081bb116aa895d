//! One service without databases: one of wirelab's own by the process contract, or with the argument
//! `contract` one of a user's contract.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some("contract") {
        return wirelab_services::serve_contract(arguments);
    }
    wirelab_services::serve_from_stdin(None)
}
