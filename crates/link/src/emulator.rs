//! The emulator: lanes on threads of their own, and the orders they take.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use wirelab_contract::complain;

use crate::bell::{Bell, readable, wait};
use crate::clock::{now_ns, thread_cpu_ns};
use crate::ended::{Ended, Ways};
use crate::lane::{Lane, Tally};
use crate::lateness::Latenesses;
use crate::profile::{Direction, Profile, Way};
use crate::ready;
use crate::scheduling;
use crate::script::ScriptedDrop;
use crate::shaper::Shaper;

/// Time in which a thread that lives answers.
const ANSWER: Duration = Duration::from_secs(10);

/// What shapes packets from now on.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) profile: Profile,
    pub(crate) seed: u64,
    pub(crate) drops: Vec<ScriptedDrop>,
}

enum Order {
    /// Shape by this from now on, and count from zero.
    Begin(Arc<Shape>),
    /// Tell what was done.
    Report(Sender<Report>),
}

struct Report {
    tallies: Vec<(Way, Tally)>,
    cpu_ns: u64,
}

/// The emulator at work; dropping it ends its threads.
#[derive(Debug)]
pub(crate) struct Emulator {
    threads: Vec<Thread>,
    how: ready::Emulator,
    alarm: Arc<Bell>,
}

#[derive(Debug)]
struct Thread {
    orders: Option<Sender<Order>>,
    bell: Arc<Bell>,
    handle: Option<JoinHandle<()>>,
}

impl Emulator {
    /// Joins two TUN devices by lanes that do nothing to packets yet.
    ///
    /// `alarm` rings when a thread ends before it was told to.
    pub(crate) fn start(
        client: File,
        server: File,
        cores: &[usize],
        alarm: Arc<Bell>,
    ) -> io::Result<Self> {
        let (client, server) = (Arc::new(client), Arc::new(server));
        let bare = |way| Shaper::new(&Direction::default(), way, 0, &[]);
        let lane = |way, from: &Arc<File>, to: &Arc<File>| {
            Lane::new(way, Arc::clone(from), Arc::clone(to), bare(way))
        };
        let forward = lane(Way::Forward, &client, &server);
        let backward = lane(Way::Backward, &server, &client);
        let shares = match cores {
            [] => vec![(None, vec![forward, backward])],
            [core] => vec![(Some(*core), vec![forward, backward])],
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
            let (thread, first) = Thread::start(lanes, core, Arc::clone(&alarm))?;
            threads.push(thread);
            fifo &= first;
        }
        let scheduling = if fifo { "fifo" } else { "other" };
        Ok(Emulator {
            threads,
            alarm,
            how: ready::Emulator {
                cores: cores.to_vec(),
                scheduling: scheduling.to_owned(),
            },
        })
    }

    /// How it runs.
    pub(crate) fn how(&self) -> &ready::Emulator {
        &self.how
    }

    /// Rings when a thread has ended too early.
    pub(crate) fn alarm(&self) -> &Bell {
        &self.alarm
    }

    /// Shapes by this from now on, and counts from zero.
    pub(crate) fn begin(&self, shape: Shape) -> io::Result<()> {
        let shape = Arc::new(shape);
        self.threads
            .iter()
            .try_for_each(|thread| thread.order(Order::Begin(Arc::clone(&shape))))
    }

    /// What was done since the beginning, without what the devices know.
    pub(crate) fn report(&self, seconds: f64) -> io::Result<Ended> {
        let (answer, answers) = channel();
        for thread in &self.threads {
            thread.order(Order::Report(answer.clone()))?;
        }
        let mut tallies = Vec::new();
        let mut cpu_ns = 0;
        for _ in &self.threads {
            let report: Report = answers.recv_timeout(ANSWER).map_err(|_| ended_early())?;
            tallies.extend(report.tallies);
            cpu_ns += report.cpu_ns;
        }
        Ok(summary(&tallies, cpu_ns, seconds))
    }
}

fn each_way<T: Default>(tallies: &[(Way, Tally)], of: fn(&Tally) -> T) -> Ways<T> {
    let mut ways = Ways::default();
    for (way, tally) in tallies {
        *ways.of_mut(*way) = of(tally);
    }
    ways
}

fn summary(tallies: &[(Way, Tally)], cpu_ns: u64, seconds: f64) -> Ended {
    let count = |of| each_way(tallies, of);
    let mut lateness = Latenesses::new();
    tallies
        .iter()
        .for_each(|(_, tally)| lateness.add(&tally.lateness));
    let mut dropped: Vec<_> = tallies
        .iter()
        .flat_map(|(_, tally)| tally.dropped.clone())
        .collect();
    dropped.sort_by_key(|drop| drop.at_unix_ns);
    Ended {
        packets: count(|tally| tally.packets),
        bytes: count(|tally| tally.bytes),
        lost: Some(count(|tally| tally.lost)),
        syns: Some(each_way(tallies, |tally| tally.syns)),
        queue_drops: Some(count(|tally| tally.queue_drops)),
        duplicated: Some(count(|tally| tally.duplicated)),
        corrupted: Some(count(|tally| tally.corrupted)),
        reordered: Some(count(|tally| tally.reordered)),
        device_drops: Ways::default(),
        lateness_us: Some(lateness.summary()),
        cpu_s: Some(cpu_ns as f64 / 1e9),
        seconds,
        dropped,
    }
}

impl Thread {
    /// Starts a thread; true when it has SCHED_FIFO.
    fn start(lanes: Vec<Lane>, core: Option<usize>, alarm: Arc<Bell>) -> io::Result<(Self, bool)> {
        let (sender, orders) = channel();
        let bell = Arc::new(Bell::new()?);
        let heard = Arc::clone(&bell);
        let (started, starts) = channel();
        let handle = thread::Builder::new()
            .name("emulator".into())
            .spawn(move || {
                let scheduled = core.map_or(Ok(()), scheduling::pin);
                scheduling::sharpen_timers();
                let ready = scheduled.map(|()| scheduling::go_first());
                let go_on = ready.is_ok();
                // Nobody waits for the answer only when the start was given up.
                if started.send(ready).is_err() || !go_on {
                    return;
                }
                if let Err(error) = run(lanes, &orders, &heard) {
                    complain!("wirelab: emulator: {error}");
                    // A bell of our own, never full: what could fail is its end.
                    let _ = alarm.ring();
                }
            })?;
        let fifo = starts.recv().map_err(|_| ended_early())??;
        let thread = Thread {
            orders: Some(sender),
            bell,
            handle: Some(handle),
        };
        Ok((thread, fifo))
    }

    fn order(&self, order: Order) -> io::Result<()> {
        let orders = self.orders.as_ref().ok_or_else(ended_early)?;
        orders.send(order).map_err(|_| ended_early())?;
        self.bell.ring()
    }
}

fn ended_early() -> io::Error {
    io::Error::other("the emulator's thread has ended")
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.orders = None;
        let rung = self.bell.ring();
        if let (Ok(()), Some(handle)) = (rung, self.handle.take())
            && handle.join().is_err()
        {
            complain!("wirelab: emulator: its thread panicked");
        }
    }
}

/// Carries packets until there is nobody who could give an order.
fn run(mut lanes: Vec<Lane>, orders: &Receiver<Order>, bell: &Bell) -> io::Result<()> {
    let mut polled: Vec<_> = lanes.iter().map(|lane| readable(lane.source())).collect();
    polled.push(readable(bell.as_raw_fd()));
    let mut cpu_from_ns = thread_cpu_ns();
    loop {
        // All of them: one ring of the bell may stand for several.
        loop {
            match orders.try_recv() {
                Err(TryRecvError::Disconnected) => return Ok(()),
                Err(TryRecvError::Empty) => break,
                Ok(Order::Begin(shape)) => {
                    begin(&mut lanes, &shape);
                    cpu_from_ns = thread_cpu_ns();
                }
                Ok(Order::Report(to)) => {
                    let cpu_ns = thread_cpu_ns() - cpu_from_ns;
                    // Who asked may have given up.
                    let _ = to.send(report(&lanes, cpu_ns));
                }
            }
        }
        let mut more = false;
        for lane in &mut lanes {
            more |= lane.turn()?;
        }
        if !more {
            let woken_ns = rest(&lanes, &mut polled, bell)?;
            for lane in &mut lanes {
                lane.rested_until(woken_ns);
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
    let tally = |lane: &Lane| (lane.way(), lane.tally());
    Report {
        tallies: lanes.iter().map(tally).collect(),
        cpu_ns,
    }
}

/// Sleeps until a packet comes, one is due, or an order waits. Returns when it
/// ought to have woken, nanoseconds: a packet that was due tells how late it is.
fn rest(lanes: &[Lane], polled: &mut [libc::pollfd], bell: &Bell) -> io::Result<u64> {
    let next = lanes.iter().filter_map(Lane::next_ns).min();
    wait(polled, next.map(|due| due.saturating_sub(now_ns())))?;
    let woken_ns = next.unwrap_or(u64::MAX).min(now_ns());
    match polled.last() {
        Some(order) if order.revents != 0 => bell.silence()?,
        _ => {}
    }
    Ok(woken_ns)
}
