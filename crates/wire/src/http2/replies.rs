//! What frames mean to the calls in flight.

use super::client::Client;
use super::fault::Fault;
use super::fields::Fields;
use super::frame::{WINDOW_MAX, code, flag, kind, put};
use super::settings::Change;
use super::streams::Stream;
use crate::{CallId, End, Failure, ProtocolError, Replies};

/// Acknowledgements that may wait for a pump.
const ACKS_MAX: u32 = 1_000;

/// What a field section is to its reply.
enum Section {
    /// Informational: nothing.
    Interim,
    /// Status and fields.
    Head,
    /// Status and fields of a reply without content or trailers.
    Whole,
    /// Trailers.
    Trailers,
}

impl Client {
    /// Ends a call whose reply is malformed; the connection goes on (RFC 9113
    /// sections 5.4.2 and 8.1.1).
    fn spoil(&mut self, slot: u32, code: u32, error: ProtocolError, replies: &mut impl Replies) {
        if let Some(stream) = self.reset(slot, code) {
            replies.failed(stream.call, Failure::Protocol(error));
        }
    }

    /// Ends a call whose reply is complete. What is left of its request is not
    /// wanted any more (RFC 9113 section 8.1).
    fn complete(&mut self, slot: u32, end: End, replies: &mut impl Replies) {
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
    ) -> Result<(), Fault> {
        let fields = self.blocks.read(block)?;
        let Some(slot) = self.streams.slot_of_id(stream) else {
            return Ok(());
        };
        let Some(stream) = self.streams.get_mut(slot) else {
            return Ok(());
        };
        let ended = match place(stream, fields, end_stream) {
            Ok(Section::Interim) => return Ok(()),
            Ok(Section::Head) => {
                replies.head(stream.call, &fields.head);
                return Ok(());
            }
            Ok(Section::Whole) => {
                replies.head(stream.call, &fields.head);
                fulfilled(stream).map(|()| fields.end.clone())
            }
            Ok(Section::Trailers) => fulfilled(stream).map(|()| fields.end.clone()),
            Err(error) => Err(error),
        };
        match ended {
            Ok(end) => self.complete(slot, end, replies),
            Err(error) => self.spoil(slot, code::PROTOCOL_ERROR, error, replies),
        }
        Ok(())
    }

    /// Takes a DATA frame of `length` bytes into account; whom to give it to.
    pub(super) fn admit(
        &mut self,
        slot: u32,
        length: u32,
        replies: &mut impl Replies,
    ) -> Option<(u32, CallId)> {
        let stream = self.streams.get_mut(slot)?;
        if !stream.head_seen {
            let error = ProtocolError {
                rule: "a reply begins with HEADERS (RFC 9113 section 8.1)",
                found: format!("DATA on stream {}", stream.id),
            };
            self.spoil(slot, code::PROTOCOL_ERROR, error, replies);
            return None;
        }
        if !stream.receive_window.consume(length) {
            let error = ProtocolError {
                rule: "DATA stays within the stream's window (RFC 9113 section 6.9.1)",
                found: format!("{length} bytes, {} allowed", stream.receive_window.left()),
            };
            self.spoil(slot, code::FLOW_CONTROL_ERROR, error, replies);
            return None;
        }
        Some((slot, stream.call))
    }

    /// True when the reply may have `length` more bytes of content; otherwise
    /// it is malformed and the call has ended.
    pub(super) fn expects(&mut self, slot: u32, length: u32, replies: &mut impl Replies) -> bool {
        let Some(stream) = self.streams.get_mut(slot) else {
            return false;
        };
        let error = if stream.contentless && length > 0 {
            ProtocolError {
                rule: "replies to HEAD and those of status 204 and 304 have no content \
                       (RFC 9110 section 6.4.1)",
                found: format!("{length} bytes"),
            }
        } else if let Some(promised) = stream.promised {
            match promised.checked_sub(u64::from(length)) {
                Some(left) => {
                    stream.promised = Some(left);
                    return true;
                }
                None => ProtocolError {
                    rule: "content is as long as content-length says (RFC 9113 section 8.1.1)",
                    found: format!("{length} bytes where {promised} were left"),
                },
            }
        } else {
            return true;
        };
        self.spoil(slot, code::PROTOCOL_ERROR, error, replies);
        false
    }

    /// A DATA frame is complete.
    pub(super) fn end_data(&mut self, slot: u32, end_stream: bool, replies: &mut impl Replies) {
        let Some(stream) = self.streams.get_mut(slot) else {
            return;
        };
        if !end_stream {
            if stream.receive_window.is_low() && !stream.owing {
                stream.owing = true;
                self.owing.push(slot);
            }
            return;
        }
        match fulfilled(stream) {
            Ok(()) => self.complete(slot, End::default(), replies),
            Err(error) => self.spoil(slot, code::PROTOCOL_ERROR, error, replies),
        }
    }

    /// RFC 9113 section 6.4. On a stream that has ended it says nothing new.
    pub(super) fn on_reset(&mut self, stream: u32, code: u32, replies: &mut impl Replies) {
        let slot = self.streams.slot_of_id(stream);
        if let Some(stream) = slot.and_then(|slot| self.remove(slot)) {
            replies.failed(stream.call, Failure::Reset(code));
        }
    }

    /// RFC 9113 section 6.5.3: apply in order, then acknowledge.
    pub(super) fn on_settings(
        &mut self,
        head: super::frame::FrameHead,
        payload: &[u8],
    ) -> Result<(), Fault> {
        if head.has(flag::ACK) {
            return Ok(());
        }
        let (entries, _) = payload.as_chunks();
        for &entry in entries {
            match self.peer.apply(entry)? {
                Some(Change::TableSize(size)) => self.requests.limit(size),
                Some(Change::Window(growth)) => self.grow_windows(growth)?,
                None => {}
            }
        }
        self.acknowledge(kind::SETTINGS, &[])
    }

    /// RFC 9113 section 6.9.2.
    fn grow_windows(&mut self, growth: i64) -> Result<(), Fault> {
        for stream in self.streams.iter_mut().filter(|stream| stream.id != 0) {
            stream.send_window.grant(growth).map_err(|_| {
                overflow(format!(
                    "SETTINGS_INITIAL_WINDOW_SIZE {growth} larger than before"
                ))
            })?;
        }
        for slot in self.streams.slots_where(|stream| stream.request.is_some()) {
            self.queue(slot);
        }
        Ok(())
    }

    /// RFC 9113 section 6.7.
    pub(super) fn on_ping(
        &mut self,
        head: super::frame::FrameHead,
        payload: &[u8],
    ) -> Result<(), Fault> {
        if head.has(flag::ACK) {
            return Ok(());
        }
        self.acknowledge(kind::PING, payload)
    }

    fn acknowledge(&mut self, kind: u8, payload: &[u8]) -> Result<(), Fault> {
        self.acks += 1;
        if self.acks > ACKS_MAX {
            return Err(Fault::flood(
                "PING and SETTINGS come no faster than they can be acknowledged \
                 (RFC 9113 section 10.5)",
                format!("more than {ACKS_MAX} at once"),
            ));
        }
        put(&mut self.control, kind, flag::ACK, 0, payload);
        Ok(())
    }

    /// RFC 9113 section 6.9.
    pub(super) fn on_window_update(
        &mut self,
        id: u32,
        increment: u32,
        replies: &mut impl Replies,
    ) -> Result<(), Fault> {
        let increment = increment & WINDOW_MAX;
        if id == 0 {
            return self.grant_connection(increment);
        }
        let Some(slot) = self.streams.slot_of_id(id) else {
            return Ok(());
        };
        let Some(stream) = self.streams.get_mut(slot) else {
            return Ok(());
        };
        if increment == 0 {
            self.spoil(slot, code::PROTOCOL_ERROR, nothing_granted().error, replies);
        } else if stream.send_window.grant(i64::from(increment)).is_err() {
            let Fault { code, error } = overflow(format!("stream {id} granted {increment}"));
            self.spoil(slot, code, error, replies);
        } else {
            self.queue(slot);
        }
        Ok(())
    }

    fn grant_connection(&mut self, increment: u32) -> Result<(), Fault> {
        if increment == 0 {
            return Err(nothing_granted());
        }
        let granted = self.send_window.grant(i64::from(increment));
        granted.map_err(|_| overflow(format!("the connection granted {increment}")))
    }

    /// RFC 9113 section 6.8: streams above the last one were not processed.
    pub(super) fn on_goaway(&mut self, last: u32, replies: &mut impl Replies) -> Result<(), Fault> {
        let last = last & WINDOW_MAX;
        if self.goaway.is_some_and(|before| last > before) {
            return Err(Fault::protocol(
                "the last stream of a later GOAWAY is not higher (RFC 9113 section 6.8)",
                format!("{last} after {}", self.goaway.unwrap_or_default()),
            ));
        }
        self.goaway = Some(last);
        for slot in self
            .streams
            .slots_where(|stream| stream.id == 0 || stream.id > last)
        {
            if let Some(stream) = self.remove(slot) {
                if stream.id != 0 {
                    self.cancelled.add(stream.id);
                }
                replies.failed(stream.call, Failure::Unprocessed);
            }
        }
        Ok(())
    }
}

/// Finds out what a section is to the stream's reply (RFC 9113 section 8.1).
fn place(stream: &mut Stream, fields: &Fields, end_stream: bool) -> Result<Section, ProtocolError> {
    if let Some(error) = &fields.malformed {
        return Err(ProtocolError::clone(error));
    }
    let head = &fields.head;
    let broken = |found: &str| {
        Err(ProtocolError {
            rule: "a reply is HEADERS with :status, DATA, and at most one section of trailers, \
                   which ends the stream (RFC 9113 section 8.1)",
            found: found.into(),
        })
    };
    match (stream.head_seen, head.status, end_stream) {
        (true, 0, true) => Ok(Section::Trailers),
        (true, 0, false) => broken("trailers that do not end the stream"),
        (true, ..) => broken("trailers with :status"),
        (false, 0, _) => broken("HEADERS without :status"),
        (false, 101, _) => broken("status 101, which HTTP/2 does not have"),
        (false, 100..=199, true) => broken("an informational status that ends the stream"),
        (false, 100..=199, false) => Ok(Section::Interim),
        (false, status, _) => {
            stream.head_seen = true;
            stream.contentless |= matches!(status, 204 | 304);
            stream.promised = head.content_length.filter(|_| !stream.contentless);
            Ok(if end_stream {
                Section::Whole
            } else {
                Section::Head
            })
        }
    }
}

/// At the end of a reply nothing may be left of what `content-length` promised.
fn fulfilled(stream: &Stream) -> Result<(), ProtocolError> {
    match stream.promised {
        None | Some(0) => Ok(()),
        Some(missing) => Err(ProtocolError {
            rule: "content is as long as content-length says (RFC 9113 section 8.1.1)",
            found: format!("an end {missing} bytes early"),
        }),
    }
}

fn nothing_granted() -> Fault {
    Fault::protocol(
        "WINDOW_UPDATE grants at least 1 byte (RFC 9113 section 6.9)",
        "0 bytes",
    )
}

fn overflow(found: String) -> Fault {
    Fault::new(
        code::FLOW_CONTROL_ERROR,
        "windows stay within 2^31 - 1 bytes (RFC 9113 section 6.9.1)",
        found,
    )
}
