//! The stack's codec, as `wirelab-wire` names it, and what replies of it say they are.

use wirelab_stack::{Binding, Compression, Stack};
use wirelab_wire::codec::MessageFormat;
use wirelab_wire::{ContentType, Encoding, soap};

/// How messages are written.
pub(crate) fn message_format(stack: &Stack) -> MessageFormat {
    MessageFormat::from(stack.codec)
        .in_order(stack.byte_order)
        .in_soap(version(stack))
        .with_cache(stack.token_cache)
}

/// The version of SOAP; 1.1 where the stack has none.
pub(crate) fn version(stack: &Stack) -> soap::Version {
    stack.soap.into()
}

/// The media type of requests and replies in HTTP, without parameters.
pub(crate) fn media_type(stack: &Stack) -> (&'static str, ContentType) {
    let name = match stack.binding {
        Binding::Grpc => "application/grpc",
        Binding::Soap => version(stack).media_type(),
        Binding::Rest | Binding::Iiop | Binding::Raw => stack.codec.media_type(),
    };
    (name, ContentType::named(name.as_bytes()))
}

/// How the stack compresses, and what HTTP and gRPC call it.
pub(crate) fn encoding(compression: Compression) -> (Encoding, Option<&'static str>) {
    match compression {
        Compression::None => (Encoding::Identity, None),
        Compression::Gzip => (Encoding::Gzip, Some("gzip")),
        Compression::Zstd => (Encoding::Zstd, Some("zstd")),
    }
}
