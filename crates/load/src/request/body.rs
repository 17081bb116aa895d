//! Bodies of requests: typed calls to the bytes that a session is given.

use wirelab_contract::{Call as Typed, Operation};
use wirelab_stack::{Binding, Codec, Compression, Stack};
use wirelab_wire::codec::{MessageFormat, Unsupported};
use wirelab_wire::soap::UsernameToken;
use wirelab_wire::websocket::{Kind, append_compressed, append_message};
use wirelab_wire::{grpc, gzip, zstd};

use crate::plan::Group;
use crate::request::head;

/// Writes bodies in one way.
#[derive(Debug, Clone)]
pub(crate) struct BodyWriter {
    format: MessageFormat,
    binding: Binding,
    compression: Compression,
    caller: Option<UsernameToken>,
}

impl BodyWriter {
    pub(crate) fn new(stack: &Stack, format: MessageFormat) -> BodyWriter {
        BodyWriter {
            format,
            binding: stack.binding,
            compression: stack.compression,
            caller: None,
        }
    }

    /// The same under the name and the password that a group has, if any.
    pub(crate) fn called_by(self, group: &Group) -> BodyWriter {
        let names = group.username.clone().zip(group.password.clone());
        let caller = names.map(|(username, password)| UsernameToken { username, password });
        BodyWriter { caller, ..self }
    }

    /// The body of `call`.
    ///
    /// # Errors
    /// When the operation has no form in the codec.
    pub(crate) fn body(&self, call: &Typed) -> Result<Vec<u8>, Unsupported> {
        let mut body = Vec::new();
        for message in self.format.encode_as(call, self.caller.as_ref())? {
            self.wrap(&message, call.operation().streaming(), &mut body);
        }
        self.end(call.operation(), &mut body);
        Ok(body)
    }

    /// Appends the body of a call whose operation has a form.
    #[inline]
    pub(crate) fn write(&self, call: &Typed, out: &mut Vec<u8>) {
        const CHECKED: &str = "the workload was checked";
        let caller = self.caller.as_ref();
        // Then the body is the message, and it is written in place without a copy.
        let is_stream = call.operation().streaming();
        let is_framed =
            self.binding == Binding::Websocket || head::frames(self.binding, is_stream).is_some();
        let plain = self.compression == Compression::None && !is_framed;
        if plain {
            return self
                .format
                .append_request(call, caller, out)
                .expect(CHECKED);
        }
        let mut message = Vec::new();
        let written = self.format.append_request(call, caller, &mut message);
        written.expect(CHECKED);
        // A line is the whole body here.
        self.wrap(&message, is_stream && !self.is_line(is_stream), out);
    }

    /// Appends one message, which may be one of a stream, compressed and framed as the stack says.
    /// Lines are compressed by [`BodyWriter::end`], as one body.
    pub(crate) fn wrap(&self, message: &[u8], is_stream: bool, out: &mut Vec<u8>) {
        let frames = head::frames(self.binding, is_stream);
        let message = match frames {
            // Items in JSON are lines, whose end frames do without.
            Some(_) if self.format.codec == Codec::Json => {
                message.strip_suffix(b"\n").unwrap_or(message)
            }
            _ => message,
        };
        let compressed = match self.is_line(is_stream) {
            true => None,
            false => compress(self.compression, message),
        };
        let message = compressed.as_deref().unwrap_or(message);
        match self.binding {
            Binding::Websocket => self.append_message(message, out),
            _ if frames.is_some() => out.extend(grpc::frame(message, compressed.is_some())),
            _ => out.extend_from_slice(message),
        }
    }

    /// Whether a message is a part of a body that has no frames.
    fn is_line(&self, is_stream: bool) -> bool {
        is_stream && matches!(self.binding, Binding::Rest | Binding::Sse)
    }

    /// Ends the messages of a request: appends what ends them where their number does not
    /// (contracts/README.md, WebSocket), and compresses lines.
    pub(crate) fn end(&self, operation: Operation, out: &mut Vec<u8>) {
        if self.is_line(operation.streaming()) {
            self.compress_in_place(out);
        }
        let is_stream = self.binding == Binding::Websocket && operation != Operation::Feed;
        if is_stream {
            append_message(out, Kind::Text, &[]);
        }
    }

    /// As a message of WebSocket; items in JSON without the end of a line.
    fn append_message(&self, message: &[u8], out: &mut Vec<u8>) {
        let kind = Kind::from(self.format.codec);
        let line = message.strip_suffix(b"\n").filter(|_| kind == Kind::Text);
        append(self.compression, kind, line.unwrap_or(message), out);
    }

    /// Compresses a message that lies in `out` alone, as the stack says.
    pub(crate) fn compress_in_place(&self, out: &mut Vec<u8>) {
        if let Some(compressed) = compress(self.compression, out) {
            *out = compressed;
        }
    }
}

/// Appends a message of WebSocket.
pub(crate) fn append(compression: Compression, kind: Kind, message: &[u8], out: &mut Vec<u8>) {
    match compression {
        Compression::PermessageDeflate => append_compressed(out, kind, message),
        _ => append_message(out, kind, message),
    }
}

/// The bytes compressed; None where they stay as they are.
pub(crate) fn compress(compression: Compression, bytes: &[u8]) -> Option<Vec<u8>> {
    match compression {
        // Messages of WebSocket are compressed by `append`.
        Compression::None | Compression::PermessageDeflate => None,
        Compression::Gzip => Some(gzip::compress(bytes)),
        Compression::Zstd => Some(zstd::compress(bytes)),
    }
}
