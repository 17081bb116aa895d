//! What each side asks of the other: the client's [`Options`] with the SETTINGS that
//! announce them, and the peer's SETTINGS (RFC 9113 section 6.5).

use super::error::ConnectionError;
use super::flow_control::ReceiveWindow;
use super::frame::{
    MAX_FRAME_SIZE_MAX, MAX_FRAME_SIZE_MIN, PREFACE, WINDOW_DEFAULT, WINDOW_MAX, code, kind,
    setting, write_frame, write_window_update,
};

/// How a [`Client`](super::Client) behaves. Values outside their range are
/// taken as the nearest legal one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Window offered to each reply, bytes, 1 to 2^31 - 1.
    pub stream_window: u32,
    /// Window offered to all replies together, bytes, 1 to 2^31 - 1. Below
    /// 65,535, where the protocol begins, it holds from the first 65,535 bytes on.
    pub connection_window: u32,
    /// Largest frame payload accepted, bytes, 16,384 to 2^24 - 1.
    pub max_frame: u32,
    /// Heads and bodies of requests come from different pumps.
    pub split_writes: bool,
    /// Calls in flight at most, whatever the peer allows.
    pub max_streams: u32,
    /// Largest field section accepted, bytes, by RFC 9113 section 6.5.2.
    pub header_list_max: u32,
    /// The connection is under TLS: `:scheme` is `https` (RFC 9113 section 8.3.1).
    pub https: bool,
    /// No stream is opened before the peer's SETTINGS have come.
    pub wait_settings: bool,
}

impl Default for Options {
    /// Windows that are never the limit, one hundred calls in flight.
    fn default() -> Options {
        Options {
            // Bytes. Flow control is switched off in effect, so that a measurement
            // shows the server and not the client's windows; studies of windows set
            // their own.
            stream_window: (1 << 30) - 1,
            connection_window: (1 << 30) - 1,
            max_frame: MAX_FRAME_SIZE_MIN,
            split_writes: false,
            max_streams: 100,
            header_list_max: 64 << 10,
            https: false,
            wait_settings: false,
        }
    }
}

impl Options {
    pub(super) fn clamped(self) -> Options {
        Options {
            stream_window: self.stream_window.clamp(1, WINDOW_MAX),
            connection_window: self.connection_window.clamp(1, WINDOW_MAX),
            max_frame: self.max_frame.clamp(MAX_FRAME_SIZE_MIN, MAX_FRAME_SIZE_MAX),
            ..self
        }
    }

    /// Preface, SETTINGS, and the connection's window (RFC 9113 section 3.4).
    pub(super) fn preface(&self) -> Vec<u8> {
        // Values equal to the protocol's default are left out (RFC 9113 section 6.5.2).
        // Push is refused in every case: no caller would read an unsolicited reply (RFC
        // 9113 section 8.4).
        let mut parameters = vec![
            (setting::ENABLE_PUSH, 0),
            (setting::MAX_HEADER_LIST_SIZE, self.header_list_max),
        ];
        if self.stream_window != WINDOW_DEFAULT {
            parameters.push((setting::INITIAL_WINDOW_SIZE, self.stream_window));
        }
        if self.max_frame != MAX_FRAME_SIZE_MIN {
            parameters.push((setting::MAX_FRAME_SIZE, self.max_frame));
        }
        let mut payload = Vec::with_capacity(6 * parameters.len());
        for (name, value) in parameters {
            payload.extend_from_slice(&u16::to_be_bytes(name));
            payload.extend_from_slice(&u32::to_be_bytes(value));
        }
        let mut preface = PREFACE.to_vec();
        write_frame(&mut preface, kind::SETTINGS, 0, 0, &payload);
        if let Some(increment) = ReceiveWindow::connection_grant(self.connection_window) {
            write_window_update(&mut preface, 0, increment);
        }
        preface
    }
}

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
    /// Every stream's send window grows by that number of bytes.
    Window(i64),
}

impl PeerSettings {
    /// Those before the peer's first SETTINGS; with `wait` it allows no stream until then.
    pub(super) fn new(wait: bool) -> PeerSettings {
        PeerSettings {
            // RFC 9113 section 6.5.2: initially there is no limit. The first SETTINGS
            // of the server usually sets one, before or after the first requests.
            streams_max: if wait { 0 } else { u32::MAX },
            window: WINDOW_DEFAULT,
            frame_max: MAX_FRAME_SIZE_MIN,
        }
    }

    /// Takes one parameter (RFC 9113 section 6.5.2); unknown ones are ignored.
    pub(super) fn apply(&mut self, entry: [u8; 6]) -> Result<Option<Change>, Box<ConnectionError>> {
        // A 16-bit identifier and a 32-bit value, in network byte order.
        let [i1, i0, v3, v2, v1, v0] = entry;
        let value = u32::from_be_bytes([v3, v2, v1, v0]);
        match u16::from_be_bytes([i1, i0]) {
            setting::HEADER_TABLE_SIZE => return Ok(Some(Change::TableSize(value))),
            // Only clients may enable push (section 6.5.2).
            setting::ENABLE_PUSH if value != 0 => {
                return Err(ConnectionError::protocol(
                    "a server sends SETTINGS_ENABLE_PUSH as 0 or not at all \
                     (RFC 9113 section 6.5.2)",
                    value.to_string(),
                ));
            }
            // May fall below the number of open streams: they go on, and new ones wait
            // (section 5.1.2).
            setting::MAX_CONCURRENT_STREAMS => self.streams_max = value,
            setting::INITIAL_WINDOW_SIZE => return self.set_window(value).map(Some),
            setting::MAX_FRAME_SIZE => self.set_frame_max(value)?,
            _ => {}
        }
        Ok(None)
    }

    fn set_window(&mut self, value: u32) -> Result<Change, Box<ConnectionError>> {
        if value > WINDOW_MAX {
            return Err(ConnectionError::new(
                code::FLOW_CONTROL_ERROR,
                "SETTINGS_INITIAL_WINDOW_SIZE is at most 2^31 - 1 (RFC 9113 section 6.5.2)",
                value.to_string(),
            ));
        }
        // Negative where the peer shrinks its window, which may take windows below zero.
        let growth = i64::from(value) - i64::from(self.window);
        self.window = value;
        Ok(Change::Window(growth))
    }

    fn set_frame_max(&mut self, value: u32) -> Result<(), Box<ConnectionError>> {
        if !(MAX_FRAME_SIZE_MIN..=MAX_FRAME_SIZE_MAX).contains(&value) {
            return Err(ConnectionError::protocol(
                "SETTINGS_MAX_FRAME_SIZE is 16384 to 16777215 (RFC 9113 section 6.5.2)",
                value.to_string(),
            ));
        }
        self.frame_max = value;
        Ok(())
    }
}
