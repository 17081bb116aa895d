//! Ladders that are kept: a uniform sample of all.

use wirelab_contract::texts::SplitMix64;

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
    // Seed 0 by its default: a capture that is read again gives the same report.
    generator: SplitMix64,
}

impl Sample {
    /// Where the next ladder is to be kept, if it is.
    pub(super) fn place(&mut self) -> Option<usize> {
        self.seen += 1;
        if self.seen <= SAMPLE as u64 {
            return Some(usize::MAX);
        }
        // The modulo bias is below 2^-32 for any number of exchanges in a capture.
        let place = self.generator.next_u64() % self.seen;
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_sample_replaces_the_same_places_as_in_earlier_versions() {
        let mut sample = Sample::default();
        assert!((0..SAMPLE).all(|_| sample.place() == Some(usize::MAX)));
        let replaced: Vec<usize> = (0..4).filter_map(|_| sample.place()).collect();
        assert_eq!(replaced, [47, 54, 79, 116]);
    }
}
