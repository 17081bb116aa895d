//! An embedded service alone: `echo '{"contract": …}' | cargo run --example serve`,
//! with standard input kept open for as long as it is to run.

use std::process::ExitCode;

fn main() -> ExitCode {
    wirelab_services::serve_from_stdin()
}
