//! The stack's codec, as `wirelab-wire` names it, and what replies of it say they are.

use wirelab_wire::cdr;
use wirelab_wire::codec::{Codec, Form};
use wirelab_wire::{ContentType, Encoding};

use crate::fault;
use crate::plan::{self, Binding, ByteOrder, Compression, SoapVersion, Stack};
use crate::result::Fault;

/// How messages are written.
pub(crate) fn form(stack: &Stack) -> Result<Form, Fault> {
    let codec = match stack.codec {
        plan::Codec::Text => Codec::Text,
        plan::Codec::Json => Codec::Json,
        plan::Codec::Protobuf => Codec::Protobuf,
        plan::Codec::Cdr => Codec::Cdr,
        other => {
            return Err(fault::plan(
                format!("codec: {other:?} is not spoken yet"),
                "use codec=json",
            ));
        }
    };
    Ok(
        Form::from(codec).in_order(match stack.byte_order.unwrap_or_default() {
            ByteOrder::Little => cdr::ByteOrder::Little,
            ByteOrder::Big => cdr::ByteOrder::Big,
        }),
    )
}

/// The media type of requests and replies in HTTP, without parameters.
pub(crate) fn media_type(stack: &Stack) -> (&'static str, ContentType) {
    match (stack.binding, stack.codec, stack.soap.unwrap_or_default()) {
        (Binding::Grpc, ..) => ("application/grpc", ContentType::Grpc),
        (Binding::Soap, _, SoapVersion::V12) => ("application/soap+xml", ContentType::SoapXml),
        (Binding::Soap, _, SoapVersion::V11) => ("text/xml", ContentType::Xml),
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
