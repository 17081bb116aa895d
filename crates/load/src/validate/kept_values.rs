//! Values of replies of services that are not of the lab, for later requests.

use prost_reflect::MessageDescriptor;
use serde_json::Value;

use super::expect;
use super::json_library::{Path, library};
use crate::call::error::ErrorKind;
use crate::call::fault;
use crate::call::rejection::Rejection;
use crate::call::reply::ReplyState;
use crate::call::result::Fault;

/// A value of a reply.
#[derive(Debug)]
pub(crate) struct KeptValue {
    /// Number of the field that it is for.
    field: usize,
    path: Box<dyn Path>,
    text: String,
    /// Of gRPC: what the reply is.
    message: Option<MessageDescriptor>,
}

impl KeptValue {
    /// # Errors
    /// When `path` is not a JSONPath (RFC 9535).
    pub(crate) fn new(
        field: usize,
        path: &str,
        message: Option<MessageDescriptor>,
    ) -> Result<KeptValue, Fault> {
        let parsed = (library("carry")?.parse_path)(path).map_err(|error| {
            fault::plan(
                format!("carry: {path:?} is not a JSONPath: {error}"),
                "write it as RFC 9535 has it, such as $.id or $.items[0].name",
            )
        })?;
        Ok(KeptValue {
            field,
            path: parsed,
            text: path.to_owned(),
            message,
        })
    }
}

/// Takes the values out of a good reply: of each path the first that it finds.
///
/// # Errors
/// When the reply is not JSON, or a path finds nothing in it.
pub(super) fn take(
    kept: &[KeptValue],
    state: &mut ReplyState,
    reply: &[u8],
) -> Result<(), Rejection> {
    let Some(first) = kept.first() else {
        return Ok(());
    };
    let wrong = |reason: String| Rejection::new(ErrorKind::Wrong, reason).with_body(reply);
    let text = match &first.message {
        Some(message) => expect::as_json(message, reply).map_err(wrong)?.into_bytes(),
        None => reply.to_vec(),
    };
    let json: Value = serde_json::from_slice(&text)
        .map_err(|error| wrong(format!("carry: the reply is not JSON: {error}")))?;
    let varied = state.varied.get_or_insert_default();
    varied.values.clear();
    for value in kept {
        let found = value.path.first(&json);
        let found = found.ok_or_else(|| wrong(format!("carry: {} finds nothing", value.text)))?;
        varied.values.push((value.field, found.clone()));
    }
    Ok(())
}
