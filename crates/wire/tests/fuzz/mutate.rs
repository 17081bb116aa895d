//! Random changes to inputs.

use wirelab_contract::texts::SplitMix64;

/// Longer inputs are cut.
pub const BYTES_MAX: usize = 16 << 10;

/// Numbers at which parsers go wrong.
const INTERESTING: [u64; 16] = [
    0,
    1,
    7,
    8,
    0x7F,
    0x80,
    0xFF,
    0x100,
    0x7FFF,
    0xFFFF,
    0x7FFF_FFFF,
    0x8000_0000,
    0xFFFF_FFFF,
    1 << 32,
    i64::MAX as u64,
    u64::MAX,
];

/// Random numbers of one fuzz run.
pub struct Random(SplitMix64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(SplitMix64::new(seed))
    }

    pub fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// 0 to `end` - 1; 0 when `end` is 0.
    pub fn next_below(&mut self, end: usize) -> usize {
        if end == 0 {
            0
        } else {
            (self.next() % end as u64) as usize
        }
    }
}

/// Changes `input` in one to eight places; `other` gives material.
pub fn mutate(random: &mut Random, input: &mut Vec<u8>, other: &[u8]) {
    for _ in 0..=random.next_below(8) {
        change(random, input, other);
    }
    input.truncate(BYTES_MAX);
}

fn change(random: &mut Random, input: &mut Vec<u8>, other: &[u8]) {
    let at = random.next_below(input.len() + 1);
    let length = random.next_below(33).min(input.len() - at);
    match random.next_below(8) {
        0 => {
            if let Some(byte) = input.get_mut(at) {
                *byte ^= 1 << random.next_below(8);
            }
        }
        1 => {
            if let Some(byte) = input.get_mut(at) {
                *byte = random.next() as u8;
            }
        }
        2 => input.insert(at, random.next() as u8),
        3 => drop(input.drain(at..at + length)),
        // Cut off, as by a connection that ends.
        4 => input.truncate(at),
        5 => {
            // A block again, here or elsewhere.
            let block = input[at..at + length].to_vec();
            let to = random.next_below(input.len() + 1);
            input.splice(to..to, block);
        }
        6 => {
            // The end of another input.
            let from = random.next_below(other.len() + 1);
            input.truncate(at);
            input.extend_from_slice(&other[from..]);
        }
        _ => put_interesting(random, input, at),
    }
}

/// Puts a number of 1, 2, 4 or 8 bytes over what is there.
fn put_interesting(random: &mut Random, input: &mut [u8], at: usize) {
    let number = INTERESTING[random.next_below(INTERESTING.len())];
    let width = 1 << random.next_below(4);
    let mut bytes = number.to_le_bytes();
    // Both byte orders: GIOP has either, the others have network order.
    if random.next_below(2) == 0 {
        bytes[..width].reverse();
    }
    for (target, byte) in input.iter_mut().skip(at).zip(&bytes[..width]) {
        *target = *byte;
    }
}
