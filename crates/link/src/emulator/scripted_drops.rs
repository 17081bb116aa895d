//! Scripted drops: the packets of one direction that are to be dropped, such as the
//! first SYN or the third segment with data.

use crate::emulator::segment::Segment;
use crate::model::config::{Match, ScriptedDrop};
use crate::model::way::Way;

#[derive(Debug, Default)]
pub(crate) struct ScriptedDrops {
    drops: Vec<ScriptedDrop>,
    syn: u64,
    data: u64,
    any: u64,
}

impl ScriptedDrops {
    pub(crate) fn new(drops: &[ScriptedDrop], way: Way) -> Self {
        let ours = drops.iter().filter(|drop| drop.direction == way);
        ScriptedDrops {
            drops: ours.copied().collect(),
            ..ScriptedDrops::default()
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.drops.is_empty()
    }

    /// The entry that this packet fulfils, if it does.
    pub(crate) fn next(&mut self, segment: Option<&Segment>) -> Option<ScriptedDrop> {
        let syn = segment.is_some_and(|segment| segment.syn);
        let data = segment.is_some_and(|segment| segment.data > 0);
        // All counters move with every packet, so that two entries do not shift each other.
        self.any += 1;
        self.syn += u64::from(syn);
        self.data += u64::from(data);
        let due = |drop: &ScriptedDrop| match drop.kind {
            Match::Any => drop.nth == self.any,
            Match::Syn => syn && drop.nth == self.syn,
            Match::Data => data && drop.nth == self.data,
        };
        self.drops.iter().copied().find(due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emulator::segment::tests::packet;

    #[test]
    fn each_kind_counts_for_itself_and_the_other_way_is_left_alone() {
        let drop = |direction, kind, nth| ScriptedDrop {
            direction,
            kind,
            nth,
        };
        let drops = [
            drop(Way::Forward, Match::Syn, 2),
            drop(Way::Forward, Match::Data, 1),
            drop(Way::Forward, Match::Any, 5),
            drop(Way::Backward, Match::Any, 1),
        ];
        let mut scripted = ScriptedDrops::new(&drops, Way::Forward);
        let packets = [
            (true, 0),
            (true, 0),
            (false, 0),
            (false, 9),
            (false, 9),
            (true, 0),
        ];
        let dropped = packets.map(|(syn, data)| {
            let segment = Segment::parse(&packet(syn, data));
            scripted.next(segment.as_ref()).map(|drop| drop.kind)
        });
        let (syn, data, any) = (Some(Match::Syn), Some(Match::Data), Some(Match::Any));
        assert_eq!(dropped, [None, syn, None, data, any, None]);
    }
}
