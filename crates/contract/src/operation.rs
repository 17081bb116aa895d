//! The operations of `transfer` by name.

use std::fmt;
use std::str::FromStr;

/// An operation of the contract `transfer`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operation {
    /// The text as a string.
    Hello,
    /// The text as bytes.
    HelloBytes,
    /// A batch of records.
    Submit,
    /// A file in one message.
    Upload,
    /// A file as a stream of chunks.
    UploadStream,
    /// A pattern as a stream of chunks.
    Download,
}

impl Operation {
    /// Every operation, in the order of the contract.
    pub const ALL: [Operation; 6] = [
        Operation::Hello,
        Operation::HelloBytes,
        Operation::Submit,
        Operation::Upload,
        Operation::UploadStream,
        Operation::Download,
    ];

    /// The name in the contract.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Operation::Hello => "Hello",
            Operation::HelloBytes => "HelloBytes",
            Operation::Submit => "Submit",
            Operation::Upload => "Upload",
            Operation::UploadStream => "UploadStream",
            Operation::Download => "Download",
        }
    }

    /// Path of the gRPC method.
    #[must_use]
    pub fn grpc_path(self) -> String {
        format!("/wirelab.transfer.v1.Transfer/{}", self.name())
    }

    /// Method and path in REST; `None` for streams of messages, which REST has not.
    #[must_use]
    pub fn rest(self) -> Option<(&'static str, &'static str)> {
        match self {
            Operation::Hello => Some(("GET", "/transfer/hello")),
            Operation::HelloBytes => Some(("GET", "/transfer/hello-bytes")),
            Operation::Submit => Some(("POST", "/transfer/submit")),
            Operation::Upload => Some(("POST", "/transfer/upload")),
            Operation::UploadStream | Operation::Download => None,
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no operation of `transfer` has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "contract transfer has no operation {0:?}; it has Hello, HelloBytes, Submit, Upload, \
     UploadStream and Download"
)]
pub struct UnknownOperation(pub String);

impl FromStr for Operation {
    type Err = UnknownOperation;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Operation::ALL
            .into_iter()
            .find(|operation| operation.name() == name);
        found.ok_or_else(|| UnknownOperation(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_operations() {
        for operation in Operation::ALL {
            assert_eq!(operation.name().parse(), Ok(operation));
        }
        assert!(
            "hello"
                .parse::<Operation>()
                .unwrap_err()
                .to_string()
                .contains("UploadStream")
        );
    }
}
