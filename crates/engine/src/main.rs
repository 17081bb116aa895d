//! The load engine of wirelab.

use std::process::ExitCode;

fn main() -> ExitCode {
    wirelab_engine::main()
}
