//! State by connection.

use std::cell::Cell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::event::FlowId;

/// 2^64 divided by the golden ratio (Knuth, TAOCP volume 3, section 6.4).
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// Spreads numbers that count up; the author of a capture cannot choose them.
#[derive(Debug, Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.0 = (self.0 ^ u64::from(number)).wrapping_mul(MULTIPLIER);
    }
}

const VACANT: u32 = u32::MAX;

/// A map from connections to what is known of them.
///
/// A listener asks for the connection of one packet several times in a row:
/// the place of the one asked for last is remembered.
#[derive(Debug)]
pub(crate) struct FlowMap<T> {
    places: HashMap<FlowId, u32, BuildHasherDefault<Spread>>,
    values: Vec<Option<T>>,
    free: Vec<u32>,
    last: Cell<(FlowId, u32)>,
}

impl<T> Default for FlowMap<T> {
    fn default() -> Self {
        FlowMap {
            places: HashMap::default(),
            values: Vec::new(),
            free: Vec::new(),
            last: Cell::new((0, VACANT)),
        }
    }
}

impl<T> FlowMap<T> {
    pub(crate) fn insert(&mut self, flow: FlowId, value: T) {
        // Places are used again, so that memory follows the connections that are open,
        // not all that ever were.
        let place = self.places.entry(flow).or_insert_with(|| {
            self.free.pop().unwrap_or_else(|| {
                self.values.push(None);
                (self.values.len() - 1) as u32
            })
        });
        self.values[*place as usize] = Some(value);
        self.last.set((flow, *place));
    }

    #[inline]
    pub(crate) fn get(&self, flow: FlowId) -> Option<&T> {
        self.values.get(self.place(flow))?.as_ref()
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, flow: FlowId) -> Option<&mut T> {
        let place = self.place(flow);
        self.values.get_mut(place)?.as_mut()
    }

    pub(crate) fn remove(&mut self, flow: FlowId) -> Option<T> {
        let place = self.places.remove(&flow)?;
        self.last.set((0, VACANT));
        self.free.push(place);
        self.values[place as usize].take()
    }

    pub(crate) fn ids(&self) -> Vec<FlowId> {
        let mut ids: Vec<FlowId> = self.places.keys().copied().collect();
        // The order of a hash map changes from run to run; documents must not.
        ids.sort_unstable();
        ids
    }

    /// Behind the end for a connection that is not there.
    #[inline]
    fn place(&self, flow: FlowId) -> usize {
        // A Cell: looking up must work without `&mut`, and still remember the place.
        let (last, place) = self.last.get();
        if last == flow && place != VACANT {
            return place as usize;
        }
        let Some(place) = self.places.get(&flow) else {
            return VACANT as usize;
        };
        self.last.set((flow, *place));
        *place as usize
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// As any map, whatever is asked for in whatever order.
        #[test]
        fn behaves_like_a_map(steps in prop::collection::vec((0u32..6, 0u8..4), 0..200)) {
            let (mut ours, mut known) = (FlowMap::default(), BTreeMap::new());
            for (number, (flow, step)) in steps.into_iter().enumerate() {
                match step {
                    0 => {
                        ours.insert(flow, number);
                        known.insert(flow, number);
                    }
                    1 => prop_assert_eq!(ours.remove(flow), known.remove(&flow)),
                    2 => prop_assert_eq!(ours.get_mut(flow), known.get_mut(&flow)),
                    _ => prop_assert_eq!(ours.get(flow), known.get(&flow)),
                }
                prop_assert_eq!(ours.ids(), known.keys().copied().collect::<Vec<_>>());
                prop_assert!(ours.values.len() <= 6, "places are used again");
            }
        }
    }
}
