//! The load engine and the embedded services of wirelab.

use std::process::ExitCode;

fn main() -> ExitCode {
    wirelab_engine::main()
}
