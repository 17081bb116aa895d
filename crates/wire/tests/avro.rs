//! Avro: what golden vectors of one writer do not have.

use wirelab_contract::lists::ITEMS_MAX;
use wirelab_contract::transfer::{Record, SubmitRequest, UploadRequest};
use wirelab_wire::codec::{Codec, MessageFormat};

fn avro() -> MessageFormat {
    MessageFormat::from(Codec::Avro)
}

/// A batch `a`, then these parts.
fn submit(parts: &[&[u8]]) -> Vec<u8> {
    [b"\x02a", &parts.concat()[..]].concat()
}

/// Id 1, quantity 1, item `b`, no remark.
const RECORD: &[u8] = b"\x02\x02\x02b\x00";

#[test]
fn an_array_may_come_in_any_number_of_blocks() {
    let record = Record {
        id: 1,
        quantity: 1,
        item: "b".into(),
        remark: String::new(),
    };
    let expected = SubmitRequest {
        batch: "a".into(),
        records: vec![record; 2],
    };
    // A negative count is followed by the block's length in bytes.
    let blocks: [&[&[u8]]; 4] = [
        &[b"\x04", RECORD, RECORD, b"\x00"],
        &[b"\x02", RECORD, b"\x02", RECORD, b"\x00"],
        &[b"\x03\x14", RECORD, RECORD, b"\x00"],
        &[b"\x01\x0a", RECORD, b"\x02", RECORD, b"\x00"],
    ];
    for parts in blocks {
        let read = avro().read::<SubmitRequest>(&submit(parts));
        assert_eq!(read.as_ref(), Ok(&expected), "{parts:?}");
    }
    // Our writer makes one block.
    assert_eq!(avro().write(&expected), submit(blocks[0]));
}

#[test]
fn a_message_cut_at_any_byte_is_refused() {
    let whole = submit(&[b"\x04", RECORD, RECORD, b"\x00"]);
    for end in 0..whole.len() {
        let read = avro().read::<SubmitRequest>(&whole[..end]);
        assert!(read.is_err(), "{end} bytes");
    }
    let longer = [&whole[..], b"\x00"].concat();
    let error = avro().read::<SubmitRequest>(&longer).unwrap_err();
    assert!(error.to_string().contains("bytes after"), "{error}");
}

#[test]
fn a_list_ends_at_its_bound() {
    // Empty records have four bytes.
    let list = |items: usize| {
        let mut out = submit(&[]);
        let mut zigzag = 2 * items;
        while zigzag > 0x7f {
            out.push(zigzag as u8 | 0x80);
            zigzag >>= 7;
        }
        out.push(zigzag as u8);
        out.extend(vec![0; 4 * items + 1]);
        out
    };
    let most: SubmitRequest = avro().read(&list(ITEMS_MAX)).unwrap();
    assert_eq!(most.records.len(), ITEMS_MAX);
    let more = avro()
        .read::<SubmitRequest>(&list(ITEMS_MAX + 1))
        .unwrap_err();
    assert!(more.to_string().contains("at most 200000"), "{more}");
}

#[test]
fn a_fault_is_reported_with_its_place() {
    let error = avro().read::<UploadRequest>(b"\x0a\xab").unwrap_err();
    assert_eq!(
        error.to_string(),
        "not a message in avro, byte 1: the bytes end within a value"
    );
}
