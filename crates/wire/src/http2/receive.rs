//! Bytes in: frames are told apart, checked, and put together where they must be.

use super::client::Client;
use super::fault::Fault;
use super::frame::{FrameHead, code, flag, kind};
use crate::{CallId, Replies};

/// CONTINUATION frames that one field block may take.
const CONTINUATIONS_MAX: u32 = 256;
/// DATA frames without content that may follow each other.
const EMPTY_DATA_MAX: u32 = 1_000;

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

/// A DATA frame in progress.
#[derive(Debug, Clone, Copy)]
pub(super) struct Data {
    /// Slot and call; None where nobody waits for the content any more.
    pub(super) target: Option<(u32, CallId)>,
    /// The next byte is the length of the padding.
    pad_due: bool,
    /// Bytes of content to come.
    pub(super) left: u32,
    /// Bytes of padding to come.
    padding: u32,
    /// It ends the stream.
    pub(super) end_stream: bool,
}

/// A field block that goes on in CONTINUATION frames.
#[derive(Debug)]
pub(super) struct Continuing {
    stream: u32,
    end_stream: bool,
    frames: u32,
    block: Vec<u8>,
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

impl Client {
    /// Takes what arrived.
    pub(super) fn feed(
        &mut self,
        mut input: &[u8],
        replies: &mut impl Replies,
    ) -> Result<(), Fault> {
        loop {
            let more = match self.reading {
                Reading::Head => match self.take_head(&mut input) {
                    Some(head) => self.begin(head, replies).map(|()| true),
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

    /// Judges a frame by its head and decides how to read its payload.
    fn begin(&mut self, head: FrameHead, replies: &mut impl Replies) -> Result<(), Fault> {
        self.check_greeting(head)?;
        if head.length > self.options.max_frame {
            return Err(Fault::frame_size(
                "a frame stays within SETTINGS_MAX_FRAME_SIZE (RFC 9113 section 4.2)",
                format!("{} of {} bytes", head.name(), head.length),
            ));
        }
        self.check_continuing(head)?;
        self.reading = match head.kind {
            kind::DATA => self.begin_data(head, replies)?,
            kind::HEADERS => {
                self.begin_headers(head, replies)?;
                Reading::Payload(head)
            }
            kind::PUSH_PROMISE => {
                return Err(Fault::protocol(
                    "nothing is pushed when SETTINGS_ENABLE_PUSH is 0 (RFC 9113 section 8.4)",
                    format!("PUSH_PROMISE on stream {}", head.stream),
                ));
            }
            kind::CONTINUATION => Reading::Payload(head),
            kind::PRIORITY
            | kind::RST_STREAM
            | kind::SETTINGS
            | kind::PING
            | kind::GOAWAY
            | kind::WINDOW_UPDATE => {
                self.check_shape(head)?;
                Reading::Payload(head)
            }
            _ => Reading::Skip(head.length),
        };
        Ok(())
    }

    /// The peer's first frame is SETTINGS (RFC 9113 section 3.4).
    fn check_greeting(&mut self, head: FrameHead) -> Result<(), Fault> {
        if self.greeted {
            return Ok(());
        }
        self.greeted = true;
        if head.kind == kind::SETTINGS && !head.has(flag::ACK) {
            return Ok(());
        }
        let bytes = head.to_bytes();
        let found = if bytes.starts_with(b"HTTP/") {
            "an answer in HTTP/1: the peer does not speak HTTP/2 by prior knowledge; \
             use transport http/1.1, or another port"
                .into()
        } else {
            format!("the bytes {:?}", String::from_utf8_lossy(&bytes))
        };
        Err(Fault::protocol(
            "a server begins with SETTINGS (RFC 9113 section 3.4)",
            found,
        ))
    }

    /// Nothing comes between the frames of a field block (RFC 9113 section 4.3).
    fn check_continuing(&self, head: FrameHead) -> Result<(), Fault> {
        let open = self.continuing.as_ref().map(|continuing| continuing.stream);
        let is = (head.kind == kind::CONTINUATION).then_some(head.stream);
        if open == is {
            return Ok(());
        }
        Err(Fault::protocol(
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
    fn check_shape(&self, head: FrameHead) -> Result<(), Fault> {
        let length = head.length;
        let (sized, of_connection) = match head.kind {
            kind::PRIORITY => (length == 5, Some(false)),
            kind::RST_STREAM => (length == 4, Some(false)),
            kind::SETTINGS if head.has(flag::ACK) => (length == 0, Some(true)),
            kind::SETTINGS => (length.is_multiple_of(6), Some(true)),
            kind::PING => (length == 8, Some(true)),
            kind::GOAWAY => (length >= 8, Some(true)),
            _ => (length == 4, None),
        };
        if of_connection.is_some_and(|connection| connection != (head.stream == 0)) {
            return Err(Fault::protocol(
                "SETTINGS, PING, GOAWAY come on stream 0, PRIORITY and RST_STREAM on others \
                 (RFC 9113 sections 6.3 to 6.8)",
                format!("{} on stream {}", head.name(), head.stream),
            ));
        }
        if !sized {
            return Err(Fault::frame_size(
                "PRIORITY has 5 bytes, RST_STREAM and WINDOW_UPDATE 4, PING 8, GOAWAY 8 or more, \
                 SETTINGS six a parameter and none with ACK (RFC 9113 sections 6.3 to 6.9)",
                format!("{} of {length} bytes", head.name()),
            ));
        }
        self.check_not_idle(head)
    }

    /// Only PRIORITY may come on streams that we have not opened (RFC 9113
    /// section 5.1), and the server cannot open any.
    pub(super) fn check_not_idle(&self, head: FrameHead) -> Result<(), Fault> {
        let ours = head.stream < self.next_id && !head.stream.is_multiple_of(2);
        if head.stream == 0 || ours || head.kind == kind::PRIORITY {
            return Ok(());
        }
        Err(Fault::protocol(
            "replies come on streams that the client has opened (RFC 9113 section 5.1)",
            format!("{} on stream {}, which is idle", head.name(), head.stream),
        ))
    }

    /// DATA and HEADERS need an open stream, or one that we have just closed.
    fn check_open(&self, head: FrameHead, slot: Option<u32>) -> Result<(), Fault> {
        if head.stream == 0 {
            return Err(Fault::protocol(
                "DATA and HEADERS belong to a stream (RFC 9113 sections 6.1 and 6.2)",
                format!("{} on stream 0", head.name()),
            ));
        }
        self.check_not_idle(head)?;
        if slot.is_some() || self.cancelled.forgives(head.stream) {
            return Ok(());
        }
        Err(Fault::new(
            code::STREAM_CLOSED,
            "nothing comes on a stream after its end (RFC 9113 section 5.1)",
            format!("{} on stream {}", head.name(), head.stream),
        ))
    }

    fn begin_headers(&mut self, head: FrameHead, replies: &mut impl Replies) -> Result<(), Fault> {
        let slot = self.streams.slot_of_id(head.stream);
        if slot.is_none() {
            self.check_open(head, slot)?;
        }
        if let Some(stream) = slot.and_then(|slot| self.streams.get_mut(slot))
            && !stream.first_seen
        {
            stream.first_seen = true;
            replies.first(stream.call);
        }
        Ok(())
    }

    /// Accounts for a DATA frame (RFC 9113 section 6.9: padding included) and
    /// finds out who wants it.
    fn begin_data(
        &mut self,
        head: FrameHead,
        replies: &mut impl Replies,
    ) -> Result<Reading, Fault> {
        let slot = self.streams.slot_of_id(head.stream);
        if slot.is_none() {
            self.check_open(head, slot)?;
        }
        if !self.receive_window.consume(head.length) {
            return Err(Fault::new(
                code::FLOW_CONTROL_ERROR,
                "DATA stays within the connection's window (RFC 9113 section 6.9.1)",
                format!(
                    "{} bytes, {} allowed",
                    head.length,
                    self.receive_window.left()
                ),
            ));
        }
        let pad_due = head.has(flag::PADDED);
        if pad_due && head.length == 0 {
            return Err(Fault::frame_size(
                "a padded frame holds the length of its padding (RFC 9113 section 6.1)",
                "DATA of 0 bytes",
            ));
        }
        let mut data = Data {
            target: slot.and_then(|slot| self.admit(slot, head.length, replies)),
            pad_due,
            left: head.length,
            padding: 0,
            end_stream: head.has(flag::END_STREAM),
        };
        if !pad_due {
            self.weigh(&mut data, replies)?;
        }
        Ok(Reading::Data(data))
    }

    /// Counts content once its length is known.
    fn weigh(&mut self, data: &mut Data, replies: &mut impl Replies) -> Result<(), Fault> {
        if data.left > 0 || data.end_stream {
            self.empty_data = 0;
        } else {
            self.empty_data += 1;
        }
        if self.empty_data > EMPTY_DATA_MAX {
            return Err(Fault::flood(
                "DATA frames carry content (RFC 9113 section 10.5)",
                format!("{EMPTY_DATA_MAX} in a row that do not"),
            ));
        }
        if let Some((slot, _)) = data.target
            && !self.expects(slot, data.left, replies)
        {
            data.target = None;
        }
        Ok(())
    }

    fn take_data(
        &mut self,
        mut data: Data,
        input: &mut &[u8],
        replies: &mut impl Replies,
    ) -> Result<bool, Fault> {
        if data.pad_due {
            let Some((&padding, rest)) = input.split_first() else {
                return Ok(false);
            };
            *input = rest;
            data.pad_due = false;
            data.padding = u32::from(padding);
            data.left = content_len(data.left, data.padding)?;
            self.weigh(&mut data, replies)?;
        }
        let (chunk, rest) = input.split_at(input.len().min(data.left as usize));
        data.left -= chunk.len() as u32;
        if let (Some((_, call)), false) = (data.target, chunk.is_empty()) {
            replies.body(call, chunk);
        }
        let skipped = rest.len().min(data.padding as usize);
        data.padding -= if data.left == 0 { skipped as u32 } else { 0 };
        *input = if data.left == 0 {
            &rest[skipped..]
        } else {
            rest
        };
        if data.left > 0 || data.padding > 0 {
            self.reading = Reading::Data(data);
            return Ok(false);
        }
        self.reading = Reading::Head;
        if let Some((slot, _)) = data.target {
            self.end_data(slot, data.end_stream, replies);
        }
        Ok(true)
    }

    fn take_payload(
        &mut self,
        head: FrameHead,
        input: &mut &[u8],
        replies: &mut impl Replies,
    ) -> Result<bool, Fault> {
        let length = head.length as usize;
        if self.partial.is_empty()
            && let Some((payload, rest)) = input.split_at_checked(length)
        {
            *input = rest;
            self.reading = Reading::Head;
            return self.payload(head, payload, replies).map(|()| true);
        }
        if !self.fill(length, input) {
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
    ) -> Result<(), Fault> {
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

    /// RFC 9113 section 6.2.
    fn on_headers(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        replies: &mut impl Replies,
    ) -> Result<(), Fault> {
        let fragment = field_block_fragment(head, payload)?;
        let end_stream = head.has(flag::END_STREAM);
        if head.has(flag::END_HEADERS) {
            return self.on_section(head.stream, end_stream, fragment, replies);
        }
        let block = fragment.to_vec();
        self.continuing = Some(Continuing {
            stream: head.stream,
            end_stream,
            frames: 0,
            block,
        });
        Ok(())
    }

    /// RFC 9113 section 6.10; the limits are those of section 10.5.1.
    fn on_continuation(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        replies: &mut impl Replies,
    ) -> Result<(), Fault> {
        let Some(mut continuing) = self.continuing.take() else {
            return Ok(());
        };
        continuing.frames += 1;
        continuing.block.extend_from_slice(payload);
        let length = continuing.block.len();
        if length > self.options.header_list_max as usize || continuing.frames > CONTINUATIONS_MAX {
            return Err(Fault::flood(
                "a field block stays within SETTINGS_MAX_HEADER_LIST_SIZE and 256 CONTINUATION \
                 frames (RFC 9113 section 10.5.1)",
                format!("{length} bytes after {} frames", continuing.frames),
            ));
        }
        if !head.has(flag::END_HEADERS) {
            self.continuing = Some(continuing);
            return Ok(());
        }
        self.on_section(
            head.stream,
            continuing.end_stream,
            &continuing.block,
            replies,
        )
    }
}

/// Content of a padded frame with `left` bytes after the length of the padding
/// has been taken from it, which is counted in `left`.
fn content_len(left: u32, padding: u32) -> Result<u32, Fault> {
    left.checked_sub(padding + 1).ok_or_else(|| {
        Fault::protocol(
            "padding is shorter than its frame (RFC 9113 sections 6.1 and 6.2)",
            format!("{padding} bytes of padding in a payload of {left}"),
        )
    })
}

/// The payload of HEADERS without padding and priority (RFC 9113 section 6.2).
fn field_block_fragment(head: FrameHead, payload: &[u8]) -> Result<&[u8], Fault> {
    let short = || {
        Fault::frame_size(
            "HEADERS holds the fields that its flags announce (RFC 9113 section 6.2)",
            format!("{} bytes", payload.len()),
        )
    };
    let mut rest = payload;
    if head.has(flag::PADDED) {
        let (&padding, after) = payload.split_first().ok_or_else(short)?;
        let content = content_len(head.length, u32::from(padding))?;
        rest = &after[..content as usize];
    }
    if head.has(flag::PRIORITY) {
        rest = rest.get(5..).ok_or_else(short)?;
    }
    Ok(rest)
}
