//! What a receiver has acknowledged and allowed, and since when.

use std::collections::VecDeque;

use crate::diagnosis::search;
use crate::flow::event::{Segment, SegmentKind};

/// Advertisements that are remembered: of a window of data, one in two segments is
/// acknowledged, so this covers about 512 segments on their way.
const ADVERTISEMENTS_MAX: usize = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Advertisement {
    /// When it passed, ns.
    pub(crate) at: u64,
    pub(crate) packet: u64,
    /// Everything below this offset has arrived.
    pub(crate) acknowledged: u64,
    /// Everything below this offset may be sent.
    pub(crate) limit: u64,
    pub(crate) is_pure: bool,
}

/// The last advertisements of one side, in order; both figures only grow.
#[derive(Debug, Default)]
pub(crate) struct Advertisements {
    ring: VecDeque<Advertisement>,
    forgotten: bool,
}

impl Advertisements {
    pub(crate) fn take(&mut self, segment: &Segment) -> bool {
        let (acknowledged, limit) = self
            .ring
            .back()
            .map_or((0, 0), |last| (last.acknowledged, last.limit));
        let is_new = self.ring.is_empty() || segment.acknowledged > acknowledged;
        // The right edge of the window: RFC 9293 section 3.4, SND.UNA + SND.WND.
        let limit_now = segment.acknowledged.saturating_add(segment.window);
        // Acknowledgments that were overtaken, and windows that shrink by what they
        // acknowledge.
        if !is_new && limit_now <= limit {
            return false;
        }
        if self.ring.len() == ADVERTISEMENTS_MAX {
            self.ring.pop_front();
            self.forgotten = true;
        }
        self.ring.push_back(Advertisement {
            at: segment.at_ns,
            packet: segment.packet,
            acknowledged: acknowledged.max(segment.acknowledged),
            limit: limit.max(limit_now),
            is_pure: segment.kind == SegmentKind::Acknowledgment,
        });
        true
    }

    /// What was known before `at` is not needed any more, except what held then.
    pub(crate) fn forget_before(&mut self, at: u64) {
        while self.ring.get(1).is_some_and(|second| second.at <= at) {
            self.ring.pop_front();
            self.forgotten = true;
        }
    }

    /// Everything below this offset may be sent.
    pub(crate) fn limit(&self) -> u64 {
        self.ring.back().map_or(0, |last| last.limit)
    }

    /// What was acknowledged by packets up to `at`. None: too long ago.
    pub(crate) fn acknowledgment_at(&self, at: u64) -> Option<u64> {
        match self.ring.iter().rev().find(|one| one.at <= at) {
            Some(one) => Some(one.acknowledged),
            // Nothing known is not nothing acknowledged.
            None if self.forgotten => None,
            None => Some(0),
        }
    }

    /// The first that allowed all below `offset`. None: not yet, or too long ago.
    pub(crate) fn first_allowing(&self, offset: u64) -> Option<Advertisement> {
        self.first(|one| one.limit >= offset)
    }

    /// The first that acknowledged all below `offset`. None: not yet, or too long ago.
    pub(crate) fn first_acknowledging(&self, offset: u64) -> Option<Advertisement> {
        self.first(|one| one.acknowledged >= offset)
    }

    /// The first after `at` that acknowledged more than those before it.
    pub(crate) fn progress_after(&self, at: u64) -> Option<Advertisement> {
        let base = self.acknowledgment_at(at)?;
        self.first(|one| one.at > at && one.acknowledged > base)
    }

    /// Both figures grow, so what holds for one holds for all behind it.
    fn first(&self, holds: impl Fn(&Advertisement) -> bool) -> Option<Advertisement> {
        let place = search::from_end(&self.ring, |one| !holds(one));
        if place == 0 && self.forgotten {
            return None;
        }
        self.ring.get(place).copied()
    }
}

#[derive(Debug, Default)]
pub(crate) struct AdvertisedWindows {
    /// Both SYNs were seen with all their options, so that windows are scaled as they
    /// should be (RFC 7323 section 2.2); otherwise they may be too small by a factor of
    /// up to 16,384.
    pub(crate) is_scaled: bool,
    largest: u64,
    closed_at: Option<u64>,
    /// When the window was closed last, and when it opened, ns.
    closed: Option<(u64, u64)>,
}

impl AdvertisedWindows {
    pub(crate) fn scaled(&mut self) {
        self.is_scaled = true;
    }

    /// The largest ever offered, bytes; 0 where it is not known.
    pub(crate) fn largest(&self) -> u64 {
        if self.is_scaled { self.largest } else { 0 }
    }

    /// A packet of the receiver; `full` is the payload of a full segment. A window is
    /// closed when it holds neither a segment nor a quarter of what it held:
    /// receivers that avoid silly windows say 0, others come near it.
    pub(crate) fn take(&mut self, segment: &Segment, full: u64) {
        self.largest = self.largest.max(segment.window);
        let is_closed = segment.window < full.min(self.largest / 4).max(1);
        match (is_closed, self.closed_at) {
            // Only the first of a row: later announcements of a closed window prolong
            // it.
            (true, None) => self.closed_at = Some(segment.at_ns),
            (false, Some(since)) => {
                self.closed = Some((since, segment.at_ns));
                self.closed_at = None;
            }
            _ => {}
        }
    }

    /// It is closed now, by its own announcement.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed_at.is_some()
    }

    /// When it was closed last: since then, until `now` where it still is, ns.
    pub(crate) fn last_closed(&self, now: u64) -> Option<(u64, u64)> {
        let open = self.closed_at.map(|since| (since, now));
        open.or(self.closed)
    }

    /// Since when it is closed, ns.
    pub(crate) fn closed_since(&self) -> Option<u64> {
        self.closed_at
    }

    /// How long it was closed, the last time that it was, if it opened after `since`, ns.
    pub(crate) fn closed_ns(&self, since: u64) -> u64 {
        let (from, to) = self.closed.unwrap_or((0, 0));
        if to >= since { to - from } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::tests::timeline::acknowledgment;

    #[test]
    fn the_first_of_several_is_found() {
        let mut advertised = Advertisements::default();
        for (at, acknowledged, window) in
            [(10, 0, 100), (20, 50, 100), (30, 50, 100), (40, 100, 400)]
        {
            advertised.take(&acknowledgment(at, acknowledged, window));
        }
        assert_eq!(advertised.first_allowing(101).map(|one| one.at), Some(20));
        assert_eq!(advertised.first_allowing(501), None);
        assert_eq!(
            advertised.first_acknowledging(100).map(|one| one.at),
            Some(40)
        );
        assert_eq!(advertised.acknowledgment_at(39), Some(50));
        assert_eq!(advertised.progress_after(20).map(|one| one.at), Some(40));
    }

    #[test]
    fn a_shrunk_window_does_not_reduce_the_limit() {
        let mut advertised = Advertisements::default();
        assert!(advertised.take(&acknowledgment(10, 0, 1000)));
        assert!(!advertised.take(&acknowledgment(20, 0, 10)));
        assert_eq!(advertised.first_allowing(900).map(|one| one.at), Some(10));
    }

    #[test]
    fn the_advertisement_in_force_is_kept() {
        let mut advertised = Advertisements::default();
        for at in [10, 20, 30] {
            advertised.take(&acknowledgment(at, at, 100));
        }
        advertised.forget_before(25);
        assert_eq!(advertised.acknowledgment_at(25), Some(20));
        assert_eq!(advertised.acknowledgment_at(15), None);
        assert_eq!(
            advertised.first_acknowledging(21).map(|one| one.at),
            Some(30)
        );
    }

    #[test]
    fn forgotten_advertisements_are_unknown() {
        let mut advertised = Advertisements::default();
        for at in 0..=ADVERTISEMENTS_MAX as u64 {
            advertised.take(&acknowledgment(at, at * 10, 100));
        }
        assert_eq!(advertised.first_allowing(50), None);
        assert_eq!(advertised.acknowledgment_at(0), None);
    }
}
