//! CDR: bytes derived by hand from CORBA 3.3 part 2, section 9.3, and input
//! that must be refused.

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use wirelab_contract::transfer::{Record, SubmitRequest, UploadRequest};
use wirelab_wire_own::cdr::{
    self, Break, ByteOrder, Error, Reader, StringFault, Writer, from_slice, to_vec,
};

const ORDERS: [ByteOrder; 2] = [ByteOrder::Big, ByteOrder::Little];

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
struct Every {
    open: bool,
    small: i32,
    large: i64,
    text: String,
    weight: f64,
    numbers: Vec<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    last: bool,
}

fn every() -> Every {
    Every {
        open: true,
        small: -2,
        large: 0x0102_0304_0506_0708,
        text: "hé".into(),
        weight: 1.5,
        numbers: vec![1],
        note: None,
        last: true,
    }
}

/// [`every`] in big-endian order; the numbers on the right are places.
const EVERY_BIG: &[&[u8]] = &[
    &[1, 0, 0, 0],                      // 0: boolean, 3 bytes up to 4
    &[0xFF, 0xFF, 0xFF, 0xFE],          // 4: long
    &[1, 2, 3, 4, 5, 6, 7, 8],          // 8: long long
    &[0, 0, 0, 4, b'h', 0xC3, 0xA9, 0], // 16: string, its NUL counts
    &[0x3F, 0xF8, 0, 0, 0, 0, 0, 0],    // 24: double
    &[0, 0, 0, 1, 0, 0, 0, 0],          // 32: count of one, 4 bytes up to 40
    &[0, 0, 0, 0, 0, 0, 0, 1],          // 40: long long
    &[0, 0, 0, 0],                      // 48: an absent optional is an empty sequence
    &[1],                               // 52: boolean
];

#[test]
fn every_type_lies_at_a_multiple_of_its_size() {
    let big = EVERY_BIG.concat();
    assert_eq!(to_vec(ByteOrder::Big, &every()).unwrap(), big);
    assert_eq!(from_slice::<Every>(ByteOrder::Big, &big).unwrap(), every());
}

#[test]
fn the_other_order_turns_every_number_round_and_nothing_else() {
    let mut little = EVERY_BIG.concat();
    for number in [4..8, 8..16, 16..20, 24..32, 32..36, 40..48, 48..52] {
        little[number].reverse();
    }
    assert_eq!(to_vec(ByteOrder::Little, &every()).unwrap(), little);
    assert_eq!(
        from_slice::<Every>(ByteOrder::Little, &little).unwrap(),
        every()
    );
}

#[test]
fn an_optional_field_is_a_sequence_of_none_or_one() {
    let with = Every {
        note: Some("n".into()),
        ..Every::default()
    };
    for order in ORDERS {
        let bytes = to_vec(order, &with).unwrap();
        assert_eq!(from_slice::<Every>(order, &bytes).unwrap(), with);
    }
    let two = to_vec(ByteOrder::Big, &vec![1_i32, 2]).unwrap();
    let refused = from_slice::<Option<i32>>(ByteOrder::Big, &two);
    assert_eq!(refused, Err(Error::Optional { at: 0, count: 2 }));
}

#[test]
fn bytes_are_a_sequence_of_octets_with_nothing_between() {
    let request = UploadRequest {
        data: vec![7, 8, 9],
    };
    let bytes = to_vec(ByteOrder::Big, &request).unwrap();
    assert_eq!(bytes, [0, 0, 0, 3, 7, 8, 9]);
    assert_eq!(
        from_slice::<UploadRequest>(ByteOrder::Big, &bytes).unwrap(),
        request
    );
}

#[test]
fn a_contracts_records_follow_each_other_aligned() {
    let record = Record {
        id: 1,
        quantity: 2,
        item: "ab".into(),
        remark: String::new(),
    };
    let request = SubmitRequest {
        batch: "b".into(),
        records: vec![record.clone(), record],
    };
    let expected = [
        &[0, 0, 0, 2, b'b', 0, 0, 0][..],      // 0: batch, 2 bytes up to 8
        &[0, 0, 0, 2, 0, 0, 0, 0],             // 8: two records; id lies at 16
        &[0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2], // 16: id, quantity
        &[0, 0, 0, 3, b'a', b'b', 0, 0],       // 28: item, 1 byte up to 36
        &[0, 0, 0, 1, 0, 0, 0, 0],             // 36: remark, 3 bytes up to 44 …
        &[0, 0, 0, 0],                         // 44: … and 4 up to 48
        &[0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2], // 48
        &[0, 0, 0, 3, b'a', b'b', 0, 0],       // 60
        &[0, 0, 0, 1, 0],                      // 68
    ]
    .concat();
    assert_eq!(to_vec(ByteOrder::Big, &request).unwrap(), expected);
    assert_eq!(
        from_slice::<SubmitRequest>(ByteOrder::Big, &expected).unwrap(),
        request
    );
}

#[test]
fn a_start_within_a_message_moves_the_padding() {
    for (start, padding) in [(0, 0), (1, 7), (4, 4), (7, 1), (8, 0), (12, 4)] {
        let mut out = b"before".to_vec();
        cdr::write(ByteOrder::Big, &1_i64, &mut out, start).unwrap();
        assert_eq!(out.len(), 6 + padding + 8, "from {start}");
        let mut reader = Reader::new(ByteOrder::Big, &out[6..], start);
        assert_eq!(reader.long_long(), Ok(1));
        assert_eq!(reader.finish(), Ok(()));
    }
}

#[test]
fn a_break_starts_alignment_again() {
    // A fragment of GIOP 1.1 begins at 12: a double right at its beginning
    // lies 4 bytes further on, though the joined bytes would not need that.
    let bytes = [&[1; 4][..], &[0; 4], &2_i64.to_be_bytes()].concat();
    let breaks = [Break {
        at: 4,
        alignment: 12,
    }];
    let mut reader = Reader::new(ByteOrder::Big, &bytes, 12).with_breaks(&breaks);
    assert_eq!(reader.ulong(), Ok(0x0101_0101));
    assert_eq!(reader.long_long(), Ok(2));
    assert_eq!(reader.finish(), Ok(()));
    // Padding that fills the end of one fragment is followed by that of the next.
    let bytes = [&[1, 0, 0, 0][..], &[0; 4], &2_i64.to_be_bytes()].concat();
    let mut reader = Reader::new(ByteOrder::Big, &bytes, 12).with_breaks(&breaks);
    assert_eq!(reader.octet(), Ok(1));
    assert_eq!(reader.long_long(), Ok(2));
}

#[test]
fn every_truncation_is_refused() {
    for order in ORDERS {
        let whole = to_vec(order, &every()).unwrap();
        for cut in 0..whole.len() {
            let error = from_slice::<Every>(order, &whole[..cut]).unwrap_err();
            assert!(
                matches!(error, Error::Truncated { .. } | Error::Length { .. }),
                "cut at {cut}: {error}"
            );
        }
        let longer = [&whole[..], &[0]].concat();
        let trailing = Error::Trailing {
            at: whole.len(),
            bytes: 1,
        };
        assert_eq!(from_slice::<Every>(order, &longer), Err(trailing));
    }
}

#[test]
fn lying_lengths_are_refused_before_anything_is_made_of_them() {
    let lie = [0xFF, 0xFF, 0xFF, 0xFF, 1, 0, 0, 0];
    let refused = Err(Error::Length {
        at: 0,
        length: u32::MAX,
        rest: 4,
    });
    assert_eq!(
        from_slice::<String>(ByteOrder::Big, &lie),
        refused.clone().map(|()| String::new())
    );
    assert_eq!(
        from_slice::<Vec<i64>>(ByteOrder::Big, &lie),
        refused.map(|()| Vec::new())
    );
    // A count that the bytes could hold, if its items were bytes.
    let lie = [&[0, 0, 0, 16][..], &[0; 16]].concat();
    assert!(matches!(
        from_slice::<Vec<i64>>(ByteOrder::Big, &lie),
        Err(Error::Truncated { .. })
    ));
    let nothings = from_slice::<Vec<()>>(ByteOrder::Big, &lie);
    assert!(
        matches!(nothings, Err(Error::Unsupported(_))),
        "{nothings:?}"
    );
}

#[test]
fn strings_end_in_their_only_nul_and_are_utf8() {
    let faulty = [
        (&[0, 0, 0, 0][..], StringFault::NoRoom),
        (&[0, 0, 0, 2, b'a', b'b'], StringFault::NoNul),
        (&[0, 0, 0, 3, b'a', 0, 0], StringFault::InnerNul),
        (&[0, 0, 0, 3, 0xC3, 0x28, 0], StringFault::Utf8),
        (&[0, 0, 0, 4, 0xED, 0xA0, 0x80, 0], StringFault::Utf8),
    ];
    for (bytes, fault) in faulty {
        let refused = Err(Error::String { at: 0, fault });
        assert_eq!(from_slice::<String>(ByteOrder::Big, bytes), refused);
    }
    assert!(to_vec(ByteOrder::Big, "a\0b").is_err());
}

#[test]
fn a_boolean_is_0_or_1() {
    assert_eq!(from_slice(ByteOrder::Big, &[1]), Ok(true));
    let refused = Err(Error::Boolean { at: 0, value: 2 });
    assert_eq!(from_slice::<bool>(ByteOrder::Big, &[2]), refused);
}

#[test]
fn what_the_profile_has_not_is_refused_by_name() {
    let map = std::collections::BTreeMap::from([(1, 2)]);
    assert_eq!(
        to_vec(ByteOrder::Big, &map),
        Err(Error::Unsupported("a map"))
    );
    assert_eq!(
        to_vec(ByteOrder::Big, &'c'),
        Err(Error::Unsupported("char"))
    );
    let any = from_slice::<serde_json::Value>(ByteOrder::Big, &[0]);
    assert_eq!(any, Err(Error::Unsupported("a value of unknown type")));
}

#[test]
fn a_writer_appends_to_what_is_there() {
    let mut out = vec![9; 3];
    let mut writer = Writer::new(ByteOrder::Little, &mut out, 0);
    writer.octet(1);
    writer.ushort(2);
    assert_eq!(out, [9, 9, 9, 1, 0, 2, 0]);
}

fn any_every() -> impl Strategy<Value = Every> {
    let numbers = (any::<bool>(), any::<i32>(), any::<i64>(), any::<f64>());
    let texts = ("[^\0]{0,9}", proptest::option::of("[^\0]{0,9}"));
    (
        numbers,
        texts,
        proptest::collection::vec(any::<i64>(), 0..5),
    )
        .prop_map(
            |((open, small, large, weight), (text, note), numbers)| Every {
                open,
                small,
                large,
                text,
                weight,
                numbers,
                note,
                last: !open,
            },
        )
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(value in any_every(), big in any::<bool>(), start in 0_usize..16) {
        let order = ORDERS[usize::from(big)];
        let mut out = Vec::new();
        cdr::write(order, &value, &mut out, start).unwrap();
        let read: Every = cdr::from_reader(Reader::new(order, &out, start)).unwrap();
        prop_assert_eq!(read, value);
    }

    #[test]
    fn garbage_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
        for order in ORDERS {
            let _ = from_slice::<Every>(order, &bytes);
            let _ = from_slice::<SubmitRequest>(order, &bytes);
        }
    }
}
