//! Every payload byte belongs to exactly one kind, whatever is sent.
//!
//! [`PacketBuilder::dissect`](super::packet_builder::PacketBuilder::dissect) itself checks, packet by packet and in
//! the document, that the books balance.

use proptest::prelude::*;

use super::packet_builder::{C, PacketBuilder, S};

/// What sides say: parts of all protocols, and noise.
fn words() -> impl Strategy<Value = Vec<u8>> {
    let known: Vec<&[u8]> = vec![
        b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        b"POST /a HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello",
        b"POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc",
        b"HTTP/1.0 200 OK\r\n\r\nto the end",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\0\0\0\x04\0\0\0\0\0",
        b"\0\0\x05\x01\x04\0\0\0\x01\x82\x86\x84\x41\x00",
        b"\0\0\x03\0\x01\0\0\0\x01abc",
        b"GIOP\x01\x02\0\0\0\0\0\x18\0\0\0\x01\x03\0\0\0\0\0\0\0\0\0\0\x01k\0\0\0\0\0\0\x02",
        b"GIOP\x01\x00\0\x05\0\0\0\0",
        b"5\nhello",
        b"\x16\x03\x03\0\x04abcd\x17\x03\x03\0\x02ab",
    ];
    // Mostly well-formed parts: noise alone is never recognised as a protocol.
    let known = prop::sample::select(known).prop_map(<[u8]>::to_vec);
    let noise = prop::collection::vec(any::<u8>(), 1..60);
    prop_oneof![4 => known, 1 => noise]
}

#[derive(Debug, Clone)]
enum Action {
    Send(bool, Vec<u8>, usize),
    Lose(bool, Vec<u8>),
    Repeat,
    Snap(usize),
    Fin(bool),
    Reset(bool),
    NextConnection,
}

fn act() -> impl Strategy<Value = Action> {
    prop_oneof![
        20 => (any::<bool>(), words(), 1_usize..40).prop_map(|(c, w, n)| Action::Send(c, w, n)),
        2 => (any::<bool>(), words()).prop_map(|(c, w)| Action::Lose(c, w)),
        2 => Just(Action::Repeat),
        1 => (0_usize..100).prop_map(Action::Snap),
        1 => any::<bool>().prop_map(Action::Fin),
        1 => any::<bool>().prop_map(Action::Reset),
        1 => Just(Action::NextConnection),
    ]
}

fn builder(from_syn: bool, acts: &[Action]) -> PacketBuilder {
    let side = |client: &bool| if *client { C } else { S };
    let mut builder = if from_syn {
        PacketBuilder::new()
    } else {
        PacketBuilder::middle()
    };
    builder.ack(C);
    for act in acts {
        match act {
            Action::Send(client, words, size) => builder.pieces(side(client), words, *size),
            Action::Lose(client, words) => builder
                .lose(side(client), words)
                .ack(side(client).opposite()),
            Action::Repeat => builder.repeat(),
            Action::Snap(bytes) => builder.snap(*bytes),
            Action::Fin(client) => builder.fin(side(client)),
            Action::Reset(client) => builder.reset(side(client)),
            Action::NextConnection => builder.next_connection(),
        };
    }
    builder
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_byte_belongs_to_one_layer(from_syn: bool, acts in prop::collection::vec(act(), 1..30)) {
        builder(from_syn, &acts).dissect();
    }

    /// Without holes, repetitions and a snap length nothing is left over.
    #[test]
    fn no_byte_is_left_without_a_layer(words in prop::collection::vec((any::<bool>(), words(), 1_usize..40), 1..20)) {
        let acts: Vec<Action> = words.into_iter().map(|(c, w, n)| Action::Send(c, w, n)).collect();
        let dissected = builder(true, &acts).dissect();
        let payload = &dissected.dissection.accounting.total.payload;
        prop_assert_eq!((payload.unread_bytes, payload.retransmitted_bytes), (0, 0));
    }
}
