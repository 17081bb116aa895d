//! The times of the server of a whole capture, laid next to the record of its host.

use std::collections::HashMap;
use std::io::Read;
use std::net::SocketAddr;

use super::part::HostDivision;
use super::record::{Connection, Reader, RecordError, Totals};
use super::split::Window;
use super::timeline::Timeline;
use crate::flow::event::FlowId;

/// Times that wait for their records, at most: about 120 MB.
const WINDOWS_MAX: usize = 1_500_000;
/// Exchanges whose times are kept one by one, at most.
const EXCHANGES_MAX: usize = 65_536;

/// What a time was found for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowKind {
    /// The account of time: the part `server` of an exchange.
    Account,
    /// The finding `server-think-time` in an exchange: its connection, and its number there.
    ThinkTime(FlowId, u64),
    /// The finding `nagle-delayed-ack` in a reply.
    HeldBack,
}

/// Times of the server, divided.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HostSums {
    /// The part `server` of all exchanges.
    pub account: HostDivision,
    /// The times of `server-think-time`.
    pub think_time: HostDivision,
    /// The same for each exchange, of the first ones.
    pub exchanges: HashMap<(FlowId, u64), HostDivision>,
    /// Of the times of `nagle-delayed-ack` in replies, the part that is certainly after the
    /// application's write, ns.
    pub held_after_write_ns: u64,
    /// Times that were divided, of all kinds.
    pub windows: u64,
    /// Times beyond the bound of memory, which were not.
    pub left_out: u64,
}

/// Times that wait for the records of the host, and the sums of those that were divided.
#[derive(Debug, Default)]
pub struct HostWindows {
    waiting: Vec<(WindowKind, Window)>,
    sums: HostSums,
}

impl HostWindows {
    /// A time of the server of a connection, ns since the epoch; `path_ns`: the round trip
    /// between capture and server before it.
    pub fn add(
        &mut self,
        kind: WindowKind,
        (client, server): (SocketAddr, SocketAddr),
        (from, to): (u64, u64),
        path_ns: u64,
    ) {
        if self.waiting.len() >= WINDOWS_MAX {
            self.sums.left_out += 1;
            return;
        }
        let connection = Connection::new(server.port(), client);
        let window = Window {
            connection,
            from,
            to,
            path_ns,
        };
        self.waiting.push((kind, window));
    }

    /// What was divided so far.
    pub fn sums(&self) -> &HostSums {
        &self.sums
    }

    /// Divides the times whose records have all been taken.
    pub fn settle(&mut self, timeline: &Timeline) {
        let settled = timeline.now().saturating_sub(Timeline::SETTLED_NS);
        let sums = &mut self.sums;
        self.waiting.retain(|(kind, window)| {
            let is_early = window.to > settled;
            if !is_early {
                sums.divide(*kind, window, timeline);
            }
            is_early
        });
    }

    /// The packets are over: divides what is left.
    pub fn finish(mut self, timeline: &Timeline) -> HostSums {
        for (kind, window) in std::mem::take(&mut self.waiting) {
            self.sums.divide(kind, &window, timeline);
        }
        self.sums
    }

    /// The packets are over: divides all times by the records of a file.
    ///
    /// # Errors
    /// When the file is not a record of a host, or cannot be read.
    pub fn read(
        mut self,
        reader: &mut Reader<impl Read>,
    ) -> Result<(HostSums, Option<Totals>), RecordError> {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.sort_unstable_by_key(|(_, window)| window.to);
        let mut timeline = Timeline::default();
        let mut is_more = true;
        for (kind, window) in &waiting {
            let settled = window.to.saturating_add(Timeline::SETTLED_NS);
            while is_more && timeline.now() <= settled {
                is_more = take(reader, &mut timeline)?;
            }
            self.sums.divide(*kind, window, &timeline);
        }
        while is_more {
            is_more = take(reader, &mut timeline)?;
        }
        Ok((self.sums, timeline.totals()))
    }
}

fn take(reader: &mut Reader<impl Read>, timeline: &mut Timeline) -> Result<bool, RecordError> {
    let record = reader.next_record()?;
    if let Some(record) = &record {
        timeline.take(record);
    }
    Ok(record.is_some())
}

impl HostSums {
    fn divide(&mut self, kind: WindowKind, window: &Window, timeline: &Timeline) {
        match kind {
            WindowKind::Account => self.account.add_all(&timeline.split(window)),
            WindowKind::ThinkTime(flow, ordinal) => {
                let division = timeline.split(window);
                self.keep((flow, ordinal), &division);
                self.think_time.add_all(&division);
            }
            WindowKind::HeldBack => {
                self.held_after_write_ns += timeline.hold_after_write_ns(window);
            }
        }
        self.windows += 1;
    }

    fn keep(&mut self, exchange: (FlowId, u64), division: &HostDivision) {
        let is_room = self.exchanges.len() < EXCHANGES_MAX;
        if is_room || self.exchanges.contains_key(&exchange) {
            self.exchanges
                .entry(exchange)
                .or_default()
                .add_all(division);
        }
    }
}
