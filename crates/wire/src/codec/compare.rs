//! Decoded replies compared with the expected ones.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use wirelab_contract::transfer::{SubmitReply, UploadReply};
use wirelab_contract::{Message, MessageVisitor, Reply};

use super::views::{SubmitView, UploadView};
use super::{Codec, Mismatch};

/// Characters of base64 that are decoded at a time, on the stack.
const BASE64_BLOCK: usize = 4096;

pub(super) fn text(field: &str, expected: &str, found: &str) -> Result<(), Mismatch> {
    bytes(field, expected.as_bytes(), found.as_bytes())
}

pub(super) fn bytes(field: &str, expected: &[u8], found: &[u8]) -> Result<(), Mismatch> {
    if expected == found {
        Ok(())
    } else {
        Err(Mismatch::differs(field, expected, found))
    }
}

fn number(field: &str, expected: i64, found: i64) -> Result<(), Mismatch> {
    if expected == found {
        Ok(())
    } else {
        Err(Mismatch::number(field, expected, found))
    }
}

/// Bytes that come as padded base64 (RFC 4648 section 4).
pub(super) fn base64(field: &str, expected: &[u8], found: &str) -> Result<(), Mismatch> {
    // On the stack and in blocks: a decoded copy of a reply of 64 MiB would be made for
    // every call.
    let mut decoded = [0_u8; BASE64_BLOCK / 4 * 3];
    let mut at = 0;
    for (k, block) in found.as_bytes().chunks(BASE64_BLOCK).enumerate() {
        // 4096 is a multiple of 4, so that each block decodes by itself.
        let last = (k + 1) * BASE64_BLOCK >= found.len();
        let count = STANDARD
            .decode_slice(block, &mut decoded)
            .map_err(|error| {
                Mismatch::malformed(Codec::Json, k * BASE64_BLOCK, &format!("{field}: {error}"))
            })?;
        // RFC 4648 section 3.3: padding is at the end only.
        if !last && count < decoded.len() {
            let why = format!("{field}: base64 padding before the end");
            return Err(Mismatch::malformed(Codec::Json, k * BASE64_BLOCK, &why));
        }
        // A longer reply differs from the shortened part in its length.
        let part = &expected[at..expected.len().min(at + count)];
        if part != &decoded[..count] {
            let common = part
                .iter()
                .zip(&decoded)
                .take_while(|(a, b)| a == b)
                .count();
            let (expected, found) = (&expected[at + common..], &decoded[common..count]);
            return Err(Mismatch::differs_from(field, at + common, expected, found));
        }
        at += count;
    }
    if at < expected.len() {
        return Err(Mismatch::differs_from(field, at, &expected[at..], &[]));
    }
    Ok(())
}

pub(super) fn upload(expected: &UploadReply, found: &UploadView<'_>) -> Result<(), Mismatch> {
    number("length", expected.length, found.length)?;
    text("sha256", &expected.sha256, &found.sha256)
}

pub(super) fn submit(expected: &SubmitReply, found: &SubmitView<'_>) -> Result<(), Mismatch> {
    text("batch", &expected.batch, &found.batch)?;
    number("accepted", expected.accepted.into(), found.accepted.into())?;
    number(
        "quantity_total",
        expected.quantity_total,
        found.quantity_total,
    )?;
    for (k, (expected_value, found_value)) in
        expected.refused.iter().zip(&found.refused).enumerate()
    {
        if expected_value.id != found_value.id {
            return Err(Mismatch::number(
                format!("refused[{k}].id"),
                expected_value.id,
                found_value.id,
            ));
        }
        if expected_value.reason != found_value.reason {
            let (expected_value, found_value) = (
                expected_value.reason.as_bytes(),
                found_value.reason.as_bytes(),
            );
            return Err(Mismatch::differs(
                format!("refused[{k}].reason"),
                expected_value,
                found_value,
            ));
        }
    }
    let [expected_value, found_value] =
        [expected.refused.len(), found.refused.len()].map(|count| count as i64);
    // Last: a wrong item says more than a wrong count, and often explains it.
    number("number of refused records", expected_value, found_value)
}

/// Two replies that were decoded.
pub(super) fn replies(expected: &Reply, found: &Reply) -> Result<(), Mismatch> {
    match (expected, found) {
        // The fast path. Only a reply that differs is worth the trees below.
        (expected_value, found_value) if expected_value == found_value => Ok(()),
        (Reply::Hello(expected_value), Reply::Hello(found_value)) => {
            text("text", &expected_value.text, &found_value.text)
        }
        (Reply::HelloBytes(expected_value), Reply::HelloBytes(found_value)) => {
            bytes("text", &expected_value.text, &found_value.text)
        }
        (expected_value, found_value) => {
            let [expected_value, found_value] =
                [expected_value, found_value].map(|reply| reply.visit(Tree).unwrap_or_default());
            Err(first_difference(
                String::new(),
                &expected_value,
                &found_value,
            ))
        }
    }
}

/// A decoded reply to Allocate, whose group is the service's choice but positive.
pub(super) fn allocation(expected: &Reply, found: &mut Reply) -> Result<(), Mismatch> {
    let (Reply::Allocate(model), Reply::Allocate(reply)) = (expected, &mut *found) else {
        return replies(expected, found);
    };
    let (Some(expected_team), Some(team)) = (&model.team_details, &mut reply.team_details) else {
        return replies(expected, found);
    };
    // Set to the expected group for the comparison, and back afterwards: callers read it
    // from the reply.
    let group = team.group_id;
    if group < 1 {
        return Err(Mismatch::number("teamDetails.groupId", 1, group.into()));
    }
    team.group_id = expected_team.group_id;
    replies(expected, found)?;
    if let Reply::Allocate(reply) = found
        && let Some(team) = &mut reply.team_details
    {
        team.group_id = group;
    }
    Ok(())
}

struct Tree;

impl MessageVisitor for Tree {
    type Output = Value;

    fn visit<M: Message>(self, message: &M) -> Value {
        serde_json::to_value(message).expect("messages are maps with string keys")
    }
}

/// The first place where two trees differ that do differ.
fn first_difference(path: String, expected_value: &Value, found_value: &Value) -> Mismatch {
    match (expected_value, found_value) {
        (Value::Object(expected_value), Value::Object(found_value)) => {
            let mut fields = expected_value.iter().zip(found_value.values());
            let ((name, expected_value), found_value) = fields
                .find(|((_, expected_value), found_value)| expected_value != found_value)
                // Both trees come from one type, so they have the same fields in the same
                // order.
                .expect("one field differs");
            let dot = if path.is_empty() { "" } else { "." };
            first_difference(format!("{path}{dot}{name}"), expected_value, found_value)
        }
        (Value::Array(expected_value), Value::Array(found_value)) => {
            let mut items = expected_value.iter().zip(found_value).enumerate();
            match items.find(|(_, (expected_value, found_value))| expected_value != found_value) {
                Some((k, (expected_value, found_value))) => {
                    first_difference(format!("{path}[{k}]"), expected_value, found_value)
                }
                None => Mismatch::number(
                    format!("number of {path}"),
                    expected_value.len() as i64,
                    found_value.len() as i64,
                ),
            }
        }
        (Value::String(expected_value), Value::String(found_value)) => {
            Mismatch::differs(path, expected_value.as_bytes(), found_value.as_bytes())
        }
        (expected_value, found_value) => Mismatch::Differs {
            field: path,
            offset: 0,
            expected: expected_value.to_string(),
            found: found_value.to_string(),
        },
    }
}
