//! Bytes in: frames are told apart, checked, and put together where they must be.

use super::client::Client;
use super::fault::Fault;
use super::frame::{FrameHead, kind};
use super::reading::Reading;
use crate::Replies;

impl Client {
    /// Takes what arrived.
    pub(super) fn feed(
        &mut self,
        mut input: &[u8],
        replies: &mut impl Replies,
    ) -> Result<(), Box<Fault>> {
        loop {
            let more = match self.reading {
                Reading::Head => match self.take_head(&mut input) {
                    Some(head) => self.begin(head, &mut input, replies),
                    None => Ok(false),
                },
                Reading::Payload(head) => self.take_payload(head, &mut input, replies),
                Reading::Data(data) => self.take_data(data, &mut input, replies),
                Reading::Skip(left) => Ok(self.skip(left, &mut input)),
            }?;
            if !more {
                return Ok(());
            }
        }
    }

    #[inline]
    fn take_head(&mut self, input: &mut &[u8]) -> Option<FrameHead> {
        if self.partial.is_empty()
            && let Some((head, rest)) = input.split_first_chunk()
        {
            *input = rest;
            return Some(FrameHead::parse(head));
        }
        if !self.fill(FrameHead::LEN, input) {
            return None;
        }
        let head = self.partial.first_chunk().map(FrameHead::parse);
        self.partial.clear();
        head
    }

    /// Moves input to `partial` until that holds `length` bytes; false before.
    fn fill(&mut self, length: usize, input: &mut &[u8]) -> bool {
        let missing = length - self.partial.len();
        let (taken, rest) = input.split_at(missing.min(input.len()));
        self.partial.extend_from_slice(taken);
        *input = rest;
        taken.len() == missing
    }

    fn skip(&mut self, left: u32, input: &mut &[u8]) -> bool {
        let skipped = input.len().min(left as usize);
        *input = &input[skipped..];
        let left = left - skipped as u32;
        self.reading = if left == 0 {
            Reading::Head
        } else {
            Reading::Skip(left)
        };
        left == 0
    }

    /// Judges a frame by its head and goes on with its payload; true at its end.
    #[inline]
    fn begin(
        &mut self,
        head: FrameHead,
        input: &mut &[u8],
        replies: &mut impl Replies,
    ) -> Result<bool, Box<Fault>> {
        self.check_greeting(head)?;
        if head.length > self.options.max_frame {
            return Err(Fault::frame_size(
                "a frame stays within SETTINGS_MAX_FRAME_SIZE (RFC 9113 section 4.2)",
                format!("{} of {} bytes", head.name(), head.length),
            ));
        }
        self.check_continuing(head)?;
        match head.kind {
            kind::DATA => {
                let data = self.begin_data(head, replies)?;
                return self.take_data(data, input, replies);
            }
            kind::HEADERS => self.begin_headers(head, replies)?,
            kind::CONTINUATION => {}
            kind::PUSH_PROMISE => {
                return Err(Fault::protocol(
                    "nothing is pushed when SETTINGS_ENABLE_PUSH is 0 (RFC 9113 section 8.4)",
                    format!("PUSH_PROMISE on stream {}", head.stream),
                ));
            }
            kind::PRIORITY..=kind::WINDOW_UPDATE => self.check_shape(head)?,
            _ => return Ok(self.skip(head.length, input)),
        }
        self.take_payload(head, input, replies)
    }

    /// Waits for the whole payload, then acts on it; true when it has.
    #[inline]
    fn take_payload(
        &mut self,
        head: FrameHead,
        input: &mut &[u8],
        replies: &mut impl Replies,
    ) -> Result<bool, Box<Fault>> {
        let length = head.length as usize;
        if self.partial.is_empty()
            && let Some((payload, rest)) = input.split_at_checked(length)
        {
            *input = rest;
            self.reading = Reading::Head;
            return self.payload(head, payload, replies).map(|()| true);
        }
        if !self.fill(length, input) {
            self.reading = Reading::Payload(head);
            return Ok(false);
        }
        self.reading = Reading::Head;
        let payload = std::mem::take(&mut self.partial);
        self.payload(head, &payload, replies).map(|()| true)
    }

    fn payload(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        replies: &mut impl Replies,
    ) -> Result<(), Box<Fault>> {
        match (head.kind, payload) {
            (kind::HEADERS, _) => self.on_headers(head, payload, replies),
            (kind::CONTINUATION, _) => self.on_continuation(head, payload, replies),
            (kind::SETTINGS, _) => self.on_settings(head, payload),
            (kind::PING, _) => self.on_ping(head, payload),
            (kind::RST_STREAM, &[a, b, c, d]) => {
                self.on_reset(head.stream, u32::from_be_bytes([a, b, c, d]), replies);
                Ok(())
            }
            (kind::WINDOW_UPDATE, &[a, b, c, d]) => {
                self.on_window_update(head.stream, u32::from_be_bytes([a, b, c, d]), replies)
            }
            (kind::GOAWAY, &[a, b, c, d, ..]) => {
                self.on_goaway(u32::from_be_bytes([a, b, c, d]), replies)
            }
            _ => Ok(()),
        }
    }
}
