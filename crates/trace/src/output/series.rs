//! Bytes and offered windows over the time of the capture, in bins of one width.

use super::document::Series;
use crate::flow::event::{Direction, Segment};

/// Bins at most; a longer capture has wider ones.
const BINS_MAX: usize = 512;
/// The narrowest bin, ns.
const WIDTH_MIN_NS: u64 = 1_000_000;

#[derive(Debug, Clone, Copy)]
struct Bin {
    bytes: [u64; 2],
    /// The smallest that a side offered, by the side.
    window: [u64; 2],
}

const EMPTY: Bin = Bin {
    bytes: [0; 2],
    window: [u64::MAX; 2],
};

impl Bin {
    fn join(self, other: Bin) -> Bin {
        let sides = [0, 1];
        Bin {
            bytes: sides.map(|side| self.bytes[side] + other.bytes[side]),
            window: sides.map(|side| self.window[side].min(other.window[side])),
        }
    }
}

/// Constant memory: the bins double their width when there are too many.
#[derive(Debug)]
pub(super) struct SeriesMeter {
    first_at_ns: Option<u64>,
    width_ns: u64,
    bins: Vec<Bin>,
}

impl Default for SeriesMeter {
    fn default() -> Self {
        SeriesMeter {
            first_at_ns: None,
            width_ns: WIDTH_MIN_NS,
            bins: Vec::new(),
        }
    }
}

impl SeriesMeter {
    #[inline]
    pub(super) fn segment(&mut self, segment: &Segment) {
        let first = *self.first_at_ns.get_or_insert(segment.at_ns);
        // Packets of merged captures are not in order of time: earlier ones count to the
        // first bin.
        let since = segment.at_ns.saturating_sub(first);
        while since / self.width_ns >= BINS_MAX as u64 {
            self.widen();
        }
        let place = (since / self.width_ns) as usize;
        if place >= self.bins.len() {
            self.bins.resize(place + 1, EMPTY);
        }
        let side = segment.direction as usize;
        let bin = &mut self.bins[place];
        bin.bytes[side] += u64::from(segment.bytes);
        bin.window[side] = bin.window[side].min(segment.window);
    }

    #[cold]
    fn widen(&mut self) {
        self.width_ns = self.width_ns.saturating_mul(2);
        let joined = self.bins.chunks(2).map(|pair| match pair {
            [one, other] => one.join(*other),
            _ => pair[0],
        });
        self.bins = joined.collect();
    }

    pub(super) fn document(&self) -> Series {
        let bytes = |direction: Direction| {
            let side = direction as usize;
            self.bins.iter().map(|bin| bin.bytes[side]).collect()
        };
        let window = |direction: Direction| {
            let side = direction as usize;
            let known = |bin: &Bin| Some(bin.window[side]).filter(|bytes| *bytes != u64::MAX);
            self.bins.iter().map(known).collect()
        };
        Series {
            bin_ms: self.width_ns as f64 / 1e6,
            request_bytes: bytes(Direction::Request),
            reply_bytes: bytes(Direction::Reply),
            client_window: window(Direction::Request),
            server_window: window(Direction::Reply),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::event::SegmentKind;
    use crate::packet::Flags;

    fn segment(at_ns: u64, bytes: u32, window: u64) -> Segment {
        Segment {
            packet: 1,
            at_ns,
            direction: Direction::Reply,
            kind: SegmentKind::Data,
            flags: Flags::ACK,
            offset: 0,
            bytes,
            acknowledged: 0,
            window,
            header_bytes: 66,
            link_header_bytes: 14,
            ip_header_bytes: 20,
            identification: None,
            reports_duplicate: false,
            options_cut: false,
            mss: None,
        }
    }

    #[test]
    fn wider_bins_hold_the_same_bytes() {
        let mut meter = SeriesMeter::default();
        for ms in 0..3_000u64 {
            meter.segment(&segment(ms * WIDTH_MIN_NS, 10, 5_000 - ms));
        }
        let series = meter.document();
        assert!(series.reply_bytes.len() <= BINS_MAX);
        assert_eq!(series.reply_bytes.iter().sum::<u64>(), 30_000);
        assert_eq!(series.server_window.last(), Some(&Some(2_001)));
        assert_eq!(series.client_window[0], None);
    }
}
