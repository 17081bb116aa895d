//! Delays that last as long as they were asked to.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use wirelab_contract::print_error;

/// Below this a pause spins to its end, so that it is exact.
const SPIN_BELOW: Duration = Duration::from_micros(200);

/// A pause that sleeps does so for this much less than asked for and spins the
/// rest: more than a timer and a sleeping core are usually late.
const SPIN_LAST_ALONE: Duration = Duration::from_micros(300);

/// Up to this a pause spins while it is the only one: a core that slept
/// is slower at first, by up to a tenth of a millisecond, which would be
/// charged to whatever is measured after the pause.
const BUSY_WAIT_MAX: Duration = Duration::from_millis(20);

/// How long a busy pause spins before other tasks get their turn.
const SPIN_SLICE: Duration = Duration::from_micros(20);

/// What is left to spin after busy-polling, and after a sleep while other
/// pauses are under way, which must not wait for this one.
const SPIN_LAST: Duration = Duration::from_micros(80);

/// Delays calls, and knows how many are paused.
#[derive(Debug, Default)]
pub(crate) struct Delays {
    under_way: AtomicUsize,
}

impl Delays {
    /// Waits for `given` and returns how long it really was. Below 0.2 ms this
    /// blocks the thread on purpose.
    pub(crate) async fn wait(&self, given: Duration) -> Duration {
        let start = Instant::now();
        if given >= SPIN_BELOW {
            // Only pauses that can sleep count: a spinning one blocks its thread anyway.
            self.under_way.fetch_add(1, Ordering::Relaxed);
            let _ended = DelayEnded(&self.under_way);
            if given <= BUSY_WAIT_MAX {
                self.busy_wait(start, given - SPIN_LAST).await;
            }
            // Alone, a longer spin delays no other call and makes up for a timer that is late.
            let rest = if self.alone() {
                SPIN_LAST_ALONE
            } else {
                SPIN_LAST
            };
            let left = given.saturating_sub(rest).saturating_sub(start.elapsed());
            if let Err(error) = sleep(left).await {
                print_error!("wirelab: no timer for a delay ({error}), it may be 1 ms late");
                tokio::time::sleep(given.saturating_sub(start.elapsed())).await;
            }
        }
        spin_until(start, given);
        start.elapsed()
    }
}

impl Delays {
    /// Spins in turns until `until` after `start`, or until another pause begins.
    async fn busy_wait(&self, start: Instant, until: Duration) {
        while start.elapsed() < until && self.alone() {
            spin(SPIN_SLICE);
            // Other calls of the same thread are served between two turns.
            tokio::task::yield_now().await;
        }
    }

    /// No more than one pause is under way.
    fn alone(&self) -> bool {
        self.under_way.load(Ordering::Relaxed) <= 1
    }
}

/// A pause that is over, or was given up.
struct DelayEnded<'a>(&'a AtomicUsize);

impl Drop for DelayEnded<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Keeps the thread busy for `given`.
pub(crate) fn spin(given: Duration) {
    spin_until(Instant::now(), given);
}

fn spin_until(start: Instant, given: Duration) {
    while start.elapsed() < given {
        // The processor may then save power and leave the other hardware thread its share.
        std::hint::spin_loop();
    }
}

/// Sleeps by a timer of its own: tokio's timers have a granularity of 1 ms,
/// timerfd_create(2) has that of the clock.
async fn sleep(given: Duration) -> io::Result<()> {
    if given.is_zero() {
        return Ok(());
    }
    let timer = timer(given)?;
    // SAFETY: an OwnedFd names the same open descriptor until it is dropped.
    let timer = unsafe { AsyncFd::register_with_interest(timer, Interest::READABLE)? };
    let _expired = timer.readable().await?;
    Ok(())
}

fn timer(given: Duration) -> io::Result<OwnedFd> {
    // CLOEXEC: processes that a test starts must not inherit it.
    let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
    let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
    let once = Itimerspec {
        // Expires once: an interval of 0 (timerfd_create(2)).
        it_interval: Timespec::default(),
        it_value: Timespec::try_from(given).map_err(io::Error::other)?,
    };
    timerfd_settime(&timer, TimerfdTimerFlags::empty(), &once)?;
    Ok(timer)
}

/// Spins in proportion to a text's length.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TextCheck {
    ns_per_kb: u64,
}

impl TextCheck {
    /// Spins that number of nanoseconds per 1,000 bytes; none: not at all.
    pub(crate) fn new(ns_per_kb: Option<u64>) -> Self {
        TextCheck {
            ns_per_kb: ns_per_kb.unwrap_or(0),
        }
    }

    /// False when every check takes no time.
    pub(crate) fn slow(self) -> bool {
        self.ns_per_kb > 0
    }

    /// Checks a text of that many bytes.
    pub(crate) fn run(self, bytes: usize) {
        if self.ns_per_kb > 0 {
            spin(self.time(bytes));
        }
    }

    fn time(self, bytes: usize) -> Duration {
        let ns = u128::from(self.ns_per_kb) * bytes as u128 / 1000;
        Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_pause_is_shorter_than_asked_for() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.expect("a runtime").block_on(async {
            let delays = Delays::default();
            for us in [0, 50, 199, 200, 1999, 5000] {
                let given = Duration::from_micros(us);
                let start = Instant::now();
                let reported = delays.wait(given).await;
                assert!(
                    given <= reported && reported <= start.elapsed(),
                    "{reported:?} for {given:?}"
                );
            }
            assert_eq!(delays.under_way.load(Ordering::Relaxed), 0);
        });
    }

    #[test]
    fn time_is_per_thousand_bytes() {
        let check = TextCheck::new(Some(150));
        assert_eq!(check.time(3_000_000), Duration::from_micros(450));
        assert_eq!(check.time(14), Duration::from_nanos(2));
        assert_eq!(TextCheck::new(None).time(1 << 26), Duration::ZERO);
    }
}
