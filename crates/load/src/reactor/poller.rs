//! How a load thread waits: for what is ready, or for what is due.

use std::io;

use crate::call::clock::now_ns;
use crate::plan::Wait;
use crate::reactor::poll::{Poll, SpinResult};
use crate::reactor::spin_policy::SpinPolicy;
use crate::reactor::wakeup::Wakeup;

/// Waits, and counts the time it spent spinning: that is CPU time which no call
/// needed.
pub(crate) struct Poller {
    wait: Wait,
    wakeup: Wakeup,
    spin_policy: SpinPolicy,
    /// Nanoseconds so far in which it polled and nothing was ready.
    pub(crate) spin_ns: u64,
}

impl Poller {
    pub(crate) fn new(wait: Wait) -> Poller {
        Poller {
            wait,
            wakeup: Wakeup::default(),
            spin_policy: SpinPolicy::default(),
            spin_ns: 0,
        }
    }

    /// Waits until something is ready or it is `due`, and returns how many are
    /// ready.
    pub(crate) fn wait(&mut self, poll: &mut Poll, due: u64) -> io::Result<usize> {
        let now = now_ns();
        if self.wait == Wait::Spin || self.wakeup.sleep_ns(due.saturating_sub(now)) == 0 {
            return Ok(self.spin(poll, now, due)?.found);
        }
        let spin = match self.wait {
            Wait::Adaptive => self.spin_policy.spin_ns(),
            Wait::Sleep | Wait::Spin => 0,
        };
        if spin == 0 {
            return self.sleep(poll, now, due);
        }
        let SpinResult { found, seen, .. } = self.spin(poll, now, due.min(now + spin))?;
        if found > 0 {
            self.spin_policy.note_wait(Some(seen - now));
            return Ok(found);
        }
        // A spin that ended because something is due has not shown how long events take.
        if seen < due {
            self.spin_policy.note_wait(None);
        }
        self.sleep(poll, seen, due)
    }

    fn spin(&mut self, poll: &mut Poll, now: u64, until: u64) -> io::Result<SpinResult> {
        let result = poll.spin(now, until)?;
        self.spin_ns += result.spin_ns;
        Ok(result)
    }

    fn sleep(&mut self, poll: &mut Poll, now: u64, due: u64) -> io::Result<usize> {
        let sleep = self.wakeup.sleep_ns(due.saturating_sub(now));
        let found = poll.wait(sleep)?;
        // Only a sleep that nothing cut short shows how late the kernel wakes a thread.
        if found == 0 && sleep > 0 {
            self.wakeup.slept(sleep, now_ns().saturating_sub(now));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::reactor::poll::Interest;

    const MS: u64 = 1_000_000;

    /// A socket that is waited for, and the end that makes it ready.
    fn socket_in_poll() -> (Poll, UnixStream, UnixStream) {
        let poll = Poll::new().expect("an epoll instance");
        let (near, far) = UnixStream::pair().expect("a pair of sockets");
        poll.add(&near, 7, Interest::Read)
            .expect("a descriptor to wait for");
        (poll, near, far)
    }

    /// One for which something was always ready.
    fn train_poller(poll: &mut Poll, wait: Wait) -> Poller {
        let mut poller = Poller::new(wait);
        // Enough that its moving average is down to what a wait takes.
        for _ in 0..8_000 {
            assert_eq!(poller.wait(poll, now_ns() + MS).unwrap(), 1);
        }
        assert_eq!(poller.spin_ns, 0);
        poller
    }

    #[test]
    fn a_long_wait_is_slept_through() {
        let (mut poll, _near, _far) = socket_in_poll();
        let mut poller = Poller::new(Wait::Adaptive);
        for _ in 0..48 {
            assert_eq!(poller.wait(&mut poll, now_ns() + MS).unwrap(), 0);
        }
        // Two probes of 20 us and a little: a probe at every wait would be 960.
        assert!(poller.spin_ns < 300_000, "{}", poller.spin_ns);
    }

    #[test]
    fn after_spinning_in_vain_it_still_sleeps_until_what_is_due() {
        let (mut poll, near, mut far) = socket_in_poll();
        far.write_all(b"x").expect("room for a byte");
        let mut poller = train_poller(&mut poll, Wait::Adaptive);
        std::io::Read::read_exact(&mut &near, &mut [0]).expect("the byte");
        let due = now_ns() + 50 * MS;
        assert_eq!(poller.wait(&mut poll, due).unwrap(), 0);
        assert!(now_ns() + MS > due);
        assert!(poller.spin_ns > 0 && poller.spin_ns < 40_000);
    }

    #[test]
    fn a_thread_that_shares_its_core_never_spins() {
        let (mut poll, near, mut far) = socket_in_poll();
        far.write_all(b"x").expect("room for a byte");
        let mut poller = train_poller(&mut poll, Wait::Sleep);
        std::io::Read::read_exact(&mut &near, &mut [0]).expect("the byte");
        assert_eq!(poller.wait(&mut poll, now_ns() + 5 * MS).unwrap(), 0);
        assert_eq!(poller.spin_ns, 0);
    }

    #[test]
    fn a_plan_with_wait_spin_always_spins() {
        let (mut poll, _near, _far) = socket_in_poll();
        let mut poller = Poller::new(Wait::Spin);
        let began = now_ns();
        let due = began + 30 * MS;
        assert_eq!(poller.wait(&mut poll, due).unwrap(), 0);
        let took = now_ns() - began;
        assert!(took >= 30 * MS);
        // Less than the whole where others had this core, and never more.
        assert!((MS..=took).contains(&poller.spin_ns), "{}", poller.spin_ns);
    }
}
