//! Bindings, and the codecs and transports that each goes with. A new codec begins here.

use std::fmt;
use std::str::FromStr;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::values::{Transport, UnknownValue, values};

values! {
    /// How a contract is spoken.
    Binding of "binding" {
        /// REST over HTTP.
        Rest = "rest",
        /// Server-Sent Events over HTTP; contract stream only.
        Sse = "sse",
        /// Messages of WebSocket (RFC 6455); contract stream only.
        Websocket = "websocket",
        /// The Connect protocol over HTTP.
        Connect = "connect",
        /// SOAP over HTTP.
        Soap = "soap",
        /// gRPC over HTTP/2.
        Grpc = "grpc",
        /// CORBA: GIOP 1.2 over a stream.
        Iiop = "iiop",
        /// Length-prefixed messages over a stream (contracts/README.md, Raw).
        Raw = "raw",
    }
}

values! {
    /// How messages become bytes.
    Codec of "codec" {
        /// The text itself in UTF-8; Hello only.
        Text = "text",
        /// JSON by the mapping of contracts/README.md (RFC 8259).
        Json = "json",
        /// CBOR by the same mapping, with its own integers and bytes (RFC 8949).
        Cbor = "cbor",
        /// MessagePack by the same mapping, with its own integers and bytes.
        Msgpack = "msgpack",
        /// Avro's binary encoding by the schemas of contracts/avro, which are not sent.
        Avro = "avro",
        /// Protocol Buffers.
        Protobuf = "protobuf",
        /// XML by the mapping of contracts/README.md.
        Xml = "xml",
        /// SOAP, document/literal.
        SoapLiteral = "soap-literal",
        /// SOAP, rpc/literal.
        SoapRpc = "soap-rpc",
        /// SOAP 1.1, rpc/encoded.
        SoapEncoded = "soap-encoded",
        /// Common Data Representation (CORBA 3.3 part 2, section 9.3).
        Cdr = "cdr",
        /// A SOAP 1.1 document/literal envelope as tokens (docs/reference/token-xml.md).
        TokenXml = "token-xml",
    }
}

/// What a binding goes with.
#[derive(Debug, Clone, Serialize)]
pub struct BindingRow {
    /// The binding.
    pub name: Binding,
    /// Its codecs, the default first (contracts/README.md).
    pub codecs: &'static [Codec],
    /// Its transports, the default first.
    pub transports: &'static [Transport],
    /// Why it has no others.
    pub transports_because: &'static str,
}

// HTTP/1.1 first: the first is the default of rest and soap.
const WEB: &[Transport] = &[Transport::Http11, Transport::Http10, Transport::Http2];

/// Every binding.
pub const BINDINGS: &[BindingRow] = &[
    BindingRow {
        name: Binding::Rest,
        codecs: &[
            Codec::Json,
            Codec::Text,
            Codec::Protobuf,
            Codec::Xml,
            Codec::Cbor,
            Codec::Msgpack,
            Codec::Avro,
        ],
        transports: WEB,
        transports_because: "rest and soap are spoken over HTTP",
    },
    BindingRow {
        name: Binding::Sse,
        codecs: &[Codec::Json],
        // HTTP/1.0 has no chunks, so that its end would be that of the connection.
        transports: &[Transport::Http11, Transport::Http2],
        transports_because: "events are a reply of HTTP/1.1 or HTTP/2",
    },
    BindingRow {
        name: Binding::Websocket,
        // Text messages and binary messages.
        codecs: &[Codec::Json, Codec::Protobuf],
        transports: &[Transport::Http11],
        transports_because: "WebSocket begins with HTTP/1.1 here (RFC 6455), not with HTTP/2 (RFC 8441)",
    },
    BindingRow {
        name: Binding::Connect,
        // Protocol Buffers first: the default of its libraries' clients.
        codecs: &[Codec::Protobuf, Codec::Json],
        transports: &[Transport::Http11, Transport::Http2],
        transports_because: "Connect is spoken over HTTP/1.1 or HTTP/2 here",
    },
    BindingRow {
        name: Binding::Soap,
        codecs: &[Codec::SoapLiteral, Codec::SoapRpc, Codec::SoapEncoded],
        transports: WEB,
        transports_because: "rest and soap are spoken over HTTP",
    },
    BindingRow {
        name: Binding::Grpc,
        // The gRPC protocol leaves the codec open; protobuf is the one that every library
        // of gRPC has.
        codecs: &[Codec::Protobuf],
        transports: &[Transport::Http2],
        transports_because: "gRPC is defined over HTTP/2 only",
    },
    BindingRow {
        name: Binding::Iiop,
        codecs: &[Codec::Cdr],
        transports: &[Transport::Tcp],
        transports_because: "iiop and raw frame their messages themselves, without HTTP",
    },
    BindingRow {
        name: Binding::Raw,
        // The pair that Kangasharju, Tarkoma and Raatikainen (2003) compared: SOAP as text
        // and as tokens, over one framing, so that nothing else differs.
        codecs: &[Codec::SoapLiteral, Codec::TokenXml],
        transports: &[Transport::Tcp],
        transports_because: "iiop and raw frame their messages themselves, without HTTP",
    },
];

/// Bindings whose calls travel alike, so that one module of a program carries them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BindingFamily {
    /// A call is a request and a reply of HTTP.
    Http,
    /// Messages of WebSocket, on a connection that HTTP has opened.
    Websocket,
    /// GIOP over a stream.
    Iiop,
    /// Messages over a stream.
    Raw,
}

impl Binding {
    /// Whom it travels like.
    #[must_use]
    pub const fn family(self) -> BindingFamily {
        match self {
            Binding::Rest | Binding::Sse | Binding::Connect | Binding::Soap | Binding::Grpc => {
                BindingFamily::Http
            }
            Binding::Websocket => BindingFamily::Websocket,
            Binding::Iiop => BindingFamily::Iiop,
            Binding::Raw => BindingFamily::Raw,
        }
    }

    /// What it goes with.
    #[must_use]
    pub fn row(self) -> &'static BindingRow {
        let row = BINDINGS.iter().find(|row| row.name == self);
        row.expect("every binding has a row")
    }
}

/// Codecs that lay messages out alike, so that one module of `crates/wire` reads and writes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodecFamily {
    /// The text of one field, without its name.
    Text,
    /// Formats with a serializer and a deserializer of serde.
    Serde,
    /// Protocol Buffers: numbers of fields, types by the schema.
    Protobuf,
    /// XML elements by the names of the fields, without an envelope.
    Xml,
    /// XML within an envelope of SOAP that names the operation.
    Soap,
    /// CDR: fields by their position.
    Cdr,
    /// Envelopes of SOAP as tokens.
    TokenXml,
}

impl Codec {
    /// Whom it is read and written like.
    #[must_use]
    pub const fn family(self) -> CodecFamily {
        match self {
            Codec::Text => CodecFamily::Text,
            Codec::Json | Codec::Cbor | Codec::Msgpack | Codec::Avro => CodecFamily::Serde,
            Codec::Protobuf => CodecFamily::Protobuf,
            Codec::Xml => CodecFamily::Xml,
            Codec::SoapLiteral | Codec::SoapRpc | Codec::SoapEncoded => CodecFamily::Soap,
            Codec::Cdr => CodecFamily::Cdr,
            Codec::TokenXml => CodecFamily::TokenXml,
        }
    }

    /// True of JSON and the formats with its data model: a message is a map by field names.
    #[must_use]
    pub const fn is_self_describing(self) -> bool {
        matches!(self, Codec::Json | Codec::Cbor | Codec::Msgpack)
    }

    /// The codec of a REST body with that media type, which must come without parameters.
    #[must_use]
    pub fn of_media_type(name: &[u8]) -> Option<Codec> {
        // Only these: the others share application/octet-stream, which names none of them.
        let codecs = Binding::Rest.row().codecs.iter().copied();
        // Media types are compared without case (RFC 9110 section 8.3.1).
        codecs
            .into_iter()
            .find(|codec| name.eq_ignore_ascii_case(codec.media_type().as_bytes()))
    }

    /// The media type of bodies in REST (contracts/README.md), without parameters; of codecs that
    /// REST does not carry, that of bytes.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            Codec::Text => "text/plain",
            Codec::Json => "application/json",
            Codec::Cbor => "application/cbor",
            Codec::Msgpack => "application/vnd.msgpack",
            Codec::Avro => "application/avro",
            // The name that Spring's ProtobufHttpMessageConverter takes.
            Codec::Protobuf => "application/x-protobuf",
            Codec::Xml => "application/xml",
            Codec::SoapLiteral
            | Codec::SoapRpc
            | Codec::SoapEncoded
            | Codec::Cdr
            | Codec::TokenXml => "application/octet-stream",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_media_type_names_the_rest_codec_it_belongs_to_and_no_other() {
        for codec in Codec::ALL {
            // Upper case, because the comparison must ignore it.
            let rest = Binding::Rest.row().codecs.contains(codec);
            let found = Codec::of_media_type(codec.media_type().to_uppercase().as_bytes());
            assert_eq!(found, rest.then_some(*codec), "{codec}");
        }
        assert_eq!(Codec::of_media_type(b"application/js"), None);
    }
}
