//! The order to stop: end of standard input, SIGTERM or SIGINT.

use std::io;
use std::mem::MaybeUninit;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use tokio::sync::watch;
use wirelab_contract::print_error;

/// Time that calls in flight get, at most.
pub(crate) const GRACE: Duration = Duration::from_secs(1);

/// Notifies everyone who waits that the service is to stop. One second later the
/// process ends, even if its runtime is frozen.
#[derive(Debug, Clone)]
pub(crate) struct Shutdown {
    sender: Arc<watch::Sender<bool>>,
    socket_path: Arc<OnceLock<PathBuf>>,
}

impl Shutdown {
    /// Blocks the signals in this thread and all that it starts, so that only
    /// the thread that waits for them gets them. Call it before any other
    /// thread exists.
    pub(crate) fn new() -> io::Result<Self> {
        let set = signals();
        // SAFETY: the set lives, the old mask is not asked for.
        let code = unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut()) };
        if code != 0 {
            return Err(io::Error::from_raw_os_error(code));
        }
        let (sender, _) = watch::channel(false);
        Ok(Shutdown {
            sender: Arc::new(sender),
            socket_path: Arc::default(),
        })
    }

    /// Starts to watch for the order.
    ///
    /// # Errors
    /// When no thread can be had.
    pub(crate) fn watch(&self) -> io::Result<()> {
        let (by_input, by_signal) = (self.clone(), self.clone());
        thread::Builder::new()
            .name("stdin".into())
            .spawn(move || by_input.after_input())?;
        thread::Builder::new()
            // sigwait(3) and no handler: what a handler may call is very little
            // (signal-safety(7)).
            .name("signals".into())
            .spawn(move || by_signal.after_signal())?;
        Ok(())
    }

    /// Removes this socket from the file system when the process has to be
    /// ended by force.
    pub(crate) fn remove_at_end(&self, path: PathBuf) {
        self.socket_path.get_or_init(|| path);
    }

    /// Waits until the order has been given.
    pub(crate) async fn requested(&self) {
        let mut receiver = self.sender.subscribe();
        // A value and no event: whoever asks after the order learns of it too.
        let closed = receiver.wait_for(|requested| *requested).await.is_err();
        debug_assert!(!closed, "self holds the sender");
    }

    fn after_input(&self) {
        // Whatever follows the configuration is passed over; the end of input is the order.
        if let Err(error) = io::copy(&mut io::stdin().lock(), &mut io::sink()) {
            print_error!("wirelab: standard input: {error}");
        }
        self.order();
    }

    fn after_signal(&self) {
        let (set, mut signal) = (signals(), 0);
        // SAFETY: both live; the signals of the set are blocked.
        unsafe { libc::sigwait(&set, &mut signal) };
        self.order();
    }

    fn order(&self) -> ! {
        self.sender.send_replace(true);
        // A thread of its own and not a task: the runtime may be frozen, or busy without end.
        thread::sleep(GRACE);
        self.remove_socket();
        std::process::exit(0);
    }

    /// Removes the service's socket from the file system.
    pub(crate) fn remove_socket(&self) {
        if let Some(path) = self.socket_path.get()
            && let Err(error) = std::fs::remove_file(path)
            && error.kind() != io::ErrorKind::NotFound
        {
            print_error!("wirelab: {}: {error}", path.display());
        }
    }
}

fn signals() -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: sigemptyset makes the set valid, and both signals exist.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGTERM);
        libc::sigaddset(set.as_mut_ptr(), libc::SIGINT);
        set.assume_init()
    }
}
