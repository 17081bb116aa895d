//! The model against the text of contracts/README.md.

use super::*;
use crate::operation::Operation;
use crate::{Call, Reply};

fn record(id: i64, quantity: i32, item: &str) -> Record {
    Record {
        id,
        quantity,
        item: item.to_owned(),
        remark: String::new(),
    }
}

#[test]
fn submit_totals_what_it_accepts_and_names_the_rest_in_order() {
    let records = vec![
        record(1, 5, "bolt"),
        record(i64::MIN, 0, "bolt"),
        // Breaks both rules; the reason must be the quantity.
        record(3, -1, ""),
        record(4, 7, ""),
        record(5, i32::MAX, "nut"),
    ];
    let reply = submit(&SubmitRequest {
        batch: "b".into(),
        records,
    })
    .unwrap();
    assert_eq!(
        (reply.accepted, reply.quantity_total),
        (2, 5 + i64::from(i32::MAX))
    );
    let refused: Vec<_> = reply
        .refused
        .iter()
        .map(|r| (r.id, r.reason.as_str()))
        .collect();
    let positive = "quantity must be positive";
    assert_eq!(
        refused,
        [
            (i64::MIN, positive),
            (3, positive),
            (4, "item must not be empty")
        ]
    );
}

#[test]
fn submit_reports_an_empty_batch_before_too_many_records() {
    let records = vec![record(1, 1, "x"); RECORDS_MAX + 1];
    let nameless = SubmitRequest {
        batch: String::new(),
        records: records.clone(),
    };
    assert_eq!(submit(&nameless), Err(ApplicationError::EmptyBatch));
    let mut crowded = SubmitRequest {
        batch: "b".into(),
        records,
    };
    assert_eq!(submit(&crowded), Err(ApplicationError::TooManyRecords));
    crowded.records.pop();
    assert_eq!(submit(&crowded).unwrap().accepted, 100_000);
    // No batch name either: the bound on lists comes before everything.
    let beyond = SubmitRequest {
        batch: String::new(),
        records: vec![Record::default(); ITEMS_MAX + 1],
    };
    assert_eq!(submit(&beyond), Err(ApplicationError::TooManyItems));
}

#[test]
fn upload_answers_length_and_digest() {
    // SHA-256 of nothing and of "abc": FIPS 180-4, example computations.
    let nothing = upload(b"").unwrap();
    assert_eq!(nothing.length, 0);
    assert!(nothing.sha256.starts_with("e3b0c44298fc1c14"));
    let abc = upload(b"abc").unwrap();
    assert_eq!(
        abc.sha256,
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
}

#[test]
fn upload_takes_64_mib_and_no_byte_more() {
    let mut data = vec![0; TRANSFER_BYTES_MAX as usize];
    assert_eq!(upload(&data).unwrap().length, 67_108_864);
    data.push(0);
    assert_eq!(upload(&data), Err(ApplicationError::TooManyBytes));
}

#[test]
fn download_cuts_the_pattern_into_chunks() {
    for (length, chunk_bytes) in [
        (0, 1),
        (1, 1),
        (10, 3),
        (9, 3),
        // A chunk that is larger than the file, a full last one, and one byte more than a
        // chunk.
        (100, 1 << 20),
        (4097, 4096),
    ] {
        let chunks = download(&DownloadRequest {
            length,
            chunk_bytes,
        })
        .unwrap();
        assert_eq!(
            chunks.len() as i64,
            (length as u64).div_ceil(chunk_bytes as u64) as i64
        );
        let sizes: Vec<_> = chunks
            .clone()
            .map(|chunk| chunk.data.len() as i32)
            .collect();
        assert!(sizes.iter().rev().skip(1).all(|&size| size == chunk_bytes));
        let data: Vec<u8> = chunks.flat_map(|chunk| chunk.data).collect();
        assert_eq!(data, texts::pattern(length as usize));
    }
}

#[test]
fn download_refuses_what_the_contract_refuses() {
    let refused = |length, chunk_bytes| {
        download(&DownloadRequest {
            length,
            chunk_bytes,
        })
        .err()
    };
    assert_eq!(refused(-1, 0), Some(ApplicationError::Length));
    assert_eq!(refused(67_108_865, 1), Some(ApplicationError::Length));
    assert_eq!(refused(i64::MIN, 1), Some(ApplicationError::Length));
    assert_eq!(refused(1, 0), Some(ApplicationError::ChunkBytes));
    assert_eq!(refused(0, 1_048_577), Some(ApplicationError::ChunkBytes));
    assert_eq!(refused(1, i32::MIN), Some(ApplicationError::ChunkBytes));
    assert_eq!(refused(67_108_864, 1_048_576), None);
}

#[test]
fn a_call_answers_as_its_operation_does() {
    assert_eq!(
        Call::Hello { hello_bytes: 20 }.answer(),
        Ok(Reply::Hello(hello(20)))
    );
    let bytes = Call::HelloBytes { hello_bytes: 20 }.answer();
    assert_eq!(
        bytes,
        Ok(Reply::HelloBytes(HelloBytesReply {
            text: texts::text(20).into()
        }))
    );
    let stream = Call::UploadStream {
        data: vec![1, 2, 3],
        chunk_bytes: 2,
    };
    assert_eq!(
        stream.answer(),
        Ok(Reply::Upload(upload(&[1, 2, 3]).unwrap()))
    );
    assert_eq!(stream.operation(), Operation::UploadStream);
}
