//! ip-fragments: segments that the network, or their sender, cut into IP fragments (RFC 791
//! section 2.3, RFC 8200 section 4.5). A receiver has the segment when the last of them came.

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

use super::connection_setup::At;
use crate::packet::decode::Fragment;

/// Datagrams of which fragments are missing; of more, the oldest is forgotten.
const OPEN_MAX: usize = 1024;

type Name = (IpAddr, IpAddr, u32);

/// What has come of one datagram.
#[derive(Debug, Clone, Copy)]
struct OpenDatagram {
    first: At,
    ports: Option<[u16; 2]>,
    seen: u32,
    whole: Option<u32>,
}

/// A segment that came in fragments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FragmentedSegment {
    pub(crate) source: SocketAddr,
    pub(crate) destination: SocketAddr,
    /// When the first fragment came, ns, and its packet.
    pub(crate) first: At,
    /// The same of the last.
    pub(crate) last: At,
}

/// Puts together which fragments belong to each other, not what they hold.
#[derive(Debug, Default)]
pub(crate) struct Fragments {
    open: HashMap<Name, OpenDatagram>,
    order: VecDeque<Name>,
}

impl Fragments {
    /// One fragment. Returns the segment whose last one it is.
    pub(crate) fn take(&mut self, fragment: &Fragment) -> Option<FragmentedSegment> {
        let at = (fragment.at_ns, fragment.packet);
        let name = (fragment.source, fragment.destination, fragment.number);
        if !self.open.contains_key(&name) {
            self.forget_oldest();
            self.order.push_back(name);
        }
        let part = self.open.entry(name).or_insert(OpenDatagram {
            first: at,
            ports: None,
            seen: 0,
            whole: None,
        });
        part.seen = part.seen.saturating_add(fragment.bytes);
        part.ports = part.ports.or(fragment.ports);
        if fragment.is_last {
            part.whole = Some(fragment.offset.saturating_add(fragment.bytes));
        }
        let part = *part;
        if part.whole.is_none_or(|whole| part.seen < whole) {
            return None;
        }
        self.open.remove(&name);
        let [source, destination] = part.ports?;
        Some(FragmentedSegment {
            source: SocketAddr::new(fragment.source, source),
            destination: SocketAddr::new(fragment.destination, destination),
            first: part.first,
            last: at,
        })
    }

    fn forget_oldest(&mut self) {
        // Names of whole datagrams stay in the order until they are the oldest.
        while self.order.len() >= OPEN_MAX {
            if let Some(oldest) = self.order.pop_front() {
                self.open.remove(&oldest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fragment(number: u32, at: u64, offset: u32, bytes: u32, is_last: bool) -> Fragment {
        Fragment {
            packet: at,
            at_ns: at,
            source: [10, 0, 0, 2].into(),
            destination: [10, 0, 0, 1].into(),
            number,
            offset,
            bytes,
            is_last,
            ports: (offset == 0).then_some([80, 40_000]),
        }
    }

    #[test]
    fn a_segment_is_there_with_its_last_fragment_whatever_the_order() {
        let orders = [[0, 1, 2], [2, 0, 1], [1, 2, 0]];
        for order in orders {
            let mut fragments = Fragments::default();
            let all = |place: usize, at| {
                let offset = 800 * place as u32;
                fragment(7, at, offset, 800, place == 2)
            };
            assert_eq!(fragments.take(&all(order[0], 10)), None);
            assert_eq!(fragments.take(&all(order[1], 20)), None);
            let found = fragments.take(&all(order[2], 50)).expect("whole");
            assert_eq!((found.first, found.last), ((10, 10), (50, 50)));
            assert_eq!(found.source, "10.0.0.2:80".parse().expect("an address"));
        }
    }

    #[test]
    fn memory_is_bounded_and_others_are_kept_apart() {
        let mut fragments = Fragments::default();
        for number in 0..5 * OPEN_MAX as u32 {
            assert_eq!(fragments.take(&fragment(number, 1, 0, 800, false)), None);
        }
        assert!(fragments.open.len() <= OPEN_MAX);
        assert!(fragments.order.len() <= OPEN_MAX);
        assert_eq!(fragments.take(&fragment(0, 9, 800, 8, true)), None);
        let newest = 5 * OPEN_MAX as u32 - 1;
        assert!(fragments.take(&fragment(newest, 9, 800, 8, true)).is_some());
    }
}
