//! Messages inside streams: server-sent events, messages of WebSocket, gRPC and Connect, lines of
//! JSON. One [`crate::protocol::exchange::StreamMessage`] for each, as soon as its last byte can be read.
//!
//! Contents are not decoded: of a compressed message the boundaries are known. Memory is bounded:
//! of the message under way its extent and its first bytes are kept, whatever length it announces.
//! Where bytes are missing, boundaries are claimed again from the next one on that is certain; a
//! framing that never shows one again is given up.

mod envelopes;
mod follower;
mod frames;
mod grpc;
mod lines;
mod sse;
mod step;
#[cfg(test)]
mod tests;

pub(super) use follower::{Follower, Source};
pub(super) use grpc::GrpcMessages;

use crate::protocol::exchange::MessageFraming;

/// How the body is framed whose type has that name; None where no framing is known for that. The
/// types of server-sent events, gRPC, and Connect in its two codecs are in
/// [`wirelab_wire::ContentType`]; services of Connect may have other codecs.
pub(super) fn framing_of(media_type: &[u8]) -> Option<MessageFraming> {
    const LINES: [&[u8]; 5] = [
        b"application/x-ndjson",
        b"application/ndjson",
        b"application/jsonl",
        b"application/x-jsonlines",
        b"application/jsonlines",
    ];
    const CONNECT: &[u8] = b"application/connect+";
    let end = media_type.iter().position(|byte| *byte == b';');
    let name = media_type[..end.unwrap_or(media_type.len())].trim_ascii();
    if LINES.iter().any(|own| name.eq_ignore_ascii_case(own)) {
        return Some(MessageFraming::Ndjson);
    }
    let begin = name.get(..CONNECT.len())?;
    begin
        .eq_ignore_ascii_case(CONNECT)
        .then_some(MessageFraming::Connect)
}
