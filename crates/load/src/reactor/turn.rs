//! What a worker drives: it gives each in turn what is due, and what its sockets are ready for.

use std::io;

use crate::call::span::Span;
use crate::reactor::poll::{Poll, Ready};
use crate::reactor::slices::Slice;

/// Connections and schedules that take turns in a worker. Workers are compiled for each type:
/// a call of a method costs nothing more than that of a function.
pub(crate) trait Turn {
    /// The window as it is known here.
    fn own(&self, span: Span) -> Span;

    /// A slice of it begins: it calls until the end of the slice.
    fn resume(&mut self, slice: &Slice);

    /// Takes what is due at `now`.
    ///
    /// # Errors
    /// When the machine fails the lab, as with the other methods.
    fn advance(&mut self, now: u64, context: &mut TurnContext) -> io::Result<()>;

    /// When it wants to act though no socket is ready.
    fn next_due(&self, span: Span) -> u64;

    /// Gives up what has been under way for too long.
    fn expire(&mut self, now: u64, context: &mut TurnContext) -> io::Result<()>;

    /// Reads and writes the socket that is ready.
    fn on_ready(&mut self, ready: Ready, context: &mut TurnContext) -> io::Result<()>;

    /// Whether nothing of the window is under way, and nothing will come.
    fn finished(&self, now: u64, span: Span) -> bool;

    /// Ends what is still under way: the drain is over.
    fn abandon(&mut self, span: Span);

    /// Closes all sockets, in the thread that opened them.
    fn disconnect(&mut self);

    /// How far it has come.
    fn counts(&self) -> Counts;
}

/// What each turn is given.
pub(crate) struct TurnContext<'a> {
    pub(crate) poll: &'a Poll,
    pub(crate) span: Span,
    /// What reads go into.
    pub(crate) input: &'a mut [u8],
    /// What writes come from.
    pub(crate) scratch: &'a mut Vec<u8>,
}

/// Calls since the start.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) ended: u64,
    /// Of those, the ones whose warm-up the window waits for.
    pub(crate) warmup: u64,
    pub(crate) errors: u64,
    pub(crate) in_flight: u64,
}

impl Counts {
    /// The sum of both.
    #[inline]
    pub(crate) fn plus(self, other: Counts) -> Counts {
        Counts {
            ended: self.ended + other.ended,
            warmup: self.warmup + other.warmup,
            errors: self.errors + other.errors,
            in_flight: self.in_flight + other.in_flight,
        }
    }
}
