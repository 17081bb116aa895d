//! `raw@rust`: every contract as messages after their length, on a loop of our
//! own; framing and tokens are the lab's own, envelopes of text quick-xml's.

pub(crate) mod reports;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wirelab_contract::{Message, Operation, Unary, UnaryVisitor};
use wirelab_wire_own::raw::{self, CONTENT_BYTES_MAX, Deframer, Prefix};
use wirelab_wire_own::soap::Fault;
use wirelab_wire_own::token_xml::{Decoder, Encoder, TokenCache};

use crate::binding::message_loop::{self, Job, PendingCall, Protocol};
use crate::binding::raw::reports::{Progress, Reports};
use crate::binding::soap::envelopes::{Envelopes, Incoming, Refused, Written};
use crate::codec::compression::Compressor as _;
use crate::connection::fault_io::FaultIo;
use crate::connection::listener::Listener;
use crate::connection::shutdown::Shutdown;
use crate::documents::config::{ServiceConfig, Writes};
use crate::service::corruption::Corruptor;
use crate::service::exchange::{Answer, Delivery, DeliveryMode, Handler, serve as serve_call};
use crate::service::state::ServiceState;
use wirelab_stack::{Codec, Compression};

/// What the connections of one service share.
struct Service {
    state: Arc<ServiceState>,
    envelopes: Envelopes,
    /// Operations by the names of their requests. Hello and HelloBytes share
    /// theirs, which therefore asks for Hello.
    operations: Vec<(&'static str, Operation)>,
    one_way: bool,
}

/// The name of an operation's request.
struct RequestName;

impl UnaryVisitor for RequestName {
    type Output = &'static str;

    fn visit<O: Unary>(self) -> &'static str {
        O::Request::NAME
    }
}

/// Serves until `shutdown`, then until the calls in flight have ended. With
/// one-way calls `reports` receives their progress.
pub(crate) async fn serve(
    listener: Listener,
    config: &ServiceConfig,
    state: Arc<ServiceState>,
    reports: Option<Arc<Reports>>,
    shutdown: Shutdown,
) {
    let operations = Operation::all_of(state.contract)
        .filter_map(|operation| Some((operation.visit_unary(RequestName)?, operation)));
    let service = Arc::new(Service {
        envelopes: Envelopes::new(config),
        operations: operations.collect(),
        one_way: reports.is_some(),
        state,
    });
    let split = config.socket.writes == Writes::Split;
    // Only then: caches of some hundred names per connection would be made for nothing.
    let tokens = config.stack.codec == Codec::TokenXml;
    let cache = config.stack.token_cache();
    let side = |connection: &FaultIo| {
        let port = connection.peer_port();
        let progress = reports.as_ref().zip(port);
        Raw {
            service: Arc::clone(&service),
            deframer: Deframer::new(),
            // Caches live as long as the connection: both ends learn the same names in the same order.
            caches: tokens.then(|| Arc::new(Mutex::new(Tokens::new(cache)))),
            split,
            progress: progress.map(|(reports, port)| Progress::new(reports, port)),
        }
    };
    message_loop::serve(listener, side, shutdown).await;
}

/// One connection's side.
struct Raw {
    service: Arc<Service>,
    deframer: Deframer,
    /// With codec token-xml.
    caches: Caches,
    split: bool,
    progress: Option<Progress>,
}

impl Protocol for Raw {
    /// Replies come in the order of the requests.
    // A frame has no number by which a reply could be matched to its request.
    const IN_FLIGHT_MAX: usize = 1;

    fn receive(&mut self, mut input: &[u8], jobs: &mut VecDeque<Job>) {
        loop {
            match self.deframer.next(&mut input) {
                Ok(None) => return,
                Ok(Some(content)) => {
                    let service = Arc::clone(&self.service);
                    let caches = self.caches.clone();
                    let bytes = content.len();
                    let delivery = Box::pin(async move { service.serve(content, caches).await });
                    jobs.push_back(Job::Serve(PendingCall { delivery, bytes }));
                }
                Err(_) => {
                    // Where the next message begins is not known any more.
                    jobs.push_back(Job::Close);
                    return;
                }
            }
        }
    }

    fn head(&self, message: &[u8]) -> usize {
        // The length, a line feed, the content (contracts/README.md, Raw).
        let line = memchr::memchr(b'\n', message).filter(|_| self.split);
        line.map_or(0, |end| end + 1)
    }

    fn close_message(&self) -> Vec<u8> {
        // The protocol has no closing message; the end of the connection is one.
        Vec::new()
    }

    fn note_served(&mut self, idle: bool) {
        if let Some(progress) = &mut self.progress {
            progress.count(idle);
        }
    }
}

/// Both ends of a connection's caches.
#[derive(Debug)]
struct Tokens {
    decoder: Decoder,
    encoder: Encoder,
}

impl Tokens {
    /// Those of a new connection.
    fn new(cache: TokenCache) -> Self {
        Tokens {
            decoder: Decoder::new(cache),
            encoder: Encoder::new(cache),
        }
    }
}

/// Requests are served one after the other, so this lock is never contended.
type Caches = Option<Arc<Mutex<Tokens>>>;

fn lock_tokens(tokens: &Mutex<Tokens>) -> MutexGuard<'_, Tokens> {
    tokens.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Service {
    async fn serve(&self, content: Vec<u8>, caches: Caches) -> Delivery {
        let delivery = self.answer(&content, &caches).await;
        delivery.map(|written, mode| {
            // The call was served and is counted. That nothing is sent is the contract.
            if self.one_way {
                return Vec::new();
            }
            let content = match (written, &caches) {
                (Written::Text(text), _) => text,
                (Written::Document(document), Some(caches)) => {
                    let mut tokens = Vec::with_capacity(256);
                    // In the order of the replies, which the caches of the caller follow.
                    lock_tokens(caches).encoder.encode(&document, &mut tokens);
                    tokens
                }
                (Written::Document(_), None) => unreachable!("tokens have caches"),
            };
            self.frame(content, mode)
        })
    }

    /// A reply as it goes on the wire.
    fn frame(&self, content: Vec<u8>, mode: DeliveryMode) -> Vec<u8> {
        let content = match self.state.stack.compression {
            Compression::None => content,
            packs => packs
                .compress(&content)
                .expect("libraries that compress into memory do not fail"),
        };
        // Nine digits and a line feed.
        let mut out = Vec::with_capacity(content.len() + 10);
        if mode == DeliveryMode::Endless {
            // The largest length that a reader accepts, of which only the beginning ever arrives.
            out.extend_from_slice(Prefix::new(CONTENT_BYTES_MAX).as_ref());
            out.extend_from_slice(&content);
        } else {
            raw::write(&content, &mut out);
        }
        out
    }

    async fn answer(&self, content: &[u8], caches: &Caches) -> Delivery<Written> {
        let plain = match self.state.stack.compression {
            Compression::None => Cow::Borrowed(content),
            packed => match packed.decompress(content, CONTENT_BYTES_MAX) {
                Ok(plain) => Cow::Owned(plain),
                Err(error) => {
                    // The frame was complete, so the next message can be found: the
                    // connection stays.
                    return self.refuse(Fault::client(error.to_string()), DeliveryMode::Whole);
                }
            },
        };
        let Some(caches) = caches else {
            return self.envelope(Incoming::text(&plain)).await;
        };
        // The lock ends with the statement: the encoder of the reply takes it again.
        let decoded = lock_tokens(caches).decoder.decode(&plain);
        match decoded {
            Ok(document) => self.envelope(Incoming::tokens(&document)).await,
            // The caches are no longer those of the caller.
            Err(error) => self.refuse(Fault::client(error.to_string()), DeliveryMode::Last),
        }
    }

    fn refuse(&self, fault: Fault, mode: DeliveryMode) -> Delivery<Written> {
        let written = self.envelopes.refuse(&self.state, &fault.into());
        Delivery::new(Some(written), mode)
    }

    async fn envelope(&self, parsed: Result<Incoming<'_>, Fault>) -> Delivery<Written> {
        let envelope = match parsed {
            Ok(envelope) => envelope,
            Err(fault) => return self.refuse(fault, DeliveryMode::Whole),
        };
        let Some(operation) = self.operation(&envelope) else {
            let fault = Fault::client("the body holds the request of no operation here");
            return self.refuse(fault, DeliveryMode::Whole);
        };
        if let Err(fault) = self.envelopes.admit(&envelope) {
            return self.refuse(fault, DeliveryMode::Whole);
        }
        let call = Call {
            envelopes: &self.envelopes,
            envelope,
            operation,
        };
        serve_call(&self.state, operation, call).await
    }

    /// The operation that a body asks for.
    fn operation(&self, envelope: &Incoming<'_>) -> Option<Operation> {
        let head = envelope.head();
        // There is no action: the body alone says which operation is asked for.
        if head.body_namespace != self.state.contract.namespace() {
            return None;
        }
        let mut operations = self.operations.iter();
        let found = operations.find(|(name, _)| *name == head.body_name)?;
        Some(found.1)
    }
}

/// A call of an operation.
struct Call<'a, 'de> {
    envelopes: &'a Envelopes,
    envelope: Incoming<'de>,
    operation: Operation,
}

impl Handler for Call<'_, '_> {
    type Message = Written;

    async fn answer(self, state: &ServiceState, corruptor: Option<&Corruptor>) -> Answer<Written> {
        let found = self
            .envelopes
            .answer(state, self.envelope, self.operation, corruptor);
        match found.await {
            Ok(message) => Answer {
                message,
                refused: false,
            },
            Err(refused @ Refused { application, .. }) => Answer {
                message: self.envelopes.refuse(state, &refused),
                refused: application,
            },
        }
    }

    fn wrong_status(&self) -> Written {
        self.envelopes.injected_fault()
    }
}
