//! The call by the client's sessions of `wirelab-wire-own`: IIOP and raw.

use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use wirelab_contract::{Call, Message};
use wirelab_wire_own::cdr::{self, ByteOrder};
use wirelab_wire_own::giop::{self, Giop};
use wirelab_wire_own::raw::{self, Raw};
use wirelab_wire_own::soap::EnvelopeFormat;
use wirelab_wire_own::token_xml::{Document, Encoder};
use wirelab_wire_own::{CallId, End, Failure, Head, Replies, Request, Session};

use super::{SelfCallError, WithRequest, with_request};
use crate::binding::iiop;
use crate::binding::soap::writer;
use crate::codec::compression::Compressor as _;
use crate::documents::config::ServiceConfig;
use crate::service::state::ServiceState;
use wirelab_stack::{Binding, Codec, Reply};

/// Calls, and waits for the reply where one comes.
pub(super) async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    config: &ServiceConfig,
    state: &ServiceState,
) -> Result<(), SelfCallError> {
    let request = with_request(state.contract, MakeRequest { config });
    if config.stack.binding == Binding::Iiop {
        let options = giop::Options {
            object_key: iiop::object_key(state.contract),
            ..giop::Options::default()
        };
        let session = Giop::new(options).map_err(|e| SelfCallError::Answer(e.to_string()))?;
        return converse(stream, session, request, state).await;
    }
    let options = raw::Options {
        one_way: config.stack.reply == Reply::OneWay,
        ..raw::Options::default()
    };
    let session = Raw::new(options).map_err(|e| SelfCallError::Answer(e.to_string()))?;
    if options.one_way {
        return send(stream, session, request).await;
    }
    converse(stream, session, request, state).await
}

struct MakeRequest<'a> {
    config: &'a ServiceConfig,
}

impl WithRequest for MakeRequest<'_> {
    type Output = Arc<Request>;

    fn with<M: Message>(self, call: &Call, message: &M) -> Arc<Request> {
        let operation = call.operation();
        let mut body = Vec::new();
        match self.config.stack.codec {
            Codec::Cdr => cdr::write(ByteOrder::default(), message, &mut body, 0)
                .expect("messages have a form in CDR"),
            Codec::TokenXml => {
                let document = Document::of_request(operation, message);
                let cache = self.config.stack.token_cache();
                Encoder::new(cache).encode(&document, &mut body);
            }
            _ => {
                body = writer::request(
                    EnvelopeFormat::DOCUMENT_LITERAL,
                    operation,
                    message.clone(),
                    None,
                )
            }
        }
        let packed = self.config.stack.compression.compress(&body);
        Arc::new(Request {
            id: 0,
            method: String::new(),
            path: operation.lower_camel().to_owned(),
            authority: String::new(),
            fields: Vec::new(),
            body: packed.expect("a small message can be compressed").into(),
        })
    }
}

/// How the call went, so far.
#[derive(Default)]
struct Outcome {
    ended: bool,
    failed: Option<Failure>,
}

impl Replies for Outcome {
    fn first(&mut self, _: CallId) {}

    fn head(&mut self, _: CallId, _: &Head) {}

    fn body(&mut self, _: CallId, _: &[u8]) {}

    fn end(&mut self, _: CallId, _: End) {
        self.ended = true;
    }

    fn failed(&mut self, _: CallId, failure: Failure) {
        self.failed = Some(failure);
    }
}

/// Sends a one-way call and waits until the service, which has nothing more to
/// expect, closes the connection: then it has processed the call.
async fn send(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    mut session: impl Session,
    request: Arc<Request>,
) -> Result<(), SelfCallError> {
    session.send(0, &request);
    let mut out = Vec::new();
    // A session hands its bytes out in pieces.
    while session.pump(&mut out) {}
    stream.write_all(&out).await?;
    // Only the sending half: the end of input is what the service waits for.
    stream.shutdown().await?;
    match stream.read(&mut [0; 16]).await? {
        0 => Ok(()),
        read => Err(SelfCallError::Answer(format!(
            "{read} bytes to a one-way call"
        ))),
    }
}

async fn converse(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    mut session: impl Session,
    request: Arc<Request>,
    state: &ServiceState,
) -> Result<(), SelfCallError> {
    session.send(0, &request);
    let mut out = Vec::new();
    while session.pump(&mut out) {}
    stream.write_all(&out).await?;
    let mut outcome = Outcome::default();
    let mut buffer = vec![0; 64 << 10];
    while !outcome.ended && outcome.failed.is_none() {
        let read = stream.read(&mut buffer).await?;
        if read == 0 {
            session.closed(&mut outcome);
        } else if let Err(error) = session.receive(&buffer[..read], &mut outcome) {
            outcome.failed = Some(Failure::Protocol(error));
        }
    }
    match outcome.failed {
        // A mutant may break the protocol: that is what it is for.
        Some(failure) if state.mutation.is_none() => {
            Err(SelfCallError::Answer(failure.to_string()))
        }
        _ => Ok(()),
    }
}
