//! Stopping a measurement that takes long.

use std::io;

/// Whether the measurement is to be given up.
#[derive(Clone, Copy)]
pub(crate) struct StopCheck<'a>(pub(crate) &'a dyn Fn() -> bool);

impl StopCheck<'_> {
    /// Longest wait between two checks, nanoseconds.
    pub(crate) const EVERY_NS: u64 = 50_000_000;

    /// An error of kind [`io::ErrorKind::Interrupted`] when it is.
    pub(crate) fn check(self) -> io::Result<()> {
        match (self.0)() {
            true => Err(io::ErrorKind::Interrupted.into()),
            false => Ok(()),
        }
    }
}
