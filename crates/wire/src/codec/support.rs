//! Which operations a codec has a form for.

use wirelab_contract::Operation;
use wirelab_stack::Codec;

/// Whether `operation` can be written in `codec`.
#[must_use]
pub fn supports(codec: Codec, operation: Operation) -> bool {
    match codec {
        Codec::Text => operation == Operation::Hello,
        Codec::Protobuf => true,
        _ => !operation.streaming(),
    }
}

pub(crate) fn require(codec: Codec, operation: Operation) -> Result<(), Unsupported> {
    if supports(codec, operation) {
        Ok(())
    } else {
        Err(Unsupported { codec, operation })
    }
}

/// A codec that has no form for an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("codec {codec} has no form for {operation}; {}", self.remedy())]
pub struct Unsupported {
    /// The codec.
    pub codec: Codec,
    /// The operation.
    pub operation: Operation,
}

impl Unsupported {
    fn remedy(&self) -> &'static str {
        match self.operation.streaming() {
            true => "use codec=protobuf",
            false => "use codec=json or codec=protobuf",
        }
    }
}
