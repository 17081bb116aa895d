//! One direction of a flow: what its sender sent, and what it was allowed.

use std::collections::VecDeque;

use crate::diagnosis::announced::Announced;
use crate::diagnosis::congestion::Congestion;
use crate::diagnosis::loss::Losses;
use crate::diagnosis::path::Path;
use crate::diagnosis::split::Joint;
use crate::diagnosis::stall::Stalls;
use crate::diagnosis::unseen::Numbers;
use crate::diagnosis::{congestion, nagle, window};
use crate::flow::event::{Direction, Segment, SegmentKind};

/// Segments on their way that are remembered.
const ON_THEIR_WAY: usize = 1024;
/// Joints of messages that are remembered.
const JOINTS: usize = 64;
/// Ethernet's segment with timestamps (RFC 7323), where no SYN told another size, bytes.
const USUAL_SEGMENT_BYTES: u32 = 1448;
/// Of the TCP timestamps option, padded, bytes.
const TIMESTAMPS_BYTES: u32 = 12;
/// A TCP header holds no more options, bytes.
const OPTIONS_BYTES_MAX: u32 = 40;

/// A segment with payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) offset: u64,
    pub(crate) end: u64,
    pub(crate) at: u64,
    pub(crate) packet: u64,
    /// It was less than a full segment when it was sent.
    pub(crate) is_small: bool,
    /// It was sent a second time: an answer may be to either (Karn and Partridge 1987).
    pub(crate) again: bool,
}

impl Sent {
    /// `full`: the payload of a full segment.
    fn of(segment: &Segment, full: u64) -> Sent {
        Sent {
            is_small: u64::from(segment.bytes) < full,
            offset: segment.offset,
            end: segment.end(),
            at: segment.at_ns,
            packet: segment.packet,
            again: false,
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.end - self.offset
    }
}

/// A silence of the sender between two segments that follow each other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gap {
    pub(crate) before: Sent,
    pub(crate) after: Sent,
    /// The other side has sent payload in it.
    pub(crate) interrupted: bool,
}

impl Gap {
    pub(crate) fn ns(&self) -> u64 {
        self.after.at.saturating_sub(self.before.at)
    }
}

/// What is known of one direction.
#[derive(Debug)]
pub(crate) struct Half {
    pub(crate) direction: Direction,
    /// By the receiver.
    pub(crate) announced: Announced,
    pub(crate) windows: window::Windows,
    pub(crate) congestion: Congestion,
    pub(crate) losses: Losses,
    pub(crate) numbers: Numbers,
    pub(crate) joints: VecDeque<Joint>,
    /// Behind the last byte sent.
    pub(crate) next: u64,
    pub(crate) on_their_way: VecDeque<Sent>,
    pub(crate) last: Option<Sent>,
    /// The newest in a packet before the one of `last`.
    pub(crate) before_last: Option<Sent>,
    segment_bytes_offered: Option<u32>,
    largest: u32,
}

impl Half {
    /// `segment_bytes`: what the receiver's SYN offered.
    pub(crate) fn new(direction: Direction, segment_bytes: Option<u16>) -> Half {
        Half {
            direction,
            announced: Announced::default(),
            windows: window::Windows::default(),
            congestion: Congestion::default(),
            losses: Losses::default(),
            numbers: Numbers::default(),
            joints: VecDeque::new(),
            next: 0,
            on_their_way: VecDeque::new(),
            last: None,
            before_last: None,
            segment_bytes_offered: segment_bytes.map(u32::from),
            largest: 0,
        }
    }

    /// The payload of a full segment, bytes. What the receiver offered, less options,
    /// and no more than half of the largest window (RFC 1122 section 4.2.3.4, which
    /// matters where segments are 64 kB). Captures with offloads show several as one.
    pub(crate) fn full(&self) -> u64 {
        let full = match self.segment_bytes_offered {
            Some(offered)
                if (offered.saturating_sub(OPTIONS_BYTES_MAX)..=offered)
                    .contains(&self.largest) =>
            {
                self.largest
            }
            Some(offered) => offered.saturating_sub(TIMESTAMPS_BYTES).max(1),
            None => USUAL_SEGMENT_BYTES,
        };
        let half_window = self.windows.largest() / 2;
        let full = u64::from(full);
        if half_window == 0 {
            full
        } else {
            full.min(half_window)
        }
    }

    /// Bytes that the sender had sent at `at` without knowing that they had arrived.
    pub(crate) fn in_flight(&self, end: u64, at: u64, path: &Path) -> Option<u64> {
        let known = self
            .announced
            .acknowledged_at(at.saturating_sub(path.near(self.direction)))?;
        Some(end.saturating_sub(known))
    }

    /// A packet of the receiver. `excused`: what was sent again had arrived before.
    pub(crate) fn acknowledged(
        &mut self,
        segment: &Segment,
        excused: bool,
        path: &mut Path,
        stalls: &mut Stalls,
    ) {
        if excused {
            self.losses.excuse(segment.acknowledged);
            let since = segment
                .at_ns
                .saturating_sub(path.round_trip() + path.slack(self.direction));
            stalls.take_back(self.direction, since);
        }
        self.windows.take(segment, self.full());
        if !self.announced.take(segment) {
            return;
        }
        let mut newest = None;
        while let Some(sent) = self.on_their_way.front() {
            if sent.end > segment.acknowledged {
                break;
            }
            newest = self.on_their_way.pop_front();
        }
        if let Some(sent) = newest.filter(|sent| !sent.again) {
            let ns = segment.at_ns.saturating_sub(sent.at);
            if segment.kind == SegmentKind::Acknowledgment {
                path.sampled(self.direction, ns);
            } else {
                // Whoever answers with payload may have waited for that.
                path.answered(self.direction, ns);
            }
        }
        let asleep_ns = window::not_reading_ns(self, path);
        self.losses
            .acknowledged(segment, path.far(self.direction), asleep_ns, stalls);
    }

    /// A segment with payload. `asked`: the newest payload of the other side.
    pub(crate) fn sent(
        &mut self,
        segment: &Segment,
        asked: Option<(u64, u64)>,
        path: &Path,
        stalls: &mut Stalls,
    ) {
        if segment.offset < self.next {
            Losses::repeated(self, segment, path, stalls);
        }
        if segment.end() <= self.next {
            return;
        }
        let after = Sent::of(segment, self.full());
        if segment.offset > self.next {
            self.losses
                .missing(self.next, &after, self.last.as_ref(), path);
            self.numbers.explained();
        }
        match self.numbers.stall(segment, asked, path) {
            Some(stall) => {
                self.congestion.lost();
                stalls.push(stall);
            }
            None => self.followed(after, asked, path, stalls),
        }
        self.remember(after, segment.bytes);
        // The next silence is after this segment, and its sender knew what was
        // announced a way to it before.
        let known = after.at.saturating_sub(2 * path.near(self.direction));
        self.announced.forget_before(known);
    }

    fn followed(
        &mut self,
        after: Sent,
        asked: Option<(u64, u64)>,
        path: &Path,
        stalls: &mut Stalls,
    ) {
        if let Some(before) = self.last.filter(|before| before.end == after.offset) {
            let interrupted = asked.is_some_and(|(at, _)| at > before.at);
            let gap = Gap {
                before,
                after,
                interrupted,
            };
            self.silent(&gap, path, stalls);
        }
    }

    fn silent(&mut self, gap: &Gap, path: &Path, stalls: &mut Stalls) {
        if let Some(joint) = Joint::of(self, gap) {
            if self.joints.len() == JOINTS {
                self.joints.pop_front();
            }
            self.joints.push_back(joint);
        }
        if self.losses.is_recovering() {
            return;
        }
        let stall = window::stall(self, gap, path)
            .or_else(|| nagle::stall(self, gap))
            .or_else(|| congestion::stall(self, gap, path));
        if let Some(stall) = stall {
            stalls.push(stall);
        }
    }

    fn remember(&mut self, sent: Sent, bytes: u32) {
        self.largest = self.largest.max(bytes);
        self.next = sent.end;
        if self.on_their_way.len() == ON_THEIR_WAY {
            self.on_their_way.pop_front();
        }
        self.on_their_way.push_back(sent);
        self.before_last = self.last;
        self.last = Some(sent);
    }

    /// Bytes that the capture lacks.
    pub(crate) fn lacks(&mut self, end: u64) {
        self.next = self.next.max(end);
        self.losses.forget(end);
    }
}
