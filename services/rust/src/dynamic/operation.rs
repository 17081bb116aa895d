//! The operation that a process serves, known from its start on.

use std::sync::OnceLock;

use prost_reflect::{DescriptorPool, MessageDescriptor};

/// The operation.
struct Operation {
    request: MessageDescriptor,
    reply: MessageDescriptor,
    path: String,
}

static OPERATION: OnceLock<Operation> = OnceLock::new();

/// Sets the operation, once in the life of a process.
///
/// # Errors
/// Bytes that are not descriptors, and an operation that they do not have.
pub fn define(descriptors: &[u8], method: &str) -> Result<(), String> {
    let pool = DescriptorPool::decode(descriptors).map_err(|error| error.to_string())?;
    let (service, name) = method.split_once('/').unwrap_or((method, ""));
    let service = pool.get_service_by_name(service);
    let found = service.and_then(|service| service.methods().find(|one| one.name() == name));
    let found = found.ok_or_else(|| format!("no operation {method}"))?;
    let operation = Operation {
        request: found.input(),
        reply: found.output(),
        path: format!("/{method}"),
    };
    OPERATION
        .set(operation)
        .map_err(|_| "the operation is set".to_owned())
}

fn operation() -> &'static Operation {
    OPERATION.get().expect("`define` comes first")
}

/// The type of requests.
pub fn request() -> MessageDescriptor {
    operation().request.clone()
}

/// The type of replies.
pub fn reply() -> MessageDescriptor {
    operation().reply.clone()
}

/// `/package.Service/Method`.
pub fn path() -> &'static str {
    &operation().path
}
