//! A bounded set of things under numbers that were given to them, shared by threads.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Parts with a lock each; a power of two. Successive numbers lie in
/// different ones.
const SHARDS: usize = 64;

type Shard<T> = HashMap<i32, T, BuildHasherDefault<NumberHasher>>;

#[derive(Debug)]
pub(crate) struct Numbered<T> {
    shards: Vec<Mutex<Shard<T>>>,
    /// How many things there are, places held for some included.
    held: AtomicUsize,
    max: usize,
}

impl<T: Copy> Numbered<T> {
    /// Room for `max` things.
    pub(crate) fn new(max: usize) -> Self {
        Numbered {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            held: AtomicUsize::new(0),
            max,
        }
    }

    /// Holds a place for one more thing, if there is one left.
    pub(crate) fn room(&self) -> Option<Room<'_, T>> {
        let more = |held| (held < self.max).then_some(held + 1);
        let held = self
            .held
            // The bound is checked and counted in one step; two callers cannot both take
            // the last place.
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        held.ok().map(|_| Room { owner: self })
    }

    pub(crate) fn peek(&self, number: i32) -> Option<T> {
        self.shard(number).get(&number).copied()
    }

    pub(crate) fn take(&self, number: i32) -> Option<T> {
        let taken = self.shard(number).remove(&number);
        // Removing under the lock decides who ends it. Of two callers one gets None.
        if taken.is_some() {
            self.held.fetch_sub(1, Ordering::Relaxed);
        }
        taken
    }

    /// How many things there are.
    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    fn shard(&self, number: i32) -> MutexGuard<'_, Shard<T>> {
        // Negative numbers, which are never stored, have a shard too.
        let shard = &self.shards[number as usize % SHARDS];
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place for one thing; given back when dropped unfilled.
#[derive(Debug)]
pub(crate) struct Room<'a, T: Copy> {
    owner: &'a Numbered<T>,
}

impl<T: Copy> Room<'_, T> {
    /// Keeps `thing` under a number that is not in use.
    pub(crate) fn fill(self, number: i32, thing: T) {
        self.owner.shard(number).insert(number, thing);
        // The place is used now, so `drop` must not give it back.
        std::mem::forget(self);
    }
}

impl<T: Copy> Drop for Room<'_, T> {
    fn drop(&mut self) {
        self.owner.held.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Spreads numbers over the table by Fibonacci hashing (Knuth, The Art of
/// Computer Programming, volume 3, section 6.4). Only numbers that the service
/// gave are ever stored, so nobody can choose them to collide.
#[derive(Debug, Default)]
struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        // Never called for i32 keys; the trait demands it.
        for byte in bytes {
            self.write_i32(i32::from(*byte));
        }
    }

    fn write_i32(&mut self, number: i32) {
        self.0 = (self.0 ^ u64::from(number as u32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}
