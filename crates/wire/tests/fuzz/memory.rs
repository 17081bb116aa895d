//! Memory that a thread holds and allocates, counted.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Bytes held now, and at most so far.
    static HELD: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
    /// Allocations so far, and their bytes.
    static ALLOCATED: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

struct Counting;

fn count(bytes: isize) {
    let (held, most) = HELD.get();
    let held = held + bytes;
    // Cells of the thread: other tests run at the same time.
    HELD.set((held, most.max(held)));
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let (count_before, bytes) = ALLOCATED.get();
        ALLOCATED.set((count_before + 1, bytes + layout.size()));
        count(layout.size() as isize);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most bytes that `work` held at a time. What C libraries take for
/// themselves is not seen.
pub fn peak(work: impl FnOnce()) -> usize {
    let (held, _) = HELD.get();
    // The peak starts from what is held already.
    HELD.set((held, held));
    work();
    let (_, most) = HELD.get();
    (most - held) as usize
}

/// The allocations that `work` makes, and their bytes.
pub fn measure_allocations(work: impl FnOnce()) -> (usize, usize) {
    let before = ALLOCATED.get();
    work();
    let after = ALLOCATED.get();
    (after.0 - before.0, after.1 - before.1)
}

#[test]
fn the_counter_counts() {
    let one = || drop(Vec::<u8>::with_capacity(100));
    assert_eq!(measure_allocations(one), (1, 100));
    let two = || {
        drop(Vec::<u8>::with_capacity(1000));
        drop(Vec::<u8>::with_capacity(3000));
    };
    assert_eq!(peak(two), 3000);
}
