//! What a one-way service reports of its progress, for one group of one thread.

use std::collections::HashMap;
use std::io;

use wirelab_wire::raw::report::{Record, Records};

use crate::connection::socket::{Read, Socket, SocketOptions};
use crate::plan::target::Target;
use crate::reactor::poll::{Interest, Poll};

/// The slot that readiness of a report connection is known by.
pub(crate) const REPORT_SLOT: u32 = u32::MAX;

/// A report connection, and whose port is whose.
pub(crate) struct Report {
    target: Target,
    connection: Option<ReportConnection>,
    /// Slots of connections by their local port.
    slots: HashMap<u16, u32>,
    /// What the last receive reported, in its order.
    records: Vec<Record>,
}

/// A connection to the service's reports.
struct ReportConnection {
    socket: Socket,
    started: u64,
    open: bool,
    parser: Records,
}

impl Report {
    pub(crate) fn new(target: Target) -> Report {
        Report {
            target,
            connection: None,
            slots: HashMap::new(),
            records: Vec::new(),
        }
    }

    /// Calls may be sent: what becomes of them will be reported.
    pub(crate) fn is_open(&self) -> bool {
        self.connection
            .as_ref()
            .is_some_and(|connection| connection.open)
    }

    pub(crate) fn is_opening(&self) -> bool {
        self.connection
            .as_ref()
            .is_some_and(|connection| !connection.open)
    }

    /// When it was asked for, as long as it is not there.
    pub(crate) fn connecting_since(&self) -> Option<u64> {
        let connection = self.connection.as_ref()?;
        (!connection.open).then_some(connection.started)
    }

    /// Starts to connect.
    ///
    /// # Errors
    /// As connect(2) says.
    pub(crate) fn connect(&mut self, poll: &Poll, token: u64, now: u64) -> io::Result<()> {
        let socket = Socket::connect(&self.target, SocketOptions::default())?;
        poll.add(&socket, token, Interest::ReadWrite)?;
        self.connection = Some(ReportConnection {
            socket,
            started: now,
            open: false,
            parser: Records::new(),
        });
        Ok(())
    }

    /// The socket can be written to: it is connected, or failed to be.
    ///
    /// # Errors
    /// Why it failed.
    pub(crate) fn opened(&mut self, poll: &Poll, token: u64) -> io::Result<()> {
        let Some(connection) = self
            .connection
            .as_mut()
            .filter(|connection| !connection.open)
        else {
            return Ok(());
        };
        if let Some(error) = connection.socket.take_error() {
            return Err(error);
        }
        connection.open = true;
        poll.modify(&connection.socket, token, Interest::Read)
    }

    /// Reads once, as much as `input` takes, and returns what was reported.
    ///
    /// # Errors
    /// When the connection has ended, or sends something else than a record.
    pub(crate) fn read(&mut self, input: &mut [u8]) -> io::Result<Vec<Record>> {
        let mut records = std::mem::take(&mut self.records);
        records.clear();
        let Some(connection) = &mut self.connection else {
            return Ok(records);
        };
        let length = match connection.socket.read(input)? {
            Read::Empty => return Ok(records),
            Read::Bytes(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Read::Bytes(length) => length,
        };
        let mut rest = &input[..length];
        loop {
            match connection.parser.next(&mut rest) {
                Ok(Some(record)) => records.push(record),
                Ok(None) => return Ok(records),
                Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error)),
            }
        }
    }

    /// Gives the memory of [`Report::read`] back.
    pub(crate) fn give_back(&mut self, records: Vec<Record>) {
        self.records = records;
    }

    /// The connection is of no use any more.
    pub(crate) fn lose(&mut self) {
        self.connection = None;
        self.slots.clear();
    }

    /// Notes whose port it is.
    pub(crate) fn expect(&mut self, port: u16, slot: u32) {
        // Ports are used again: the newest connection owns it.
        self.slots.insert(port, slot);
    }

    /// Whose port it is; other callers' connections are none of ours.
    pub(crate) fn slot_of(&self, port: u16) -> Option<u32> {
        self.slots.get(&port).copied()
    }
}
