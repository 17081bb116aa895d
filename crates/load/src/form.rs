//! The stack's codec, as `wirelab-wire` names it, and what replies of it say they are.

use wirelab_wire::cdr;
use wirelab_wire::codec::{Codec, Form};
use wirelab_wire::{ContentType, Encoding, soap, token_xml};

use crate::plan::{self, Binding, ByteOrder, Compression, SoapVersion, Stack, TokenCache};

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
    let cache = match stack.token_cache.unwrap_or_default() {
        TokenCache::Names => token_xml::TokenCache::Names,
        TokenCache::NamesAndTexts => token_xml::TokenCache::NamesAndTexts,
    };
    Form::from(codec)
        .in_order(order)
        .in_soap(version(stack))
        .with_cache(cache)
}

/// The version of SOAP; 1.1 where the stack has none.
pub(crate) fn version(stack: &Stack) -> soap::Version {
    match stack.soap.unwrap_or_default() {
        SoapVersion::V11 => soap::Version::V11,
        SoapVersion::V12 => soap::Version::V12,
    }
}

/// What bytes are that HTTP does not carry.
const BYTES: (&str, ContentType) = ("application/octet-stream", ContentType::Other);

/// The media type of requests and replies in HTTP, without parameters.
pub(crate) fn media_type(stack: &Stack) -> (&'static str, ContentType) {
    match (stack.binding, stack.soap.unwrap_or_default()) {
        (Binding::Grpc, _) => ("application/grpc", ContentType::Grpc),
        (Binding::Soap, SoapVersion::V12) => (version(stack).media_type(), ContentType::SoapXml),
        (Binding::Soap, SoapVersion::V11) => (version(stack).media_type(), ContentType::Xml),
        (Binding::Rest, _) => of_rest(stack.codec),
        (Binding::Iiop | Binding::Raw, _) => BYTES,
    }
}

/// contracts/README.md, REST.
fn of_rest(codec: plan::Codec) -> (&'static str, ContentType) {
    match codec {
        plan::Codec::Text => ("text/plain", ContentType::Text),
        plan::Codec::Json => ("application/json", ContentType::Json),
        plan::Codec::Protobuf => ("application/x-protobuf", ContentType::Protobuf),
        plan::Codec::Xml => ("application/xml", ContentType::Xml),
        plan::Codec::SoapLiteral
        | plan::Codec::SoapRpc
        | plan::Codec::SoapEncoded
        | plan::Codec::Cdr
        | plan::Codec::TokenXml => BYTES,
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
