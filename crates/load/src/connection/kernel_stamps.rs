//! Whose reads are timed from the moment when the kernel had received the bytes.
//!
//! As soon as one socket asks the kernel to stamp what it receives, every
//! packet of the machine is stamped, those of the service too. So a group asks
//! by turns: until it has some hundred stamps, and then not before the next
//! turn. A load that is slow enough is stamped all the time.

use std::io;

use crate::connection::socket::Socket;

/// From the beginning of one turn to that of the next; no round number, so as
/// not to keep step with what is periodic.
const TURN_NS: u64 = 127_000_000;

/// Stamps that a turn may take.
const STAMPS: u32 = 128;

/// Asks for stamps on behalf of one group in one thread.
#[derive(Default)]
pub(crate) struct KernelStamps {
    /// The one that asks. Connections show stamps, but do not ask for them.
    requester: Option<Socket>,
    enabled: bool,
    left: u32,
    next_turn: u64,
}

impl KernelStamps {
    /// There is a connection to be stamped.
    pub(crate) fn need(&mut self) -> io::Result<()> {
        if self.requester.is_none() {
            self.requester = Some(Socket::unconnected()?);
            // A turn may have begun before there was a socket to enable stamps with.
            self.enable(self.left > 0)?;
        }
        Ok(())
    }

    /// Begins a turn when it is time for one.
    #[inline]
    pub(crate) fn advance(&mut self, now: u64) -> io::Result<()> {
        match now < self.next_turn {
            true => Ok(()),
            false => self.begin(now),
        }
    }

    #[cold]
    fn begin(&mut self, now: u64) -> io::Result<()> {
        self.next_turn = now + TURN_NS;
        self.left = STAMPS;
        self.enable(true)
    }

    /// Whether this stamp is one of the turn's.
    #[inline]
    pub(crate) fn take(&mut self) -> io::Result<bool> {
        if self.left == 0 {
            return Ok(false);
        }
        self.left -= 1;
        if self.left == 0 {
            self.enable(false)?;
        }
        Ok(true)
    }

    fn enable(&mut self, enable: bool) -> io::Result<()> {
        let Some(requester) = self.requester.as_ref().filter(|_| self.enabled != enable) else {
            return Ok(());
        };
        self.enabled = enable;
        requester.request_stamps(enable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of `offered` stamps a turn took.
    fn count_taken(stamps: &mut KernelStamps, offered: u32) -> usize {
        (0..offered).filter(|_| stamps.take().unwrap()).count()
    }

    #[test]
    fn a_turn_takes_a_fixed_number_of_stamps() {
        let mut stamps = KernelStamps::default();
        stamps.need().expect("a socket");
        for turn in 1..4 {
            stamps.advance(turn * TURN_NS).unwrap();
            assert!(stamps.enabled);
            assert_eq!(count_taken(&mut stamps, 10_000), STAMPS as usize);
            assert!(!stamps.enabled);
            stamps.advance(turn * TURN_NS + TURN_NS - 1).unwrap();
            assert_eq!(count_taken(&mut stamps, 10), 0);
        }
    }

    #[test]
    fn a_slow_load_is_stamped_all_the_time() {
        let mut stamps = KernelStamps::default();
        stamps.need().expect("a socket");
        for turn in 1..100 {
            stamps.advance(turn * TURN_NS).unwrap();
            assert!(stamps.enabled);
            assert_eq!(count_taken(&mut stamps, 100), 100);
            assert!(stamps.enabled);
        }
    }

    #[test]
    fn stamps_are_enabled_once_a_connection_needs_them() {
        let mut stamps = KernelStamps::default();
        stamps.advance(TURN_NS).unwrap();
        assert!(!stamps.enabled);
        // One comes in mid-turn.
        stamps.need().expect("a socket");
        assert!(stamps.enabled);
    }
}
