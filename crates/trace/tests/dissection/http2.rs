//! HTTP/2 and gRPC.

use wirelab_trace::flow::event::Direction;
use wirelab_trace::protocol::exchange::{Ending, Pdu, Protocol};
use wirelab_trace::protocol::layer::Kind;
use wirelab_wire::http2::frame::{FrameHead, PREFACE, flag, kind, setting, write_frame};
use wirelab_wire::http2::hpack::{Encoder, Huffman, Indexing};

use super::packet_builder::{C, PacketBuilder, S};

/// Writes what one side of a connection says.
pub(super) struct Side {
    encoder: Encoder,
}

impl Side {
    pub(super) fn new() -> Side {
        Side {
            encoder: Encoder::new(4096, Huffman::WhenNotLonger),
        }
    }

    fn block(&mut self, fields: &[(&str, &str)]) -> Vec<u8> {
        let mut block = Vec::new();
        self.encoder.begin_block(&mut block);
        for (name, value) in fields {
            let (name, value) = (name.as_bytes(), value.as_bytes());
            self.encoder
                .field(name, value, Indexing::Incremental, &mut block);
        }
        block
    }

    fn request(&mut self, path: &str) -> Vec<u8> {
        self.block(&[
            (":method", "POST"),
            (":scheme", "http"),
            (":path", path),
            ("content-type", "application/grpc"),
        ])
    }

    fn reply(&mut self) -> Vec<u8> {
        self.block(&[
            (":status", "200"),
            ("content-type", "application/grpc+proto"),
        ])
    }

    fn trailers(&mut self) -> Vec<u8> {
        self.block(&[("grpc-status", "0"), ("grpc-message", "")])
    }
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    write_frame(&mut out, kind, flags, stream, payload);
    out
}

fn message(content: &[u8]) -> Vec<u8> {
    let length = (content.len() as u32).to_be_bytes();
    [&[0], &length[..], content].concat()
}

const CONTENT: &[u8] = b"protobuf";

/// The client's bytes of a unary call, and the server's.
pub(super) fn unary(client: &mut Side, server: &mut Side, stream: u32, path: &str) -> [Vec<u8>; 2] {
    [ask(client, stream, path), answer(server, stream)]
}

/// The client's bytes of a unary call.
pub(super) fn ask(client: &mut Side, stream: u32, path: &str) -> Vec<u8> {
    let head = client.request(path);
    [
        frame(kind::HEADERS, flag::END_HEADERS, stream, &head),
        frame(kind::DATA, flag::END_STREAM, stream, &message(CONTENT)),
    ]
    .concat()
}

/// The server's bytes of a unary call.
pub(super) fn answer(server: &mut Side, stream: u32) -> Vec<u8> {
    let (head, trailers) = (server.reply(), server.trailers());
    let end = flag::END_HEADERS | flag::END_STREAM;
    [
        frame(kind::HEADERS, flag::END_HEADERS, stream, &head),
        frame(kind::DATA, 0, stream, &message(CONTENT)),
        frame(kind::HEADERS, end, stream, &trailers),
    ]
    .concat()
}

pub(super) fn client_preface() -> Vec<u8> {
    // Six octets: identifier and value (RFC 9113 section 6.5.1); the value is 65,536.
    let window = [0, setting::INITIAL_WINDOW_SIZE as u8, 0, 1, 0, 0];
    [&PREFACE[..], &frame(kind::SETTINGS, 0, 0, &window)].concat()
}

/// However the bytes are cut into segments, a call is the same.
#[test]
fn segmentation_does_not_change_the_result() {
    let (mut client, mut server) = (Side::new(), Side::new());
    let [requested, answered] = unary(&mut client, &mut server, 1, "/a.B/C");
    let requested = [client_preface(), requested].concat();
    let answered = [frame(kind::SETTINGS, 0, 0, &[]), answered].concat();
    for size in 1..requested.len() {
        let dissected = PacketBuilder::new()
            .pieces(C, &requested, size)
            .pieces(S, &answered, size)
            .close(C)
            .dissect();
        let exchange = dissected.exchange();
        assert_eq!(&*exchange.name, "POST /a.B/C", "{size}");
        assert_eq!(exchange.status, Some((200, Some(0))), "{size}");
        assert_eq!(exchange.ending, Ending::Framed);
        assert_eq!(exchange.stream, 1);
        assert_eq!(exchange.request.message_bytes, CONTENT.len() as u64);
        assert_eq!(exchange.request.start, client_preface().len() as u64);
        assert_eq!(exchange.request.end, requested.len() as u64);
        assert_eq!(dissected.bytes(Kind::GrpcPrefixes), 10);
        assert_eq!(dissected.bytes(Kind::Message), 2 * CONTENT.len() as u64);
        assert_eq!(dissected.bytes(Kind::H2Preface), 24);
        assert_eq!(dissected.bytes(Kind::H2Settings), 9 + 6 + 9);
        assert_eq!(dissected.bytes(Kind::H2Data), 18);
        assert_eq!(dissected.bytes(Kind::Unknown), 0);
    }
}

#[test]
fn pdus_report_windows_and_lengths() {
    let update = frame(kind::WINDOW_UPDATE, 0, 0, &[0, 0, 0, 9]);
    let dissected = PacketBuilder::new()
        .send(C, &client_preface())
        .pieces(C, &update, 5)
        .send(C, &frame(kind::PING, 0, 0, &[0; 8]))
        .close(C)
        .dissect();
    let pdu = |kind, length, window| Pdu::Http2 {
        kind,
        stream: 0,
        length,
        window,
        flags: 0,
        streams_max: None,
    };
    let expected = [
        pdu(kind::SETTINGS, 6, Some(65_536)),
        pdu(kind::WINDOW_UPDATE, 4, Some(9)),
        pdu(kind::PING, 8, None),
    ];
    assert_eq!(dissected.events.units, expected);
    assert_eq!(dissected.events.exchanges, []);
}

#[test]
fn a_server_may_send_first() {
    let (mut client, mut server) = (Side::new(), Side::new());
    let [requested, answered] = unary(&mut client, &mut server, 1, "/a.B/C");
    let dissected = PacketBuilder::new()
        .send(S, &frame(kind::SETTINGS, 0, 0, &[]))
        .send(C, &[client_preface(), requested].concat())
        .send(S, &answered)
        .close(C)
        .dissect();
    assert_eq!(dissected.exchange().protocol, Protocol::Http2);
    assert_eq!(dissected.bytes(Kind::Unknown), 0);
}

#[test]
fn padding_priority_and_continuations_are_overhead() {
    let (mut client, mut server) = (Side::new(), Side::new());
    let block = client.request("/a.B/C");
    let (first, rest) = block.split_at(7);
    // Pad length, stream dependency and weight, the block, the padding (RFC 9113
    // section 6.2).
    let padded = [&[3, 0, 0, 0, 0, 0][..], first, &[0; 3]].concat();
    let flags = flag::PADDED | flag::PRIORITY;
    let data = [&[4][..], &message(CONTENT), &[0; 4]].concat();
    let requested = [
        client_preface(),
        frame(kind::HEADERS, flags, 1, &padded),
        frame(kind::CONTINUATION, flag::END_HEADERS, 1, rest),
        frame(kind::DATA, flag::PADDED | flag::END_STREAM, 1, &data),
    ]
    .concat();
    let [_, answered] = unary(&mut client, &mut server, 1, "/x");
    for size in [1, 2, 3, 10, 1000] {
        let dissected = PacketBuilder::new()
            .pieces(C, &requested, size)
            .send(S, &answered)
            .close(C)
            .dissect();
        let exchange = dissected.exchange();
        assert_eq!(&*exchange.name, "POST /a.B/C", "{size}");
        assert_eq!(
            exchange.request.message_bytes,
            CONTENT.len() as u64,
            "{size}"
        );
        assert_eq!(dissected.bytes(Kind::H2Data), 9 + 5 + 9, "{size}");
    }
}

#[test]
fn streams_interleave_and_resets_break_them() {
    let (mut client, mut server) = (Side::new(), Side::new());
    let [one, answer_one] = unary(&mut client, &mut server, 1, "/a.B/One");
    let [three, answer_three] = unary(&mut client, &mut server, 3, "/a.B/Three");
    let [five, _] = unary(&mut client, &mut server, 5, "/a.B/Five");
    let reset = frame(kind::RST_STREAM, 0, 5, &[0, 0, 0, 8]);
    let dissected = PacketBuilder::new()
        .send(C, &[client_preface(), one, three, five].concat())
        .send(S, &[answer_one, reset, answer_three].concat())
        .close(C)
        .dissect();
    assert_eq!(
        dissected.names(),
        ["POST /a.B/One", "POST /a.B/Five", "POST /a.B/Three"]
    );
    let endings = dissected.events.exchanges.iter().map(|e| e.ending);
    assert!(endings.eq([Ending::Framed, Ending::Broken, Ending::Framed]));
    assert_eq!(dissected.dissection.exchanges.connections.in_flight_max, 3);
}

/// Indices count from the youngest entry, so that those inserted since are known.
#[test]
fn a_connection_captured_mid_stream_is_decoded_as_far_as_possible() {
    let (mut client, mut server) = (Side::new(), Side::new());
    unary(&mut client, &mut server, 1, "/a.B/Old");
    let [three, answer_three] = unary(&mut client, &mut server, 3, "/a.B/Old");
    let [five, answer_five] = unary(&mut client, &mut server, 5, "/a.B/New");
    let [seven, answer_seven] = unary(&mut client, &mut server, 7, "/a.B/New");
    let dissected = PacketBuilder::middle()
        .send(C, &three)
        .send(S, &answer_three)
        .send(C, &five)
        .send(S, &answer_five)
        .send(C, &seven)
        .send(S, &answer_seven)
        .dissect();
    let names = dissected.names();
    assert_eq!(names.len(), 3);
    assert_eq!(&names[1..], ["POST /a.B/New"; 2]);
    assert_eq!(dissected.bytes(Kind::Unknown), 0);
}

#[test]
fn in_the_middle_the_fields_show_the_client() {
    let (mut client, mut server) = (Side::new(), Side::new());
    let [one, answer_one] = unary(&mut client, &mut server, 1, "/a.B/One");
    let [three, answer_three] = unary(&mut client, &mut server, 3, "/a.B/Three");
    let dissected = PacketBuilder::middle()
        .send(S, &one)
        .send(C, &answer_one)
        .send(S, &three)
        .send(C, &answer_three)
        .dissect();
    let last = dissected.events.exchanges.last().expect("an exchange");
    assert_eq!(last.caller, Direction::Reply);
    assert_eq!(&*last.name, "POST /a.B/Three");
    assert_eq!(last.status, Some((200, Some(0))));
}

#[test]
fn gaps_in_data_are_skipped() {
    let (mut client, mut server) = (Side::new(), Side::new());
    let [_, answered] = unary(&mut client, &mut server, 1, "/a.B/C");
    let data = [1; 3000];
    let head = FrameHead {
        length: 3000,
        kind: kind::DATA,
        flags: flag::END_STREAM,
        stream: 1,
    };
    let mut client = Side::new();
    let request = client.request("/a.B/C");
    let dissected = PacketBuilder::new()
        .send(
            C,
            &[
                client_preface(),
                frame(kind::HEADERS, flag::END_HEADERS, 1, &request),
            ]
            .concat(),
        )
        .send(C, &[&head.to_bytes()[..], &data[..991]].concat())
        .lose(C, &data[991..1991])
        .send(C, &data[1991..])
        .ack(S)
        .send(S, &answered)
        .close(C)
        .dissect();
    assert_eq!(dissected.exchange().ending, Ending::Framed);
    assert_eq!(dissected.exchange().status, Some((200, Some(0))));
}

/// WINDOW_UPDATE between the frames of a message, and PING between others'.
#[test]
fn control_frames_between_the_frames_of_a_message_are_counted() {
    let mut client = Side::new();
    let head = |client: &mut Side, stream| {
        let request = client.request("/a.B/C");
        frame(kind::HEADERS, flag::END_HEADERS, stream, &request)
    };
    let data = |stream| frame(kind::DATA, flag::END_STREAM, stream, &message(CONTENT));
    let update = frame(kind::WINDOW_UPDATE, 0, 0, &[0, 0, 1, 0]);
    let ping = frame(kind::PING, 0, 0, &[0; 8]);
    let dissected = PacketBuilder::new()
        .send(C, &client_preface())
        .send(C, &[head(&mut client, 1), update.clone()].concat())
        .send(C, &[data(1), ping.clone(), head(&mut client, 3)].concat())
        .send(C, &head(&mut client, 5))
        .send(C, &ping)
        .send(C, &[update, data(5), data(3)].concat())
        .close(C)
        .dissect();
    let mut exchanges = dissected.events.exchanges.clone();
    exchanges.sort_by_key(|exchange| exchange.stream);
    let between = exchanges
        .iter()
        .map(|exchange| exchange.request.between_bytes);
    assert!(between.eq([13, 17 + 13, 17 + 13]));
    let first = exchanges[0].request;
    assert_eq!(first.end - first.start, first.bytes() + 13);
}

/// Streams tell which reply is whose.
#[test]
fn after_a_lost_request_streams_are_paired_again() {
    let (mut client, mut server) = (Side::new(), Side::new());
    let mut builder = PacketBuilder::new();
    builder.send(C, &client_preface());
    for call in 0..8 {
        let [requested, answered] = unary(&mut client, &mut server, 2 * call + 1, "/a.B/C");
        if call == 3 {
            builder.lose(C, &requested);
        } else {
            builder.send(C, &requested);
        }
        builder.send(S, &answered).ack(C);
    }
    let dissected = builder.close(C).dissect();
    let whole = dissected.events.exchanges.iter();
    let whole = whole.filter(|exchange| exchange.ending == Ending::Framed);
    assert!(
        whole
            .map(|exchange| exchange.stream)
            .eq([1, 3, 5, 11, 13, 15])
    );
    let unpaired = dissected.dissection.exchanges.unpaired;
    assert_eq!((unpaired.requests, unpaired.replies), (1, 2));
}

/// RFC 7540 section 3.2: stream 1 answers the request that asked for HTTP/2.
#[test]
fn an_upgrade_is_answered_on_stream_1() {
    let upgrade = b"GET /first HTTP/1.1\r\nConnection: Upgrade, HTTP2-Settings\r\n\
        Upgrade: h2c\r\nHTTP2-Settings: \r\n\r\n";
    let switched = b"HTTP/1.1 101 Switching Protocols\r\nupgrade:  H2C \r\n\r\n";
    let (mut client, mut server) = (Side::new(), Side::new());
    let settings = frame(kind::SETTINGS, 0, 0, &[]);
    let begin = [&PREFACE[..], &settings].concat();
    let ask = frame(
        kind::HEADERS,
        flag::END_HEADERS | flag::END_STREAM,
        3,
        &client.request("/second"),
    );
    let mut answer = |stream| {
        let head = frame(kind::HEADERS, flag::END_HEADERS, stream, &server.reply());
        [head, frame(kind::DATA, flag::END_STREAM, stream, b"ok")].concat()
    };
    let (first, second) = (answer(1), answer(3));
    for together in [false, true] {
        let mut connection = PacketBuilder::new();
        connection.send(C, upgrade);
        if together {
            connection.send(S, &[&switched[..], &settings].concat());
        } else {
            connection.send(S, switched).send(S, &settings);
        }
        let dissected = connection
            .send(C, &begin)
            .wait(6_000)
            .send(S, &first)
            .send(C, &ask)
            .send(S, &second)
            .close(C)
            .dissect();
        assert_eq!(dissected.names(), ["GET /first", "POST /second"]);
        let exchanges = &dissected.events.exchanges;
        let streams = exchanges.iter().map(|one| (one.stream, one.status));
        assert!(streams.eq([(1, Some((200, None))), (3, Some((200, None)))]));
        assert!(exchanges[0].latency_ns().expect("a reply") > 6_000_000);
        assert!(exchanges.iter().all(|one| one.protocol == Protocol::Http2));
    }
}
