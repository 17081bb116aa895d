//! The memory that the kernel and this process share: blocks of frames, each
//! owned by one of the two at a time.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use super::socket::set_option;

/// Of the machine's memory, and it is locked.
pub(super) const MIB_MAX: u32 = 4096;
const BLOCK_BYTES: usize = 1 << 20;
/// Frames vary in size; the kernel wants a number that divides a block.
const FRAME_BYTES: u32 = 2048;

pub(super) struct Frame<'a> {
    pub(super) at_ns: u64,
    pub(super) wire_bytes: u32,
    pub(super) data: &'a [u8],
}

pub(super) struct Ring {
    memory: NonNull<u8>,
    blocks: usize,
    next: usize,
}

impl Ring {
    /// Has the kernel make a ring for a socket, and maps it. A block that is not full is handed
    /// over after `retire_ms`.
    pub(super) fn map(socket: BorrowedFd<'_>, mib: u32, retire_ms: u32) -> io::Result<Ring> {
        // Version 3 hands over whole blocks, so that one wakeup serves many small frames.
        let version = libc::tpacket_versions::TPACKET_V3 as libc::c_int;
        set_option(socket, libc::PACKET_VERSION, &version)?;
        let block_bytes = BLOCK_BYTES as u32;
        let request = libc::tpacket_req3 {
            tp_block_size: block_bytes,
            tp_block_nr: mib,
            tp_frame_size: FRAME_BYTES,
            // packet_set_ring refuses any other product of blocks and frames per block
            // (net/packet/af_packet.c).
            tp_frame_nr: mib * (block_bytes / FRAME_BYTES),
            // Milliseconds. Without it, packets of a slow connection stay invisible
            // until a whole block of 1 MiB is full.
            tp_retire_blk_tov: retire_ms,
            tp_sizeof_priv: 0,
            tp_feature_req_word: 0,
        };
        set_option(socket, libc::PACKET_RX_RING, &request)?;
        let blocks = mib as usize;
        // SAFETY: a fresh mapping of the ring that was just made, of its size.
        let memory = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                blocks * BLOCK_BYTES,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                socket.as_raw_fd(),
                0,
            )
        };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let memory = NonNull::new(memory.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Ring {
            memory,
            blocks,
            next: 0,
        })
    }

    /// Hands on the frames of the next block, if it is ours, and gives it back.
    pub(super) fn block<E>(
        &mut self,
        mut take: impl FnMut(&Frame<'_>) -> Result<(), E>,
    ) -> Result<bool, E> {
        if !self.is_ours(self.next) {
            return Ok(false);
        }
        // The block goes back to the kernel even when `take` fails; keeping it would
        // stop the ring one round later.
        let outcome = frames(self.bytes()).try_for_each(|frame| take(&frame));
        self.status(self.next)
            .store(libc::TP_STATUS_KERNEL, Ordering::Release);
        self.next = (self.next + 1) % self.blocks;
        outcome.map(|()| true)
    }

    /// How many blocks are ours.
    pub(super) fn ready(&self) -> usize {
        let places = (0..self.blocks).map(|step| (self.next + step) % self.blocks);
        places.take_while(|place| self.is_ours(*place)).count()
    }

    fn is_ours(&self, place: usize) -> bool {
        // Acquire and Release pair with the kernel's barriers (packet_mmap.rst, "Memory
        // ordering"): the frames are visible before the status word is.
        self.status(place).load(Ordering::Acquire) & libc::TP_STATUS_USER != 0
    }

    fn begin(&self, place: usize) -> NonNull<u8> {
        assert!(place < self.blocks, "a block of the ring");
        // SAFETY: as many blocks are mapped.
        unsafe { self.memory.add(place * BLOCK_BYTES) }
    }

    /// The word by which a block changes hands.
    fn status(&self, place: usize) -> &AtomicU32 {
        let at = std::mem::offset_of!(libc::tpacket_block_desc, hdr)
            + std::mem::offset_of!(libc::tpacket_hdr_v1, block_status);
        // SAFETY: inside the block, aligned, mapped as long as self, and only
        // accessed atomically on both sides.
        unsafe { AtomicU32::from_ptr(self.begin(place).add(at).cast().as_ptr()) }
    }

    /// The block, while it is ours.
    fn bytes(&self) -> &[u8] {
        // SAFETY: mapped as long as self; the kernel does not write to a block
        // that it has handed over, until it gets it back by the status word.
        unsafe { std::slice::from_raw_parts(self.begin(self.next).as_ptr(), BLOCK_BYTES) }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: nothing borrows from the mapping any more, and it is of this size.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), self.blocks * BLOCK_BYTES) };
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The frames of a block: as many as its header states, and as lie within it.
fn frames(block: &[u8]) -> impl Iterator<Item = Frame<'_>> {
    let header = std::mem::offset_of!(libc::tpacket_block_desc, hdr);
    let field = |at| word(block, header + at).unwrap_or(0);
    let count = field(std::mem::offset_of!(libc::tpacket_hdr_v1, num_pkts));
    let first = field(std::mem::offset_of!(
        libc::tpacket_hdr_v1,
        offset_to_first_pkt
    ));
    // Offsets are checked although the kernel wrote them: an error there becomes a lost
    // frame, not a fault in this process.
    let mut at = first as usize;
    (0..count).map_while(move |_| {
        let (frame, step) = frame(block.get(at..)?)?;
        at += step;
        Some(frame)
    })
}

fn frame(bytes: &[u8]) -> Option<(Frame<'_>, usize)> {
    use libc::tpacket3_hdr as Header;
    use std::mem::offset_of;
    // In the byte order of this machine, whose kernel wrote it.
    let seconds = word(bytes, offset_of!(Header, tp_sec))?;
    let nanoseconds = word(bytes, offset_of!(Header, tp_nsec))?;
    let captured = word(bytes, offset_of!(Header, tp_snaplen))? as usize;
    // tp_mac is relative to the frame's own header, and so is tp_next_offset.
    let mac = bytes.get(offset_of!(Header, tp_mac)..)?.first_chunk()?;
    let mac = usize::from(u16::from_ne_bytes(*mac));
    let frame = Frame {
        at_ns: u64::from(seconds) * 1_000_000_000 + u64::from(nanoseconds),
        wire_bytes: word(bytes, offset_of!(Header, tp_len))?,
        data: bytes.get(mac..mac.checked_add(captured)?)?,
    };
    let step = word(bytes, offset_of!(Header, tp_next_offset))? as usize;
    Some((frame, step))
}
