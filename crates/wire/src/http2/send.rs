//! Bytes out: acknowledgements, credit, heads and bodies.

use super::client::Client;
use super::flow_control::{ReceiveWindow, SendWindow};
use super::frame::{flag, kind, write_frame, write_window_update};
use super::streams::Stream;

/// Bytes after which a pump leaves the rest to the next.
const PUMP_BYTES: usize = 256 << 10;

/// How far a stream's body has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// All of it has been sent.
    Done,
    /// The stream has credit for more.
    More,
    /// The stream's window is used up.
    Blocked,
}

impl Client {
    /// The bytes of one send; true while more are ready.
    pub(super) fn send_frames(&mut self, out: &mut Vec<u8>) -> bool {
        // Bounds the latency of control frames behind large bodies.
        let limit = out.len() + PUMP_BYTES;
        self.send_control(out);
        if self.is_over() {
            return false;
        }
        // Joined: HEADERS and DATA of a call leave in one send.
        if !self.options.split_writes {
            self.send_headers(out, limit);
            self.send_data_frames(out, limit);
        // Heads and bodies alternate: with heads first always, a stream of new calls would
        // hold up every body.
        } else if self.can_send() && (self.headers_sent_last || !self.can_open()) {
            self.send_data_frames(out, limit);
            self.headers_sent_last = false;
        } else {
            self.send_headers(out, limit);
            self.headers_sent_last = true;
        }
        self.can_open() || self.can_send()
    }

    fn send_control(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.control);
        // They leave with this send, so the bound on waiting ones starts again.
        self.acks = 0;
        if self.is_over() {
            return;
        }
        // Connection credit first: without it no stream's credit helps.
        if self.receive_window.is_low() {
            write_window_update(out, 0, self.receive_window.refill());
        }
        for slot in self.update_due.drain(..) {
            if let Some(stream) = self.streams.get_mut(slot) {
                stream.update_due = false;
                write_window_update(out, stream.id, stream.receive_window.refill());
            }
        }
    }

    /// True when a call waits that may have a stream (RFC 9113 section 5.1.2).
    fn can_open(&self) -> bool {
        // Streams in `opening` have no identifier and do not count for the peer's limit.
        let open = self.streams.len() - self.opening.len();
        !self.opening.is_empty() && open < self.peer.streams_max as usize
    }

    fn can_send(&self) -> bool {
        !self.sending.is_empty() && self.send_window.available() > 0
    }

    fn send_headers(&mut self, out: &mut Vec<u8>, limit: usize) {
        while out.len() < limit && self.can_open() {
            if let Some(slot) = self.opening.pop_front() {
                self.open(slot, out);
            }
        }
    }

    /// Opens a stream: HEADERS, and what may go with them in the same send.
    fn open(&mut self, slot: u32, out: &mut Vec<u8>) {
        let id = self.next_id;
        // RFC 9113 section 5.1.1: identifiers of a client are odd and ascend.
        self.next_id += 2;
        self.streams.open(slot, id);
        let Some(stream) = self.streams.get_mut(slot) else {
            return;
        };
        let Some(request) = &stream.request else {
            return;
        };
        stream.send_window = SendWindow::new(self.peer.window);
        stream.receive_window = ReceiveWindow::stream(self.options.stream_window);
        // Encoded at the moment of sending: HPACK demands the order of the wire (RFC 7541
        // section 2.2).
        let block = self.requests.block(request);
        write_field_block(
            out,
            id,
            block,
            request.body.is_empty(),
            self.peer.frame_max as usize,
        );
        if request.body.is_empty() {
            stream.request = None;
            self.unsent -= 1;
        } else if self.options.split_writes {
            self.queue(slot);
        } else {
            self.send_data(slot, out);
        }
    }

    /// DATA of all streams in turn, a frame each.
    fn send_data_frames(&mut self, out: &mut Vec<u8>, limit: usize) {
        while out.len() < limit && self.send_window.available() > 0 {
            let Some(slot) = self.sending.pop_front() else {
                return;
            };
            if let Some(stream) = self.streams.get_mut(slot) {
                stream.queued = false;
            }
            self.send_data(slot, out);
        }
    }

    fn send_data(&mut self, slot: u32, out: &mut Vec<u8>) {
        let Some(stream) = self.streams.get_mut(slot) else {
            return;
        };
        // One frame per turn keeps streams fair to each other.
        let frame_max = (self.peer.frame_max as usize).min(PUMP_BYTES);
        match write_data(stream, &mut self.send_window, frame_max, out) {
            Progress::Done => {
                stream.request = None;
                self.unsent -= 1;
            }
            Progress::More => self.queue(slot),
            Progress::Blocked => {}
        }
    }

    /// Puts a stream in the queue for DATA, if it has any and credit for it.
    pub(super) fn queue(&mut self, slot: u32) {
        let Some(stream) = self.streams.get_mut(slot) else {
            return;
        };
        // A stream is in the queue once at most, whatever brings it here.
        let ready = stream.id != 0 && stream.request.is_some();
        if ready && !stream.queued && stream.send_window.available() > 0 {
            stream.queued = true;
            self.sending.push_back(slot);
        }
    }
}

/// Appends the next DATA frame of `stream`, as large as every limit allows.
fn write_data(
    stream: &mut Stream,
    connection: &mut SendWindow,
    frame_max: usize,
    out: &mut Vec<u8>,
) -> Progress {
    let Some(request) = &stream.request else {
        return Progress::Done;
    };
    let rest = &request.body[stream.sent..];
    let credit = stream.send_window.available();
    let length = rest
        .len()
        .min(credit)
        .min(connection.available())
        .min(frame_max);
    if length > 0 {
        // END_STREAM with the last bytes saves an empty DATA frame.
        let last = if length == rest.len() {
            flag::END_STREAM
        } else {
            0
        };
        write_frame(out, kind::DATA, last, stream.id, &rest[..length]);
        stream.sent += length;
        stream.send_window.consume(length);
        connection.consume(length);
    }
    // Blocked streams leave the queue until WINDOW_UPDATE puts them back.
    match (length == rest.len(), length == credit) {
        (true, _) => Progress::Done,
        (false, true) => Progress::Blocked,
        (false, false) => Progress::More,
    }
}

/// Appends HEADERS, with CONTINUATION where the block is longer than a frame
/// may be (RFC 9113 section 6.10).
fn write_field_block(out: &mut Vec<u8>, stream: u32, block: &[u8], last: bool, frame_max: usize) {
    let end_stream = if last { flag::END_STREAM } else { 0 };
    if block.len() <= frame_max {
        return write_frame(
            out,
            kind::HEADERS,
            end_stream | flag::END_HEADERS,
            stream,
            block,
        );
    }
    // END_STREAM belongs to HEADERS even when the block continues in CONTINUATION.
    let (first, rest) = block.split_at(frame_max);
    write_frame(out, kind::HEADERS, end_stream, stream, first);
    let mut left = rest.len();
    for part in rest.chunks(frame_max) {
        left -= part.len();
        let flags = if left == 0 { flag::END_HEADERS } else { 0 };
        write_frame(out, kind::CONTINUATION, flags, stream, part);
    }
}
