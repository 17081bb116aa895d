//! Words on standard error that no full disk turns into a panic.

/// Writes a line to standard error, formatted as by `format!`. `eprintln!` panics where
/// that cannot be written: on a full disk, of all moments, the reason and the exit code
/// would be lost. This loses the words alone.
#[macro_export]
macro_rules! complain {
    ($($words:tt)+) => {
        $crate::complaint::say(::core::format_args!($($words)+))
    };
}

/// What [`complain!`] does; in one piece, so that lines of several threads do not mix.
pub fn say(words: std::fmt::Arguments<'_>) {
    use std::io::Write;
    let line = format!("{words}\n");
    // Nobody is left to be told.
    let _ = std::io::stderr().write_all(line.as_bytes());
}
