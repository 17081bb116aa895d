//! What the sender of one direction has sent, and what it was allowed.

use std::collections::VecDeque;

use crate::diagnosis::path::Path;
use crate::diagnosis::receiver::{AdvertisedWindows, Advertisements};
use crate::flow::event::{Direction, Segment};

const UNACKNOWLEDGED_MAX: usize = 1024;
/// Ethernet's segment with timestamps (RFC 7323), where no SYN announced another size, bytes.
const DEFAULT_SEGMENT_BYTES: u32 = 1448;
/// Of the TCP timestamps option, padded, bytes.
const TIMESTAMPS_OPTION_BYTES: u32 = 12;
/// A TCP header holds no more options, bytes.
const OPTIONS_BYTES_MAX: u32 = 40;
/// Segments of one size in a row that show that they are full.
const RUN_MIN: u32 = 3;
/// Each within this after the one before, ns.
const RUN_WITHIN_NS: u64 = 1_000_000;
/// No path of IPv4 carries less (RFC 791: 576 bytes with headers and options).
const RUN_BYTES_MIN: u32 = 500;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) offset: u64,
    pub(crate) end: u64,
    pub(crate) at: u64,
    pub(crate) packet: u64,
    pub(crate) is_small: bool,
    /// When it was sent again, the last time, and the packet: an answer may be to either (Karn
    /// and Partridge 1987).
    pub(crate) repeated: Option<(u64, u64)>,
}

impl Sent {
    pub(crate) fn of(segment: &Segment, full: u64) -> Sent {
        Sent {
            is_small: u64::from(segment.bytes) < full,
            offset: segment.offset,
            end: segment.end(),
            at: segment.at_ns,
            packet: segment.packet,
            repeated: None,
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.end - self.offset
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Gap {
    pub(crate) before: Sent,
    pub(crate) after: Sent,
    pub(crate) interrupted: bool,
}

impl Gap {
    pub(crate) fn ns(&self) -> u64 {
        self.after.at.saturating_sub(self.before.at)
    }
}

#[derive(Debug)]
pub(crate) struct Sender {
    pub(crate) direction: Direction,
    pub(crate) advertisements: Advertisements,
    pub(crate) windows: AdvertisedWindows,
    pub(crate) next: u64,
    pub(crate) unacknowledged: VecDeque<Sent>,
    pub(crate) last: Option<Sent>,
    /// The newest in a packet before the one of `last`.
    pub(crate) before_last: Option<Sent>,
    /// By the MSS option of the receiver's SYN.
    offered: Option<u32>,
    /// By that of its own SYN: what its own link carries.
    own_mss: Option<u32>,
    largest: u32,
    run: Run,
    /// As [`Self::calculate_full_segment`] gives it, bytes.
    full: u64,
}

/// Segments of one size, sent one right behind the other: where a path carries less than both
/// sides announced, that is the size of full ones (RFC 1191).
#[derive(Debug, Clone, Copy, Default)]
struct Run {
    bytes: u32,
    count: u32,
    /// The last size of which there were enough.
    found: Option<u32>,
}

impl Run {
    fn take(&mut self, bytes: u32, is_next: bool) {
        self.count = if is_next && self.bytes == bytes {
            self.count + 1
        } else {
            1
        };
        self.bytes = bytes;
        if self.count >= RUN_MIN && bytes >= RUN_BYTES_MIN {
            self.found = Some(bytes);
        }
    }
}

impl Sender {
    /// `segment_bytes`: the MSS option of the receiver's SYN.
    pub(crate) fn new(direction: Direction, segment_bytes: Option<u16>) -> Sender {
        let mut sender = Sender {
            direction,
            advertisements: Advertisements::default(),
            windows: AdvertisedWindows::default(),
            next: 0,
            unacknowledged: VecDeque::new(),
            last: None,
            before_last: None,
            offered: segment_bytes.map(u32::from),
            own_mss: None,
            largest: 0,
            run: Run::default(),
            full: 0,
        };
        sender.full = sender.calculate_full_segment();
        sender
    }

    /// The payload of a full segment, bytes. What the receiver offered, less options,
    /// and no more than half of the largest window (RFC 1122 section 4.2.3.4, which
    /// matters where segments are 64 kB). Captures with offloads show several as one.
    #[inline]
    pub(crate) fn full_segment(&self) -> u64 {
        self.full
    }

    /// A packet of the receiver announces a window.
    #[inline]
    pub(crate) fn take_window(&mut self, segment: &Segment) {
        let largest = self.windows.largest();
        self.windows.take(segment, self.full);
        if self.windows.largest() != largest {
            self.full = self.calculate_full_segment();
        }
    }

    /// Both SYNs were seen: windows are known.
    pub(crate) fn scale_windows(&mut self) {
        self.windows.scaled();
        self.full = self.calculate_full_segment();
    }

    fn calculate_full_segment(&self) -> u64 {
        // What its own link carries bounds a sender, too, unless it has sent more.
        let own = self.own_mss.filter(|own| self.largest <= *own);
        let offered = match (self.offered, own) {
            (Some(offered), Some(own)) => Some(offered.min(own)),
            (offered, own) => offered.or(own),
        };
        let full = match offered {
            Some(offered)
                if (offered.saturating_sub(OPTIONS_BYTES_MAX)..=offered)
                    // The largest segment within the room for options below the MSS is
                    // the real size; a larger one is a burst that the card was to cut
                    // (TSO) or had joined (GRO).
                    .contains(&self.largest) =>
            {
                self.largest
            }
            Some(offered) => {
                let announced = offered.saturating_sub(TIMESTAMPS_OPTION_BYTES).max(1);
                self.run
                    .found
                    .map_or(announced, |found| found.min(announced))
            }
            None => self.run.found.map_or(DEFAULT_SEGMENT_BYTES, |found| {
                found.min(DEFAULT_SEGMENT_BYTES)
            }),
        };
        // Linux bounds segments to half the largest window (tcp_bound_to_half_wnd).
        let half_window = self.windows.largest() / 2;
        let full = u64::from(full);
        if half_window == 0 {
            full
        } else {
            full.min(half_window)
        }
    }

    /// What the receiver's SYN and its own announce.
    pub(crate) fn announce(&mut self, side: Direction, mss: u16) {
        let announced = Some(u32::from(mss));
        if side == self.direction {
            self.own_mss = announced;
        } else {
            self.offered = announced;
        }
        self.full = self.calculate_full_segment();
    }

    /// Bytes that the sender had sent at `at` without knowing that they had arrived.
    pub(crate) fn flight_bytes(&self, end: u64, at: u64, path: &Path) -> Option<u64> {
        // What had passed the capture a way ago: the sender decides by what has reached
        // it.
        let known = self
            .advertisements
            .acknowledgment_at(at.saturating_sub(path.sender_rtt(self.direction)))?;
        Some(end.saturating_sub(known))
    }

    pub(crate) fn remember(&mut self, sent: Sent, bytes: u32) {
        let is_next = self.last.is_some_and(|last| {
            last.end == sent.offset && sent.at.saturating_sub(last.at) <= RUN_WITHIN_NS
        });
        let known = (self.run.found, self.largest);
        self.run.take(bytes, is_next);
        self.largest = self.largest.max(bytes);
        if known != (self.run.found, self.largest) {
            self.full = self.calculate_full_segment();
        }
        self.next = sent.end;
        if self.unacknowledged.len() == UNACKNOWLEDGED_MAX {
            // Forgetting the oldest loses one round-trip sample, nothing else.
            self.unacknowledged.pop_front();
        }
        self.unacknowledged.push_back(sent);
        self.before_last = self.last;
        self.last = Some(sent);
    }

    /// Forgets what was acknowledged; returns the newest of it.
    pub(crate) fn take_acknowledged(&mut self, acknowledged: u64) -> Option<Sent> {
        let mut newest = None;
        while let Some(sent) = self.unacknowledged.front() {
            if sent.end > acknowledged {
                break;
            }
            newest = self.unacknowledged.pop_front();
        }
        newest
    }
}
