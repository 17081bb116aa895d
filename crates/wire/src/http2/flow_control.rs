//! Flow control (RFC 9113 section 5.2): what we may send, what we let come.

use super::frame::{WINDOW_DEFAULT, WINDOW_MAX};

/// Bytes of DATA that we may still send. Below zero after the peer has shrunk
/// its initial window under bytes in flight (RFC 9113 section 6.9.2).
#[derive(Debug, Clone, Copy)]
pub(super) struct SendWindow(i64);

/// The window would exceed 2^31 - 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Overflow;

impl SendWindow {
    pub(super) fn new(bytes: u32) -> SendWindow {
        SendWindow(i64::from(bytes))
    }

    /// Bytes that may be sent now.
    #[inline]
    pub(super) fn available(self) -> usize {
        usize::try_from(self.0).unwrap_or(0)
    }

    #[inline]
    pub(super) fn consume(&mut self, bytes: usize) {
        // A frame is at most 2^24 - 1 bytes, so the cast keeps the value.
        self.0 -= bytes as i64;
    }

    /// Adds credit, which a change of the initial window may make negative.
    pub(super) fn grant(&mut self, bytes: i64) -> Result<(), Overflow> {
        // No overflow in i64: the window is within 32 bits, the credit within 33.
        let granted = self.0 + bytes;
        // RFC 9113 section 6.9.1: a window above 2^31 - 1 is a FLOW_CONTROL_ERROR.
        if granted > i64::from(WINDOW_MAX) {
            return Err(Overflow);
        }
        self.0 = granted;
        Ok(())
    }
}

/// Bytes of DATA that we still let come.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReceiveWindow {
    left: u32,
    target: u32,
}

impl ReceiveWindow {
    /// A stream's window, which our SETTINGS announced.
    pub(super) fn stream(target: u32) -> ReceiveWindow {
        ReceiveWindow {
            left: target,
            target,
        }
    }

    /// The connection's, which begins at 65,535 in any case: a larger one
    /// is granted at once, a smaller one only by granting late.
    pub(super) fn connection(target: u32) -> ReceiveWindow {
        ReceiveWindow {
            // A connection's window cannot be reduced by a setting (section 6.9.2);
            // withholding WINDOW_UPDATE until it has fallen below `target` has the same
            // effect.
            left: WINDOW_DEFAULT.max(target),
            target,
        }
    }

    /// What the connection's first WINDOW_UPDATE must add.
    pub(super) fn connection_grant(target: u32) -> Option<u32> {
        target
            .checked_sub(WINDOW_DEFAULT)
            .filter(|&extra| extra > 0)
    }

    /// Takes `bytes` that arrived; false when the peer was not allowed to send them.
    #[inline]
    pub(super) fn consume(&mut self, bytes: u32) -> bool {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                true
            }
            None => false,
        }
    }

    /// Bytes that may still come.
    pub(super) fn left(self) -> u32 {
        self.left
    }

    /// True when half has been consumed, so that credit is to be granted.
    #[inline]
    pub(super) fn is_low(self) -> bool {
        // Early enough that the sender does not run dry, and rare enough to cost little.
        self.left <= self.target / 2
    }

    /// Fills the window up; the increment to announce.
    pub(super) fn refill(&mut self) -> u32 {
        let increment = self.target - self.left;
        self.left = self.target;
        increment
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_send_window_goes_below_zero_and_comes_back() {
        let mut window = SendWindow::new(100);
        window.consume(80);
        window.grant(-90).unwrap();
        assert_eq!(window.available(), 0);
        window.grant(71).unwrap();
        assert_eq!(window.available(), 1);
        assert_eq!(window.grant(i64::from(WINDOW_MAX)), Err(Overflow));
    }

    #[test]
    fn a_receive_window_is_low_at_half() {
        for target in [1, 2, 3, 10, WINDOW_MAX] {
            let mut window = ReceiveWindow::stream(target);
            assert!(!window.is_low());
            assert!(window.consume(target - target / 2));
            assert!(window.is_low());
            assert_eq!(window.refill(), target - target / 2);
        }
    }

    #[test]
    fn a_small_connection_window_is_reached_by_granting_late() {
        let mut window = ReceiveWindow::connection(10);
        assert!(window.consume(WINDOW_DEFAULT - 6));
        assert!(!window.is_low());
        assert!(window.consume(1));
        assert!(window.is_low());
        assert_eq!(window.refill(), 5);
        assert!(!window.consume(11));
    }
}
