//! A map from numbers to slots, for a few hundred of them.
//!
//! Open addressing with linear probing at no more than half load; deletion
//! shifts back, so that there are no tombstones and lookups stay short however
//! long the connection lives.

const EMPTY: u32 = u32::MAX;
/// 2^32 divided by the golden ratio (Knuth, TAOCP volume 3, section 6.4).
const MULTIPLIER: u32 = 0x9E37_79B1;

/// Numbers to slots; slots are below `u32::MAX`. Allocates at the first insertion.
#[derive(Debug, Default)]
pub(super) struct Index {
    cells: Vec<(u32, u32)>,
    len: usize,
}

impl Index {
    #[inline]
    fn home(&self, key: u32) -> usize {
        let bits = self.cells.len().trailing_zeros();
        (key.wrapping_mul(MULTIPLIER) >> (32 - bits)) as usize
    }

    /// The slot of `key`.
    #[inline]
    pub(super) fn get(&self, key: u32) -> Option<u32> {
        self.cell(key).map(|at| self.cells[at].1)
    }

    #[inline]
    fn cell(&self, key: u32) -> Option<usize> {
        if self.len == 0 {
            return None;
        }
        let mask = self.cells.len() - 1;
        let mut at = self.home(key);
        while self.cells[at].1 != EMPTY {
            if self.cells[at].0 == key {
                return Some(at);
            }
            at = (at + 1) & mask;
        }
        None
    }

    /// Adds `key`, or moves it to another slot.
    pub(super) fn insert(&mut self, key: u32, slot: u32) {
        if let Some(at) = self.cell(key) {
            self.cells[at].1 = slot;
            return;
        }
        if 2 * (self.len + 1) > self.cells.len() {
            self.grow();
        }
        self.place(key, slot);
        self.len += 1;
    }

    fn place(&mut self, key: u32, slot: u32) {
        let mask = self.cells.len() - 1;
        let mut at = self.home(key);
        while self.cells[at].1 != EMPTY {
            at = (at + 1) & mask;
        }
        self.cells[at] = (key, slot);
    }

    fn grow(&mut self) {
        let cells = (2 * self.cells.len()).max(8);
        let old = std::mem::replace(&mut self.cells, vec![(0, EMPTY); cells]);
        for (key, slot) in old {
            if slot != EMPTY {
                self.place(key, slot);
            }
        }
    }

    /// Forgets `key`.
    pub(super) fn remove(&mut self, key: u32) {
        let Some(mut hole) = self.cell(key) else {
            return;
        };
        self.len -= 1;
        let mask = self.cells.len() - 1;
        let mut at = hole;
        loop {
            at = (at + 1) & mask;
            let (key, slot) = self.cells[at];
            if slot == EMPTY {
                break;
            }
            // An entry may fill the hole if the hole is on its way from home.
            let way = at.wrapping_sub(self.home(key)) & mask;
            let back = at.wrapping_sub(hole) & mask;
            if back <= way {
                self.cells[hole] = (key, slot);
                hole = at;
            }
        }
        self.cells[hole].1 = EMPTY;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against a map that is known to be right, with keys that collide.
        #[test]
        fn it_behaves_as_a_map(steps in prop::collection::vec((0_u32..64, any::<bool>()), 0..400)) {
            let mut index = Index::default();
            let mut model = BTreeMap::new();
            for (at, (key, insert)) in steps.into_iter().enumerate() {
                let key = key.wrapping_mul(0x0400_0001);
                if insert {
                    index.insert(key, at as u32);
                    model.insert(key, at as u32);
                } else {
                    index.remove(key);
                    model.remove(&key);
                }
                for probe in 0..64_u32 {
                    let probe = probe.wrapping_mul(0x0400_0001);
                    prop_assert_eq!(index.get(probe), model.get(&probe).copied());
                }
            }
        }
    }
}
