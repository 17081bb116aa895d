//! How a load thread waits: for what is ready, or for what is due.

use std::io;

use crate::alarm::Alarm;
use crate::clock::now_ns;
use crate::patience::Patience;
use crate::poll::Poll;

/// Waits, and counts what of it was spent awake: that is CPU time which no call
/// needed.
pub(crate) struct Waiter {
    /// Never sleeps.
    spin: bool,
    alarm: Alarm,
    patience: Patience,
    /// Nanoseconds so far in which it was awake and nothing was ready.
    pub(crate) awake_ns: u64,
}

impl Waiter {
    pub(crate) fn new(spin: bool) -> Waiter {
        Waiter {
            spin,
            alarm: Alarm::default(),
            patience: Patience::default(),
            awake_ns: 0,
        }
    }

    /// Waits until something is ready or it is `due`, and returns how many are
    /// ready.
    pub(crate) fn wait(&mut self, poll: &mut Poll, due: u64) -> io::Result<usize> {
        let now = now_ns();
        let left = due.saturating_sub(now);
        if self.spin || self.alarm.sleep_ns(left) == 0 {
            return self.watch(poll, now, due).map(|(found, _)| found);
        }
        let awake = self.patience.awake_ns();
        if awake == 0 {
            return self.sleep(poll, now, due);
        }
        let (found, seen) = self.watch(poll, now, due.min(now + awake))?;
        if found > 0 {
            self.patience.waited(Some(seen - now));
            return Ok(found);
        }
        if seen < due {
            self.patience.waited(None);
        }
        self.sleep(poll, seen, due)
    }

    /// Stays awake from `now` on; how many are ready, and when it was last seen
    /// that none was.
    fn watch(&mut self, poll: &mut Poll, now: u64, until: u64) -> io::Result<(usize, u64)> {
        let (found, seen) = poll.watch(now, until)?;
        // What is later than `until` was another thread's time on this core.
        self.awake_ns += seen.min(until).saturating_sub(now);
        Ok((found, seen))
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
    use crate::poll::Interest;

    const MS: u64 = 1_000_000;

    /// A socket that is waited for, and the end that makes it ready.
    fn watched() -> (Poll, UnixStream, UnixStream) {
        let poll = Poll::new().expect("an epoll instance");
        let (near, far) = UnixStream::pair().expect("a pair of sockets");
        poll.add(near.as_raw_fd(), 7, Interest::Read)
            .expect("a descriptor to wait for");
        (poll, near, far)
    }

    #[test]
    fn a_long_wait_is_slept_through() {
        let (mut poll, _near, _far) = watched();
        let mut waiter = Waiter::new(false);
        for _ in 0..48 {
            let found = waiter.wait(&mut poll, now_ns() + MS).unwrap();
            assert_eq!(found, 0);
        }
        // Three looks of 20 us, and what the alarm left to wait for awake.
        assert!(waiter.awake_ns < 48 * MS / 4, "{}", waiter.awake_ns);
    }

    #[test]
    fn what_is_ready_at_once_costs_no_wait_and_teaches_to_stay_awake() {
        let (mut poll, _near, mut far) = watched();
        far.write_all(b"x").expect("room for a byte");
        let mut waiter = Waiter::new(false);
        for _ in 0..16 * 400 {
            assert_eq!(waiter.wait(&mut poll, now_ns() + MS).unwrap(), 1);
        }
        assert_eq!(waiter.awake_ns, 0);
        assert!(waiter.patience.awake_ns() > 0);
        assert!(waiter.patience.awake_ns() > 0);
    }

    #[test]
    fn awake_in_vain_it_still_sleeps_until_what_is_due() {
        let (mut poll, near, mut far) = watched();
        far.write_all(b"x").expect("room for a byte");
        let mut waiter = Waiter::new(false);
        for _ in 0..16 * 400 {
            waiter.wait(&mut poll, now_ns() + MS).unwrap();
        }
        std::io::Read::read_exact(&mut &near, &mut [0]).expect("the byte");
        let due = now_ns() + 5 * MS;
        assert_eq!(waiter.wait(&mut poll, due).unwrap(), 0);
        assert!(now_ns() + MS / 4 > due);
        assert!(waiter.awake_ns > 0 && waiter.awake_ns <= 20_000);
    }

    #[test]
    fn a_plan_that_spins_is_awake_all_the_time() {
        let (mut poll, _near, _far) = watched();
        let mut waiter = Waiter::new(true);
        let due = now_ns() + 3 * MS;
        assert_eq!(waiter.wait(&mut poll, due).unwrap(), 0);
        assert!(now_ns() >= due);
        assert!(
            (5 * MS / 2..=3 * MS).contains(&waiter.awake_ns),
            "{}",
            waiter.awake_ns
        );
    }
}
