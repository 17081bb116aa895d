//! What frames mean to the calls in flight, and what a reply must look like (RFC 9113
//! section 8.1).

use super::client::Client;
use super::error::ConnectionError;
use super::fields::Fields;
use super::frame::code;
use super::streams::Stream;
use crate::{CallId, End, Failure, ProtocolError, Replies};

impl Client {
    /// Ends a call whose reply is malformed; the connection continues (RFC 9113
    /// sections 5.4.2 and 8.1.1).
    pub(super) fn stream_error(
        &mut self,
        slot: u32,
        code: u32,
        error: ProtocolError,
        replies: &mut impl Replies,
    ) {
        if let Some(stream) = self.reset(slot, code) {
            replies.failed(stream.call, Failure::Protocol(error));
        }
    }

    /// Ends a call whose reply is complete. The rest of its request is no longer
    /// needed (RFC 9113 section 8.1).
    fn complete(&mut self, slot: u32, end: End, replies: &mut impl Replies) {
        // RFC 9113 section 8.1: a server may answer before it has read the whole request.
        let unsent = self
            .streams
            .get(slot)
            .is_some_and(|stream| stream.request.is_some());
        let stream = if unsent {
            self.reset(slot, code::CANCEL)
        } else {
            self.remove(slot)
        };
        if let Some(stream) = stream {
            replies.end(stream.call, end);
        }
    }

    /// A field section is complete.
    pub(super) fn on_section(
        &mut self,
        stream: u32,
        end_stream: bool,
        block: &[u8],
        replies: &mut impl Replies,
    ) -> Result<(), Box<ConnectionError>> {
        // Decoded even when the stream is gone: HPACK state spans the connection.
        let fields = self.blocks.read(block)?;
        let Some(slot) = self.streams.slot_of_id(stream) else {
            return Ok(());
        };
        let Some(stream) = self.streams.get_mut(slot) else {
            return Ok(());
        };
        let section = stream.classify_section(fields, end_stream);
        if !fields.watched.is_empty() && !matches!(section, Ok(Section::Interim) | Err(_)) {
            for (name, value) in &fields.watched {
                replies.field(stream.call, name, value);
            }
        }
        let ended = match section {
            Ok(Section::Interim) => return Ok(()),
            Ok(Section::Head) => {
                replies.head(stream.call, &fields.head);
                return Ok(());
            }
            Ok(Section::Whole) => {
                replies.head(stream.call, &fields.head);
                stream.check_content_length()
            }
            Ok(Section::Trailers) => stream.check_content_length(),
            Err(error) => Err(error),
        };
        // Cloned before the stream goes: `fields` borrows the reader.
        let end = fields.end.clone();
        match ended {
            Ok(()) => self.complete(slot, end, replies),
            Err(error) => self.stream_error(slot, code::PROTOCOL_ERROR, error, replies),
        }
        Ok(())
    }

    /// Takes a DATA frame of `length` bytes into account; returns the call that receives it.
    pub(super) fn admit(
        &mut self,
        slot: u32,
        length: u32,
        replies: &mut impl Replies,
    ) -> Option<(u32, CallId)> {
        let stream = self.streams.get_mut(slot)?;
        // A stream error, not a connection error (RFC 9113 section 8.1.1).
        if !stream.head_seen {
            let error = ProtocolError {
                rule: "a reply begins with HEADERS (RFC 9113 section 8.1)",
                found: format!("DATA on stream {}", stream.id),
            };
            self.stream_error(slot, code::PROTOCOL_ERROR, error, replies);
            return None;
        }
        if !stream.receive_window.consume(length) {
            let error = ProtocolError {
                rule: "DATA stays within the stream's window (RFC 9113 section 6.9.1)",
                found: format!("{length} bytes, {} allowed", stream.receive_window.left()),
            };
            self.stream_error(slot, code::FLOW_CONTROL_ERROR, error, replies);
            return None;
        }
        // The window counts padding too, so it was consumed by the frame's whole length
        // (RFC 9113 section 6.1).
        Some((slot, stream.call))
    }

    /// True when the reply may have `length` more bytes of content; otherwise
    /// it is malformed and the call has ended.
    pub(super) fn accept_content(
        &mut self,
        slot: u32,
        length: u32,
        replies: &mut impl Replies,
    ) -> bool {
        let Some(stream) = self.streams.get_mut(slot) else {
            return false;
        };
        match stream.take_content(length) {
            Ok(()) => true,
            Err(error) => {
                self.stream_error(slot, code::PROTOCOL_ERROR, error, replies);
                false
            }
        }
    }

    /// A DATA frame is complete.
    pub(super) fn end_data(&mut self, slot: u32, end_stream: bool, replies: &mut impl Replies) {
        let Some(stream) = self.streams.get_mut(slot) else {
            return;
        };
        if !end_stream {
            // After END_STREAM no credit is needed, so that only open streams get here.
            if stream.receive_window.is_low() && !stream.update_due {
                stream.update_due = true;
                self.update_due.push(slot);
            }
            return;
        }
        match stream.check_content_length() {
            Ok(()) => self.complete(slot, End::default(), replies),
            Err(error) => self.stream_error(slot, code::PROTOCOL_ERROR, error, replies),
        }
    }

    /// RFC 9113 section 6.4. On a stream that has ended it is ignored.
    pub(super) fn on_reset(&mut self, stream: u32, code: u32, replies: &mut impl Replies) {
        let slot = self.streams.slot_of_id(stream);
        if let Some(stream) = slot.and_then(|slot| self.remove(slot)) {
            replies.failed(stream.call, Failure::Reset(code));
        }
    }
}

/// What a field section is to its reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    /// Informational: nothing.
    Interim,
    /// Status and fields.
    Head,
    /// Status and fields of a reply without content or trailers.
    Whole,
    /// Trailers.
    Trailers,
}

impl Stream {
    /// Finds out what a section is to this stream's reply.
    pub(super) fn classify_section(
        &mut self,
        fields: &Fields,
        end_stream: bool,
    ) -> Result<Section, ProtocolError> {
        if let Some(error) = &fields.malformed {
            return Err(ProtocolError::clone(error));
        }
        let head = &fields.head;
        match (self.head_seen, head.status, end_stream) {
            // Status 0 stands for a section without :status.
            (true, 0, true) => Ok(Section::Trailers),
            (true, 0, false) => Err(malformed_sequence("trailers that do not end the stream")),
            (true, ..) => Err(malformed_sequence("trailers with :status")),
            (false, 0, _) => Err(malformed_sequence("HEADERS without :status")),
            // RFC 9113 section 8.6: HTTP/2 has no Upgrade.
            (false, 101, _) => Err(malformed_sequence("status 101, which HTTP/2 does not have")),
            (false, 100..=199, true) => {
                Err(malformed_sequence("an informational status at the end"))
            }
            (false, 100..=199, false) => Ok(Section::Interim),
            (false, status, _) => {
                self.head_seen = true;
                // RFC 9110 sections 15.3.5 and 15.4.5; HEAD was noted with the request.
                self.no_content |= matches!(status, 204 | 304);
                // A reply to HEAD may state the length of the content that GET would have.
                self.content_left = head.content_length.filter(|_| !self.no_content);
                Ok(if end_stream {
                    Section::Whole
                } else {
                    Section::Head
                })
            }
        }
    }

    /// Takes `length` bytes of content into account.
    #[inline]
    pub(super) fn take_content(&mut self, length: u32) -> Result<(), ProtocolError> {
        if self.no_content && length > 0 {
            return Err(ProtocolError {
                rule: "replies to HEAD and those of status 204 and 304 have no content \
                       (RFC 9110 section 6.4.1)",
                found: format!("{length} bytes"),
            });
        }
        let Some(content_left) = self.content_left else {
            return Ok(());
        };
        match content_left.checked_sub(u64::from(length)) {
            Some(left) => {
                self.content_left = Some(left);
                Ok(())
            }
            None => Err(ProtocolError {
                rule: "content has the length given in content-length (RFC 9113 section 8.1.1)",
                found: format!("{length} bytes where {content_left} were left"),
            }),
        }
    }

    /// At the end of a reply nothing may be left of what `content-length` announced.
    pub(super) fn check_content_length(&self) -> Result<(), ProtocolError> {
        match self.content_left {
            None | Some(0) => Ok(()),
            Some(missing) => Err(ProtocolError {
                rule: "content has the length given in content-length (RFC 9113 section 8.1.1)",
                found: format!("an end {missing} bytes early"),
            }),
        }
    }
}

fn malformed_sequence(found: &str) -> ProtocolError {
    ProtocolError {
        rule: "a reply is HEADERS with :status, DATA, and at most one section of trailers, \
               which ends the stream (RFC 9113 section 8.1)",
        found: found.into(),
    }
}
