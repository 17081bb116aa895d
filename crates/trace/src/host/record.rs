//! The record of a host: a file of fixed-size records, as the kernel program gives them.
//!
//! 64 bytes of head, then records of 64 bytes, little-endian; the last one holds the totals.
//! Times are nanoseconds since the Unix epoch, as those of captures.

use std::io::{self, Read};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// Of the head.
pub const HEADER_BYTES: usize = 64;
/// Of each record.
pub const RECORD_BYTES: usize = 64;

const MAGIC: &[u8; 16] = b"wirelab host 1\n\0";
/// Records that are read at a time.
const BATCH: usize = 1024;

const OFF_CPU: u8 = 1;
const READ: u8 = 2;
const WRITE: u8 = 3;
const TOTALS: u8 = 255;

const PREEMPTED: u8 = 1;
const IO_WAIT: u8 = 2;
const UNINTERRUPTIBLE: u8 = 4;
const WOKEN_BY_OWN: u8 = 8;
const WOKEN_BY_DATA: u8 = 16;

/// A record as it is in files.
pub type RawRecord = [u8; RECORD_BYTES];

/// What a file begins with.
pub fn header() -> [u8; HEADER_BYTES] {
    let mut head = [0; HEADER_BYTES];
    head[..MAGIC.len()].copy_from_slice(MAGIC);
    head
}

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// It begins with something else.
    #[error("it is not a record of a host")]
    Foreign,
    /// A record of a kind that does not exist.
    #[error("record {number} is of unknown kind {kind}")]
    Kind {
        /// From 1.
        number: u64,
        /// As found.
        kind: u8,
    },
    /// A record that ends before it begins.
    #[error("the times of record {number} are not in order")]
    Order {
        /// From 1.
        number: u64,
    },
    /// The file system failed.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// A time in which a thread did not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OffCpu {
    /// The thread.
    pub tid: u32,
    /// It had begun to run before that, ns since the epoch; 0 where that was not seen.
    pub ran_at: u64,
    /// It left the CPU, ns since the epoch.
    pub out_at: u64,
    /// It could run again, ns since the epoch; 0 where that was not seen.
    pub woken_at: u64,
    /// It ran again, ns since the epoch.
    pub in_at: u64,
    /// The kernel took the CPU away from it.
    pub is_preempted: bool,
    /// The kernel counted it as waiting for a disk.
    pub is_io_wait: bool,
    /// No signal could wake it.
    pub is_uninterruptible: bool,
    /// A thread of its process woke it.
    pub is_woken_by_own: bool,
    /// Data came to a socket just before.
    pub is_woken_by_data: bool,
    /// The thread that ran when it was woken; 0 without one.
    pub waker: u32,
    /// The system call that it was in; negative outside of any.
    pub syscall: i16,
    /// The system call that its waker was in; negative outside of any.
    pub waker_syscall: i16,
}

/// A connection as its process has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Connection {
    /// The port of the process.
    pub local_port: u16,
    /// The other side.
    pub remote: SocketAddr,
}

impl Connection {
    /// Addresses of IPv4 that are mapped to IPv6 count as the former.
    pub fn new(local_port: u16, remote: SocketAddr) -> Connection {
        let ip = remote.ip().to_canonical();
        Connection {
            local_port,
            remote: SocketAddr::new(ip, remote.port()),
        }
    }
}

/// A read or a write of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// Which connection.
    pub connection: Connection,
    /// The thread.
    pub tid: u32,
    /// When the call returned, ns since the epoch.
    pub at: u64,
    /// Of a read: since when data was at the socket, ns since the epoch; 0 where that was not
    /// seen.
    pub ready_at: u64,
    /// How many bytes.
    pub bytes: u64,
}

/// The last record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// The first and the last moment that is recorded, ns since the epoch.
    pub from_ns: u64,
    /// The end.
    pub to_ns: u64,
    /// Records that the kernel had no room for.
    pub drops: u64,
}

/// One record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Record {
    /// A thread ran again.
    OffCpu(OffCpu),
    /// A thread read.
    Read(Transfer),
    /// A thread wrote.
    Write(Transfer),
    /// The end.
    Totals(Totals),
}

impl Record {
    /// When it was taken, ns since the epoch.
    pub fn at(&self) -> u64 {
        match self {
            Record::OffCpu(period) => period.in_at,
            Record::Read(transfer) | Record::Write(transfer) => transfer.at,
            Record::Totals(totals) => totals.to_ns,
        }
    }

    /// `number`: from 1, for messages.
    ///
    /// # Errors
    /// When no kernel gives such a record.
    pub fn parse(raw: &RawRecord, number: u64) -> Result<Record, RecordError> {
        let fields = Fields(raw);
        match raw[36] {
            OFF_CPU => fields.off_cpu(number),
            READ => Ok(Record::Read(fields.transfer())),
            WRITE => Ok(Record::Write(fields.transfer())),
            TOTALS => Ok(Record::Totals(Totals {
                to_ns: fields.u64(0),
                from_ns: fields.u64(8),
                drops: fields.u64(16),
            })),
            kind => Err(RecordError::Kind { number, kind }),
        }
    }

    /// As it is in files.
    pub fn raw(&self) -> RawRecord {
        let mut raw = [0; RECORD_BYTES];
        let mut put = |times: [u64; 4], tid: u32, kind: u8, flags: u8| {
            for (place, time) in times.into_iter().enumerate() {
                raw[8 * place..8 * place + 8].copy_from_slice(&time.to_le_bytes());
            }
            raw[32..36].copy_from_slice(&tid.to_le_bytes());
            raw[36] = kind;
            raw[37] = flags;
        };
        match self {
            Record::OffCpu(one) => {
                let flags = [
                    (one.is_preempted, PREEMPTED),
                    (one.is_io_wait, IO_WAIT),
                    (one.is_uninterruptible, UNINTERRUPTIBLE),
                    (one.is_woken_by_own, WOKEN_BY_OWN),
                    (one.is_woken_by_data, WOKEN_BY_DATA),
                ];
                let flags = flags.iter().filter(|flag| flag.0).map(|flag| flag.1).sum();
                put(
                    [one.in_at, one.out_at, one.woken_at, one.ran_at],
                    one.tid,
                    OFF_CPU,
                    flags,
                );
                raw[40..44].copy_from_slice(&one.waker.to_le_bytes());
                raw[44..46].copy_from_slice(&one.syscall.to_le_bytes());
                raw[46..48].copy_from_slice(&one.waker_syscall.to_le_bytes());
            }
            Record::Read(one) | Record::Write(one) => {
                let kind = if matches!(self, Record::Read(_)) {
                    READ
                } else {
                    WRITE
                };
                put([one.at, one.ready_at, one.bytes, 0], one.tid, kind, 0);
                raw[44..46].copy_from_slice(&one.connection.local_port.to_le_bytes());
                raw[46..48].copy_from_slice(&one.connection.remote.port().to_le_bytes());
                let ip = match one.connection.remote.ip() {
                    IpAddr::V4(ip) => ip.to_ipv6_mapped(),
                    IpAddr::V6(ip) => ip,
                };
                raw[48..64].copy_from_slice(&ip.octets());
            }
            Record::Totals(one) => put([one.to_ns, one.from_ns, one.drops, 0], 0, TOTALS, 0),
        }
        raw
    }

    /// Of a record with the times of another clock, one with those `ahead` of it, ns.
    #[must_use]
    pub fn moved(self, ahead: u64) -> Record {
        let moved = |at: u64| if at == 0 { 0 } else { at.wrapping_add(ahead) };
        let transfer = |one: Transfer| Transfer {
            at: moved(one.at),
            ready_at: moved(one.ready_at),
            ..one
        };
        match self {
            Record::OffCpu(one) => Record::OffCpu(OffCpu {
                ran_at: moved(one.ran_at),
                out_at: moved(one.out_at),
                woken_at: moved(one.woken_at),
                in_at: moved(one.in_at),
                ..one
            }),
            Record::Read(one) => Record::Read(transfer(one)),
            Record::Write(one) => Record::Write(transfer(one)),
            Record::Totals(one) => Record::Totals(Totals {
                from_ns: moved(one.from_ns),
                to_ns: moved(one.to_ns),
                ..one
            }),
        }
    }
}

struct Fields<'a>(&'a RawRecord);

impl Fields<'_> {
    fn bytes<const N: usize>(&self, at: usize) -> [u8; N] {
        std::array::from_fn(|place| self.0[at + place])
    }

    fn u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.bytes(at))
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.bytes(at))
    }

    fn off_cpu(&self, number: u64) -> Result<Record, RecordError> {
        let [in_at, out_at, woken_at, ran_at] = [0, 8, 16, 24].map(|at| self.u64(at));
        let flags = self.0[37];
        let is_ordered = out_at <= in_at
            && ran_at <= out_at
            && (woken_at == 0 || (out_at..=in_at).contains(&woken_at));
        if !is_ordered {
            return Err(RecordError::Order { number });
        }
        Ok(Record::OffCpu(OffCpu {
            tid: self.u32(32),
            ran_at,
            out_at,
            woken_at,
            in_at,
            is_preempted: flags & PREEMPTED != 0,
            is_io_wait: flags & IO_WAIT != 0,
            is_uninterruptible: flags & UNINTERRUPTIBLE != 0,
            is_woken_by_own: flags & WOKEN_BY_OWN != 0,
            is_woken_by_data: flags & WOKEN_BY_DATA != 0,
            waker: self.u32(40),
            syscall: i16::from_le_bytes(self.bytes(44)),
            waker_syscall: i16::from_le_bytes(self.bytes(46)),
        }))
    }

    fn transfer(&self) -> Transfer {
        let [local_port, remote_port] = [44, 46].map(|at| u16::from_le_bytes(self.bytes(at)));
        let ip = Ipv6Addr::from(self.bytes::<16>(48));
        Transfer {
            connection: Connection::new(local_port, SocketAddr::new(ip.into(), remote_port)),
            tid: self.u32(32),
            at: self.u64(0),
            ready_at: self.u64(8),
            bytes: self.u64(16),
        }
    }
}

/// Reads the records of a file, one after the other, in constant memory.
#[derive(Debug)]
pub struct Reader<R> {
    file: R,
    batch: Vec<u8>,
    taken: usize,
    number: u64,
}

impl<R: Read> Reader<R> {
    /// # Errors
    /// When it is not such a file, or cannot be read.
    pub fn new(mut file: R) -> Result<Reader<R>, RecordError> {
        let mut head = [0; HEADER_BYTES];
        match file.read_exact(&mut head) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(RecordError::Foreign);
            }
            read => read?,
        }
        if head != header() {
            return Err(RecordError::Foreign);
        }
        Ok(Reader {
            file,
            batch: Vec::new(),
            taken: 0,
            number: 0,
        })
    }

    /// The next record; None at the end, or where the file breaks off within one.
    ///
    /// # Errors
    /// When it is none, or cannot be read.
    pub fn next_record(&mut self) -> Result<Option<Record>, RecordError> {
        if self.taken + RECORD_BYTES > self.batch.len() && !self.fill()? {
            return Ok(None);
        }
        let Some(raw) = self.batch[self.taken..].first_chunk::<RECORD_BYTES>() else {
            return Ok(None);
        };
        self.number += 1;
        let record = Record::parse(raw, self.number)?;
        self.taken += RECORD_BYTES;
        Ok(Some(record))
    }

    fn fill(&mut self) -> io::Result<bool> {
        self.batch.clear();
        self.taken = 0;
        let most = (BATCH * RECORD_BYTES) as u64;
        self.file.by_ref().take(most).read_to_end(&mut self.batch)?;
        Ok(self.batch.len() >= RECORD_BYTES)
    }
}
