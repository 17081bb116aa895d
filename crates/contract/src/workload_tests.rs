//! Workloads have the size that was asked for, and the variety that was promised.

use proptest::prelude::*;

use super::*;
use crate::contract::Contract;
use crate::model::{self, RECORDS_MAX};

fn assert_exact(bytes: u64, seed: u64) -> SubmitRequest {
    let request = submit_request(bytes, seed).unwrap();
    assert_eq!(request.encode_to_vec().len() as u64, bytes, "seed {seed}");
    assert!(request.records.len() <= RECORDS_MAX);
    request
}

#[test]
fn every_small_size_can_be_had() {
    // Includes the sizes at which one prefix grows, where one size cannot be had directly.
    for bytes in SUBMIT_BYTES_MIN..2_500 {
        assert_exact(bytes, bytes);
    }
}

#[test]
fn large_sizes_can_be_had_within_the_contract_s_limit() {
    for bytes in [
        1_000_000,
        1_048_576,
        4_200_001,
        10_000_000,
        SUBMIT_BYTES_MAX,
    ] {
        let request = assert_exact(bytes, 7);
        assert!(model::submit(&request).is_ok());
    }
}

#[test]
fn sizes_out_of_range_are_refused_by_name() {
    for bytes in [0, SUBMIT_BYTES_MIN - 1, SUBMIT_BYTES_MAX + 1, u64::MAX] {
        let message = submit_request(bytes, 1).unwrap_err().to_string();
        assert!(
            message.contains("Submit takes 100 to 67108864 bytes"),
            "{message}"
        );
    }
    assert_eq!(
        call(Operation::Download, 1, 0, 0).unwrap_err(),
        WorkloadError::ChunkBytes(0)
    );
    assert!(call(Operation::UploadStream, 1, 1 << 21, 0).is_err());
    assert!(call(Operation::Upload, TRANSFER_BYTES_MAX + 1, 1, 0).is_err());
    assert!(call(Operation::Hello, HELLO_BYTES_MAX + 1, 1, 0).is_err());
}

#[test]
fn records_are_of_every_kind() {
    let request = assert_exact(100_000, 42);
    let reply = model::submit(&request).unwrap();
    let refused = reply.refused.len() as f64 / request.records.len() as f64;
    assert!(
        (refused - 1.0 / 16.0).abs() < 0.005,
        "refused share {refused}"
    );
    let has = |reason| reply.refused.iter().any(|r| r.reason == reason);
    assert!(has("quantity must be positive") && has("item must not be empty"));
    let records = &request.records;
    assert!(records.iter().any(|r| r.id > 1 << 53) && records.iter().any(|r| r.id < -(1 << 53)));
    assert!(records.iter().any(|r| (0..128).contains(&r.id)));
    assert!(records.iter().any(|r| r.quantity > 1 << 28) && records.iter().any(|r| r.quantity < 0));
    assert!(records.iter().any(|r| !r.item.is_ascii()));
    assert!(
        records
            .iter()
            .any(|r| r.remark.contains('\\') || r.item.contains('"'))
    );
}

#[test]
fn two_hundred_bytes_hold_a_refused_record() {
    let reply = model::submit(&assert_exact(200, 1)).unwrap();
    assert!(!reply.refused.is_empty() && reply.accepted > 0);
}

#[test]
fn a_seed_gives_one_request_and_another_seed_another() {
    assert_eq!(submit_request(1_000, 3), submit_request(1_000, 3));
    assert_ne!(submit_request(1_000, 3), submit_request(1_000, 4));
}

#[test]
fn every_operation_that_needs_no_other_has_a_call_with_its_answer() {
    for operation in Operation::ALL {
        // Only transfer has operations with a size.
        let bytes = match operation.contract() {
            Contract::Transfer => 150,
            _ => 0,
        };
        match call(operation, bytes, 64, 1) {
            Ok(call) => {
                assert_eq!(call.operation(), operation);
                assert!(call.answer().is_ok(), "{operation}");
            }
            Err(error) => assert_eq!(error, WorkloadError::Sequence(operation)),
        }
    }
    let alone = |operation| call(operation, 0, 1, 0).is_ok();
    assert!(alone(Operation::Reserve) && !alone(Operation::ReleaseRes));
}

#[test]
fn a_document_has_the_size_asked_for_and_other_requests_have_none() {
    let Ok(Call::Deploy(request)) = call(Operation::Deploy, 1 << 20, 1, 0) else {
        panic!("a document of 1 MiB is possible");
    };
    assert_eq!(request.document.len(), 1 << 20);
    assert!(call(Operation::Deploy, (1 << 20) + 1, 1, 0).is_err());
    for operation in [Operation::Book, Operation::Credit, Operation::ConfirmAction] {
        let refused = call(operation, 5, 1, 0).unwrap_err().to_string();
        assert!(refused.contains("use bytes = 0"), "{refused}");
    }
}

proptest! {
    #[test]
    fn any_seed_and_size_is_exact_and_survives_json(
        bytes in SUBMIT_BYTES_MIN..40_000, seed in any::<u64>()
    ) {
        let request = assert_exact(bytes, seed);
        let json = serde_json::to_string(&request).unwrap();
        prop_assert_eq!(serde_json::from_str::<SubmitRequest>(&json).unwrap(), request);
    }
}
