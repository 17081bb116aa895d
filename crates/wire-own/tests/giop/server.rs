//! What a server finds in the bytes of its clients.

use wirelab_wire_own::cdr::{self, ByteOrder, Writer, to_vec};
use wirelab_wire_own::giop::{
    CODE_SET_UTF8, ClientMessage, CodeSets, Deframer, Ior, Options, Request, Version, fragment,
};

use super::wire::{KEY, ORDERS, Wire, options, request};

/// Every message in `input`, given in pieces of `step` bytes.
fn messages(input: &[u8], step: usize) -> Vec<ClientMessage> {
    let mut deframer = Deframer::new();
    let mut found = Vec::new();
    for mut piece in input.chunks(step) {
        while let Some(inbound) = deframer.next(&mut piece).unwrap() {
            found.push(inbound);
        }
        assert!(piece.is_empty());
    }
    assert!(deframer.is_idle());
    found
}

fn one(input: &[u8]) -> Request {
    let mut found = messages(input, input.len());
    match (found.pop(), found.len()) {
        (Some(ClientMessage::Request(request)), 0) => request,
        other => panic!("{other:?}"),
    }
}

/// A message of any version, its size filled in.
fn message(
    version: u8,
    order: ByteOrder,
    kind: u8,
    content: impl FnOnce(&mut Writer<'_>),
) -> Vec<u8> {
    let mut out = [b"GIOP", &[1, version, order.flag(), kind][..], &[0; 4]].concat();
    content(&mut Writer::new(order, &mut out, 12));
    let size = out.len() as u32 - 12;
    let size = match order {
        ByteOrder::Big => size.to_be_bytes(),
        ByteOrder::Little => size.to_le_bytes(),
    };
    out[8..12].copy_from_slice(&size);
    out
}

#[test]
fn our_clients_requests_are_understood() {
    for order in ORDERS {
        let mut wire = Wire::new(Options {
            byte_order: order,
            ..options(2)
        });
        let body = to_vec(order, &(7_i32, 8_i64)).unwrap();
        let sent = [
            wire.send(0, &request(1, "directDebit", &body)),
            wire.send(1, &request(1, "directDebit", &body)),
        ]
        .concat();
        for step in [1, 3, sent.len()] {
            let found = messages(&sent, step);
            assert_eq!(found.len(), 2);
            for (id, inbound) in found.into_iter().enumerate() {
                let ClientMessage::Request(request) = inbound else {
                    panic!("{inbound:?}")
                };
                assert_eq!(request.reply_to.id, id as u32);
                assert_eq!(
                    (request.reply_to.version, request.reply_to.order),
                    (Version::V12, order)
                );
                assert!(request.response_expected);
                assert_eq!(request.object_key, KEY);
                assert_eq!(request.operation, "directDebit");
                assert_eq!(request.code_sets, (id == 0).then(CodeSets::default));
                assert_eq!(request.body.read::<(i32, i64)>(), Ok((7, 8)));
                assert_eq!(request.body.bytes(), body);
            }
        }
    }
}

/// GIOP 1.0 and 1.1: contexts, id, flag, key, operation, principal; the body
/// follows at once.
fn old_request(version: u8, order: ByteOrder, flag: u8, arguments: &(i32, i64)) -> Vec<u8> {
    let mut out = message(version, order, 0, |writer| {
        writer.ulong(0);
        writer.ulong(5);
        writer.octet(flag);
        if version == 1 {
            writer.raw(&[0; 3]);
        }
        writer.octets(b"key").unwrap();
        writer.string("op").unwrap();
        writer.octets(&[]).unwrap();
    });
    let start = out.len();
    cdr::write(order, arguments, &mut out, start).unwrap();
    let content = out.split_off(12);
    message(version, order, 0, |writer| writer.raw(&content))
}

#[test]
fn requests_of_older_versions_are_understood() {
    for order in ORDERS {
        for (minor, version) in [(0, Version::V10), (1, Version::V11)] {
            let request = one(&old_request(minor, order, 1, &(1, 2)));
            assert_eq!(request.reply_to.version, version);
            assert_eq!(request.reply_to.id, 5);
            assert_eq!(request.object_key, b"key");
            assert_eq!(request.operation, "op");
            assert!(request.response_expected);
            assert_eq!(request.body.read::<(i32, i64)>(), Ok((1, 2)));
            assert!(!one(&old_request(minor, order, 0, &(1, 2))).response_expected);
        }
    }
}

#[test]
fn fragments_of_every_size_are_joined() {
    let data: Vec<u8> = (0..200).collect();
    let arguments = (
        1_i64,
        String::from_utf8(vec![b'a'; 50]).unwrap(),
        2_i64,
        data,
    );
    let mut wire = Wire::new(options(1));
    let sent = wire.send(
        0,
        &request(1, "op", &to_vec(ByteOrder::Little, &arguments).unwrap()),
    );
    for bytes_max in (24..sent.len() + 8).step_by(8) {
        let request = one(&fragment(&sent, bytes_max).concat());
        assert_eq!(
            request.body.read(),
            Ok(arguments.clone()),
            "fragments of {bytes_max} bytes"
        );
    }
}

#[test]
fn fragments_of_several_requests_may_alternate() {
    let mut wire = Wire::new(options(2));
    let [one, two] =
        [0, 1].map(|call| fragment(&wire.send(call, &request(1, "op", &[call as u8; 50])), 32));
    let pairs = one
        .iter()
        .zip(&two)
        .flat_map(|(one, two)| [one.clone(), two.clone()]);
    let mut input: Vec<u8> = pairs.collect::<Vec<_>>().concat();
    for rest in one.iter().skip(two.len()).chain(two.iter().skip(one.len())) {
        input.extend_from_slice(rest);
    }
    let mut found = messages(&input, 1);
    assert_eq!(found.len(), 2);
    found.sort_by_key(|inbound| matches!(inbound, ClientMessage::Request(r) if r.reply_to.id == 1));
    for (id, inbound) in found.iter().enumerate() {
        let ClientMessage::Request(request) = inbound else {
            panic!("{inbound:?}")
        };
        assert_eq!(request.body.bytes(), [id as u8; 50]);
    }
}

#[test]
fn a_fragment_of_giop_11_is_aligned_by_its_own_beginning() {
    // The header ends at 44; the long fills 44 to 48. In the Fragment, the
    // long long lies at 16 of its message, behind 4 bytes of padding.
    let order = ByteOrder::Big;
    let mut first = old_request(1, order, 1, &(1, 2));
    let (long_end, length) = (first.len() - 8, first.len());
    let padded = if long_end.is_multiple_of(8) {
        long_end
    } else {
        long_end - 4
    };
    first.truncate(padded);
    let size = (padded - 12) as u32;
    first[6] |= 2;
    first[8..12].copy_from_slice(&size.to_be_bytes());
    let rest = message(1, order, 7, |writer| writer.long_long(2));
    assert_eq!(rest.len(), 24);
    assert!(length > padded);
    let request = one(&[first, rest].concat());
    assert_eq!(request.body.read::<(i32, i64)>(), Ok((1, 2)));
}

#[test]
fn an_object_may_be_named_by_a_profile_or_a_reference() {
    let ior = Ior::new("IDL:x:1.0", "localhost", 1, KEY);
    for order in ORDERS {
        let mut reference = Vec::new();
        ior.write(&mut Writer::new(order, &mut reference, 0))
            .unwrap();
        // type id 4 + 10 + 2 bytes of padding, the number of profiles 4
        let profile = reference[20..].to_vec();
        for (mode, bytes) in [(1_u16, &profile), (2, &reference)] {
            let input = message(2, order, 0, |writer| {
                writer.ulong(1);
                writer.raw(&[3, 0, 0, 0]);
                writer.ushort(mode);
                writer.align(4);
                if mode == 2 {
                    writer.ulong(0);
                }
                writer.raw(bytes);
                writer.string("op").unwrap();
                writer.ulong(0);
            });
            let request = one(&input);
            assert_eq!(
                (&request.object_key[..], &request.operation[..]),
                (KEY, "op")
            );
        }
    }
}

#[test]
fn small_messages_are_understood() {
    let locate_12 = message(2, ByteOrder::Big, 3, |writer| {
        writer.ulong(4);
        writer.ushort(0);
        writer.octets(KEY).unwrap();
    });
    let locate_10 = message(0, ByteOrder::Little, 3, |writer| {
        writer.ulong(5);
        writer.octets(KEY).unwrap();
    });
    let cancel = message(1, ByteOrder::Little, 2, |writer| writer.ulong(6));
    let close = message(2, ByteOrder::Big, 5, |_| {});
    let error = message(0, ByteOrder::Big, 6, |_| {});
    let found = messages(&[locate_12, locate_10, cancel, close, error].concat(), 5);
    let [
        ClientMessage::Locate(four),
        ClientMessage::Locate(five),
        rest @ ..,
    ] = &found[..]
    else {
        panic!("{found:?}")
    };
    assert_eq!((four.reply_to.id, five.reply_to.id), (4, 5));
    assert_eq!((&four.object_key[..], &five.object_key[..]), (KEY, KEY));
    let expected = [
        ClientMessage::Cancel { id: 6 },
        ClientMessage::CloseConnection,
        ClientMessage::MessageError,
    ];
    assert_eq!(rest, expected);
}

#[test]
fn a_cancelled_request_waits_for_no_more_fragments() {
    let mut wire = Wire::new(options(1));
    let pieces = fragment(&wire.send(0, &request(1, "op", &[1; 50])), 32);
    let cancel = message(2, ByteOrder::Little, 2, |writer| writer.ulong(0));
    assert_eq!(
        messages(&[pieces[0].clone(), cancel].concat(), 7),
        [ClientMessage::Cancel { id: 0 }]
    );
}

#[test]
fn code_sets_are_reported_as_received() {
    let mut wire = Wire::new(options(1));
    let mut sent = wire.send(0, &request(1, "op", &[]));
    let at = sent
        .windows(4)
        .position(|bytes| bytes == CODE_SET_UTF8.to_le_bytes())
        .unwrap();
    sent[at..at + 4].copy_from_slice(&0x0001_0001_u32.to_le_bytes());
    assert_eq!(one(&sent).code_sets.unwrap().narrow, 0x0001_0001);
}
