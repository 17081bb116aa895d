//! Field blocks: HEADERS, and CONTINUATION where they are long.

use super::client::Client;
use super::data::content_len;
use super::fault::Fault;
use super::frame::{FrameHead, flag};
use super::reading::Continuing;
use crate::Replies;

/// CONTINUATION frames that one field block may take.
const CONTINUATIONS_MAX: u32 = 256;

impl Client {
    /// The first HEADERS on a stream is the first sign of a reply.
    pub(super) fn begin_headers(
        &mut self,
        head: FrameHead,
        replies: &mut impl Replies,
    ) -> Result<(), Box<Fault>> {
        let slot = self.streams.slot_of_id(head.stream);
        if slot.is_none() {
            self.check_closed(head)?;
        }
        if let Some(stream) = slot.and_then(|slot| self.streams.get_mut(slot))
            && !stream.first_seen
        {
            stream.first_seen = true;
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
    ) -> Result<(), Box<Fault>> {
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
    pub(super) fn on_continuation(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        replies: &mut impl Replies,
    ) -> Result<(), Box<Fault>> {
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

/// The payload of HEADERS without padding and priority (RFC 9113 section 6.2).
fn field_block_fragment(head: FrameHead, payload: &[u8]) -> Result<&[u8], Box<Fault>> {
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
