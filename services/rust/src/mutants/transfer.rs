//! Mutants of the contract `transfer`.

use wirelab_contract::transfer::{
    HelloBytesReply, HelloReply, Record, SubmitReply, SubmitRequest, UploadReply, UploadRequest,
};
use wirelab_contract::{ApplicationError, Contract, model, ops};

use super::{Act, Mutant, Scope, answer_to, ask, change, change_reply};

/// Bytes that `upload-truncated` keeps.
const UPLOAD_KEPT: usize = 1 << 20;

/// Records that `records-beyond-1000-dropped` keeps.
const RECORDS_KEPT: usize = 1000;

const fn mutant(name: &'static str, breaks: &'static str, act: Act) -> Mutant {
    Mutant {
        name,
        breaks,
        contracts: &[Contract::Transfer],
        scope: Scope::Any,
        act,
    }
}

/// Changes a reply of Submit.
macro_rules! submit {
    (|$request:pat_param, $reply:ident| $change:expr) => {
        Act::Reply(|request, reply| {
            change_reply(
                request,
                reply,
                |$request: &SubmitRequest, $reply: &mut SubmitReply| {
                    $change;
                },
            );
        })
    };
}

pub(super) const MUTANTS: &[Mutant] = &[
    mutant(
        "total-off-by-one",
        "Submit totals one too many",
        submit!(|_, reply| reply.quantity_total += 1),
    ),
    mutant(
        "accepted-off-by-one",
        "Submit accepts one too many",
        submit!(|_, reply| reply.accepted += 1),
    ),
    mutant(
        "total-wraps",
        "Submit totals in 32 bits",
        submit!(|_, reply| reply.quantity_total = i64::from(reply.quantity_total as i32)),
    ),
    mutant(
        "refusals-reversed",
        "Submit names the refused in reverse",
        submit!(|_, reply| reply.refused.reverse()),
    ),
    mutant(
        "reasons-swapped",
        "Submit gives each refusal the other reason",
        submit!(|_, reply| swap_reasons(reply)),
    ),
    mutant(
        "id-53-bits",
        "Submit carries ids as doubles",
        submit!(|_, reply| for refused in &mut reply.refused {
            // A double has a mantissa of 53 bits: ids beyond 2^53 lose their last digits.
            refused.id = refused.id as f64 as i64;
        }),
    ),
    mutant(
        "zero-quantity-accepted",
        "Submit accepts a quantity of 0",
        submit!(|request, reply| accept(request, reply, |r| r.quantity == 0 && !r.item.is_empty())),
    ),
    mutant(
        "empty-item-accepted",
        "Submit accepts an empty item",
        submit!(|request, reply| accept(request, reply, |r| r.quantity > 0 && r.item.is_empty())),
    ),
    mutant(
        "empty-remark-refused",
        "Submit refuses records without a remark",
        Act::Request(|request| {
            change(request, |request: &mut SubmitRequest| {
                let bare = |record: &&mut Record| record.remark.is_empty();
                for record in request.records.iter_mut().filter(bare) {
                    // The model then refuses it by itself, with the reason that an empty
                    // item has.
                    record.item.clear();
                }
            });
        }),
    ),
    mutant(
        "batch-trimmed",
        "Submit trims the name of the batch",
        submit!(|_, reply| reply.batch = reply.batch.trim().to_owned()),
    ),
    mutant(
        "last-record-dropped",
        "Submit overlooks the last record",
        Act::Request(|request| {
            change(request, |request: &mut SubmitRequest| {
                _ = request.records.pop()
            });
        }),
    ),
    mutant(
        "records-beyond-1000-dropped",
        "Submit overlooks every record after the thousandth",
        Act::Request(|request| {
            change(request, |request: &mut SubmitRequest| {
                request.records.truncate(RECORDS_KEPT);
            });
        }),
    ),
    mutant(
        "records-before-batch",
        "Submit reports too many records before an empty batch",
        Act::Around(|_, _, request| {
            answer_to::<ops::Submit>(request, |request| {
                let many = request.records.len() > model::RECORDS_MAX;
                many.then_some(Err(ApplicationError::TooManyRecords))
            })
        }),
    ),
    mutant(
        "empty-batch-accepted",
        "Submit needs no name of the batch",
        Act::Around(|_, state, request| {
            answer_to::<ops::Submit>(request, |request| {
                let mut named = request.clone();
                named.batch.push('x');
                let reply = request
                    .batch
                    .is_empty()
                    .then(|| ask::<ops::Submit>(state, &named))?;
                Some(reply.map(|reply| SubmitReply {
                    batch: String::new(),
                    ..reply
                }))
            })
        }),
    ),
    mutant(
        "sha-upper-case",
        "Upload returns its digest in upper case",
        Act::Reply(|_, reply| {
            change(reply, |reply: &mut UploadReply| {
                reply.sha256.make_ascii_uppercase()
            });
        }),
    ),
    mutant(
        "length-off-by-one",
        "Upload counts one byte too many",
        Act::Reply(|_, reply| change(reply, |reply: &mut UploadReply| reply.length += 1)),
    ),
    mutant(
        "upload-truncated",
        "Upload reads 1 MiB at most",
        Act::Request(|request| {
            change(request, |request: &mut UploadRequest| {
                request.data.truncate(UPLOAD_KEPT)
            });
        }),
    ),
    mutant(
        "hello-bytes-other-alphabet",
        "HelloBytes swaps upper and lower case",
        Act::Reply(|_, reply| {
            change(reply, |reply: &mut HelloBytesReply| {
                let letters = reply
                    .text
                    .iter_mut()
                    .filter(|byte| byte.is_ascii_alphabetic());
                letters.for_each(|byte| *byte ^= 0x20);
            });
        }),
    ),
    mutant(
        "hello-shortened",
        "Hello lacks its last letter",
        Act::Reply(|_, reply| change(reply, |reply: &mut HelloReply| _ = reply.text.pop())),
    ),
];

/// Gives each refusal the reason of the other kind.
fn swap_reasons(reply: &mut SubmitReply) {
    let [quantity, item] = ["quantity must be positive", "item must not be empty"];
    for refused in &mut reply.refused {
        let other = if refused.reason == item {
            quantity
        } else {
            item
        };
        refused.reason = other.to_owned();
    }
}

/// Accepts records that were refused.
fn accept(request: &SubmitRequest, reply: &mut SubmitReply, accepted: fn(&Record) -> bool) {
    let mut refused = std::mem::take(&mut reply.refused).into_iter();
    // The model lists refusals in the order of the records, so the two can be walked
    // together.
    let bad = |record: &&Record| record.quantity <= 0 || record.item.is_empty();
    for (record, refusal) in request.records.iter().filter(bad).zip(refused.by_ref()) {
        if accepted(record) {
            reply.accepted += 1;
            reply.quantity_total += i64::from(record.quantity);
        } else {
            reply.refused.push(refusal);
        }
    }
}
