//! Two ends, as the name under which a connection is found.

use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::net::{IpAddr, SocketAddr};

use crate::packet::Packet;

/// One end, in an order that does not change with the direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct End {
    address: u128,
    port: u16,
}

/// Both ends, the lower one first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    low: End,
    high: End,
    is_v6: bool,
}

/// The sender's place in the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Low,
    High,
}

impl Side {
    pub(super) fn opposite(self) -> Side {
        match self {
            Side::Low => Side::High,
            Side::High => Side::Low,
        }
    }
}

impl Key {
    #[inline]
    pub(super) fn of(packet: &Packet<'_>) -> (Key, Side) {
        let (source, destination) = (end(packet.source), end(packet.destination));
        let is_v6 = packet.source.is_ipv6();
        // Both directions of a connection have the same key; the side shows which end
        // sent.
        if source <= destination {
            let (low, high) = (source, destination);
            (Key { low, high, is_v6 }, Side::Low)
        } else {
            let (low, high) = (destination, source);
            (Key { low, high, is_v6 }, Side::High)
        }
    }
}

#[inline]
fn end(address: SocketAddr) -> End {
    let port = address.port();
    let address = match address.ip() {
        // The number alone is ambiguous: 10.0.0.1 equals ::a00:1. `is_v6` keeps them
        // apart.
        IpAddr::V4(address) => u128::from(u32::from(address)),
        IpAddr::V6(address) => u128::from(address),
    };
    End { address, port }
}

impl Hash for Key {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        for end in [self.low, self.high] {
            state.write_u64((end.address >> 64) as u64);
            state.write_u64(end.address as u64);
        }
        let ports = u64::from(self.low.port) << 16 | u64::from(self.high.port);
        // One word: connections of one client differ in nothing but the port.
        state.write_u64(ports << 1 | u64::from(self.is_v6));
    }
}

/// Multiplies and folds each word, and the sum again: after one multiplication the
/// lower bits of neighbouring ports are multiples of a random step, which fill few places
/// where that step is near a simple fraction. Its start is random in each process, so
/// that no capture can be made whose connections all collide.
#[derive(Debug, Clone)]
pub(super) struct BuildKeyHasher {
    seed: [u64; 2],
}

impl Default for BuildKeyHasher {
    fn default() -> BuildKeyHasher {
        let random = RandomState::new();
        BuildKeyHasher {
            // The factor must be odd, or the lowest bit of each word is lost.
            // RandomState has its keys from the operating system.
            seed: [random.hash_one(0), random.hash_one(1) | 1],
        }
    }
}

impl BuildHasher for BuildKeyHasher {
    type Hasher = KeyHasher;

    #[inline]
    fn build_hasher(&self) -> KeyHasher {
        KeyHasher {
            state: self.seed[0],
            factor: self.seed[1],
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct KeyHasher {
    state: u64,
    factor: u64,
}

impl Hasher for KeyHasher {
    #[inline]
    fn write_u64(&mut self, word: u64) {
        self.state = multiply_and_fold(self.state ^ word, self.factor);
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes
            .iter()
            .for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    #[inline]
    fn finish(&self) -> u64 {
        multiply_and_fold(self.state, GOLDEN)
    }
}

/// 2^64 over the golden ratio, which is odd.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

#[inline]
fn multiply_and_fold(word: u64, factor: u64) -> u64 {
    let product = u128::from(word) * u128::from(factor);
    (product as u64) ^ ((product >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables take the lower bits of a hash as a place and the upper ones as a
    /// mark: both must differ where only a port does.
    #[test]
    fn neighbouring_connections_are_spread_whatever_the_seed() {
        for _ in 0..200 {
            are_spread(&BuildKeyHasher::default());
        }
    }

    fn are_spread(build: &BuildKeyHasher) {
        let server = End {
            address: 0x0A00_0002,
            port: 80,
        };
        for is_client_lower in [false, true] {
            let hash = |port: u16| {
                let address = if is_client_lower { 1 } else { 0x0A00_0003 };
                let client = End { address, port };
                let (low, high) = if is_client_lower {
                    (client, server)
                } else {
                    (server, client)
                };
                build.hash_one(Key {
                    low,
                    high,
                    is_v6: false,
                })
            };
            let count = |part: fn(u64) -> u64| {
                let parts: std::collections::HashSet<u64> =
                    (20_000..24_096).map(|port| part(hash(port))).collect();
                parts.len()
            };
            // 4096 at random in as many places fill 63 % of them.
            let places = count(|hash| hash & 4095);
            assert!(places > 2_400, "{places}");
            assert_eq!(count(|hash| hash >> 57), 128);
        }
    }
}
