//! The report listener of one-way stacks: whoever connects is told how far the
//! service has come with each connection (contracts/README.md, Raw).

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use wirelab_wire_own::raw::report::{RECORD_BYTES, Record};

/// Messages after which progress is told at the latest.
const TELL_AFTER: u64 = 64;

/// Pause after an accept that failed.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// Counts by the peer's port. What is not yet told is overtaken by newer
/// counts, so that a slow reader costs no memory.
type Counts = HashMap<u16, u64>;

/// All that is told.
#[derive(Debug, Default)]
pub(crate) struct Reports {
    book: Mutex<Book>,
}

#[derive(Debug, Default)]
struct Book {
    /// Connections that are open.
    open: Counts,
    readers: Vec<Arc<Reader>>,
}

#[derive(Debug, Default)]
struct Reader {
    pending: Mutex<Counts>,
    news: Notify,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Reports {
    fn tell(&self, port: u16, count: u64) {
        let mut book = locked(&self.book);
        book.open.insert(port, count);
        for reader in &book.readers {
            locked(&reader.pending).insert(port, count);
            reader.news.notify_one();
        }
    }

    fn close(&self, port: u16) {
        locked(&self.book).open.remove(&port);
    }

    /// Serves readers for ever.
    pub(crate) async fn serve(self: Arc<Self>, listener: TcpListener) {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    let reports = Arc::clone(&self);
                    tokio::spawn(async move { reports.reader(stream).await });
                }
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            }
        }
    }

    /// Tells one reader until it goes away.
    async fn reader(&self, stream: TcpStream) {
        let reader = Arc::new(Reader::default());
        {
            let mut book = locked(&self.book);
            *locked(&reader.pending) = book.open.clone();
            book.readers.push(Arc::clone(&reader));
        }
        reader.news.notify_one();
        // A reader that goes away is its own affair.
        let _gone = told(&reader, stream).await;
        let mut book = locked(&self.book);
        book.readers.retain(|other| !Arc::ptr_eq(other, &reader));
    }
}

async fn told(reader: &Reader, mut stream: TcpStream) -> io::Result<()> {
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
        let counts = std::mem::take(&mut *locked(&reader.pending));
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
    told: u64,
}

impl Progress {
    /// Of a connection from `port` that has just been accepted.
    pub(crate) fn new(reports: &Arc<Reports>, port: u16) -> Self {
        Progress {
            reports: Arc::clone(reports),
            port,
            processed: 0,
            told: 0,
        }
    }

    /// One more message; `idle` when no input is waiting.
    pub(crate) fn processed(&mut self, idle: bool) {
        self.processed += 1;
        if idle || self.processed - self.told >= TELL_AFTER {
            self.reports.tell(self.port, self.processed);
            self.told = self.processed;
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.reports.close(self.port);
    }
}
