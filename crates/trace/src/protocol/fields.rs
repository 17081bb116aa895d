//! Fields of HTTP/2 requests and replies, as far as a passive reader needs them.

use wirelab_wire::ContentType;
use wirelab_wire::grpc;
use wirelab_wire::http2::frame::{FrameHead, flag};
use wirelab_wire::http2::hpack::Decoder;

use super::calls::{Call, name};
use super::http1::content_of;
use super::messages::framing_of;
use crate::protocol::exchange::MessageFraming;

/// Dynamic table that a peer may use, bytes.
const TABLE_MAX: u32 = 64 << 10;

/// A section of fields, and a block on the wire, bytes.
const SECTION_MAX: u32 = 256 << 10;

#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    pub(super) stream: u32,
    pub(super) end_stream: bool,
}

#[derive(Debug, Default)]
pub(super) struct Fields {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) status: Option<u16>,
    pub(super) grpc_status: Option<u16>,
    pub(super) content_type: ContentType,
    /// Of a type that [`ContentType`] does not have.
    pub(super) framing: Option<MessageFraming>,
    /// The body is compressed.
    pub(super) is_encoded: bool,
}

impl Fields {
    fn take(&mut self, name: &[u8], value: &[u8]) {
        match name {
            b":method" => text(&mut self.method, value),
            b":path" => text(&mut self.path, value),
            b":status" => self.status = number(value),
            b"grpc-status" => self.grpc_status = number(value),
            b"content-type" => {
                let end = value.iter().position(|byte| *byte == b';');
                let named = &value[..end.unwrap_or(value.len())];
                self.content_type = ContentType::named(named.trim_ascii());
                self.framing = match self.content_type {
                    ContentType::EventStream => Some(MessageFraming::Sse),
                    ContentType::ConnectProto | ContentType::ConnectJson => {
                        Some(MessageFraming::Connect)
                    }
                    ContentType::Other => framing_of(value),
                    _ => None,
                };
            }
            b"content-encoding" => self.is_encoded = !value.eq_ignore_ascii_case(b"identity"),
            _ => {}
        }
    }

    /// Sets what the fields of a side state about a call.
    pub(super) fn describe(&self, side: usize, call: &mut Call) {
        if self.content_type != ContentType::Absent {
            call.content[side] = content_of(self.content_type);
            if let Some(framing) = self.framing.filter(|_| side == 1) {
                call.begin_stream(framing, self.is_encoded);
            }
            if self.content_type == ContentType::Grpc {
                // Without a limit on messages: it only counts their bytes and holds
                // none of them.
                call.grpc[side] = Some(grpc::Deframer::new(u32::MAX));
            }
        }
        if side == 0 && !self.method.is_empty() {
            let path = self.path.split(['?', '#']).next().unwrap_or_default();
            call.exchange.name = name([&self.method, path]);
        }
        if side == 1 {
            let (status, grpc_status) = call.exchange.status.unwrap_or_default();
            call.exchange.status = Some((
                // Trailers have grpc-status and no :status (RFC 9113 section 8.1): each
                // section adds what it has.
                self.status.unwrap_or(status),
                self.grpc_status.or(grpc_status),
            ));
        }
    }
}

#[derive(Debug)]
pub(super) struct FieldReader {
    decoder: Decoder,
    /// The payload of HEADERS and CONTINUATION so far.
    payload: Vec<u8>,
    under_way: Option<Block>,
    /// Bytes of padding at the end of the block's first frame, its length octet
    /// and priority removed; known once that frame is complete.
    first: Option<FrameHead>,
    /// Too long, or not whole.
    is_damaged: bool,
    fields: Fields,
}

impl FieldReader {
    /// `beginning`: nothing was inserted before.
    pub(super) fn new(beginning: bool) -> FieldReader {
        let decoder = Decoder::new(TABLE_MAX, SECTION_MAX);
        FieldReader {
            decoder: if beginning {
                decoder
            } else {
                // The dynamic table is addressed from its newest entry (RFC 7541
                // section 2.3.3): entries inserted from now on can be resolved, older
                // ones cannot.
                decoder.mid_stream()
            },
            payload: Vec::new(),
            under_way: None,
            first: None,
            is_damaged: false,
            fields: Fields::default(),
        }
    }

    pub(super) fn state_bytes(&self) -> usize {
        // What an entry takes besides its bytes is less than twice what RFC 7541 counts.
        self.payload.capacity() + 2 * self.decoder.table().size()
    }

    pub(super) fn begin(&mut self, head: FrameHead) {
        self.payload.clear();
        self.is_damaged = false;
        self.first = Some(head);
        self.under_way = Some(Block {
            stream: head.stream,
            end_stream: head.has(flag::END_STREAM),
        });
    }

    pub(super) fn begin_continuation(&mut self, head: FrameHead) {
        let continues = |block: &Block| block.stream == head.stream;
        // CONTINUATION follows HEADERS of its own stream with no frame between (RFC
        // 9113 section 6.10).
        if !self.under_way.as_ref().is_some_and(continues) {
            self.is_damaged = true;
        }
    }

    pub(super) fn take(&mut self, input: &[u8]) {
        let room = (SECTION_MAX as usize).saturating_sub(self.payload.len());
        // Nothing is decoded of a block with a hole: it would insert wrong entries.
        if self.is_damaged || input.len() > room {
            self.is_damaged = true;
            self.payload.clear();
        } else {
            self.payload.extend_from_slice(input);
        }
    }

    /// Bytes are missing: what they would have inserted is not known, and
    /// indices of older entries have moved.
    pub(super) fn miss(&mut self) {
        self.decoder = Decoder::new(TABLE_MAX, SECTION_MAX).mid_stream();
        self.is_damaged = true;
    }

    /// The frame is complete; a block that is complete too is to be decoded.
    pub(super) fn end(&mut self, head: FrameHead) -> Option<Block> {
        if let Some(first) = self.first.take() {
            self.strip(first);
        }
        self.under_way.take_if(|_| head.has(flag::END_HEADERS))
    }

    /// Removes padding and priority (RFC 9113 section 6.2).
    fn strip(&mut self, head: FrameHead) {
        let mut from = 0;
        if head.has(flag::PADDED) {
            from = 1;
            // The first octet is the length of the padding at the end (RFC 9113 section
            // 6.2).
            let padding = self.payload.first().map_or(0, |byte| usize::from(*byte));
            let end = self.payload.len().saturating_sub(padding);
            self.payload.truncate(end);
        }
        if head.has(flag::PRIORITY) {
            // Stream dependency of 4 bytes and a weight of 1 (RFC 9113 section 6.2).
            from += 5;
        }
        let from = from.min(self.payload.len());
        self.payload.drain(..from);
    }

    /// The content of the complete block; of a block that cannot be read
    /// nothing, and later ones as far as they can be.
    pub(super) fn decode(&mut self) -> &Fields {
        self.fields.method.clear();
        self.fields.path.clear();
        self.fields = Fields {
            // Their allocations serve all calls of a connection.
            method: std::mem::take(&mut self.fields.method),
            path: std::mem::take(&mut self.fields.path),
            ..Fields::default()
        };
        let fields = &mut self.fields;
        let sink = |name: &[u8], value: &[u8]| fields.take(name, value);
        if self.is_damaged || self.decoder.decode(&self.payload, sink).is_err() {
            self.miss();
        }
        self.payload.clear();
        self.is_damaged = false;
        &self.fields
    }
}

fn text(out: &mut String, value: &[u8]) {
    out.clear();
    match std::str::from_utf8(value) {
        Ok(value) => out.push_str(value),
        Err(_) => out.push_str(&String::from_utf8_lossy(value)),
    }
}

fn number(value: &[u8]) -> Option<u16> {
    std::str::from_utf8(value).ok()?.parse().ok()
}
