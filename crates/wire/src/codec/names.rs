//! Codecs by name, and what they have no form for.

use std::fmt;
use std::str::FromStr;

use wirelab_contract::Operation;

/// How messages are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Codec {
    /// The text itself in UTF-8; Hello only.
    Text,
    /// JSON by the mapping of contracts/README.md (RFC 8259).
    Json,
    /// Protocol Buffers.
    Protobuf,
    /// XML by the mapping of contracts/README.md.
    Xml,
    /// SOAP, document/literal.
    SoapLiteral,
    /// SOAP, rpc/literal.
    SoapRpc,
    /// SOAP 1.1, rpc/encoded.
    SoapEncoded,
    /// CDR by the mapping of contracts/README.md (CORBA 3.3 part 2, section 9.3).
    Cdr,
    /// A SOAP 1.1 document/literal envelope as tokens (docs/reference/token-xml.md).
    TokenXml,
}

impl Codec {
    /// Every codec.
    pub const ALL: [Codec; 9] = [
        Codec::Text,
        Codec::Json,
        Codec::Protobuf,
        Codec::Xml,
        Codec::SoapLiteral,
        Codec::SoapRpc,
        Codec::SoapEncoded,
        Codec::Cdr,
        Codec::TokenXml,
    ];

    /// The name, as in the codec axis: `soap-literal`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Codec::Text => "text",
            Codec::Json => "json",
            Codec::Protobuf => "protobuf",
            Codec::Xml => "xml",
            Codec::SoapLiteral => "soap-literal",
            Codec::SoapRpc => "soap-rpc",
            Codec::SoapEncoded => "soap-encoded",
            Codec::Cdr => "cdr",
            Codec::TokenXml => "token-xml",
        }
    }

    /// Whether `operation` can be written in this codec.
    #[must_use]
    pub fn supports(self, operation: Operation) -> bool {
        match self {
            Codec::Text => operation == Operation::Hello,
            Codec::Protobuf => true,
            _ => !operation.streaming(),
        }
    }

    pub(crate) fn require(self, operation: Operation) -> Result<(), Unsupported> {
        if self.supports(operation) {
            Ok(())
        } else {
            Err(Unsupported {
                codec: self,
                operation,
            })
        }
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no codec has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownCodec(pub String);

impl fmt::Display for UnknownCodec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Codec::ALL.map(Codec::name).join(", ");
        write!(f, "unknown codec {:?}; use one of {names}", self.0)
    }
}

impl std::error::Error for UnknownCodec {}

impl FromStr for Codec {
    type Err = UnknownCodec;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Codec::ALL.into_iter().find(|codec| codec.name() == name);
        found.ok_or_else(|| UnknownCodec(name.to_owned()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_codecs() {
        for codec in Codec::ALL {
            assert_eq!(codec.name().parse(), Ok(codec));
        }
        let unknown = "yaml".parse::<Codec>().unwrap_err().to_string();
        assert!(unknown.contains("protobuf, "), "{unknown}");
    }
}
