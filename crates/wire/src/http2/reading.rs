//! Where the input stands: what of a frame or a field block has come.

use super::frame::FrameHead;
use crate::CallId;

/// Where the input stands.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reading {
    /// In a frame's head.
    Head,
    /// In a payload that is needed whole.
    Payload(FrameHead),
    /// In DATA, which is handed on as it comes.
    Data(Data),
    /// In so many bytes of no interest.
    Skip(u32),
}

impl Reading {
    /// Nobody waits any more for what comes for `slot`.
    pub(super) fn forget(&mut self, slot: u32) {
        if let Reading::Data(data) = self
            && data.target.is_some_and(|(target, _)| target == slot)
        {
            data.target = None;
        }
    }
}

/// A DATA frame in progress.
#[derive(Debug, Clone, Copy)]
pub(super) struct Data {
    /// Slot and call; None where nobody waits for the content any more.
    pub(super) target: Option<(u32, CallId)>,
    /// The next byte is the length of the padding.
    pub(super) pad_due: bool,
    /// Bytes of content to come.
    pub(super) left: u32,
    /// Bytes of padding to come.
    pub(super) padding: u32,
    /// It ends the stream.
    pub(super) end_stream: bool,
}

/// A field block that goes on in CONTINUATION frames.
#[derive(Debug)]
pub(super) struct Continuing {
    pub(super) stream: u32,
    pub(super) end_stream: bool,
    /// CONTINUATION frames so far.
    pub(super) frames: u32,
    pub(super) block: Vec<u8>,
}
