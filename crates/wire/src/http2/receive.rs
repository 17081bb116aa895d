//! Bytes in: frames are parsed, checked by their header, and put together where their
//! payload is needed whole.

use super::client::{Client, ReadState};
use super::error::ConnectionError;
use super::frame::{FrameHead, code, flag, kind};
use crate::Replies;

impl Client {
    /// Takes what arrived.
    pub(super) fn feed(
        &mut self,
        mut input: &[u8],
        replies: &mut impl Replies,
    ) -> Result<(), Box<ConnectionError>> {
        loop {
            let more = match self.reading {
                ReadState::Head => match self.take_head(&mut input) {
                    Some(head) => self.begin(head, &mut input, replies),
                    None => Ok(false),
                },
                ReadState::Payload(head) => self.take_payload(head, &mut input, replies),
                ReadState::Data(data) => self.take_data(data, &mut input, replies),
                ReadState::Skip(left) => Ok(self.skip(left, &mut input)),
            }?;
            if !more {
                return Ok(());
            }
        }
    }

    #[inline]
    fn take_head(&mut self, input: &mut &[u8]) -> Option<FrameHead> {
        // The common case: the whole header lies in the input and is not copied.
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
            ReadState::Head
        } else {
            ReadState::Skip(left)
        };
        left == 0
    }

    /// Checks a frame by its header and continues with its payload; true at its end.
    #[inline]
    fn begin(
        &mut self,
        head: FrameHead,
        input: &mut &[u8],
        replies: &mut impl Replies,
    ) -> Result<bool, Box<ConnectionError>> {
        self.check_preface(head)?;
        // Checked before any memory is taken for the payload.
        if head.length > self.options.max_frame {
            return Err(ConnectionError::frame_size(
                "a frame stays within SETTINGS_MAX_FRAME_SIZE (RFC 9113 section 4.2)",
                format!("{} of {} bytes", head.name(), head.length),
            ));
        }
        self.check_continuation(head)?;
        match head.kind {
            kind::DATA => {
                let data = self.begin_data(head, replies)?;
                return self.take_data(data, input, replies);
            }
            kind::HEADERS => self.begin_headers(head, replies)?,
            kind::CONTINUATION => {}
            kind::PUSH_PROMISE => {
                return Err(ConnectionError::protocol(
                    "nothing is pushed when SETTINGS_ENABLE_PUSH is 0 (RFC 9113 section 8.4)",
                    format!("PUSH_PROMISE on stream {}", head.stream),
                ));
            }
            // The types between DATA/HEADERS and CONTINUATION have fixed shapes.
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
    ) -> Result<bool, Box<ConnectionError>> {
        let length = head.length as usize;
        if self.partial.is_empty()
            && let Some((payload, rest)) = input.split_at_checked(length)
        {
            *input = rest;
            self.reading = ReadState::Head;
            return self.payload(head, payload, replies).map(|()| true);
        }
        if !self.fill(length, input) {
            self.reading = ReadState::Payload(head);
            return Ok(false);
        }
        self.reading = ReadState::Head;
        // Taken out, because the handlers borrow the whole client.
        let payload = std::mem::take(&mut self.partial);
        self.payload(head, &payload, replies).map(|()| true)
    }

    fn payload(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        replies: &mut impl Replies,
    ) -> Result<(), Box<ConnectionError>> {
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

impl Client {
    /// The peer's first frame is SETTINGS (RFC 9113 section 3.4).
    pub(super) fn check_preface(&mut self, head: FrameHead) -> Result<(), Box<ConnectionError>> {
        if self.preface_received {
            return Ok(());
        }
        // Set also on failure: the error is reported once.
        self.preface_received = true;
        if head.kind == kind::SETTINGS && !head.has(flag::ACK) {
            return Ok(());
        }
        let bytes = head.to_bytes();
        // The most frequent mistake in practice, so that it gets a remedy.
        let found = if bytes.starts_with(b"HTTP/") {
            "an answer in HTTP/1: the peer does not speak HTTP/2 by prior knowledge; \
             use transport http/1.1, or another port"
                .into()
        } else {
            format!("the bytes {:?}", String::from_utf8_lossy(&bytes))
        };
        Err(ConnectionError::protocol(
            "a server begins with SETTINGS (RFC 9113 section 3.4)",
            found,
        ))
    }

    /// Nothing comes between the frames of a field block (RFC 9113 section 4.3).
    pub(super) fn check_continuation(&self, head: FrameHead) -> Result<(), Box<ConnectionError>> {
        let open = self
            .partial_field_block
            .as_ref()
            .map(|partial_field_block| partial_field_block.stream);
        let is = (head.kind == kind::CONTINUATION).then_some(head.stream);
        // Both None, or the CONTINUATION that is due.
        if open == is {
            return Ok(());
        }
        Err(ConnectionError::protocol(
            "CONTINUATION, and nothing else, follows a field block that goes on \
             (RFC 9113 section 6.10)",
            match open {
                Some(stream) => format!(
                    "{} on stream {} within a block of stream {stream}",
                    head.name(),
                    head.stream
                ),
                None => format!("CONTINUATION on stream {} after no such block", head.stream),
            },
        ))
    }

    /// Size and stream of the frames that have a fixed shape (RFC 9113
    /// sections 6.3 to 6.9).
    pub(super) fn check_shape(&self, head: FrameHead) -> Result<(), Box<ConnectionError>> {
        let length = head.length;
        let (sized, of_connection) = match head.kind {
            kind::PRIORITY => (length == 5, Some(false)),
            kind::RST_STREAM => (length == 4, Some(false)),
            // RFC 9113 section 6.5: an acknowledgement has no payload.
            kind::SETTINGS if head.has(flag::ACK) => (length == 0, Some(true)),
            kind::SETTINGS => (length.is_multiple_of(6), Some(true)),
            kind::PING => (length == 8, Some(true)),
            kind::GOAWAY => (length >= 8, Some(true)),
            // WINDOW_UPDATE: on stream 0 and on others.
            _ => (length == 4, None),
        };
        if of_connection.is_some_and(|connection| connection != (head.stream == 0)) {
            return Err(ConnectionError::protocol(
                "SETTINGS, PING, GOAWAY come on stream 0, PRIORITY and RST_STREAM on others \
                 (RFC 9113 sections 6.3 to 6.8)",
                format!("{} on stream {}", head.name(), head.stream),
            ));
        }
        if !sized {
            return Err(ConnectionError::frame_size(
                "PRIORITY has 5 bytes, RST_STREAM and WINDOW_UPDATE 4, PING 8, GOAWAY 8 or more, \
                 SETTINGS six a parameter and none with ACK (RFC 9113 sections 6.3 to 6.9)",
                format!("{} of {length} bytes", head.name()),
            ));
        }
        self.check_not_idle(head)
    }

    /// Only PRIORITY may come on streams that we have not opened (RFC 9113
    /// section 5.1), and the server cannot open any.
    pub(super) fn check_not_idle(&self, head: FrameHead) -> Result<(), Box<ConnectionError>> {
        // Client streams are odd; even ones would be pushes, which are switched off.
        let ours = head.stream < self.next_id && !head.stream.is_multiple_of(2);
        if head.stream == 0 || ours || head.kind == kind::PRIORITY {
            return Ok(());
        }
        Err(ConnectionError::protocol(
            "replies come on streams that the client has opened (RFC 9113 section 5.1)",
            format!("{} on stream {}, which is idle", head.name(), head.stream),
        ))
    }

    /// DATA and HEADERS for a stream that is not open: legal only where we closed
    /// it before the peer could know.
    pub(super) fn check_closed(&self, head: FrameHead) -> Result<(), Box<ConnectionError>> {
        if head.stream == 0 {
            return Err(ConnectionError::protocol(
                "DATA and HEADERS belong to a stream (RFC 9113 sections 6.1 and 6.2)",
                format!("{} on stream 0", head.name()),
            ));
        }
        self.check_not_idle(head)?;
        if self.reset_streams.tolerates(head.stream) {
            return Ok(());
        }
        Err(ConnectionError::new(
            code::STREAM_CLOSED,
            "nothing comes on a stream after its end (RFC 9113 section 5.1)",
            format!("{} on stream {}", head.name(), head.stream),
        ))
    }
}
