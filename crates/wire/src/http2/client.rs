//! One connection: its state, and its place in every call's life.

use std::collections::VecDeque;
use std::sync::Arc;

use super::error::ConnectionError;
use super::fields::FieldSectionReader;
use super::flow_control::{ReceiveWindow, SendWindow};
use super::frame::{
    FrameHead, STREAM_MAX, WINDOW_DEFAULT, code, kind, write_frame, write_rst_stream,
};
use super::requests::RequestEncoder;
use super::settings::{Options, PeerSettings};
use super::streams::{ResetStreams, Stream, Streams};
use crate::{CallId, Failure, ProtocolError, Replies, Request, Session};

/// The client side of one HTTP/2 connection with prior knowledge.
///
/// The preface comes out of the first [`Session::pump`], whether or not a call
/// has been made. Errors of a single reply (RFC 9113 section 8.1.1) fail that
/// call and reset its stream; all others end the connection, and the GOAWAY
/// with the reason comes out of the next pump.
#[derive(Debug)]
pub struct Client {
    pub(super) options: Options,
    pub(super) peer: PeerSettings,
    pub(super) streams: Streams,
    pub(super) reset_streams: ResetStreams,

    pub(super) requests: RequestEncoder,
    /// Frames to send before any other.
    pub(super) control: Vec<u8>,
    /// Acknowledgements in `control`.
    pub(super) acks: u32,
    /// Slots of calls without HEADERS yet, in the order they were made.
    pub(super) opening: VecDeque<u32>,
    /// Slots with DATA to send and credit to send it, as far as the stream goes.
    pub(super) sending: VecDeque<u32>,
    /// Slots that owe a WINDOW_UPDATE.
    pub(super) update_due: Vec<u32>,
    /// Calls whose request has not been sent in full.
    pub(super) unsent: usize,
    pub(super) next_id: u32,
    pub(super) send_window: SendWindow,
    /// With split writes: the last pump was of heads.
    pub(super) headers_sent_last: bool,

    pub(super) blocks: FieldSectionReader,
    pub(super) reading: ReadState,
    /// The beginning of a frame's head, or of a payload that is not DATA.
    pub(super) partial: Vec<u8>,
    pub(super) partial_field_block: Option<PartialFieldBlock>,
    pub(super) receive_window: ReceiveWindow,
    /// The peer's first SETTINGS has begun.
    pub(super) preface_received: bool,
    /// No stream may be opened before the peer's first SETTINGS.
    pub(super) settings_due: bool,
    /// DATA frames without content since the last with some.
    pub(super) empty_data: u32,

    /// Last stream that the peer will process, once it has sent GOAWAY.
    pub(super) goaway: Option<u32>,
    fault: Option<ProtocolError>,
    closed: bool,
}

impl Client {
    /// A connection on which nothing has been sent.
    pub fn new(options: Options) -> Client {
        let options = options.clamped();
        Client {
            peer: PeerSettings::new(options.wait_settings),
            settings_due: options.wait_settings,
            streams: Streams::default(),
            reset_streams: ResetStreams::default(),
            requests: RequestEncoder::new(options.https),
            // The preface is the first control frame, so no state for it is needed.
            control: options.preface(),
            acks: 0,
            opening: VecDeque::new(),
            sending: VecDeque::new(),
            update_due: Vec::new(),
            unsent: 0,
            next_id: 1,
            send_window: SendWindow::new(WINDOW_DEFAULT),
            headers_sent_last: false,
            blocks: FieldSectionReader::new(options.header_list_max),
            reading: ReadState::Head,
            partial: Vec::new(),
            partial_field_block: None,
            receive_window: ReceiveWindow::connection(options.connection_window),
            preface_received: false,
            empty_data: 0,
            goaway: None,
            fault: None,
            closed: false,
            options,
        }
    }

    /// Reports fields of these names, which are in lower case ([`Replies::field`]).
    #[must_use]
    pub fn watching(mut self, names: Option<Arc<Vec<Box<str>>>>) -> Client {
        self.blocks.watch(names);
        self
    }

    /// True when nothing more may be sent or understood.
    pub(super) fn is_over(&self) -> bool {
        self.closed || self.fault.is_some()
    }

    /// Stream identifiers that are left (RFC 9113 section 5.1.1).
    fn ids_left(&self) -> usize {
        // Client streams are odd, so that every second identifier of the rest is usable.
        let left = STREAM_MAX
            .checked_sub(self.next_id)
            .map_or(0, |range| range / 2 + 1);
        (left as usize).saturating_sub(self.opening.len())
    }

    /// Takes the stream in `slot` out of every list.
    pub(super) fn remove(&mut self, slot: u32) -> Option<Stream> {
        let stream = self.streams.remove(slot)?;
        // Without an identifier nothing was sent, and the call waits only to be opened.
        if stream.id == 0 {
            self.opening.retain(|&other| other != slot);
        }
        if stream.queued {
            self.sending.retain(|&other| other != slot);
        }
        if stream.update_due {
            self.update_due.retain(|&other| other != slot);
        }
        // `unsent` counts the streams that still hold their request.
        if stream.request.is_some() {
            self.unsent -= 1;
        }
        self.reading.forget(slot);
        Some(stream)
    }

    /// Removes the stream and sends RST_STREAM, if the peer knows the stream.
    pub(super) fn reset(&mut self, slot: u32, code: u32) -> Option<Stream> {
        let stream = self.remove(slot)?;
        if stream.id != 0 {
            write_rst_stream(&mut self.control, stream.id, code);
            self.reset_streams.add(stream.id);
        }
        Some(stream)
    }

    /// Every call in flight ends with its `failure`.
    fn fail_all(&mut self, replies: &mut impl Replies, failure: impl Fn(&Stream) -> Failure) {
        for slot in self.streams.slots_where(|_| true) {
            if let Some(stream) = self.remove(slot) {
                replies.failed(stream.call, failure(&stream));
            }
        }
    }

    /// RFC 9113 section 5.4.1: GOAWAY with the reason, then close.
    fn connection_error(
        &mut self,
        fault: ConnectionError,
        replies: &mut impl Replies,
    ) -> ProtocolError {
        let ConnectionError { code, error } = fault;
        // RFC 9113 section 6.8: last-stream-id counts the peer's streams, and a server opens
        // none.
        let last_stream = 0_u32.to_be_bytes();
        // The rule goes into the debug data (RFC 9113 section 6.8): the peer's log then
        // names the reason.
        let payload = [&last_stream, &code.to_be_bytes()[..], error.rule.as_bytes()].concat();
        write_frame(&mut self.control, kind::GOAWAY, 0, 0, &payload);
        // Nothing more is parsed, so unfinished input would be held for nothing.
        self.partial = Vec::new();
        self.partial_field_block = None;
        self.fail_all(replies, |_| Failure::Protocol(error.clone()));
        self.fault = Some(error.clone());
        error
    }
}

impl Session for Client {
    fn capacity(&self) -> usize {
        if self.is_over() || self.goaway.is_some() {
            return 0;
        }
        // SETTINGS_MAX_CONCURRENT_STREAMS binds from its arrival on, also below the streams
        // open.
        let allowed = self.options.max_streams.min(self.peer.streams_max) as usize;
        allowed
            // Saturating, because the peer may lower its limit below what is open.
            .saturating_sub(self.streams.len())
            .min(self.ids_left())
    }

    fn finished(&self) -> bool {
        // After GOAWAY no stream may be opened (RFC 9113 section 6.8), those open may end.
        self.is_over() || self.goaway.is_some() || self.ids_left() == 0
    }

    fn send(&mut self, call: CallId, request: &Arc<Request>) {
        let slot = self.streams.insert(Stream::new(call, request));
        self.opening.push_back(slot);
        self.unsent += 1;
    }

    fn pump(&mut self, out: &mut Vec<u8>) -> bool {
        self.send_frames(out)
    }

    fn started(&self, call: CallId) -> bool {
        let slot = self.streams.slot_of_call(call);
        let stream = slot.and_then(|slot| self.streams.get(slot));
        // A call that has ended has also started.
        stream.is_none_or(|stream| stream.id != 0)
    }

    fn flushed(&self, call: CallId) -> bool {
        let unsent = |slot| {
            self.streams
                .get(slot)
                .is_some_and(|stream| stream.request.is_some())
        };
        self.unsent == 0 || !self.streams.slot_of_call(call).is_some_and(unsent)
    }

    fn receive(&mut self, input: &[u8], replies: &mut impl Replies) -> Result<(), ProtocolError> {
        match &self.fault {
            Some(error) => Err(error.clone()),
            // Bytes after the end were under way; they concern no call.
            None if self.closed => Ok(()),
            None => self
                .feed(input, replies)
                .map_err(|fault| self.connection_error(*fault, replies)),
        }
    }

    fn closed(&mut self, replies: &mut impl Replies) {
        self.closed = true;
        self.fail_all(replies, |stream| match stream.first_byte_seen {
            true => Failure::Truncated,
            false => Failure::Closed,
        });
    }

    fn cancel(&mut self, call: CallId) -> bool {
        if let Some(slot) = self.streams.slot_of_call(call) {
            // The connection stays: other calls share it.
            self.reset(slot, code::CANCEL);
        }
        true
    }
}

/// The position in the input.
#[derive(Debug, Clone, Copy)]
pub(super) enum ReadState {
    /// In a frame's head.
    Head,
    /// In a payload that is needed whole.
    Payload(FrameHead),
    /// In DATA, which is handed on as it comes.
    Data(Data),
    /// In that number of bytes to ignore.
    Skip(u32),
}

impl ReadState {
    /// No call waits any more for content for `slot`.
    pub(super) fn forget(&mut self, slot: u32) {
        if let ReadState::Data(data) = self
            && data.target.is_some_and(|(target, _)| target == slot)
        {
            data.target = None;
        }
    }
}

/// A DATA frame in progress.
#[derive(Debug, Clone, Copy)]
pub(super) struct Data {
    /// Slot and call; None where no call waits for the content any more.
    pub(super) target: Option<(u32, CallId)>,
    /// The next byte is the length of the padding.
    pub(super) pad_length_due: bool,
    /// Bytes of content to come.
    pub(super) left: u32,
    /// Bytes of padding to come.
    pub(super) padding: u32,
    /// It ends the stream.
    pub(super) end_stream: bool,
}

/// A field block that continues in CONTINUATION frames.
#[derive(Debug)]
pub(super) struct PartialFieldBlock {
    pub(super) stream: u32,
    pub(super) end_stream: bool,
    /// CONTINUATION frames so far.
    pub(super) frames: u32,
    pub(super) block: Vec<u8>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9113 section 5.1.1: identifiers run out at 2^31, then the connection
    /// must be replaced. Only here can the count be set so high.
    #[test]
    fn when_stream_identifiers_run_out_the_connection_is_finished() {
        let request = Arc::new(Request {
            id: 1,
            method: "GET".into(),
            path: "/".into(),
            authority: "localhost".into(),
            fields: Vec::new(),
            body: Arc::new([]),
        });
        let mut client = Client::new(Options::default());
        client.next_id = STREAM_MAX - 2;
        assert_eq!((client.capacity(), client.finished()), (2, false));
        client.send(1, &request);
        assert_eq!((client.capacity(), client.finished()), (1, false));
        client.send(2, &request);
        assert_eq!((client.capacity(), client.finished()), (0, true));
        let mut out = Vec::new();
        client.pump(&mut out);
        assert!(client.flushed(2));
        assert!(
            out.windows(9)
                .any(|head| head[3..] == [1, 5, 0x7f, 0xff, 0xff, 0xff])
        );
        assert_eq!((client.capacity(), client.finished()), (0, true));
    }
}
