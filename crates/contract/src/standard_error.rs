//! Messages on standard error that do not panic when the disk is full.

/// Writes a line to standard error, formatted as by `format!`. `eprintln!` panics where
/// that cannot be written: on a full disk, of all moments, the reason and the exit code
/// would be lost. This loses the message alone.
#[macro_export]
macro_rules! print_error {
    ($($message:tt)+) => {
        $crate::standard_error::print_line(::core::format_args!($($message)+))
    };
}

/// What [`print_error!`] does; in one piece, so that lines of several threads do not mix.
pub fn print_line(message: std::fmt::Arguments<'_>) {
    use std::io::Write;
    // One write for the whole line: standard error has no buffer, and each part would be a
    // write of its own.
    let line = format!("{message}\n");
    // Standard error is closed, so there is nowhere left to report this.
    let _ = std::io::stderr().write_all(line.as_bytes());
}
