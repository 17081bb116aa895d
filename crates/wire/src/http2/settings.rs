//! SETTINGS: what the peer asks of us (RFC 9113 section 6.5).

use super::fault::Fault;
use super::frame::{FRAME_MAX_LEAST, FRAME_MAX_MOST, WINDOW_DEFAULT, WINDOW_MAX, code, setting};

/// The peer's settings that a client has to keep.
#[derive(Debug, Clone, Copy)]
pub(super) struct PeerSettings {
    /// Streams that we may have open; unlimited until the peer limits it.
    pub(super) streams_max: u32,
    /// Window of a new stream, bytes.
    pub(super) window: u32,
    /// Largest frame payload that it takes, bytes.
    pub(super) frame_max: u32,
}

/// What a SETTINGS frame changed beyond [`PeerSettings`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// `SETTINGS_HEADER_TABLE_SIZE` has this value.
    TableSize(u32),
    /// Every stream's send window grows by so many bytes.
    Window(i64),
}

impl PeerSettings {
    pub(super) fn new() -> PeerSettings {
        PeerSettings {
            streams_max: u32::MAX,
            window: WINDOW_DEFAULT,
            frame_max: FRAME_MAX_LEAST,
        }
    }

    /// Takes one parameter (RFC 9113 section 6.5.2); unknown ones are ignored.
    pub(super) fn apply(&mut self, entry: [u8; 6]) -> Result<Option<Change>, Box<Fault>> {
        let [i1, i0, v3, v2, v1, v0] = entry;
        let value = u32::from_be_bytes([v3, v2, v1, v0]);
        match u16::from_be_bytes([i1, i0]) {
            setting::HEADER_TABLE_SIZE => return Ok(Some(Change::TableSize(value))),
            setting::ENABLE_PUSH if value != 0 => {
                return Err(Fault::protocol(
                    "a server sends SETTINGS_ENABLE_PUSH as 0 or not at all \
                     (RFC 9113 section 6.5.2)",
                    value.to_string(),
                ));
            }
            setting::MAX_CONCURRENT_STREAMS => self.streams_max = value,
            setting::INITIAL_WINDOW_SIZE => return self.set_window(value).map(Some),
            setting::MAX_FRAME_SIZE => self.set_frame_max(value)?,
            _ => {}
        }
        Ok(None)
    }

    fn set_window(&mut self, value: u32) -> Result<Change, Box<Fault>> {
        if value > WINDOW_MAX {
            return Err(Fault::new(
                code::FLOW_CONTROL_ERROR,
                "SETTINGS_INITIAL_WINDOW_SIZE is at most 2^31 - 1 (RFC 9113 section 6.5.2)",
                value.to_string(),
            ));
        }
        let growth = i64::from(value) - i64::from(self.window);
        self.window = value;
        Ok(Change::Window(growth))
    }

    fn set_frame_max(&mut self, value: u32) -> Result<(), Box<Fault>> {
        if !(FRAME_MAX_LEAST..=FRAME_MAX_MOST).contains(&value) {
            return Err(Fault::protocol(
                "SETTINGS_MAX_FRAME_SIZE is 16384 to 16777215 (RFC 9113 section 6.5.2)",
                value.to_string(),
            ));
        }
        self.frame_max = value;
        Ok(())
    }
}
