//! How a load thread waits: for what is ready, or for what is due.

use std::io;

use crate::plan::Waiting;
use crate::reactor::clock::now_ns;
use crate::reactor::poll::{Poll, Watched};
use crate::reactor::spin_policy::Patience;
use crate::reactor::wakeup::Alarm;

/// Waits, and counts what of it was spent awake: that is CPU time which no call
/// needed.
pub(crate) struct Waiter {
    waiting: Waiting,
    alarm: Alarm,
    patience: Patience,
    /// Nanoseconds so far in which it was awake and nothing was ready.
    pub(crate) awake_ns: u64,
}

impl Waiter {
    pub(crate) fn new(waiting: Waiting) -> Waiter {
        Waiter {
            waiting,
            alarm: Alarm::default(),
            patience: Patience::default(),
            awake_ns: 0,
        }
    }

    /// Waits until something is ready or it is `due`, and returns how many are
    /// ready.
    pub(crate) fn wait(&mut self, poll: &mut Poll, due: u64) -> io::Result<usize> {
        let now = now_ns();
        if self.waiting == Waiting::Awake || self.alarm.sleep_ns(due.saturating_sub(now)) == 0 {
            return Ok(self.watch(poll, now, due)?.found);
        }
        let awake = match self.waiting {
            Waiting::Patient => self.patience.awake_ns(),
            Waiting::Asleep | Waiting::Awake => 0,
        };
        if awake == 0 {
            return self.sleep(poll, now, due);
        }
        let Watched { found, seen, .. } = self.watch(poll, now, due.min(now + awake))?;
        if found > 0 {
            self.patience.waited(Some(seen - now));
            return Ok(found);
        }
        if seen < due {
            self.patience.waited(None);
        }
        self.sleep(poll, seen, due)
    }

    fn watch(&mut self, poll: &mut Poll, now: u64, until: u64) -> io::Result<Watched> {
        let watched = poll.watch(now, until)?;
        self.awake_ns += watched.awake_ns;
        Ok(watched)
    }

    fn sleep(&mut self, poll: &mut Poll, now: u64, due: u64) -> io::Result<usize> {
        let sleep = self.alarm.sleep_ns(due.saturating_sub(now));
        let found = poll.wait(sleep)?;
        if found == 0 && sleep > 0 {
            self.alarm.slept(sleep, now_ns().saturating_sub(now));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::reactor::poll::Interest;

    const MS: u64 = 1_000_000;

    /// A socket that is waited for, and the end that makes it ready.
    fn watched() -> (Poll, UnixStream, UnixStream) {
        let poll = Poll::new().expect("an epoll instance");
        let (near, far) = UnixStream::pair().expect("a pair of sockets");
        poll.add(near.as_raw_fd(), 7, Interest::Read)
            .expect("a descriptor to wait for");
        (poll, near, far)
    }

    /// One for which something was always ready.
    fn taught(poll: &mut Poll, waiting: Waiting) -> Waiter {
        let mut waiter = Waiter::new(waiting);
        for _ in 0..8_000 {
            assert_eq!(waiter.wait(poll, now_ns() + MS).unwrap(), 1);
        }
        assert_eq!(waiter.awake_ns, 0);
        waiter
    }

    #[test]
    fn a_long_wait_is_slept_through() {
        let (mut poll, _near, _far) = watched();
        let mut waiter = Waiter::new(Waiting::Patient);
        for _ in 0..48 {
            assert_eq!(waiter.wait(&mut poll, now_ns() + MS).unwrap(), 0);
        }
        // Two looks of 20 us and a little: a look at every wait would be 960.
        assert!(waiter.awake_ns < 300_000, "{}", waiter.awake_ns);
    }

    #[test]
    fn awake_in_vain_it_still_sleeps_until_what_is_due() {
        let (mut poll, near, mut far) = watched();
        far.write_all(b"x").expect("room for a byte");
        let mut waiter = taught(&mut poll, Waiting::Patient);
        std::io::Read::read_exact(&mut &near, &mut [0]).expect("the byte");
        let due = now_ns() + 50 * MS;
        assert_eq!(waiter.wait(&mut poll, due).unwrap(), 0);
        assert!(now_ns() + MS > due);
        assert!(waiter.awake_ns > 0 && waiter.awake_ns < 40_000);
    }

    #[test]
    fn a_thread_that_shares_its_core_learns_no_patience() {
        let (mut poll, near, mut far) = watched();
        far.write_all(b"x").expect("room for a byte");
        let mut waiter = taught(&mut poll, Waiting::Asleep);
        std::io::Read::read_exact(&mut &near, &mut [0]).expect("the byte");
        assert_eq!(waiter.wait(&mut poll, now_ns() + 5 * MS).unwrap(), 0);
        assert_eq!(waiter.awake_ns, 0);
    }

    #[test]
    fn a_plan_that_wants_it_is_awake_all_the_time() {
        let (mut poll, _near, _far) = watched();
        let mut waiter = Waiter::new(Waiting::Awake);
        let began = now_ns();
        let due = began + 30 * MS;
        assert_eq!(waiter.wait(&mut poll, due).unwrap(), 0);
        let took = now_ns() - began;
        assert!(took >= 30 * MS);
        // Less than the whole where others had this core, and never more.
        assert!(
            (MS..=took).contains(&waiter.awake_ns),
            "{}",
            waiter.awake_ns
        );
    }
}
