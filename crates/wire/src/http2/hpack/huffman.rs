//! The Huffman code of RFC 7541 appendix B.
//!
//! The code is canonical: codes of one length ascend with the symbol, shorter
//! codes come first. The 257 lengths are therefore the whole definition; codes
//! and the decoder's automaton are computed from them at compile time.

use crate::ProtocolError;

const SYMBOLS: usize = 257;
// Never sent as a symbol: strings are padded with the first bits of its code, 30 ones
// (RFC 7541 section 5.2).
const EOS: usize = 256;
const LENGTH_MAX: u8 = 30;

/// Code lengths in bits by symbol; the last is EOS (RFC 7541 appendix B).
#[rustfmt::skip]
const LENGTHS: [u8; SYMBOLS] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
    28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
     6, 10, 10, 12, 13,  6,  8, 11, 10, 10,  8, 11,  8,  6,  6,  6,
     5,  5,  5,  6,  6,  6,  6,  6,  6,  6,  7,  8, 15,  6, 12, 10,
    13,  6,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,
     7,  7,  7,  7,  7,  7,  7,  7,  8,  7,  8, 13, 19, 13, 14,  6,
    15,  5,  6,  5,  6,  5,  6,  6,  6,  5,  7,  7,  6,  6,  6,  5,
     6,  7,  6,  5,  5,  6,  7,  7,  7,  7,  7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
    21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
    19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
    30,
];

/// Codes by symbol, right-aligned.
const CODES: [u32; SYMBOLS] = {
    let mut codes = [0; SYMBOLS];
    let mut code = 0_u32;
    let mut length = 1;
    while length <= LENGTH_MAX {
        let mut symbol = 0;
        while symbol < SYMBOLS {
            // Canonical: within a length codes ascend with the symbol.
            if LENGTHS[symbol] == length {
                codes[symbol] = code;
                code += 1;
            }
            symbol += 1;
        }
        // The next length continues behind the last code of this one.
        code <<= 1;
        length += 1;
    }
    codes
};

/// Inner nodes of the code's tree: one fewer than its leaves.
const NODES: usize = SYMBOLS - 1;
/// Children of [`TREE`]'s nodes: below this an inner node, else a symbol.
const LEAF: u16 = 1 << 15;

const TREE: [[u16; 2]; NODES] = {
    let mut tree = [[0_u16; 2]; NODES];
    let mut nodes = 1;
    let mut symbol = 0;
    while symbol < SYMBOLS {
        let mut at = 0;
        let mut left = LENGTHS[symbol];
        // Walks from the root by the code's bits, the highest first, and adds missing nodes.
        while left > 1 {
            left -= 1;
            let bit = (CODES[symbol] >> left & 1) as usize;
            if tree[at][bit] == 0 {
                tree[at][bit] = nodes;
                nodes += 1;
            }
            at = tree[at][bit] as usize;
        }
        tree[at][(CODES[symbol] & 1) as usize] = LEAF | symbol as u16;
        symbol += 1;
    }
    tree
};

/// Nodes at which a string may end: the root, and fewer than eight 1-bits
/// below it, which are the padding (RFC 7541 section 5.2).
const FINAL: [bool; NODES] = {
    let mut ends = [false; NODES];
    let mut at = 0;
    let mut depth = 0;
    while depth < 8 {
        ends[at] = true;
        at = TREE[at][1] as usize;
        depth += 1;
    }
    ends
};

/// What four bits do to the automaton.
#[derive(Clone, Copy)]
struct Step {
    /// The node reached.
    node: u8,
    /// The symbol completed on the way: no code is shorter than five bits, so
    /// there is at most one.
    symbol: Option<u8>,
    /// EOS was met, which no string may contain (RFC 7541 section 5.2).
    has_eos: bool,
}

static STEPS: [[Step; 16]; NODES] = {
    let mut steps = [[Step {
        node: 0,
        symbol: None,
        has_eos: false,
    }; 16]; NODES];
    let mut node = 0;
    while node < NODES {
        let mut nibble = 0;
        while nibble < 16 {
            steps[node][nibble] = step(node, nibble);
            nibble += 1;
        }
        node += 1;
    }
    steps
};

const fn step(node: usize, nibble: usize) -> Step {
    let mut at = node;
    let mut symbol = None;
    let mut has_eos = false;
    let mut bits = 4;
    while bits > 0 {
        bits -= 1;
        let child = TREE[at][nibble >> bits & 1];
        at = child as usize;
        if child & LEAF != 0 {
            at = 0;
            let leaf = child & !LEAF;
            // EOS in the string is an error (section 5.2).
            if leaf as usize == EOS {
                has_eos = true;
            } else {
                symbol = Some(leaf as u8);
            }
        }
    }
    Step {
        node: at as u8,
        symbol,
        has_eos,
    }
}

/// Appends the string that `coded` stands for to `out`.
///
/// # Errors
/// On EOS within the string and on padding that is not fewer than eight 1-bits.
pub(super) fn decode(coded: &[u8], out: &mut Vec<u8>) -> Result<(), ProtocolError> {
    let mut node = 0;
    for &byte in coded {
        // Four bits at a time: 256 nodes of 16 steps, 16 KiB, fit the first-level cache.
        for nibble in [byte >> 4, byte & 0xf] {
            let step = STEPS[usize::from(node)][usize::from(nibble)];
            if step.has_eos {
                return Err(malformed("EOS"));
            }
            out.extend(step.symbol);
            node = step.node;
        }
    }
    if FINAL[usize::from(node)] {
        Ok(())
    } else {
        Err(malformed("a code cut short, or padding of other bits"))
    }
}

fn malformed(found: &str) -> ProtocolError {
    ProtocolError {
        rule: "Huffman strings hold whole codes, no EOS, and under eight 1-bits of padding \
               (RFC 7541 section 5.2)",
        found: found.into(),
    }
}

/// Length in bytes of `plain` when coded.
pub(super) fn code_len(plain: &[u8]) -> usize {
    let bits: usize = plain
        .iter()
        .map(|&byte| usize::from(LENGTHS[usize::from(byte)]))
        .sum();
    bits.div_ceil(8)
}

/// Appends `plain`, coded.
pub(super) fn encode(plain: &[u8], out: &mut Vec<u8>) {
    let mut held = 0_u64;
    let mut bits = 0;
    for &byte in plain {
        let symbol = usize::from(byte);
        // At most 7 bits are left from before and 30 are added: 64 bits hold them.
        held = held << LENGTHS[symbol] | u64::from(CODES[symbol]);
        bits += LENGTHS[symbol];
        while bits >= 8 {
            bits -= 8;
            out.push((held >> bits) as u8);
        }
    }
    if bits > 0 {
        // Padding is the most significant bits of EOS, which are ones.
        out.push((held << (8 - bits)) as u8 | 0xff >> bits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A few rows of RFC 7541 appendix B, one of every kind of length.
    #[test]
    fn codes_are_those_of_the_rfc() {
        for (symbol, code, length) in [
            (b'0', 0x0, 5),
            (b't', 0x9, 5),
            (b' ', 0x14, 6),
            (b':', 0x5c, 7),
            (b'&', 0xf8, 8),
            (b'!', 0x3f8, 10),
            (b'{', 0x7ffe, 15),
            (b'\\', 0x7fff0, 19),
            (0, 0x1ff8, 13),
            (249, 0xfff_fffe, 28),
            (22, 0x3fff_fffe, 30),
        ] {
            assert_eq!(
                (CODES[usize::from(symbol)], LENGTHS[usize::from(symbol)]),
                (code, length)
            );
        }
        assert_eq!(CODES[EOS], 0x3fff_ffff);
    }

    #[test]
    fn every_byte_round_trips() {
        let plain: Vec<u8> = (0..=255).chain((0..=255).rev()).collect();
        let mut coded = Vec::new();
        encode(&plain, &mut coded);
        assert_eq!(coded.len(), code_len(&plain));
        let mut back = Vec::new();
        decode(&coded, &mut back).unwrap();
        assert_eq!(back, plain);
    }

    #[test]
    fn bad_padding_and_eos_are_refused() {
        // 'a' is 00011: padding must be 111.
        assert!(decode(&[0b0001_1111], &mut Vec::new()).is_ok());
        assert!(decode(&[0b0001_1110], &mut Vec::new()).is_err());
        assert!(decode(&[0b0001_1111, 0xff], &mut Vec::new()).is_err());
        assert!(decode(&[0xff; 4], &mut Vec::new()).is_err());
    }
}
