//! Sequences of calls under way in one group of one thread.

use serde_json::Value;
use wirelab_contract::workload::Carried;

use crate::call::waiting::{NO_SEQUENCE, Waiting};

/// One sequence: how far it has come, and what it carries along.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sequence {
    /// Number of the call that is under way or waits, from 0.
    pub(crate) step: usize,
    /// In a function of charging.
    pub(crate) carried: Carried,
    /// Its row of data, once that is chosen.
    pub(crate) row: Option<usize>,
    /// Values of replies, each with the number of the field that it is for.
    pub(crate) values: Vec<(usize, Value)>,
}

/// What comes after a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Another call of its sequence.
    Another(Waiting),
    /// It was in no sequence: its user's next arrival.
    Arrival,
    /// Its sequence is over.
    Over {
        /// When the sequence's first call was intended.
        arrival: u64,
        /// The call failed, and the sequence with it.
        failed: bool,
    },
}

/// A call of a sequence that has ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ended {
    /// It is the last of its sequence.
    pub(crate) is_last: bool,
    pub(crate) failed: bool,
    pub(crate) done: u64,
}

/// A slab of sequences.
#[derive(Debug, Default)]
pub(crate) struct Sequences {
    sequences: Vec<Sequence>,
    free: Vec<u32>,
}

impl Sequences {
    /// The sequence of that number; a new one for [`NO_SEQUENCE`], whose
    /// number takes its place.
    #[inline]
    pub(crate) fn of(&mut self, number: &mut u32) -> &mut Sequence {
        if *number == NO_SEQUENCE {
            *number = self.free.pop().unwrap_or_else(|| {
                self.sequences.push(Sequence::default());
                self.sequences.len() as u32 - 1
            });
            self.sequences[*number as usize] = Sequence::default();
        }
        &mut self.sequences[*number as usize]
    }

    /// How far it has come; one that has not begun is at its first call.
    pub(crate) fn step(&self, number: u32) -> usize {
        let sequence = self.sequences.get(number as usize);
        sequence.map_or(0, |sequence| sequence.step)
    }

    /// What comes after a call of a sequence; one that goes on is at its next step then.
    #[inline]
    pub(crate) fn find_next(&mut self, waiting: &mut Waiting, call: Ended) -> Next {
        let arrival = waiting.arrival;
        if call.failed || call.is_last {
            self.end(waiting.sequence);
            let failed = call.failed;
            return Next::Over { arrival, failed };
        }
        self.of(&mut waiting.sequence).step += 1;
        Next::Another(Waiting {
            intended: call.done,
            hops: 0,
            resent: 0,
            ..*waiting
        })
    }

    /// Forgets it.
    pub(crate) fn end(&mut self, number: u32) {
        if number != NO_SEQUENCE {
            self.free.push(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_used_again_with_nothing_left_of_the_one_before() {
        let mut sequences = Sequences::default();
        let mut first = NO_SEQUENCE;
        sequences.of(&mut first).step = 3;
        sequences.of(&mut first).carried.cn = 9;
        assert_eq!(sequences.step(first), 3);
        sequences.end(first);
        let mut second = NO_SEQUENCE;
        let begun = sequences.of(&mut second).clone();
        assert_eq!((second, begun.step, begun.carried.cn), (first, 0, 0));
        sequences.end(NO_SEQUENCE);
        assert_eq!(sequences.step(NO_SEQUENCE), 0);
    }
}
