//! Memory for packets under way, used again and again.

/// Bytes of one slot: a full packet of the link and a little more, so that a
/// longer one is seen to be too long.
pub(crate) const SLOT_BYTES: usize = 2_048;

/// A packet under way.
#[derive(Debug, Clone)]
pub(crate) struct Packet {
    pub(crate) memory: Box<[u8; SLOT_BYTES]>,
    pub(crate) length: usize,
}

impl Packet {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.memory[..self.length]
    }
}

/// Packets that nobody uses at the moment.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    free: Vec<Packet>,
}

impl Slots {
    /// One whose contents mean nothing.
    pub(crate) fn take(&mut self) -> Packet {
        self.free.pop().unwrap_or_else(|| Packet {
            memory: Box::new([0; SLOT_BYTES]),
            length: 0,
        })
    }

    pub(crate) fn give(&mut self, packet: Packet) {
        self.free.push(packet);
    }
}
