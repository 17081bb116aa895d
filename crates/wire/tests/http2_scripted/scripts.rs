//! Whole conversations, cut in every way that a network may cut them.

use proptest::prelude::*;
use wirelab_wire::http2::Options;
use wirelab_wire::http2::frame::{FrameHead, flag, kind, setting};
use wirelab_wire::{End, Head, Session};

use super::peer::{
    Event, Frame, Log, Peer, data, frame, get, goaway, last_data, pad, post, reset, settings,
    window_update,
};

/// One call's reply, as a server may choose to send it.
#[derive(Debug, Clone)]
struct Reply {
    interim: usize,
    fields: Vec<(String, String)>,
    chunks: Vec<Vec<u8>>,
    padding: Option<u8>,
    /// Bytes of a field block in its first frame, the rest in CONTINUATION.
    block_cut: Option<usize>,
    trailers: bool,
}

fn replies() -> impl Strategy<Value = Vec<Reply>> {
    let fields = prop::collection::vec(("[a-z]{1,6}", "[!-~]{0,20}"), 0..4);
    let chunks = prop::collection::vec(prop::collection::vec(any::<u8>(), 0..50), 0..5);
    let reply = (
        0_usize..3,
        fields,
        chunks,
        prop::option::of(any::<u8>()),
        prop::option::of(0_usize..12),
        any::<bool>(),
    );
    let reply = reply.prop_map(
        |(interim, fields, chunks, padding, block_cut, trailers)| Reply {
            interim,
            fields,
            chunks,
            padding,
            block_cut,
            trailers,
        },
    );
    prop::collection::vec(reply, 1..6)
}

impl Reply {
    fn section(&self, peer: &mut Peer, flags: u8, stream: u32, fields: &[(&str, &str)]) -> Vec<u8> {
        let block = peer.block(fields);
        let whole = flags | flag::END_HEADERS;
        match (self.block_cut, self.padding) {
            (Some(at), _) => {
                // Also at 0 and at the end: empty HEADERS and empty CONTINUATION are legal.
                let (first, rest) = block.split_at(at.min(block.len()));
                let head = frame(kind::HEADERS, flags, stream, first);
                [
                    head,
                    frame(kind::CONTINUATION, flag::END_HEADERS, stream, rest),
                ]
                .concat()
            }
            (None, Some(padding)) => pad(kind::HEADERS, whole, stream, &block, padding),
            (None, None) => frame(kind::HEADERS, whole, stream, &block),
        }
    }

    fn head(&self, peer: &mut Peer, stream: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        for _ in 0..self.interim {
            bytes.extend(self.section(peer, 0, stream, &[(":status", "100")]));
        }
        let mut fields = vec![(":status", "200")];
        fields.extend(
            self.fields
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str())),
        );
        bytes.extend(self.section(peer, 0, stream, &fields));
        bytes
    }

    fn chunk(&self, stream: u32, chunk: &[u8]) -> Vec<u8> {
        match self.padding {
            Some(padding) => pad(kind::DATA, 0, stream, chunk, padding),
            None => data(stream, chunk),
        }
    }

    fn last(&self, peer: &mut Peer, stream: u32) -> Vec<u8> {
        if self.trailers {
            self.section(peer, flag::END_STREAM, stream, &[("grpc-status", "5")])
        } else {
            last_data(stream, b"")
        }
    }

    fn events(&self, call: u32) -> Vec<Event> {
        let mut events = vec![
            Event::First(call),
            Event::Head(
                call,
                Head {
                    status: 200,
                    ..Head::default()
                },
            ),
        ];
        let body = self.chunks.concat();
        if !body.is_empty() {
            events.push(Event::Body(call, body));
        }
        let grpc_status = self.trailers.then_some(5);
        events.push(Event::End(
            call,
            End {
                grpc_status,
                grpc_message: None,
            },
        ));
        events
    }
}

/// All replies, their frames interleaved in the order of `turns`.
fn interleave(peer: &mut Peer, replies: &[Reply], turns: &[usize]) -> Vec<u8> {
    let mut at = vec![0; replies.len()];
    let mut script = Vec::new();
    let turns = turns.iter().cycle();
    for turn in turns {
        let open: Vec<usize> = (0..replies.len())
            .filter(|&call| at[call] < replies[call].chunks.len() + 2)
            .collect();
        let Some(&call) = open.get(turn % open.len().max(1)) else {
            break;
        };
        let (reply, stream) = (&replies[call], 2 * call as u32 + 1);
        script.push(match at[call] {
            0 => reply.head(peer, stream),
            step if step <= reply.chunks.len() => reply.chunk(stream, &reply.chunks[step - 1]),
            _ => reply.last(peer, stream),
        });
        at[call] += 1;
    }
    script.concat()
}

fn with_calls(calls: usize) -> Peer {
    let mut peer = Peer::new();
    for call in 0..calls as u32 {
        peer.call(call, &get(1));
    }
    peer.frames();
    peer
}

/// Feeds `script` in pieces that end at `cuts`.
fn play_cut(peer: &mut Peer, script: &[u8], cuts: impl Iterator<Item = usize>) {
    let mut from = 0;
    for to in cuts.chain([script.len()]) {
        let to = to.clamp(from, script.len());
        peer.play(&script[from..to]);
        from = to;
    }
}

/// The log with the bodies of each call joined.
fn of_call(log: &[Event], call: u32) -> Vec<Event> {
    let mut own = Log::default();
    for event in log {
        use wirelab_wire::Replies;
        match event {
            Event::Body(of, chunk) if *of == call => own.body(call, chunk),
            Event::First(of) | Event::Head(of, _) | Event::End(of, _) | Event::Failed(of, _)
                if *of == call =>
            {
                own.0.push(event.clone());
            }
            _ => {}
        }
    }
    own.0
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn replies_are_reported_as_sent_for_every_interleaving_and_split(
        replies in replies(),
        turns in prop::collection::vec(0_usize..6, 1..20),
        mut cuts in prop::collection::vec(0_usize..2_000, 0..30),
    ) {
        let mut whole = with_calls(replies.len());
        let script = interleave(&mut whole, &replies, &turns);
        whole.play(&script);
        let reported = whole.take_events();
        for (call, reply) in (0..).zip(&replies) {
            prop_assert_eq!(of_call(&reported, call), reply.events(call));
        }
        cuts.sort_unstable();
        let mut cut = with_calls(replies.len());
        play_cut(&mut cut, &script, cuts.into_iter());
        prop_assert_eq!(cut.take_events(), reported.clone());
        prop_assert_eq!(cut.frames(), whole.frames());
        let mut bytewise = with_calls(replies.len());
        play_cut(&mut bytewise, &script, 0..script.len());
        prop_assert_eq!(bytewise.take_events(), reported);
    }
}

/// A conversation with a little of everything, and what the client answers.
fn conversation() -> (Peer, Vec<u8>) {
    let options = Options {
        stream_window: 40,
        connection_window: 70_000,
        ..Options::default()
    };
    let mut peer = Peer::silent(options);
    peer.call(0, &post(1, &[1; 70_000]));
    for call in 1..6 {
        peer.call(call, &get(call));
    }
    peer.frames();
    let mut script = settings(&[
        (setting::HEADER_TABLE_SIZE, 50),
        (setting::INITIAL_WINDOW_SIZE, 9),
    ]);
    script.extend(frame(kind::SETTINGS, flag::ACK, 0, &[]));
    for stream in [1, 3, 5] {
        let head = peer.head(
            stream,
            &[(":status", "200"), ("content-type", "text/plain")],
        );
        script.extend(head);
        script.extend(pad(kind::DATA, 0, stream, b"some bytes", 12));
    }
    script.extend(frame(kind::PING, 0, 0, b"8 bytes."));
    script.extend(window_update(1, 66_000));
    script.extend(window_update(0, 20_000));
    script.extend(frame(0xee, 0, 3, b"unknown"));
    script.extend(last_data(3, b"the end"));
    let block = peer.block(&[("grpc-status", "7"), ("grpc-message", "no%20way")]);
    script.extend(frame(kind::HEADERS, flag::END_STREAM, 5, &block[..2]));
    script.extend(frame(kind::CONTINUATION, flag::END_HEADERS, 5, &block[2..]));
    script.extend(reset(7, 11));
    script.extend(frame(kind::PRIORITY, 0, 9, &[0; 5]));
    let bad = peer.head(9, &[(":status", "200"), ("content-length", "1")]);
    script.extend([bad, data(9, b"two bytes")].concat());
    script.extend(goaway(9, 0));
    script.extend(data(9, b"late"));
    (peer, script)
}

#[test]
fn a_conversation_is_the_same_at_once_and_byte_by_byte() {
    let (mut whole, script) = conversation();
    whole.play(&script);
    let (mut bytewise, _) = conversation();
    play_cut(&mut bytewise, &script, 0..script.len());
    let reported = whole.take_events();
    assert_eq!(reported.len(), 17, "{reported:#?}");
    assert_eq!(bytewise.take_events(), reported);
    let frames: Vec<Frame> = whole.frames();
    assert_eq!(bytewise.frames(), frames);
    assert!(
        frames.iter().any(|frame| frame.kind == kind::DATA),
        "the upload went on"
    );
}

/// Whatever is missing, each call ends exactly once, and what was reported before
/// is the beginning of the whole story.
#[test]
fn a_conversation_cut_off_at_every_byte_ends_every_call() {
    let (mut whole, script) = conversation();
    whole.play(&script);
    let story = whole.take_events();
    for length in 0..script.len() {
        let (mut peer, _) = conversation();
        peer.play(&script[..length]);
        let before = peer.take_events();
        let complete = before.len().saturating_sub(1);
        assert_eq!(before[..complete], story[..complete], "cut at {length}");
        peer.client.closed(&mut peer.log);
        let mut ended: Vec<u32> = before
            .iter()
            .chain(&peer.take_events())
            .filter_map(|event| match event {
                Event::End(call, _) | Event::Failed(call, _) => Some(*call),
                _ => None,
            })
            .collect();
        ended.sort_unstable();
        assert_eq!(ended, [0, 1, 2, 3, 4, 5], "cut at {length}");
    }
}

/// A byte changed anywhere may break the conversation, but not the client.
#[test]
fn a_conversation_with_any_byte_changed_never_panics() {
    let (_, script) = conversation();
    for at in 0..script.len() {
        for flip in [0x01, 0x80, 0xff] {
            let (mut peer, mut script) = conversation();
            script[at] ^= flip;
            let refused = peer.client.receive(&script, &mut peer.log).is_err();
            let mut out = Vec::new();
            while peer.client.pump(&mut out) {}
            assert!(out.len() < 110_000);
            assert_eq!(
                refused,
                out.len() >= FrameHead::LEN && last_kind(&out) == kind::GOAWAY
            );
            peer.client.closed(&mut peer.log);
        }
    }
}

fn last_kind(mut out: &[u8]) -> u8 {
    let mut last = 0xff;
    while let Some((head, rest)) = out.split_first_chunk() {
        let head = FrameHead::parse(head);
        last = head.kind;
        out = &rest[head.length as usize..];
    }
    last
}
