//! What a frame's head must obey before its payload is looked at.

use super::client::Client;
use super::fault::Fault;
use super::frame::{FrameHead, code, flag, kind};

impl Client {
    /// The peer's first frame is SETTINGS (RFC 9113 section 3.4).
    pub(super) fn check_greeting(&mut self, head: FrameHead) -> Result<(), Box<Fault>> {
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
    pub(super) fn check_continuing(&self, head: FrameHead) -> Result<(), Box<Fault>> {
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
    pub(super) fn check_shape(&self, head: FrameHead) -> Result<(), Box<Fault>> {
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
    pub(super) fn check_not_idle(&self, head: FrameHead) -> Result<(), Box<Fault>> {
        let ours = head.stream < self.next_id && !head.stream.is_multiple_of(2);
        if head.stream == 0 || ours || head.kind == kind::PRIORITY {
            return Ok(());
        }
        Err(Fault::protocol(
            "replies come on streams that the client has opened (RFC 9113 section 5.1)",
            format!("{} on stream {}, which is idle", head.name(), head.stream),
        ))
    }

    /// DATA and HEADERS for a stream that is not open: legal only where we closed
    /// it before the peer could know.
    pub(super) fn check_closed(&self, head: FrameHead) -> Result<(), Box<Fault>> {
        if head.stream == 0 {
            return Err(Fault::protocol(
                "DATA and HEADERS belong to a stream (RFC 9113 sections 6.1 and 6.2)",
                format!("{} on stream 0", head.name()),
            ));
        }
        self.check_not_idle(head)?;
        if self.cancelled.forgives(head.stream) {
            return Ok(());
        }
        Err(Fault::new(
            code::STREAM_CLOSED,
            "nothing comes on a stream after its end (RFC 9113 section 5.1)",
            format!("{} on stream {}", head.name(), head.stream),
        ))
    }
}
