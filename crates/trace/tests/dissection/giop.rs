//! GIOP.

use wirelab_trace::flow::event::Direction;
use wirelab_trace::protocol::exchange::{Ending, Pdu, Protocol};
use wirelab_trace::protocol::layer::Kind;
use wirelab_wire::cdr::{ByteOrder, Writer};
use wirelab_wire::giop::{
    HEADER_BYTES, Kind as MessageKind, MessageHeader, ReplyStatus, ReplyTo, Version,
    close_connection, fragment,
};

use super::packet_builder::{C, PacketBuilder, S};

const VERSIONS: [Version; 3] = [Version::V10, Version::V11, Version::V12];
const ORDERS: [ByteOrder; 2] = [ByteOrder::Big, ByteOrder::Little];
const ARGUMENTS: [u8; 24] = [9; 24];

fn put(version: Version, order: ByteOrder, kind: MessageKind, content: &[u8]) -> Vec<u8> {
    let header = MessageHeader {
        version,
        order,
        more: false,
        kind,
        size: content.len() as u32,
    };
    [&header.bytes()[..], content].concat()
}

/// A request as CORBA 3.3 part 2, section 9.4.2 has it, without contexts.
pub(super) fn request(version: Version, order: ByteOrder, id: u32, expected: bool) -> Vec<u8> {
    let mut content = Vec::new();
    let mut writer = Writer::new(order, &mut content, HEADER_BYTES);
    if version == Version::V12 {
        writer.ulong(id);
        // Response flags (3: the reply is awaited) and three reserved octets.
        for octet in [if expected { 3 } else { 0 }, 0, 0, 0] {
            writer.octet(octet);
        }
        writer.ushort(0);
        writer.octets(b"key").expect("short");
        writer.string("directDebit").expect("short");
        writer.ulong(0);
        // GIOP 1.2 aligns the body on 8 octets (section 9.4.2).
        writer.align(8);
    } else {
        writer.ulong(0);
        writer.ulong(id);
        writer.octet(expected.into());
        if version == Version::V11 {
            for octet in [0; 3] {
                writer.octet(octet);
            }
        }
        writer.octets(b"key").expect("short");
        writer.string("directDebit").expect("short");
        writer.octets(b"").expect("short");
    }
    content.extend(ARGUMENTS);
    put(version, order, MessageKind::Request, &content)
}

pub(super) fn reply(version: Version, order: ByteOrder, id: u32, status: ReplyStatus) -> Vec<u8> {
    let mut out = Vec::new();
    let to = ReplyTo { version, order, id };
    to.reply(&mut out, status, &ARGUMENTS).expect("short");
    out
}

#[test]
fn calls_of_all_versions_and_byte_orders_are_parsed_alike() {
    for (version, order) in VERSIONS.iter().flat_map(|v| ORDERS.map(|o| (*v, o))) {
        let requested = request(version, order, 77, true);
        let answered = reply(version, order, 77, ReplyStatus::NoException);
        for size in [1, 5, 12, 13, 40, 1000] {
            let dissected = PacketBuilder::new()
                .pieces(C, &requested, size)
                .pieces(S, &answered, size)
                .close(C)
                .dissect();
            let exchange = dissected.exchange();
            let place = format!("{version:?} {order:?} {size}");
            assert_eq!(exchange.protocol, Protocol::Giop);
            assert_eq!(&*exchange.name, "directDebit", "{place}");
            assert_eq!(
                (exchange.stream, exchange.status),
                (77, Some((0, None))),
                "{place}"
            );
            assert_eq!(exchange.ending, Ending::Framed);
            assert_eq!(exchange.request.message_bytes, 24, "{place}");
            assert_eq!(exchange.request.bytes(), requested.len() as u64, "{place}");
            let answer = exchange.reply.expect("a reply");
            assert_eq!(answer.message_bytes, 24, "{place}");
            let units = [MessageKind::Request, MessageKind::Reply].map(Pdu::Giop);
            assert_eq!(dissected.events.units, units);
        }
    }
}

#[test]
fn fragments_belong_to_their_message() {
    let mut long = request(Version::V12, ByteOrder::Little, 5, true);
    long.extend([8; 100]);
    let size = (long.len() - HEADER_BYTES) as u32;
    long[8..12].copy_from_slice(&size.to_le_bytes());
    let pieces = fragment(&long, 80);
    assert!(pieces.len() > 2);
    let other = request(Version::V12, ByteOrder::Little, 6, false);
    // Another message may come between.
    let requested = [&pieces[0], &other, &pieces[1..].concat()]
        .map(|p| p.clone())
        .concat();
    let answered = reply(
        Version::V12,
        ByteOrder::Little,
        5,
        ReplyStatus::UserException,
    );
    for size in [1, 7, 80, 1000] {
        let dissected = PacketBuilder::new()
            .pieces(C, &requested, size)
            .pieces(S, &answered, size)
            .close(C)
            .dissect();
        let [one_way, call] = &dissected.events.exchanges[..] else {
            panic!("{:#?}", dissected.events.exchanges);
        };
        assert_eq!((one_way.stream, one_way.reply), (6, None));
        assert_eq!(one_way.ending, Ending::Framed, "nothing was to come");
        assert_eq!((call.stream, call.status), (5, Some((1, None))));
        assert_eq!(call.request.message_bytes, 124, "{size}");
        let heads = (pieces.len() - 1) as u64 * 16;
        assert_eq!(call.request.overhead_bytes, long.len() as u64 - 124 + heads);
    }
}

#[test]
fn control_messages_are_overhead_and_no_calls() {
    let (version, order) = (Version::V12, ByteOrder::Big);
    let locate = put(version, order, MessageKind::LocateRequest, &[0; 20]);
    let located = put(version, order, MessageKind::LocateReply, &[0; 8]);
    let mut close = Vec::new();
    close_connection(&mut close, version);
    let dissected = PacketBuilder::new()
        .send(C, &locate)
        .send(S, &located)
        .send(C, &request(version, order, 1, true))
        .send(S, &reply(version, order, 1, ReplyStatus::NoException))
        .send(S, &close)
        .close(S)
        .dissect();
    let exchange = dissected.exchange();
    assert!(exchange.closed_by_server);
    assert_eq!(dissected.bytes(Kind::GiopControl), 32 + 20 + 12);
}

#[test]
fn in_the_middle_the_first_message_shows_the_client() {
    let (version, order) = (Version::V12, ByteOrder::Big);
    let dissected = PacketBuilder::middle()
        .send(C, b"the end of a reply")
        .send(S, &request(version, order, 1, true))
        .send(C, &reply(version, order, 1, ReplyStatus::NoException))
        .dissect();
    assert_eq!(dissected.exchange().caller, Direction::Reply);
    assert_eq!(dissected.exchange().ending, Ending::Framed);
}

/// Numbers tell which reply is whose: only what is lost is missing, and the one that
/// came too late behind it.
#[test]
fn after_a_lost_request_replies_are_paired_by_request_id() {
    let (version, order) = (Version::V12, ByteOrder::Big);
    let mut builder = PacketBuilder::new();
    for id in 0..8 {
        let requested = request(version, order, id, true);
        if id == 3 {
            builder.lose(C, &requested);
        } else {
            builder.send(C, &requested);
        }
        builder
            .send(S, &reply(version, order, id, ReplyStatus::NoException))
            .ack(C);
    }
    let dissected = builder.close(C).dissect();
    let whole = dissected.events.exchanges.iter();
    let whole = whole.filter(|exchange| exchange.ending == Ending::Framed);
    assert!(whole.map(|exchange| exchange.stream).eq([0, 1, 2, 5, 6, 7]));
    let unpaired = dissected.dissection.exchanges.unpaired;
    assert_eq!((unpaired.requests, unpaired.replies), (1, 2));
}
