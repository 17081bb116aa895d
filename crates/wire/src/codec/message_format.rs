//! Typed messages to bytes and back, whatever the codec.

use serde::Deserialize;
use serde::de::value::{BorrowedStrDeserializer, Error as ValueError, MapDeserializer};
use wirelab_contract::clinic::routes::ReplyBody;
use wirelab_contract::stream::{Item, PushReply};
use wirelab_contract::transfer::UploadChunk;
use wirelab_contract::{
    Call, Contract, Message, MessageVisitor, Operation, Reply, Unary, UnaryVisitor, lists,
};
use wirelab_stack::{Binding, CodecFamily};

use super::error::require;
use super::{Codec, Mismatch, Unsupported, proto_json, protobuf, serde_formats, token_xml};
use crate::cdr::{self, ByteOrder};
use crate::connect;
use crate::soap::{self, EnvelopeError, Response, Style, UsernameToken, Version};
use crate::token_xml::{Decoder, Document, Encoder, TokenCache};
use crate::xml;

/// How messages in JSON and errors are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Mapping {
    /// By contracts/README.md.
    #[default]
    Contracts,
    /// Replies in JSON by the mapping of Protocol Buffers, errors by the Connect protocol.
    Connect,
}

/// A codec with the parameters that its bytes depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MessageFormat {
    /// The codec.
    pub codec: Codec,
    /// Byte order of CDR.
    pub order: ByteOrder,
    /// Version of SOAP; soap-encoded is 1.1 always.
    pub soap: Version,
    /// What token-xml caches.
    pub cache: TokenCache,
    /// How JSON and errors are laid out.
    pub mapping: Mapping,
}

/// What a reply of REST carries. A list is in JSON the array alone; in Protocol Buffers,
/// which gRPC has too, the message, and nothing is an empty message.
fn reply_body(operation: Operation) -> ReplyBody {
    operation
        .route()
        .map_or(ReplyBody::Message, |route| route.reply)
}

/// The reply without a body.
fn read_empty<M: Message>(bytes: &[u8]) -> Result<M, Mismatch> {
    match bytes.is_empty() {
        true => Ok(M::default()),
        false => Err(Mismatch::malformed(
            Codec::Json,
            0,
            "a body where none belongs",
        )),
    }
}

impl From<Codec> for MessageFormat {
    /// The codec with the defaults: little-endian CDR, SOAP 1.1, a cache of names.
    fn from(codec: Codec) -> Self {
        MessageFormat {
            codec,
            order: ByteOrder::default(),
            // SOAP 1.1 is what the studies and most stacks use; little-endian is the
            // native order of the machines.
            soap: Version::V11,
            cache: TokenCache::default(),
            mapping: Mapping::default(),
        }
    }
}

impl MessageFormat {
    /// The same with another byte order.
    #[must_use]
    pub fn in_order(self, order: ByteOrder) -> Self {
        MessageFormat { order, ..self }
    }

    /// The same with a version of SOAP.
    #[must_use]
    pub fn in_soap(self, soap: Version) -> Self {
        MessageFormat { soap, ..self }
    }

    /// The same with another cache of tokens.
    #[must_use]
    pub fn with_cache(self, cache: TokenCache) -> Self {
        MessageFormat { cache, ..self }
    }

    /// The same with another mapping.
    #[must_use]
    pub fn in_mapping(self, mapping: Mapping) -> Self {
        MessageFormat { mapping, ..self }
    }

    /// True of JSON by the mapping of Protocol Buffers.
    fn is_proto_json(self) -> bool {
        self.codec == Codec::Json && self.mapping == Mapping::Connect
    }

    /// Whether a message names every field that must be in it, also one that is zero.
    #[must_use]
    pub fn names_every_field(self) -> bool {
        self.codec.is_self_describing() && !self.is_proto_json()
    }

    /// What a reply carries.
    fn reply_body(self, operation: Operation) -> ReplyBody {
        match self.mapping {
            Mapping::Contracts => reply_body(operation),
            Mapping::Connect => ReplyBody::Message,
        }
    }

    /// How SOAP carries it, where the codec is one of SOAP's.
    #[must_use]
    pub fn envelope(self) -> Option<soap::EnvelopeFormat> {
        let (version, style) = match self.codec {
            Codec::SoapLiteral => (self.soap, Style::Literal),
            Codec::SoapRpc => (self.soap, Style::Rpc),
            // Section 5 encoding is defined by SOAP 1.1; 1.2 made it optional.
            Codec::SoapEncoded => (Version::V11, Style::Encoded),
            _ => return None,
        };
        // Never panics: the one pair that `new` refuses, rpc/encoded in 1.2, is
        // excluded above.
        Some(soap::EnvelopeFormat::new(version, style).expect("rpc/encoded comes with SOAP 1.1"))
    }

    /// How application errors are written over `binding`: over WebSocket in JSON, whatever the
    /// codec (contracts/README.md, WebSocket).
    #[must_use]
    pub fn of_errors(self, binding: Binding) -> MessageFormat {
        match binding {
            Binding::Websocket => MessageFormat::from(Codec::Json),
            _ => self,
        }
    }

    /// The messages of a request in their order: one, except in UploadStream,
    /// Push and Chat.
    /// Hello and HelloBytes have no fields: their one message is empty in
    /// text, protobuf and CDR, `{}` in JSON; REST sends no body for them.
    ///
    /// # Errors
    /// When the operation has no form in this codec.
    pub fn encode(self, call: &Call) -> Result<Vec<Vec<u8>>, Unsupported> {
        self.encode_as(call, None)
    }

    /// The same from a caller with a name, which only SOAP carries.
    ///
    /// # Errors
    /// When the operation has no form in this codec.
    pub fn encode_as(
        self,
        call: &Call,
        caller: Option<&UsernameToken>,
    ) -> Result<Vec<Vec<u8>>, Unsupported> {
        let operation = call.operation();
        require(self.codec, operation)?;
        if let Call::UploadStream { data, chunk_bytes } = call {
            // One message per chunk; the last one may be shorter.
            let chunks = data.chunks(*chunk_bytes as usize).map(<[u8]>::to_vec);
            return Ok(chunks
                .map(|data| self.write(&UploadChunk { data }))
                .collect());
        }
        if let Call::Push(items) | Call::Chat(items) = call {
            return Ok(items.iter().map(|item| self.write_item(item)).collect());
        }
        let write = WriteRequest {
            format: self,
            operation,
            caller,
        };
        Ok(call.visit(write).into_iter().collect())
    }

    /// One item of a stream: in JSON a line (contracts/README.md, stream).
    fn write_item(self, item: &Item) -> Vec<u8> {
        let mut written = self.write(item);
        if self.codec.is_self_describing() {
            written.push(b'\n');
        }
        written
    }

    /// Appends the one message of a request to `out`: what [`MessageFormat::encode_as`]
    /// gives, without memory of its own.
    ///
    /// # Errors
    /// When the operation has no form in this codec, or its request is a stream.
    pub fn append_request(
        self,
        call: &Call,
        caller: Option<&UsernameToken>,
        out: &mut Vec<u8>,
    ) -> Result<(), Unsupported> {
        let operation = call.operation();
        require(self.codec, operation)?;
        let append = AppendRequest {
            format: self,
            operation,
            caller,
            out,
        };
        call.visit(append).ok_or(Unsupported {
            codec: self.codec,
            operation,
        })
    }

    /// A request by itself.
    #[must_use]
    pub fn write_request<O: Unary>(self, request: &O::Request) -> Vec<u8> {
        let write = WriteRequest {
            format: self,
            operation: O::OPERATION,
            caller: None,
        };
        write.visit(request)
    }

    /// A reply by itself.
    #[must_use]
    pub fn write_reply<O: Unary>(self, reply: &O::Reply) -> Vec<u8> {
        self.write_message(O::OPERATION, reply)
    }

    /// The reply to an operation that is not known when this is compiled: code for all replies,
    /// made once. `None` where it is a stream.
    #[must_use]
    pub fn write_any_reply(self, operation: Operation, reply: &Reply) -> Option<Vec<u8>> {
        reply.visit(WriteReply(self, operation))
    }

    fn write_message<M: Message>(self, operation: Operation, reply: &M) -> Vec<u8> {
        if const { M::CONTRACT.is_json_and_protobuf_only() } {
            return self.write_body(operation, reply);
        }
        if self.codec == Codec::TokenXml {
            return token_xml::first(self.cache, &Document::of_reply(operation, reply));
        }
        let Some(format) = self.envelope() else {
            return self.write_body(operation, reply);
        };
        let mut out = Vec::new();
        soap::write_reply(format, operation, reply, &mut out);
        out
    }

    /// A reply without an envelope.
    fn write_body<M: Message>(self, operation: Operation, reply: &M) -> Vec<u8> {
        match (self.codec, self.reply_body(operation)) {
            (Codec::Json, ReplyBody::List) => serde_formats::json_list(reply),
            (_, ReplyBody::Empty) => Vec::new(),
            _ => self.write(reply),
        }
    }

    /// Reads a request that fills `bytes`.
    ///
    /// # Errors
    /// [`Mismatch::Malformed`] when the bytes are not that message.
    pub fn read_request<O: Unary>(self, bytes: &[u8]) -> Result<O::Request, Mismatch> {
        if const { O::Request::CONTRACT.is_json_and_protobuf_only() } {
            return self.read(bytes);
        }
        if self.codec == Codec::TokenXml {
            // A fresh decoder: as a codec of single messages this is the first of a
            // connection.
            let request = Decoder::new(self.cache).read_request(bytes, O::OPERATION);
            return request.map_err(|error| token_xml::unread(&error));
        }
        let Some(format) = self.envelope() else {
            return self.read(bytes);
        };
        let read = soap::read_request(format, O::OPERATION, bytes);
        read.map_err(|error| self.malformed(&error))
    }

    /// Reads a reply that fills `bytes`.
    ///
    /// # Errors
    /// [`Mismatch::Malformed`] when the bytes are not that message,
    /// [`Mismatch::Fault`] when they are a fault of SOAP.
    pub fn read_reply<O: Unary>(self, bytes: &[u8]) -> Result<O::Reply, Mismatch> {
        if const { O::Reply::CONTRACT.is_json_and_protobuf_only() } {
            return self.read_body::<O>(bytes);
        }
        match self.codec {
            Codec::TokenXml => token_xml::reply(&mut Decoder::new(self.cache), bytes, O::OPERATION),
            _ if self.envelope().is_some() => self.view(O::OPERATION, O::Reply::NAME, bytes),
            _ => self.read_body::<O>(bytes),
        }
    }

    /// The same of an operation that is not known when this is compiled: code for all replies,
    /// made once. `None` where the operation is one of streams.
    ///
    /// # Errors
    /// As [`MessageFormat::read_reply`].
    pub fn read_any_reply(
        self,
        operation: Operation,
        bytes: &[u8],
    ) -> Option<Result<Reply, Mismatch>> {
        if operation == Operation::Push {
            return Some(self.read::<PushReply>(bytes).map(Reply::from));
        }
        operation.visit_unary(ReadReply(self, bytes))
    }

    /// Reads a reply without an envelope.
    fn read_body<O: Unary>(self, bytes: &[u8]) -> Result<O::Reply, Mismatch> {
        match self.codec {
            // Only JSON has a bare array; the other codecs of REST keep the message around
            // a list.
            Codec::Json => match self.reply_body(O::OPERATION) {
                ReplyBody::List => serde_formats::parse_json_list(bytes),
                ReplyBody::Empty => read_empty(bytes),
                ReplyBody::Message => self.read(bytes),
            },
            _ => self.read(bytes),
        }
    }

    /// A message without an operation: everything but envelopes. In text there are
    /// only requests, and they are empty.
    ///
    /// # Panics
    /// With a codec of SOAP or token-xml, whose envelopes name the operation;
    /// when a part of the message has 2^32 bytes or more in CDR, where the
    /// contracts bound them far below.
    #[must_use]
    pub fn write<M: Message>(self, message: &M) -> Vec<u8> {
        let mut out = Vec::new();
        self.append(message, &mut out);
        out
    }

    fn append<M: Message>(self, message: &M, out: &mut Vec<u8>) {
        const BOUNDED: &str = "the contracts bound messages";
        if const { M::CONTRACT.is_json_and_protobuf_only() } {
            return match self.codec {
                Codec::Json => serde_formats::append_json(message, out),
                Codec::Protobuf => message.encode(out).expect("memory grows"),
                other => panic!("{other} has no form for {}", M::NAME),
            };
        }
        match self.codec.family() {
            // The one message in text is Hello's request, which has no fields.
            CodecFamily::Text => {}
            CodecFamily::Serde => serde_formats::append(self.codec, message, out),
            // prost reports only a buffer that is too small, which a `Vec` never is.
            CodecFamily::Protobuf => message.encode(out).expect("memory grows"),
            CodecFamily::Xml => xml::write(message, out),
            CodecFamily::Cdr => cdr::write(self.order, message, out, 0).expect(BOUNDED),
            CodecFamily::Soap | CodecFamily::TokenXml => {
                panic!("{}: an envelope needs its operation", self.codec)
            }
        }
    }

    /// Reads a message that fills `bytes`, without an operation.
    ///
    /// # Errors
    /// [`Mismatch::Malformed`] when the bytes are not that message.
    ///
    /// # Panics
    /// With a codec of SOAP or token-xml, whose envelopes name the operation, or one that
    /// [`supports`](super::supports) no operation with that message.
    pub fn read<M: Message>(self, bytes: &[u8]) -> Result<M, Mismatch> {
        let protobuf = || lists::from_protobuf(bytes).map_err(|error| self.malformed(&error));
        if self.is_proto_json() {
            return proto_json::parse(bytes);
        }
        if const { M::CONTRACT.is_json_and_protobuf_only() } {
            return match self.codec {
                Codec::Json => serde_formats::parse_json(bytes),
                Codec::Protobuf => protobuf(),
                other => panic!("{other} has no form for {}", M::NAME),
            };
        }
        match self.codec.family() {
            CodecFamily::Text => read_text(bytes),
            CodecFamily::Serde => serde_formats::parse(self.codec, bytes),
            CodecFamily::Protobuf => protobuf(),
            CodecFamily::Xml => xml::from_slice(bytes).map_err(|error| self.misread(&error)),
            CodecFamily::Cdr => {
                cdr::from_slice(self.order, bytes).map_err(|error| self.malformed(&error))
            }
            CodecFamily::Soap | CodecFamily::TokenXml => {
                panic!("{}: an envelope needs its operation", self.codec)
            }
        }
    }

    /// True where texts of a reply lie in its bytes, so that [`MessageFormat::view`] reads it.
    pub(super) fn has_view(self) -> bool {
        match self.codec.family() {
            CodecFamily::Text | CodecFamily::Xml | CodecFamily::Soap => true,
            CodecFamily::Serde => serde_formats::has_view(self.codec) && !self.is_proto_json(),
            // Protobuf has views of its own (protobuf.rs).
            CodecFamily::Protobuf | CodecFamily::Cdr | CodecFamily::TokenXml => false,
        }
    }

    /// Reads the reply message called `name` into a structure that borrows
    /// from it.
    ///
    /// # Panics
    /// Where [`MessageFormat::has_view`] is false.
    pub(super) fn view<'a, V: Deserialize<'a>>(
        self,
        operation: Operation,
        name: &str,
        bytes: &'a [u8],
    ) -> Result<V, Mismatch> {
        if let Some(format) = self.envelope() {
            return match soap::read_reply_as(format, operation, name, bytes) {
                Ok(Response::Message(message)) => Ok(message),
                Ok(Response::Fault(fault)) => Err(Mismatch::fault(&fault)),
                Err(EnvelopeError::Xml(error)) => Err(self.misread(&error)),
                Err(error) => Err(self.malformed(&error)),
            };
        }
        match self.codec.family() {
            CodecFamily::Text => read_text(bytes),
            CodecFamily::Serde if self.has_view() => serde_formats::parse_json(bytes),
            CodecFamily::Xml => xml::from_slice_as(bytes, operation.contract().namespace(), name)
                .map_err(|error| self.misread(&error)),
            CodecFamily::Soap => unreachable!("envelopes were handled above"),
            CodecFamily::Serde
            | CodecFamily::Protobuf
            | CodecFamily::Cdr
            | CodecFamily::TokenXml => {
                panic!("{}: replies do not lie in the bytes", self.codec)
            }
        }
    }

    /// The text of an application error: what REST sends with status 400, SOAP
    /// as a fault, GIOP as the user exception of the operation's contract. Of Connect its code and
    /// its text.
    ///
    /// # Errors
    /// [`Mismatch::Malformed`] when the bytes are not an application error,
    /// [`Mismatch::Fault`] when they are a fault of the service (`Server`).
    pub fn read_error(self, operation: Operation, body: &[u8]) -> Result<String, Mismatch> {
        if self.mapping == Mapping::Connect {
            let error = connect::read_error(body);
            return error
                .map(|error| error.to_string())
                .map_err(|error| self.malformed(&error));
        }
        if self.codec == Codec::TokenXml {
            return token_xml::error(&token_xml::parse(self.cache, body)?, operation);
        }
        if self.envelope().is_some() {
            // The empty name fits no message: anything but a fault is then an error.
            return token_xml::client_fault_text(self.view(operation, "", body));
        }
        let contract = operation.contract();
        match self.codec.family() {
            CodecFamily::Text => Ok(text(body)?.to_owned()),
            CodecFamily::Serde if contract == Contract::Petclinic => {
                serde_formats::error_info(self.codec, body)
            }
            CodecFamily::Serde => serde_formats::error(self.codec, body),
            // A message with the error's text as field 1.
            CodecFamily::Protobuf => Ok(protobuf::hello(body)?.text.into_owned()),
            CodecFamily::Cdr => self.read_exception(contract, body),
            CodecFamily::Xml => {
                xml::read_error(contract, body).map_err(|error| self.misread(&error))
            }
            CodecFamily::Soap | CodecFamily::TokenXml => {
                unreachable!("envelopes were handled above")
            }
        }
    }

    /// A user exception: its repository id, then its members.
    fn read_exception(self, contract: Contract, body: &[u8]) -> Result<String, Mismatch> {
        let malformed = |error: cdr::Error| self.malformed(&error);
        // Alignment counts from 0: the body of a GIOP 1.2 reply is aligned to 8 (CORBA 3.3
        // part 2, section 9.4.3.2).
        let mut reader = cdr::Reader::new(self.order, body, 0);
        let id = reader.string().map_err(malformed)?;
        // Repository ids of format IDL: prefix, name with scopes, version (CORBA part 1, 14.7).
        let expected = format!("IDL:wirelab/{contract}_v1/ApplicationError:1.0");
        if id != expected {
            let (expected, id) = (expected.as_bytes(), id.as_bytes());
            return Err(Mismatch::differs("exception", expected, id));
        }
        let message = reader.string().map_err(malformed)?;
        // Members that follow would be another exception under the same name.
        reader.finish().map_err(malformed)?;
        Ok(message.to_owned())
    }

    fn malformed(self, error: &dyn ToString) -> Mismatch {
        Mismatch::malformed(self.codec, 0, &error.to_string())
    }

    fn misread(self, error: &xml::Error) -> Mismatch {
        Mismatch::malformed(self.codec, error.offset, &error.kind.to_string())
    }
}

/// A body that is nothing but text.
pub(super) fn text(bytes: &[u8]) -> Result<&str, Mismatch> {
    std::str::from_utf8(bytes)
        .map_err(|error| Mismatch::malformed(Codec::Text, error.valid_up_to(), "not UTF-8"))
}

/// A message whose one field is the text.
fn read_text<'a, M: Deserialize<'a>>(bytes: &'a [u8]) -> Result<M, Mismatch> {
    // The field of HelloReply, so that text is read by the same types as all other
    // codecs.
    let fields = [("text", BorrowedStrDeserializer::new(text(bytes)?))];
    let fields = MapDeserializer::<_, ValueError>::new(fields.into_iter());
    M::deserialize(fields).map_err(|error| Mismatch::malformed(Codec::Text, 0, &error.to_string()))
}

struct ReadReply<'a>(MessageFormat, &'a [u8]);

impl UnaryVisitor for ReadReply<'_> {
    type Output = Result<Reply, Mismatch>;

    fn visit<O: Unary>(self) -> Self::Output {
        self.0.read_reply::<O>(self.1).map(Into::into)
    }
}

struct WriteReply(MessageFormat, Operation);

impl MessageVisitor for WriteReply {
    type Output = Vec<u8>;

    fn visit<M: Message>(self, reply: &M) -> Vec<u8> {
        self.0.write_message(self.1, reply)
    }
}

struct WriteRequest<'a> {
    format: MessageFormat,
    operation: Operation,
    caller: Option<&'a UsernameToken>,
}

impl MessageVisitor for WriteRequest<'_> {
    type Output = Vec<u8>;

    fn visit<M: Message>(self, message: &M) -> Vec<u8> {
        let mut out = Vec::new();
        let append = AppendRequest {
            format: self.format,
            operation: self.operation,
            caller: self.caller,
            out: &mut out,
        };
        append.visit(message);
        out
    }
}

struct AppendRequest<'a> {
    format: MessageFormat,
    operation: Operation,
    caller: Option<&'a UsernameToken>,
    out: &'a mut Vec<u8>,
}

impl MessageVisitor for AppendRequest<'_> {
    type Output = ();

    fn visit<M: Message>(self, message: &M) {
        if const { M::CONTRACT.is_json_and_protobuf_only() } {
            return self.format.append(message, self.out);
        }
        if self.format.codec == Codec::TokenXml {
            let mut encoder = Encoder::new(self.format.cache);
            return encoder.encode_request(self.operation, message, self.out);
        }
        match self.format.envelope() {
            Some(format) => {
                soap::write_request(format, self.operation, message, self.caller, self.out);
            }
            None => self.format.append(message, self.out),
        }
    }
}
