//! Selective acknowledgments (RFC 2018), as far as they tell of bytes that came twice.

use crate::field::Order;

const END: u8 = 0;
const NOTHING: u8 = 1;
const SACK: u8 = 5;
/// Kind, length, and one block of two edges.
const ONE_BLOCK_BYTES: usize = 10;

/// The first block is of bytes that came twice: it lies below the cumulative
/// acknowledgment, or inside the second block (RFC 2883 section 4).
#[inline]
pub(crate) fn reports_duplicate(options: &[u8], acknowledgment: u32) -> bool {
    if options.len() < ONE_BLOCK_BYTES + 2 {
        return false; // no room beside timestamps, as in almost all packets
    }
    let Some(option) = find(options) else {
        return false;
    };
    let edge = |at: usize| Order::Big.u32(option, at);
    let (Some(left), Some(right)) = (edge(2), edge(6)) else {
        return false;
    };
    let up_to = |a: u32, b: u32| b.wrapping_sub(a) as i32 >= 0;
    let inside_second = || match (edge(10), edge(14)) {
        (Some(second_left), Some(second_right)) => {
            up_to(second_left, left) && up_to(right, second_right)
        }
        _ => false,
    };
    up_to(right, acknowledgment) || inside_second()
}

fn find(mut options: &[u8]) -> Option<&[u8]> {
    while let Some((kind, rest)) = options.split_first() {
        match *kind {
            END => return None,
            NOTHING => options = rest,
            kind => {
                let length = usize::from(*rest.first()?);
                let option = options.get(..length).filter(|option| option.len() >= 2)?;
                if kind == SACK && length >= ONE_BLOCK_BYTES {
                    return Some(option);
                }
                options = &options[length..];
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sack(blocks: &[(u32, u32)]) -> Vec<u8> {
        let mut options = vec![
            NOTHING, NOTHING, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, NOTHING, NOTHING,
        ];
        options.extend([SACK, 2 + 8 * blocks.len() as u8]);
        for (left, right) in blocks {
            options.extend(left.to_be_bytes());
            options.extend(right.to_be_bytes());
        }
        options
    }

    #[test]
    fn blocks_above_the_acknowledgment_are_of_bytes_that_came_once() {
        assert!(!reports_duplicate(&sack(&[(2000, 3000)]), 1000));
        assert!(!reports_duplicate(
            &sack(&[(4000, 5000), (2000, 3000)]),
            1000
        ));
    }

    #[test]
    fn a_block_below_it_or_inside_the_next_came_twice() {
        assert!(reports_duplicate(&sack(&[(500, 1000)]), 1000));
        assert!(reports_duplicate(&sack(&[(u32::MAX - 5, 3)]), 10));
        assert!(reports_duplicate(
            &sack(&[(2000, 2500), (2000, 3000)]),
            1000
        ));
    }

    #[test]
    fn torn_options_say_nothing() {
        let whole = sack(&[(500, 1000), (2000, 3000)]);
        for end in 0..whole.len() - 16 {
            assert!(!reports_duplicate(&whole[..end], 1000), "{end}");
        }
        assert!(!reports_duplicate(
            &[SACK, 0, SACK, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            1000
        ));
    }
}
