//! Ladders that are kept: a uniform sample of all.

use super::steps::Ladder;
use crate::flow::event::FlowId;

/// Ladders in the sample. The one nearest to the median of all lies, nineteen
/// times of twenty, within the quantiles 0.49 to 0.51 of their latencies.
const SAMPLE: usize = 127;

/// A uniform sample (Vitter 1985, algorithm R), the same for the same capture.
#[derive(Debug, Default)]
pub(super) struct Sample {
    kept: Vec<(u64, Ladder)>,
    seen: u64,
    state: u64,
}

impl Sample {
    /// Where the next ladder is to be kept, if it is.
    pub(super) fn place(&mut self) -> Option<usize> {
        self.seen += 1;
        if self.seen <= SAMPLE as u64 {
            return Some(usize::MAX);
        }
        // The modulo bias is below 2^-32 for any number of exchanges in a capture.
        let place = self.random() % self.seen;
        usize::try_from(place).ok().filter(|place| *place < SAMPLE)
    }

    pub(super) fn put(&mut self, place: usize, latency_ns: u64, ladder: Option<Ladder>) {
        let Some(ladder) = ladder else { return };
        match self.kept.get_mut(place) {
            Some(kept) => *kept = (latency_ns, ladder),
            None => self.kept.push((latency_ns, ladder)),
        }
    }

    pub(super) fn of(&mut self, flow: FlowId) -> impl Iterator<Item = &mut Ladder> {
        let kept = self.kept.iter_mut().map(|(_, ladder)| ladder);
        kept.filter(move |ladder| ladder.of.flow == flow)
    }

    pub(super) fn nearest(&self, latency_ns: u64) -> Option<&Ladder> {
        let nearest = self.kept.iter().min_by_key(|(own, ladder)| {
            (own.abs_diff(latency_ns), ladder.of.flow, ladder.of.ordinal)
        });
        nearest.map(|(_, ladder)| ladder)
    }

    /// SplitMix64 (Steele, Lea, Flood 2014).
    fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}
