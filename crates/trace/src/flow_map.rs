//! State by connection.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::stream::FlowId;

/// 2^64 divided by the golden ratio (Knuth, TAOCP volume 3, section 6.4).
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// Spreads numbers that count up; nobody who writes a capture can choose them.
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

/// A map from connections to what is known of them.
#[derive(Debug)]
pub(crate) struct FlowMap<T>(HashMap<FlowId, T, BuildHasherDefault<Spread>>);

impl<T> Default for FlowMap<T> {
    fn default() -> Self {
        FlowMap(HashMap::default())
    }
}

impl<T> FlowMap<T> {
    pub(crate) fn insert(&mut self, flow: FlowId, value: T) {
        self.0.insert(flow, value);
    }

    #[inline]
    pub(crate) fn get(&self, flow: FlowId) -> Option<&T> {
        self.0.get(&flow)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, flow: FlowId) -> Option<&mut T> {
        self.0.get_mut(&flow)
    }

    pub(crate) fn remove(&mut self, flow: FlowId) -> Option<T> {
        self.0.remove(&flow)
    }

    /// All connections, in order.
    pub(crate) fn ids(&self) -> Vec<FlowId> {
        let mut ids: Vec<FlowId> = self.0.keys().copied().collect();
        ids.sort_unstable();
        ids
    }
}
