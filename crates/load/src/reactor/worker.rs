//! One load thread: a reactor over the groups' sockets and schedules.

use std::io;
use std::sync::atomic::Ordering::{Relaxed, Release};

use crate::call::clock::now_ns;
use crate::plan::Wait;
use crate::reactor::poll::Poll;
use crate::reactor::poller::Poller;
use crate::reactor::shared::{Shared, Tally};
use crate::reactor::slices::{Seat, Slices};
use crate::reactor::thread::{own_table, pin, sharpen_timers};
use crate::reactor::turn::{Counts, Turn, TurnContext};

/// Bytes of one read. Large replies cost a system call for each of these;
/// more than the second-level cache holds does not pay.
const INPUT_BYTES: usize = 256 * 1024;

/// How often the coordinator's decisions are looked at when no socket is ready.
const TICK_NS: u64 = 2_000_000;

/// How often overdue calls are looked for.
const EXPIRE_NS: u64 = 20_000_000;

/// How one thread works.
pub(crate) struct Options {
    /// Which of the threads it is, from 0.
    pub(crate) thread: usize,
    /// The core that it is pinned to.
    pub(crate) core: Option<usize>,
    pub(crate) wait: Wait,
    /// It has a table of open files of its own.
    pub(crate) own_files: bool,
}

/// Runs the groups of one thread until every call of the window has ended.
///
/// # Errors
/// When the machine fails the lab (no descriptors, no ports, no epoll).
pub(crate) fn run<T: Turn>(
    mut groups: Vec<T>,
    options: &Options,
    shared: &Shared,
) -> io::Result<Vec<T>> {
    let tid = rustix::thread::gettid().as_raw_nonzero().get();
    shared.threads[options.thread]
        .tid
        .store(tid.unsigned_abs(), Relaxed);
    let mut exit_guard = ExitGuard {
        shared,
        thread: options.thread,
        done: false,
    };
    if options.own_files {
        own_table()?;
    }
    if let Some(core) = options.core {
        pin(core)?;
    }
    sharpen_timers();
    turn_until_done(&mut groups, options.thread, options.wait, shared)?;
    exit_guard.done = true;
    // Before the sockets are closed: that is not part of the measurement.
    drop(exit_guard);
    groups.iter_mut().for_each(T::disconnect);
    Ok(groups)
}

/// Notifies the others when a thread leaves, however it leaves: they must not
/// measure on without it.
struct ExitGuard<'a> {
    shared: &'a Shared,
    thread: usize,
    done: bool,
}

impl Drop for ExitGuard<'_> {
    fn drop(&mut self) {
        if !self.done {
            self.shared.broken.store(true, Relaxed);
        }
        let tally = &self.shared.threads[self.thread];
        tally.keep_run_delay();
        // Release, with the Acquire of `all_finished`: who sees this also sees the
        // thread's counters.
        tally.finished.store(true, Release);
    }
}

fn turn_until_done<T: Turn>(
    groups: &mut [T],
    thread: usize,
    waiting: Wait,
    shared: &Shared,
) -> io::Result<()> {
    let mut poll = Poll::new()?;
    let mut poller = Poller::new(waiting);
    let mut input = vec![0u8; INPUT_BYTES].into_boxed_slice();
    let mut scratch = Vec::with_capacity(16 * 1024);
    let mut expire_at = now_ns() + EXPIRE_NS;
    let mut seat = Seat::default();
    loop {
        // One time and one window for all groups of a turn, so that they agree on what is due.
        let (now, span) = (now_ns(), shared.window());
        let mut turn = TurnContext {
            poll: &poll,
            span,
            input: &mut input,
            scratch: &mut scratch,
        };
        if let Some(slice) = shared.slices.as_ref().and_then(|all| seat.take_begun(all)) {
            groups[slice.group].resume(&slice);
        }
        let mut due = now + TICK_NS;
        let expiring = now >= expire_at;
        for (index, group) in groups.iter_mut().enumerate() {
            turn.span = group.own(span);
            if shared.slices.is_none() || seat.calls(index) {
                group.advance(now, &mut turn)?;
                due = due.min(group.next_due(turn.span));
            }
            if expiring {
                group.expire(now, &mut turn)?;
            }
        }
        if expiring {
            expire_at = now + EXPIRE_NS;
        }
        // Before the check for the end: the last calls must be in the counters.
        publish(groups, &poller, &shared.threads[thread]);
        let open = shared.slices.is_some() && !seat.over;
        let finished = !open && groups.iter().all(|group| group.finished(now, span));
        if finished || shared.broken.load(Relaxed) {
            return Ok(());
        }
        // Each thread looks for itself: the coordinator may be kept off its core.
        if now >= shared.drain_end.load(Relaxed) {
            for group in groups.iter_mut() {
                group.abandon(group.own(span));
            }
            return Ok(());
        }
        if let Some(slices) = &shared.slices {
            due = due.min(take_turns(groups, &mut seat, slices, shared));
        }
        let found = poller.wait(&mut poll, due)?;
        for index in 0..found {
            let ready = poll.ready(index);
            let group = &mut groups[(ready.token >> 32) as usize];
            // Large replies make a batch last longer than the window's notice.
            let mut turn = TurnContext {
                poll: &poll,
                span: group.own(shared.window()),
                input: &mut input,
                scratch: &mut scratch,
            };
            group.on_ready(ready, &mut turn)?;
        }
    }
}

/// How often a thread looks whether others have drained their share of a slice.
const DRAIN_TICK_NS: u64 = 50_000;

/// Ends the slice where its time is over and no call of it is under way in this thread. Returns
/// when to look again.
fn take_turns<T: Turn>(groups: &[T], seat: &mut Seat, slices: &Slices, shared: &Shared) -> u64 {
    let now = now_ns();
    if seat.over {
        return now + TICK_NS;
    }
    let (spin_ns, window) = (shared.spin_ns(), shared.window());
    let stop = |overrun| {
        if slices.stop(now, spin_ns, overrun) {
            shared.close_window(window.end.min(now), slices.drain_ns);
        }
        now
    };
    // The run was interrupted.
    if window.end <= now {
        return stop(false);
    }
    let Some(slice) = seat.current else {
        return now + DRAIN_TICK_NS;
    };
    if now < slice.span.end {
        return slice.span.end;
    }
    if groups[slice.group].finished(now, window) {
        seat.current = None;
        if slices.drain(now, spin_ns, window.start) {
            shared.close_window(now, slices.drain_ns);
        }
        return now;
    }
    let drain_end = slice.span.end.saturating_add(slices.drain_ns);
    match now < drain_end {
        true => drain_end,
        false => stop(true),
    }
}

// Stores, not additions: no other thread writes this tally.
fn publish<T: Turn>(groups: &[T], poller: &Poller, tally: &Tally) {
    let counts = groups.iter().map(T::counts);
    let sum = counts.fold(Counts::default(), Counts::plus);
    tally.calls.store(sum.ended, Relaxed);
    tally.warmup_calls.store(sum.warmup, Relaxed);
    tally.errors.store(sum.errors, Relaxed);
    tally.in_flight.store(sum.in_flight, Relaxed);
    tally.spin_ns.store(poller.spin_ns, Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_panics_stops_the_others() {
        let shared = Shared::new(2, Vec::new(), None);
        let panicked = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let _exit_guard = ExitGuard {
                    shared: &shared,
                    thread: 1,
                    done: false,
                };
                panic!("as a defect would");
            });
            thread.join().is_err()
        });
        assert!(panicked && shared.broken.load(Relaxed));
        assert!(shared.threads[1].finished.load(Relaxed));
    }
}
