//! Frames of a message (RFC 9113 section 8.1): HEADERS with CONTINUATION where the
//! field block is long, and DATA, which is accounted for frame by frame and handed on
//! byte by byte.

use super::client::{Client, Data, PartialFieldBlock, ReadState};
use super::error::ConnectionError;
use super::frame::{FrameHead, code, flag};
use crate::Replies;

/// CONTINUATION frames that one field block may take.
const CONTINUATIONS_MAX: u32 = 256;

impl Client {
    /// The first HEADERS on a stream is the first sign of a reply.
    pub(super) fn begin_headers(
        &mut self,
        head: FrameHead,
        replies: &mut impl Replies,
    ) -> Result<(), Box<ConnectionError>> {
        // Trailers and informational heads come on the same stream and are not a first sign.
        let slot = self.streams.slot_of_id(head.stream);
        if slot.is_none() {
            self.check_closed(head)?;
        }
        if let Some(stream) = slot.and_then(|slot| self.streams.get_mut(slot))
            && !stream.first_byte_seen
        {
            stream.first_byte_seen = true;
            replies.first(stream.call);
        }
        Ok(())
    }

    /// RFC 9113 section 6.2.
    pub(super) fn on_headers(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        replies: &mut impl Replies,
    ) -> Result<(), Box<ConnectionError>> {
        let fragment = field_block_fragment(head, payload)?;
        let end_stream = head.has(flag::END_STREAM);
        if head.has(flag::END_HEADERS) {
            return self.on_section(head.stream, end_stream, fragment, replies);
        }
        // Only split field blocks are copied; a whole one is decoded where it lies.
        let block = fragment.to_vec();
        self.partial_field_block = Some(PartialFieldBlock {
            stream: head.stream,
            end_stream,
            frames: 0,
            block,
        });
        Ok(())
    }

    /// RFC 9113 section 6.10; the limits are those of section 10.5.1.
    pub(super) fn on_continuation(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        replies: &mut impl Replies,
    ) -> Result<(), Box<ConnectionError>> {
        let Some(mut partial_field_block) = self.partial_field_block.take() else {
            return Ok(());
        };
        partial_field_block.frames += 1;
        partial_field_block.block.extend_from_slice(payload);
        let length = partial_field_block.block.len();
        // CVE-2024-27316: without a bound CONTINUATION frames could fill the memory.
        if length > self.options.header_list_max as usize
            || partial_field_block.frames > CONTINUATIONS_MAX
        {
            return Err(ConnectionError::flood(
                "a field block stays within SETTINGS_MAX_HEADER_LIST_SIZE and 256 CONTINUATION \
                 frames (RFC 9113 section 10.5.1)",
                format!("{length} bytes after {} frames", partial_field_block.frames),
            ));
        }
        if !head.has(flag::END_HEADERS) {
            self.partial_field_block = Some(partial_field_block);
            return Ok(());
        }
        self.on_section(
            head.stream,
            partial_field_block.end_stream,
            &partial_field_block.block,
            replies,
        )
    }
}

/// The payload of HEADERS without padding and priority (RFC 9113 section 6.2).
fn field_block_fragment(head: FrameHead, payload: &[u8]) -> Result<&[u8], Box<ConnectionError>> {
    let short = || {
        ConnectionError::frame_size(
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
        // Exclusive bit, stream dependency (31 bits) and weight (8 bits): deprecated, ignored.
        rest = rest.get(5..).ok_or_else(short)?;
    }
    Ok(rest)
}

/// DATA frames without content that may follow each other.
const EMPTY_DATA_MAX: u32 = 1_000;

impl Client {
    /// Accounts for a DATA frame (RFC 9113 section 6.9: padding included) and
    /// finds the call that it belongs to.
    #[inline]
    pub(super) fn begin_data(
        &mut self,
        head: FrameHead,
        replies: &mut impl Replies,
    ) -> Result<Data, Box<ConnectionError>> {
        let slot = self.streams.slot_of_id(head.stream);
        if slot.is_none() {
            self.check_closed(head)?;
        }
        // The connection's window counts DATA of closed streams too.
        if !self.receive_window.consume(head.length) {
            return Err(ConnectionError::new(
                code::FLOW_CONTROL_ERROR,
                "DATA stays within the connection's window (RFC 9113 section 6.9.1)",
                format!(
                    "{} bytes, {} allowed",
                    head.length,
                    self.receive_window.left()
                ),
            ));
        }
        let pad_length_due = head.has(flag::PADDED);
        if pad_length_due && head.length == 0 {
            return Err(ConnectionError::frame_size(
                "a padded frame holds the length of its padding (RFC 9113 section 6.1)",
                "DATA of 0 bytes",
            ));
        }
        let mut data = Data {
            target: slot.and_then(|slot| self.admit(slot, head.length, replies)),
            pad_length_due,
            left: head.length,
            padding: 0,
            end_stream: head.has(flag::END_STREAM),
        };
        if !pad_length_due {
            self.count_content(&mut data, replies)?;
        }
        Ok(data)
    }

    /// Counts content once its length is known.
    fn count_content(
        &mut self,
        data: &mut Data,
        replies: &mut impl Replies,
    ) -> Result<(), Box<ConnectionError>> {
        // CVE-2019-9518: empty frames cost the receiver work and the sender nothing.
        if data.left > 0 || data.end_stream {
            self.empty_data = 0;
        } else {
            self.empty_data += 1;
        }
        if self.empty_data > EMPTY_DATA_MAX {
            return Err(ConnectionError::flood(
                "DATA frames carry content (RFC 9113 section 10.5)",
                format!("{EMPTY_DATA_MAX} in a row that do not"),
            ));
        }
        if let Some((slot, _)) = data.target
            && !self.accept_content(slot, data.left, replies)
        {
            data.target = None;
        }
        Ok(())
    }

    /// Hands on what has come of a DATA frame; true at its end.
    #[inline]
    pub(super) fn take_data(
        &mut self,
        mut data: Data,
        input: &mut &[u8],
        replies: &mut impl Replies,
    ) -> Result<bool, Box<ConnectionError>> {
        if data.pad_length_due {
            let Some((&padding, rest)) = input.split_first() else {
                self.reading = ReadState::Data(data);
                return Ok(false);
            };
            *input = rest;
            data.pad_length_due = false;
            data.padding = u32::from(padding);
            data.left = content_len(data.left, data.padding)?;
            self.count_content(&mut data, replies)?;
        }
        // Handed on from the caller's buffer, without a copy, as far as it has come.
        let chunk = take(input, &mut data.left);
        if let (Some((_, call)), false) = (data.target, chunk.is_empty()) {
            replies.body(call, chunk);
        }
        if data.left == 0 {
            take(input, &mut data.padding);
        }
        if data.left > 0 || data.padding > 0 {
            self.reading = ReadState::Data(data);
            return Ok(false);
        }
        self.reading = ReadState::Head;
        if let Some((slot, _)) = data.target {
            self.end_data(slot, data.end_stream, replies);
        }
        Ok(true)
    }
}

/// Bytes of content in a payload of `payload` bytes, of which the first states
/// that the last `padding` are padding.
pub(super) fn content_len(payload: u32, padding: u32) -> Result<u32, Box<ConnectionError>> {
    payload.checked_sub(padding + 1).ok_or_else(|| {
        ConnectionError::protocol(
            "padding is shorter than its frame (RFC 9113 sections 6.1 and 6.2)",
            format!("{padding} bytes of padding in a payload of {payload}"),
        )
    })
}

/// Takes up to `left` bytes off the front of `input`, and off `left`.
fn take<'a>(input: &mut &'a [u8], left: &mut u32) -> &'a [u8] {
    let (taken, rest) = input.split_at(input.len().min(*left as usize));
    *input = rest;
    *left -= taken.len() as u32;
    taken
}
