//! The report listener of one-way stacks: each reader receives how far the
//! service has come with each connection (contracts/README.md, Raw).

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use wirelab_wire_own::raw::report::{RECORD_BYTES, Record};

/// Messages after which progress is reported at the latest.
// contracts/README.md, Raw, One-way.
const REPORT_AFTER: u64 = 64;

/// Pause after an accept that failed.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// Counts by the peer's port. What is not yet sent is overtaken by newer
/// counts, so that a slow reader costs no memory.
type Counts = HashMap<u16, u64>;

/// The counts of all connections, and their readers.
#[derive(Debug, Default)]
pub(crate) struct Reports {
    registry: Mutex<Registry>,
}

#[derive(Debug, Default)]
struct Registry {
    /// Connections that are open.
    open: Counts,
    readers: Vec<Arc<Reader>>,
}

#[derive(Debug, Default)]
struct Reader {
    pending: Mutex<Counts>,
    // A permit is kept when nobody waits, so news between two waits are not lost.
    news: Notify,
}

fn lock_unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Reports {
    fn report(&self, port: u16, count: u64) {
        let mut registry = lock_unpoisoned(&self.registry);
        registry.open.insert(port, count);
        for reader in &registry.readers {
            lock_unpoisoned(&reader.pending).insert(port, count);
            reader.news.notify_one();
        }
    }

    fn close(&self, port: u16) {
        lock_unpoisoned(&self.registry).open.remove(&port);
    }

    /// Serves readers for ever.
    pub(crate) async fn serve(self: Arc<Self>, listener: TcpListener) {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    let reports = Arc::clone(&self);
                    tokio::spawn(async move { reports.reader(stream).await });
                }
                // For want of descriptors: the connection stays in the queue, and the loop
                // would spin.
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            }
        }
    }

    /// Sends counts to one reader until it closes the connection.
    async fn reader(&self, stream: TcpStream) {
        let reader = Arc::new(Reader::default());
        {
            let mut registry = lock_unpoisoned(&self.registry);
            // Under the lock of the registry, or a count between copy and entry would be lost.
            *lock_unpoisoned(&reader.pending) = registry.open.clone();
            registry.readers.push(Arc::clone(&reader));
        }
        reader.news.notify_one();
        // A reader that goes away is its own affair.
        let _gone = send_counts(&reader, stream).await;
        let mut registry = lock_unpoisoned(&self.registry);
        registry
            .readers
            .retain(|other| !Arc::ptr_eq(other, &reader));
    }
}

async fn send_counts(reader: &Reader, mut stream: TcpStream) -> io::Result<()> {
    // A report that waits for an acknowledgement would be measured as time of the service.
    stream.set_nodelay(true)?;
    loop {
        let gone = async {
            // Nobody says anything here; the end of input is the end.
            stream.readable().await?;
            Ok::<bool, io::Error>(stream.try_read(&mut [0; 64]).is_ok_and(|read| read == 0))
        };
        tokio::select! {
            () = reader.news.notified() => {}
            gone = gone => match gone? {
                true => return Ok(()),
                false => continue,
            },
        }
        // Newer counts overwrite older ones here while the write below waits.
        let counts = std::mem::take(&mut *lock_unpoisoned(&reader.pending));
        // One write for all: a reader sees the counts of one moment together.
        let mut records = Vec::with_capacity(counts.len() * RECORD_BYTES);
        for (port, count) in counts {
            records.extend_from_slice(&Record { port, count }.bytes());
        }
        stream.write_all(&records).await?;
    }
}

/// One connection's progress.
#[derive(Debug)]
pub(crate) struct Progress {
    reports: Arc<Reports>,
    port: u16,
    processed: u64,
    reported: u64,
}

impl Progress {
    /// Of a connection from `port` that has just been accepted.
    pub(crate) fn new(reports: &Arc<Reports>, port: u16) -> Self {
        Progress {
            reports: Arc::clone(reports),
            port,
            processed: 0,
            reported: 0,
        }
    }

    /// One more message; `idle` when no input is waiting.
    pub(crate) fn count(&mut self, idle: bool) {
        self.processed += 1;
        // Idle reports at once: a caller waits for the last count to end its measurement.
        if idle || self.processed - self.reported >= REPORT_AFTER {
            self.reports.report(self.port, self.processed);
            self.reported = self.processed;
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        // The kernel may give the port to another connection, whose count begins at 0.
        self.reports.close(self.port);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_of_a_busy_connection_is_reported_after_64_messages() {
        let reports = Arc::new(Reports::default());
        let mut progress = Progress::new(&reports, 7);
        let reported = || lock_unpoisoned(&reports.registry).open.get(&7).copied();
        for _ in 0..63 {
            progress.count(false);
        }
        assert_eq!(reported(), None);
        progress.count(false);
        assert_eq!(reported(), Some(64));
        for _ in 0..64 {
            progress.count(false);
        }
        assert_eq!(reported(), Some(128));
        progress.count(true);
        assert_eq!(reported(), Some(129));
    }
}
