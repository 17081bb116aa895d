//! The stack's codec, as `wirelab-wire` names it, and what replies of it say they are.

use wirelab_wire::cdr;
use wirelab_wire::codec::{Codec, Form};
use wirelab_wire::{ContentType, Encoding, soap};

use crate::plan::{self, Binding, ByteOrder, Compression, SoapVersion, Stack};

/// How messages are written.
pub(crate) fn form(stack: &Stack) -> Form {
    let codec = match stack.codec {
        plan::Codec::Text => Codec::Text,
        plan::Codec::Json => Codec::Json,
        plan::Codec::Protobuf => Codec::Protobuf,
        plan::Codec::Xml => Codec::Xml,
        plan::Codec::SoapLiteral => Codec::SoapLiteral,
        plan::Codec::SoapRpc => Codec::SoapRpc,
        plan::Codec::SoapEncoded => Codec::SoapEncoded,
        plan::Codec::Cdr => Codec::Cdr,
        plan::Codec::TokenXml => Codec::TokenXml,
    };
    let order = match stack.byte_order.unwrap_or_default() {
        ByteOrder::Little => cdr::ByteOrder::Little,
        ByteOrder::Big => cdr::ByteOrder::Big,
    };
    Form::from(codec).in_order(order).in_soap(version(stack))
}

/// The version of SOAP; 1.1 where the stack has none.
pub(crate) fn version(stack: &Stack) -> soap::Version {
    match stack.soap.unwrap_or_default() {
        SoapVersion::V11 => soap::Version::V11,
        SoapVersion::V12 => soap::Version::V12,
    }
}

/// The media type of requests and replies in HTTP, without parameters.
pub(crate) fn media_type(stack: &Stack) -> (&'static str, ContentType) {
    match (stack.binding, stack.codec, stack.soap.unwrap_or_default()) {
        (Binding::Grpc, ..) => ("application/grpc", ContentType::Grpc),
        (Binding::Soap, _, SoapVersion::V12) => (version(stack).media_type(), ContentType::SoapXml),
        (Binding::Soap, _, SoapVersion::V11) => (version(stack).media_type(), ContentType::Xml),
        (_, plan::Codec::Text, _) => ("text/plain", ContentType::Text),
        (_, plan::Codec::Protobuf, _) => ("application/x-protobuf", ContentType::Protobuf),
        (_, plan::Codec::Xml, _) => ("application/xml", ContentType::Xml),
        _ => ("application/json", ContentType::Json),
    }
}

/// How the stack compresses, and what HTTP and gRPC call it.
pub(crate) fn encoding(compression: Compression) -> (Encoding, Option<&'static str>) {
    match compression {
        Compression::None => (Encoding::Identity, None),
        Compression::Gzip => (Encoding::Gzip, Some("gzip")),
        Compression::Zstd => (Encoding::Zstd, Some("zstd")),
    }
}
