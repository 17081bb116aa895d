//! Frames of HTTP/2: the nine bytes in front, and the numbers in them.

/// Frame types (RFC 9113 section 6).
pub mod kind {
    /// Bytes of a message's content.
    pub const DATA: u8 = 0x0;
    /// Opens a stream, or ends it with trailers.
    pub const HEADERS: u8 = 0x1;
    /// Deprecated priorities.
    // RFC 9113 section 6.3 keeps the frame for compatibility only: what it asks for has
    // no effect.
    pub const PRIORITY: u8 = 0x2;
    /// Ends a stream at once.
    pub const RST_STREAM: u8 = 0x3;
    /// Parameters of the connection.
    pub const SETTINGS: u8 = 0x4;
    /// Announces an unsolicited reply.
    pub const PUSH_PROMISE: u8 = 0x5;
    /// Liveness check, also a measure of round-trip time (section 6.7).
    pub const PING: u8 = 0x6;
    /// Announces the end of the connection.
    pub const GOAWAY: u8 = 0x7;
    /// Grants flow-control credit.
    pub const WINDOW_UPDATE: u8 = 0x8;
    /// Continues a field block (section 6.10).
    pub const CONTINUATION: u8 = 0x9;
}

/// Flags of frames (RFC 9113 section 6).
pub mod flag {
    /// DATA, HEADERS: the last frame of its sender on the stream.
    pub const END_STREAM: u8 = 0x1;
    /// SETTINGS, PING: an acknowledgement.
    // The same bit as `END_STREAM`: flags have a meaning per frame type only (section
    // 4.1).
    pub const ACK: u8 = 0x1;
    /// HEADERS, CONTINUATION: the field block ends here.
    pub const END_HEADERS: u8 = 0x4;
    /// DATA, HEADERS: the payload begins with the length of its padding.
    pub const PADDED: u8 = 0x8;
    /// HEADERS: five bytes of priority precede the field block.
    pub const PRIORITY: u8 = 0x20;
}

/// Parameters of SETTINGS (RFC 9113 section 6.5.2).
pub mod setting {
    /// Largest dynamic table of the peer's HPACK encoder, bytes.
    pub const HEADER_TABLE_SIZE: u16 = 0x1;
    /// Whether PUSH_PROMISE may be sent: 0 or 1.
    pub const ENABLE_PUSH: u16 = 0x2;
    /// Number of streams open at a time.
    // Directional: the sender limits the streams that the receiver may open, not its
    // own (section 6.5.2).
    pub const MAX_CONCURRENT_STREAMS: u16 = 0x3;
    /// Flow-control window of a new stream, bytes.
    // Streams only: the connection's window can be changed by WINDOW_UPDATE alone
    // (section 6.9.2).
    pub const INITIAL_WINDOW_SIZE: u16 = 0x4;
    /// Largest frame payload, bytes.
    pub const MAX_FRAME_SIZE: u16 = 0x5;
    /// Largest field section, bytes, uncompressed, 32 more a field.
    pub const MAX_HEADER_LIST_SIZE: u16 = 0x6;
}

/// Error codes (RFC 9113 section 7).
pub mod code {
    /// No error, as in a graceful shutdown.
    // Codes that this client neither sends nor treats in a special way are left out.
    pub const NO_ERROR: u32 = 0x0;
    /// A rule without a code of its own was broken.
    pub const PROTOCOL_ERROR: u32 = 0x1;
    /// More was sent than the window allowed.
    pub const FLOW_CONTROL_ERROR: u32 = 0x3;
    /// A frame came for a stream that was closed.
    pub const STREAM_CLOSED: u32 = 0x5;
    /// A frame had the wrong size.
    pub const FRAME_SIZE_ERROR: u32 = 0x6;
    /// The stream is not wanted any more.
    pub const CANCEL: u32 = 0x8;
    /// The field section compression context cannot be kept.
    pub const COMPRESSION_ERROR: u32 = 0x9;
    /// The peer causes excessive load.
    pub const ENHANCE_YOUR_CALM: u32 = 0xb;
}

/// What a client sends first (RFC 9113 section 3.4).
pub const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Largest flow-control window, bytes (RFC 9113 section 6.9.1).
pub const WINDOW_MAX: u32 = (1 << 31) - 1;
/// Window of connections and streams before SETTINGS change it, bytes
/// (RFC 9113 section 6.9.2).
pub const WINDOW_DEFAULT: u32 = 65_535;
/// Smallest legal value of `SETTINGS_MAX_FRAME_SIZE`, and its default, bytes.
pub const MAX_FRAME_SIZE_MIN: u32 = 16_384;
/// Largest legal value of `SETTINGS_MAX_FRAME_SIZE`, bytes.
pub const MAX_FRAME_SIZE_MAX: u32 = (1 << 24) - 1;
/// Largest stream identifier (RFC 9113 section 5.1.1).
pub const STREAM_MAX: u32 = (1 << 31) - 1;

/// The nine bytes in front of every frame (RFC 9113 section 4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameHead {
    /// Bytes of payload that follow; at most 2^24 - 1.
    pub length: u32,
    /// One of [`kind`], or a type unknown here.
    pub kind: u8,
    /// Bits of [`flag`], as far as the type defines them.
    pub flags: u8,
    /// Stream identifier without the reserved bit; 0 is the connection.
    pub stream: u32,
}

impl FrameHead {
    /// Bytes on the wire.
    pub const LEN: usize = 9;

    /// Reads a head; every nine bytes are one.
    #[inline]
    pub fn parse(bytes: &[u8; FrameHead::LEN]) -> FrameHead {
        // 24 bits of length, 8 of type, 8 of flags, 1 reserved, 31 of stream identifier.
        let [l2, l1, l0, kind, flags, s3, s2, s1, s0] = *bytes;
        FrameHead {
            length: u32::from_be_bytes([0, l2, l1, l0]),
            kind,
            flags,
            stream: u32::from_be_bytes([s3, s2, s1, s0]) & STREAM_MAX,
        }
    }

    /// The head as bytes; of `length` the lower 24 bits count.
    #[inline]
    pub fn to_bytes(self) -> [u8; FrameHead::LEN] {
        let [_, l2, l1, l0] = self.length.to_be_bytes();
        let [s3, s2, s1, s0] = self.stream.to_be_bytes();
        [l2, l1, l0, self.kind, self.flags, s3, s2, s1, s0]
    }

    /// True when all bits of `flag` are set.
    #[inline]
    pub fn has(self, flag: u8) -> bool {
        self.flags & flag == flag
    }

    /// The type's name, for messages.
    pub fn name(self) -> &'static str {
        match self.kind {
            kind::DATA => "DATA",
            kind::HEADERS => "HEADERS",
            kind::PRIORITY => "PRIORITY",
            kind::RST_STREAM => "RST_STREAM",
            kind::SETTINGS => "SETTINGS",
            kind::PUSH_PROMISE => "PUSH_PROMISE",
            kind::PING => "PING",
            kind::GOAWAY => "GOAWAY",
            kind::WINDOW_UPDATE => "WINDOW_UPDATE",
            kind::CONTINUATION => "CONTINUATION",
            _ => "a frame of unknown type",
        }
    }
}

/// Appends a frame.
pub fn write_frame(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    // The caller keeps payloads within the peer's `SETTINGS_MAX_FRAME_SIZE`.
    let length = payload.len() as u32;
    out.extend_from_slice(
        &FrameHead {
            length,
            kind,
            flags,
            stream,
        }
        .to_bytes(),
    );
    out.extend_from_slice(payload);
}

/// Appends a WINDOW_UPDATE of `increment` bytes (RFC 9113 section 6.9).
pub fn write_window_update(out: &mut Vec<u8>, stream: u32, increment: u32) {
    write_frame(
        out,
        kind::WINDOW_UPDATE,
        0,
        stream,
        &increment.to_be_bytes(),
    );
}

/// Appends a RST_STREAM (RFC 9113 section 6.4).
pub fn write_rst_stream(out: &mut Vec<u8>, stream: u32, code: u32) {
    write_frame(out, kind::RST_STREAM, 0, stream, &code.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_survives_the_wire_and_loses_its_reserved_bit() {
        let head = FrameHead {
            length: 0x01_02_03,
            kind: 9,
            flags: 0x25,
            stream: 0x7fff_fffe,
        };
        assert_eq!(head.to_bytes(), [1, 2, 3, 9, 0x25, 0x7f, 0xff, 0xff, 0xfe]);
        assert_eq!(FrameHead::parse(&head.to_bytes()), head);
        let reserved = [1, 2, 3, 9, 0x25, 0xff, 0xff, 0xff, 0xfe];
        assert_eq!(FrameHead::parse(&reserved), head);
    }
}
