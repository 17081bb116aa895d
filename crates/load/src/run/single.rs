//! One connection that makes one call at a time and waits for it: for
//! examinations, where the content counts and not the speed.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use wirelab_contract::{Call, Operation};
use wirelab_stack::{Binding, Codec, Compression};
use wirelab_wire::codec::{MessageFormat, Unsupported, supports};
use wirelab_wire::raw::CONTENT_BYTES_MAX;
use wirelab_wire::token_xml;
use wirelab_wire::{CallId, End, Failure, Head, Replies, Request, gzip, zstd};

use crate::call::result::Fault;
use crate::connection::any_session::AnySession;
use crate::connection::session_factory::SessionFactory;
use crate::connection::socket::{Read, Socket, SocketOptions};
use crate::connection::tls::{Opened, Tls};
use crate::connection::tls_files::Secure;
use crate::connection::tokens::Tokens;
use crate::group::spec::target;
use crate::plan::Group;
use crate::plan::legality::check_group;
use crate::plan::target::Target;
use crate::request::body::BodyWriter;
use crate::request::forward::Object;
use crate::request::head::{self, message_format};

/// Bytes of one read.
const INPUT_BYTES: usize = 256 * 1024;

/// What was heard of one call.
#[derive(Debug, Clone, Default)]
pub struct RawResponse {
    /// Status and fields, as far as they came.
    pub head: Option<Head>,
    /// The body, without transfer framing: still compressed where a field
    /// declares it, with gRPC frames. Contents of raw are plain, tokens are the text
    /// that they stand for.
    pub body: Vec<u8>,
    /// Where its pieces end as they came; of WebSocket each piece is a message.
    pub pieces: Vec<usize>,
    /// How the reply ended, if it did.
    pub end: Option<End>,
    /// Why it did not.
    pub failure: Option<Failure>,
}

impl RawResponse {
    fn over(&self) -> bool {
        self.end.is_some() || self.failure.is_some()
    }
}

impl Replies for RawResponse {
    fn first(&mut self, _: CallId) {}

    fn head(&mut self, _: CallId, head: &Head) {
        self.head = Some(*head);
    }

    fn body(&mut self, _: CallId, chunk: &[u8]) {
        self.body.extend_from_slice(chunk);
        self.pieces.push(self.body.len());
    }

    fn end(&mut self, _: CallId, end: End) {
        self.end = Some(end);
    }

    fn failed(&mut self, _: CallId, failure: Failure) {
        self.failure = Some(failure);
    }
}

/// A connection, opened when it is needed and again when it has ended.
pub struct Single {
    target: Target,
    options: SocketOptions,
    secure: Option<Secure>,
    sessions: SessionFactory,
    format: MessageFormat,
    writer: BodyWriter,
    group: Group,
    authority: String,
    timeout: Duration,
    sent: u64,
    last_path: String,
    open: Option<Open>,
}

struct Open {
    socket: Socket,
    tls: Option<Box<Tls>>,
    session: AnySession,
    tokens: Tokens,
}

fn fault_text(fault: &Fault) -> String {
    format!("{}; {}", fault.message, fault.remedy)
}

impl Single {
    /// Checks the group's target and stack; its workload, load and window do
    /// not count. Nothing is connected yet.
    ///
    /// # Errors
    /// When the engine could not drive such a group.
    pub fn new(group: &Group) -> Result<Single, Fault> {
        check_group(group)?;
        let object = group.object.as_deref().map(Object::parse).transpose()?;
        let target = target(false, group, object.as_ref())?;
        let authority = group
            .authority
            .clone()
            .unwrap_or_else(|| target.authority());
        // Tokens are made of the text: the envelopes of soap-literal.
        let format = match group.stack.codec {
            Codec::TokenXml => MessageFormat::from(wirelab_wire::codec::Codec::SoapLiteral)
                .with_cache(message_format(&group.stack).cache),
            _ => message_format(&group.stack),
        };
        Ok(Single {
            options: SocketOptions::of(&group.stack),
            secure: Secure::of(group, &authority)?,
            sessions: SessionFactory::of(group, object.map(|object| object.key))?,
            format,
            writer: BodyWriter::new(&group.stack, format).called_by(group),
            group: group.clone(),
            timeout: Duration::from_secs_f64(group.timeout_s),
            target,
            authority,
            sent: 0,
            last_path: String::new(),
            open: None,
        })
    }

    /// How messages are written on it.
    #[must_use]
    pub fn message_format(&self) -> MessageFormat {
        self.format
    }

    /// Whether the stack has a form for an operation.
    #[must_use]
    pub fn has(&self, operation: Operation) -> bool {
        supports(self.format.codec, operation) && head::of_operation(&self.group, operation).is_ok()
    }

    /// Makes a call and waits for the end of its reply.
    ///
    /// # Errors
    /// In words: the operation has no form in the codec, no connection could
    /// be made, or nothing whole came in time.
    pub fn call(&mut self, call: &Call) -> Result<RawResponse, String> {
        let messages = self.format.encode(call);
        let messages = messages.map_err(|error: Unsupported| error.to_string())?;
        let head = head::of_call(&self.group, call).map_err(|fault| fault_text(&fault))?;
        self.exchange(call.operation(), head, &messages)
    }

    /// Sends a message of the codec as it is, uncompressed, as the request of
    /// `operation`.
    ///
    /// # Errors
    /// As [`Single::call`].
    pub fn send(&mut self, operation: Operation, message: &[u8]) -> Result<RawResponse, String> {
        let head = head::of_operation(&self.group, operation);
        let head = head.map_err(|fault| fault_text(&fault))?;
        self.exchange(operation, head, &[message.to_vec()])
    }

    /// The same at a path of its own, where the operation has one with parameters.
    ///
    /// # Errors
    /// As [`Single::call`].
    pub fn send_to(
        &mut self,
        path: &str,
        operation: Operation,
        message: &[u8],
    ) -> Result<RawResponse, String> {
        let head = head::of_operation(&self.group, operation);
        let mut head = head.map_err(|fault| fault_text(&fault))?;
        path.clone_into(&mut head.path);
        self.exchange(operation, head, &[message.to_vec()])
    }

    fn exchange(
        &mut self,
        operation: Operation,
        head: Request,
        messages: &[Vec<u8>],
    ) -> Result<RawResponse, String> {
        let deadline = Instant::now() + self.timeout;
        // A connection of WebSocket has one path.
        let has_other_path =
            self.group.stack.binding == Binding::Websocket && self.last_path != head.path;
        self.last_path.clone_from(&head.path);
        let mut open = match self.open.take().filter(|_| !has_other_path) {
            Some(open) if open.session.capacity() > 0 && !open.session.finished() => open,
            _ => self
                .connect()
                .map_err(|error| format!("connect: {error}"))?,
        };
        let request = self.request(operation, head, messages, &mut open.tokens)?;
        let mut response = open.exchange(&Arc::new(request), deadline)?;
        if response.end.is_some() {
            self.unwrap(&mut response, &mut open.tokens)?;
            // After an error the connection is dropped: bytes that come late would be taken for
            // the next call's reply.
            self.open = Some(open).filter(|_| !self.group.stack.closes());
        }
        Ok(response)
    }

    fn request(
        &mut self,
        operation: Operation,
        mut request: Request,
        messages: &[Vec<u8>],
        tokens: &mut Tokens,
    ) -> Result<Request, String> {
        // Sessions remember heads by their id, and bodies differ in length.
        self.sent += 1;
        request.id = self.sent;
        request.authority.clone_from(&self.authority);
        // Content has no defined meaning in them (RFC 9110 sections 9.3.1 and 9.3.5); the path
        // holds the arguments.
        let has_body = !matches!(request.method.as_str(), "GET" | "DELETE");
        if !has_body && self.group.stack.binding != Binding::Websocket {
            return Ok(request);
        }
        let mut body = Vec::new();
        for message in messages {
            match self.group.stack.codec {
                Codec::TokenXml => {
                    let document = token_xml::parse(message).map_err(|error| error.to_string())?;
                    let mut content = Vec::new();
                    tokens.encoder.encode(&document, &mut content);
                    self.writer.wrap(&content, false, &mut body);
                }
                _ => self.writer.wrap(message, operation.streaming(), &mut body),
            }
        }
        self.writer.end(operation, &mut body);
        request.body = body.into();
        Ok(request)
    }

    /// Contents of raw say nothing of their compression, and tokens need the
    /// connection's caches.
    fn unwrap(&self, response: &mut RawResponse, tokens: &mut Tokens) -> Result<(), String> {
        if self.group.stack.binding != Binding::Raw {
            return Ok(());
        }
        response.body =
            match self.group.stack.compression {
                Compression::None | Compression::PermessageDeflate => {
                    std::mem::take(&mut response.body)
                }
                Compression::Gzip => gzip::decompress(&response.body, CONTENT_BYTES_MAX)
                    .map_err(|e| e.to_string())?,
                Compression::Zstd => zstd::decompress(&response.body, CONTENT_BYTES_MAX)
                    .map_err(|e| e.to_string())?,
            };
        if self.group.stack.codec == Codec::TokenXml {
            let document = tokens.decoder.decode(&response.body);
            response.body = token_xml::to_xml(&document.map_err(|error| error.to_string())?);
        }
        Ok(())
    }

    fn connect(&self) -> io::Result<Open> {
        let socket = Socket::connect(&self.target, self.options)?;
        let tls = self.secure.as_ref().map(Secure::connect).transpose();
        Ok(Open {
            socket,
            tls: tls.map_err(io::Error::other)?.map(Box::new),
            session: self.sessions.session(),
            tokens: Tokens::new(self.format.cache),
        })
    }
}

impl Open {
    fn exchange(
        &mut self,
        request: &Arc<Request>,
        deadline: Instant,
    ) -> Result<RawResponse, String> {
        let mut response = RawResponse::default();
        let mut input = vec![0; INPUT_BYTES];
        let mut due = Vec::new();
        // The only call under way, so any id will do.
        self.session.send(0, request);
        while !response.over() {
            if let Err(error) = self.write(&mut due) {
                // RFC 9112 section 9.6: a server may reply and close before it has read the
                // whole request.
                return self.read_remaining(response, &mut input, &error);
            }
            wait(&self.socket, !due.is_empty(), deadline)?;
            match self.socket.read(&mut input) {
                Ok(Read::Empty) => {}
                // It ends or fails every call under way, so that the loop ends.
                Ok(Read::Bytes(0)) => self.session.closed(&mut response),
                Ok(Read::Bytes(length)) => self.take(&input[..length], &mut response)?,
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok(response)
    }

    /// Writes until there is nothing to write, or the socket takes no more.
    fn write(&mut self, due: &mut Vec<u8>) -> io::Result<()> {
        loop {
            self.fill(due)?;
            let length = self.socket.write(due)?;
            due.drain(..length);
            if length == 0 || !due.is_empty() {
                return Ok(());
            }
        }
    }

    /// What is to be written next, where nothing is left of the last.
    fn fill(&mut self, due: &mut Vec<u8>) -> io::Result<()> {
        if !due.is_empty() {
            return Ok(());
        }
        match &mut self.tls {
            None => drop(self.session.pump(due)),
            Some(tls) => {
                let mut plain = Vec::new();
                if tls.ready() {
                    self.session.pump(&mut plain);
                }
                tls.seal(&plain, due)?;
            }
        }
        Ok(())
    }

    fn take(&mut self, input: &[u8], response: &mut RawResponse) -> Result<(), String> {
        let session = &mut self.session;
        let Some(tls) = &mut self.tls else {
            return session
                .receive(input, response)
                .map_err(|error| error.to_string());
        };
        let mut broken = Ok(());
        let opened = tls.open(input, |plain| {
            broken = session.receive(plain, response);
            broken.is_ok()
        });
        broken.map_err(|error| error.to_string())?;
        if opened.map_err(|error| error.to_string())? == Opened::Ended {
            session.closed(response);
        }
        Ok(())
    }

    /// Reads what there is after a write has failed.
    fn read_remaining(
        &mut self,
        mut response: RawResponse,
        input: &mut [u8],
        error: &io::Error,
    ) -> Result<RawResponse, String> {
        while let Ok(Read::Bytes(length @ 1..)) = self.socket.read(input) {
            self.take(&input[..length], &mut response)?;
        }
        match response.over() {
            true => Ok(response),
            false => Err(error.to_string()),
        }
    }
}

/// Waits until something can be read, or written where that is wanted.
fn wait(socket: &Socket, write: bool, deadline: Instant) -> Result<(), String> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err("no complete reply in time".into());
    }
    let events = match write {
        true => PollFlags::IN | PollFlags::OUT,
        false => PollFlags::IN,
    };
    // At most a second, so that a deadline is noticed without an event.
    let ms = left.as_millis().clamp(1, 1_000) as i64;
    let timeout = Timespec {
        tv_sec: ms / 1_000,
        tv_nsec: ms % 1_000 * 1_000_000,
    };
    // A signal ends the wait early; the caller tries again until the deadline.
    let _ready = poll(&mut [PollFd::new(socket, events)], Some(&timeout));
    Ok(())
}
