//! How a test of any crate reports that it is skipped on this machine.

use std::fmt::Display;
use std::io::Write;
use std::thread;

/// Prints why the test that calls it is skipped. What `println!` and `eprintln!` print
/// is shown for failed tests alone; what goes to the handle always is.
pub fn report_skip(reason: impl Display) {
    let thread = thread::current();
    let line = format!("{}: skipped: {reason}\n", thread.name().unwrap_or("test"));
    // Standard error is closed, so there is nowhere left to report this.
    let _ = std::io::stderr().write_all(line.as_bytes());
}
