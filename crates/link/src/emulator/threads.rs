//! The emulator: lanes on threads of their own, and the commands they take.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::PollFd;
use wirelab_contract::print_error;

use crate::emulator::counters::{Counters, summary};
use crate::emulator::lane::Lane;
use crate::emulator::shaper::Shaper;
use crate::kernel::clock::{now_ns, thread_cpu_ns};
use crate::kernel::eventfd::{EventFd, is_ready, readable, wait};
use crate::kernel::scheduling;
use crate::model::config::ScriptedDrop;
use crate::model::profile::{Direction, Profile};
use crate::model::ready;
use crate::model::summary::LinkSummary;
use crate::model::way::Way;

// Far more than a batch takes: only a thread that hangs needs as long.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) profile: Profile,
    pub(crate) seed: u64,
    pub(crate) drops: Vec<ScriptedDrop>,
}

enum Command {
    /// Shape by this from now on, and count from zero.
    Begin(Arc<Shape>),
    Report(Sender<Report>),
}

struct Report {
    counters: Vec<(Way, Counters)>,
    cpu_ns: u64,
}

/// The emulator at work; dropping it ends its threads.
#[derive(Debug)]
pub(crate) struct Emulator {
    threads: Vec<Thread>,
    description: ready::Emulator,
    failure: Arc<EventFd>,
}

#[derive(Debug)]
struct Thread {
    commands: Option<Sender<Command>>,
    wakeup: Arc<EventFd>,
    handle: Option<JoinHandle<()>>,
}

impl Emulator {
    /// Joins two TUN devices by lanes that pass packets on unchanged.
    ///
    /// `failure` is notified when a thread fails.
    pub(crate) fn start(
        client: File,
        server: File,
        cores: &[usize],
        failure: Arc<EventFd>,
    ) -> io::Result<Self> {
        let (client, server) = (Arc::new(client), Arc::new(server));
        // The bare link is measured first; the profile comes with `Command::Begin`.
        let bare = |way| Shaper::new(&Direction::default(), way, 0, &[]);
        let lane = |way, from: &Arc<File>, to: &Arc<File>| {
            Lane::new(way, Arc::clone(from), Arc::clone(to), bare(way))
        };
        let forward = lane(Way::Forward, &client, &server);
        let backward = lane(Way::Backward, &server, &client);
        let shares = match cores {
            [] => vec![(None, vec![forward, backward])],
            [core] => vec![(Some(*core), vec![forward, backward])],
            // The directions share nothing but the two devices, which can be read and written
            // at the same time.
            [first, second, ..] => {
                vec![
                    (Some(*first), vec![forward]),
                    (Some(*second), vec![backward]),
                ]
            }
        };
        let mut threads = Vec::new();
        let mut fifo = true;
        for (core, lanes) in shares {
            let (thread, first) = Thread::start(lanes, core, Arc::clone(&failure))?;
            threads.push(thread);
            // Reported as `fifo` only if every thread has it.
            fifo &= first;
        }
        let scheduling = if fifo { "fifo" } else { "other" };
        Ok(Emulator {
            threads,
            failure,
            description: ready::Emulator {
                cores: cores.to_vec(),
                scheduling: scheduling.to_owned(),
            },
        })
    }

    pub(crate) fn description(&self) -> &ready::Emulator {
        &self.description
    }

    pub(crate) fn failure(&self) -> &EventFd {
        &self.failure
    }

    /// Shapes by this from now on, and counts from zero.
    pub(crate) fn begin(&self, shape: Shape) -> io::Result<()> {
        let shape = Arc::new(shape);
        self.threads
            .iter()
            .try_for_each(|thread| thread.send(Command::Begin(Arc::clone(&shape))))
    }

    /// What was counted since the beginning, without the counters of the devices.
    pub(crate) fn report(&self, seconds: f64) -> io::Result<LinkSummary> {
        let (answer, answers) = channel();
        for thread in &self.threads {
            thread.send(Command::Report(answer.clone()))?;
        }
        let mut counters = Vec::new();
        let mut cpu_ns = 0;
        // One answer per thread, in any order.
        for _ in &self.threads {
            let report: Report = answers
                .recv_timeout(ANSWER_TIMEOUT)
                .map_err(|_| ended_early())?;
            counters.extend(report.counters);
            cpu_ns += report.cpu_ns;
        }
        Ok(summary(&counters, cpu_ns, seconds))
    }
}

impl Thread {
    /// Starts a thread; true when it has SCHED_FIFO.
    fn start(
        lanes: Vec<Lane>,
        core: Option<usize>,
        failure: Arc<EventFd>,
    ) -> io::Result<(Self, bool)> {
        let (sender, commands) = channel();
        let wakeup = Arc::new(EventFd::new()?);
        let polled = Arc::clone(&wakeup);
        let (start_result, start_results) = channel();
        let handle = thread::Builder::new()
            .name("emulator".into())
            .spawn(move || {
                let scheduled = core.map_or(Ok(()), scheduling::pin);
                // For where SCHED_FIFO is refused: real-time threads have no slack (prctl(2)).
                scheduling::set_timer_slack();
                let ready = scheduled.map(|()| scheduling::set_fifo());
                let started = ready.is_ok();
                // The receiver is gone only when the start was abandoned.
                if start_result.send(ready).is_err() || !started {
                    return;
                }
                if let Err(error) = run(lanes, &commands, &polled) {
                    print_error!("wirelab: emulator: {error}");
                    // A write of 1 to an eventfd that is read fails only when it is closed.
                    let _ = failure.notify();
                }
            })?;
        // Waits for the thread, so that a core that it may not have is an error of the start.
        let fifo = start_results.recv().map_err(|_| ended_early())??;
        let thread = Thread {
            commands: Some(sender),
            wakeup,
            handle: Some(handle),
        };
        Ok((thread, fifo))
    }

    fn send(&self, command: Command) -> io::Result<()> {
        let commands = self.commands.as_ref().ok_or_else(ended_early)?;
        commands.send(command).map_err(|_| ended_early())?;
        self.wakeup.notify()
    }
}

fn ended_early() -> io::Error {
    io::Error::other("the emulator's thread has ended")
}

impl Drop for Thread {
    fn drop(&mut self) {
        // Before the wakeup: the thread looks whether the channel has ended when it wakes.
        self.commands = None;
        let notified = self.wakeup.notify();
        if let (Ok(()), Some(handle)) = (notified, self.handle.take())
            && handle.join().is_err()
        {
            print_error!("wirelab: emulator: its thread panicked");
        }
    }
}

/// Carries packets until the sending end of `commands` is dropped.
fn run(mut lanes: Vec<Lane>, commands: &Receiver<Command>, wakeup: &EventFd) -> io::Result<()> {
    let sources: Vec<Arc<File>> = lanes.iter().map(Lane::source).collect();
    let mut polled: Vec<PollFd> = sources.iter().map(readable).collect();
    polled.push(readable(wakeup));
    let mut cpu_from_ns = thread_cpu_ns();
    loop {
        // All of them: an eventfd that is readable may stand for several.
        loop {
            match commands.try_recv() {
                Err(TryRecvError::Disconnected) => return Ok(()),
                Err(TryRecvError::Empty) => break,
                Ok(Command::Begin(shape)) => {
                    begin(&mut lanes, &shape);
                    // The CPU time of the probe is not part of the trial.
                    cpu_from_ns = thread_cpu_ns();
                }
                Ok(Command::Report(to)) => {
                    let cpu_ns = thread_cpu_ns() - cpu_from_ns;
                    // The receiver may have timed out.
                    let _ = to.send(report(&lanes, cpu_ns));
                }
            }
        }
        let mut more = false;
        for lane in &mut lanes {
            // Not `||`, which would leave the second lane out while the first is busy.
            more |= lane.forward()?;
        }
        if !more {
            let woken_ns = sleep(&lanes, &mut polled, wakeup)?;
            for lane in &mut lanes {
                lane.slept_until(woken_ns);
            }
        }
    }
}

fn begin(lanes: &mut [Lane], shape: &Shape) {
    for lane in lanes {
        let way = lane.way();
        let direction = shape.profile.direction(way);
        lane.begin(Shaper::new(direction, way, shape.seed, &shape.drops));
    }
}

fn report(lanes: &[Lane], cpu_ns: u64) -> Report {
    let counted = |lane: &Lane| (lane.way(), lane.counters());
    Report {
        counters: lanes.iter().map(counted).collect(),
        cpu_ns,
    }
}

/// Sleeps until a packet comes, one is due, or a command waits. Returns the time of
/// the wakeup, nanoseconds; of a late one the time at which it was due.
fn sleep(lanes: &[Lane], polled: &mut [PollFd], wakeup: &EventFd) -> io::Result<u64> {
    let next = lanes.iter().filter_map(Lane::next_ns).min();
    // Without a packet under way there is no deadline: only an event ends the sleep.
    wait(polled, next.map(|due| due.saturating_sub(now_ns())))?;
    let woken_ns = next.unwrap_or(u64::MAX).min(now_ns());
    if polled.last().is_some_and(is_ready) {
        // Before the commands are read: one that comes in between makes it readable again.
        wakeup.clear()?;
    }
    Ok(woken_ns)
}
