//! Commands from a call to the connection that carries its reply.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

/// What a connection is to do with its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Command {
    /// Carry them.
    Carry,
    /// Carry those that are under way, then close.
    Close,
    /// Reset the connection instead of writing anything more.
    Reset,
    /// Write random bytes instead of anything more, then close.
    Garbage,
}

/// Where calls leave a command for their connection. Connections of a service
/// whose faults do not need it have none.
#[derive(Debug, Clone, Default)]
pub(crate) struct Control(Option<Arc<State>>);

#[derive(Debug)]
struct State {
    // Looked at on each read and write. A lock would be taken there for nothing.
    command: AtomicU8,
    waker: Mutex<Option<Waker>>,
    gate: Arc<Gate>,
}

impl Control {
    /// Control for one connection, which also stops at `gate`.
    pub(crate) fn new(gate: &Arc<Gate>) -> Self {
        Control(Some(Arc::new(State {
            command: AtomicU8::new(Command::Carry as u8),
            waker: Mutex::new(None),
            gate: Arc::clone(gate),
        })))
    }

    /// False for a connection that never receives a command.
    pub(crate) fn is_active(&self) -> bool {
        self.0.is_some()
    }

    /// Gives a command and wakes the connection.
    pub(crate) fn send(&self, command: Command) {
        let Some(state) = &self.0 else { return };
        // The command before the wake-up: a task that is woken must find it.
        state.command.store(command as u8, Ordering::SeqCst);
        let waker = state
            .waker
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// The command in force. The connection's task is woken when it changes.
    pub(crate) fn poll_command(&self, context: &Context<'_>) -> Command {
        let Some(state) = &self.0 else {
            return Command::Carry;
        };
        // Before anything else: a frozen service neither reads nor writes.
        state.gate.pass();
        let mut waker = state.waker.lock().unwrap_or_else(PoisonError::into_inner);
        // Stored before the command is read: a command that comes in between wakes the task.
        *waker = Some(context.waker().clone());
        // The numbers of the variants; 0 is Carry, and no other value is ever stored.
        match state.command.load(Ordering::SeqCst) {
            1 => Command::Close,
            2 => Command::Reset,
            3 => Command::Garbage,
            _ => Command::Carry,
        }
    }
}

/// A gate that every connection passes on each read and write; while it is
/// shut, whoever comes to it blocks its thread.
#[derive(Debug)]
pub(crate) struct Gate {
    epoch: Instant,
    // An atomic and no lock: every read and write of every connection looks at it.
    shut_until_us: AtomicU64,
}

impl Gate {
    /// An open gate.
    pub(crate) fn new() -> Self {
        Gate {
            epoch: Instant::now(),
            shut_until_us: AtomicU64::new(0),
        }
    }

    /// Shuts the gate for a while and waits for it to open.
    pub(crate) fn shut(&self, time: Duration) {
        // Microseconds since the gate was made: u64 lasts for 500,000 years.
        let until = (self.epoch.elapsed() + time).as_micros();
        let until = u64::try_from(until).unwrap_or(u64::MAX);
        // A later freeze never shortens one that is under way.
        self.shut_until_us.fetch_max(until, Ordering::SeqCst);
        self.pass();
    }

    /// Blocks until the gate is open.
    pub(crate) fn pass(&self) {
        let until = Duration::from_micros(self.shut_until_us.load(Ordering::SeqCst));
        let now = self.epoch.elapsed();
        if let Some(left) = until.checked_sub(now) {
            // On purpose the thread and not the task: a stop-the-world pause stops everything.
            std::thread::sleep(left);
        }
    }
}
