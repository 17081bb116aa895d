//! `iiop@rust`: every contract over GIOP 1.0 to 1.2 on a loop of our own;
//! messages by `wirelab-wire-own`.

use std::collections::VecDeque;
use std::future::{Future, ready};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use wirelab_contract::{Contract, Message as _, Operation, Unary, UnaryVisitor};
use wirelab_wire_own::cdr::Error;
use wirelab_wire_own::giop::{
    CODE_SET_UTF8, ClientMessage, Deframer, HEADER_BYTES, Ior, LocateStatus, ReplyTo, Request,
    SystemException, UserException, Version, close_connection, message_error,
};

use crate::binding::message_loop::{self, Job, PendingCall, Protocol};
use crate::connection::listener::Listener;
use crate::connection::shutdown::Shutdown;
use crate::documents::config::{ServiceConfig, Writes};
use crate::service::CallError;
use crate::service::corruption::Corruptor;
use crate::service::exchange::{Answer, DeliveryMode, Handler, serve as serve_call};
use crate::service::state::ServiceState;

/// Place of the size in a message header, in its byte order.
// CORBA 3.3 part 2, section 9.4.1: the size is the last four of the twelve bytes of a header.
const SIZE: std::ops::Range<usize> = 8..12;

/// What an endless reply announces, the same in either byte order: 50 MB.
const ENDLESS_SIZE: [u8; 4] = [3; 4];

/// Names the one object of a service.
pub(crate) fn object_key(contract: Contract) -> Vec<u8> {
    format!("wirelab/{contract}").into_bytes()
}

/// The repository id of a contract's interface.
fn interface(contract: Contract) -> String {
    let service = contract.service();
    format!("IDL:wirelab/{contract}_v1/{service}:1.0")
}

/// The reference to the service that listens at `address`. A Unix socket has
/// no place in an IOR; then host and port say nothing and the key counts.
pub(crate) fn reference(contract: Contract, address: &str) -> String {
    let (host, port) = match address.parse::<SocketAddr>() {
        Ok(address) => (address.ip().to_string(), address.port()),
        Err(_) => ("localhost".to_owned(), 0),
    };
    Ior::new(&interface(contract), &host, port, &object_key(contract))
        .to_text()
        .expect("no text of it holds NUL")
}

/// Serves until `shutdown`, then until the calls in flight have ended.
pub(crate) async fn serve(
    listener: Listener,
    config: &ServiceConfig,
    state: Arc<ServiceState>,
    shutdown: Shutdown,
) {
    // Header and body are one message here, so the loop itself has to split them.
    let split = config.socket.writes == Writes::Split;
    let object_key: Arc<[u8]> = object_key(state.contract).into();
    let side = |_: &_| Iiop {
        state: Arc::clone(&state),
        object_key: Arc::clone(&object_key),
        deframer: Deframer::new(),
        split,
    };
    message_loop::serve(listener, side, shutdown).await;
}

/// One connection's side.
struct Iiop {
    state: Arc<ServiceState>,
    object_key: Arc<[u8]>,
    deframer: Deframer,
    split: bool,
}

impl Protocol for Iiop {
    // Replies may overtake each other: the request id says which is which (CORBA 3.3 part 2, 9.4.3).
    const IN_FLIGHT_MAX: usize = 256;

    fn receive(&mut self, mut input: &[u8], jobs: &mut VecDeque<Job>) {
        loop {
            match self.deframer.next(&mut input) {
                Ok(None) => return,
                Ok(Some(inbound)) => jobs.extend(self.job(inbound)),
                // GIOP has no way to find the next message after a header that cannot be read, so the
                // connection ends (CORBA 3.3 part 2, section 9.4.8).
                Err(_) => {
                    let mut out = Vec::new();
                    message_error(&mut out, Version::V12);
                    jobs.extend([Job::Write(out), Job::Close]);
                    return;
                }
            }
        }
    }

    fn head(&self, _: &[u8]) -> usize {
        // A GIOP header is always 12 bytes, whatever the version.
        if self.split { HEADER_BYTES } else { 0 }
    }

    fn close_message(&self) -> Vec<u8> {
        let mut out = Vec::new();
        close_connection(&mut out, Version::V12);
        out
    }

    fn note_served(&mut self, _: bool) {}
}

impl Iiop {
    /// What is to be done about a message.
    fn job(&self, inbound: ClientMessage) -> Option<Job> {
        let mut out = Vec::new();
        match inbound {
            ClientMessage::Request(request) => return Some(self.request(request)),
            // A hint that a server may pass over (CORBA 3.3 part 2, section 9.4.4).
            ClientMessage::Cancel { .. } => return None,
            // The peer sends nothing more on this connection (CORBA 3.3 part 2, section 9.4.7).
            ClientMessage::CloseConnection | ClientMessage::MessageError => {
                return Some(Job::Close);
            }
            ClientMessage::Locate(locate) => {
                let status = if *locate.object_key == *self.object_key {
                    LocateStatus::ObjectHere
                } else {
                    LocateStatus::UnknownObject
                };
                locate.reply_to.locate(&mut out, status);
            }
            ClientMessage::Malformed { reply_to, .. } => match reply_to {
                Some(reply_to) => out = exception(reply_to, &SystemException::marshal()),
                None => message_error(&mut out, Version::V12),
            },
        }
        Some(Job::Write(out))
    }

    fn request(&self, request: Request) -> Job {
        let refuse = |name: &str| {
            let expected = request.response_expected;
            let message = exception(request.reply_to, &SystemException::named(name));
            Job::Write(if expected { message } else { Vec::new() })
        };
        // In the order in which an ORB finds out: object, code sets, operation.
        if *request.object_key != *self.object_key {
            return refuse("OBJECT_NOT_EXIST");
        }
        if request
            .code_sets
            // contracts/README.md, IIOP: texts are UTF-8, code set 0x05010001, and no other.
            .is_some_and(|sets| sets.narrow != CODE_SET_UTF8)
        {
            return refuse("CODESET_INCOMPATIBLE");
        }
        let named = |operation: &Operation| {
            operation.lower_camel() == request.operation && !operation.streaming()
        };
        let Some(operation) = Operation::all_of(self.state.contract).find(named) else {
            return self
                // Not an operation of the contract; every CORBA object answers these too.
                .implicit(&request)
                .unwrap_or_else(|| refuse("BAD_OPERATION"));
        };
        let state = Arc::clone(&self.state);
        // Counted until the call is served, for the bound on what a connection holds.
        let bytes = request.body.bytes().len();
        let delivery = Box::pin(async move {
            let call = Call { operation, request };
            let delivery = serve_call(&state, operation, call).await;
            delivery.map(|mut message, mode| {
                // The header announces more than ever comes.
                if mode == DeliveryMode::Endless {
                    message[SIZE].copy_from_slice(&ENDLESS_SIZE);
                }
                message
            })
        });
        Job::Serve(PendingCall { delivery, bytes })
    }

    /// Operations that every object has (CORBA 3.3 part 1, section 8.3).
    fn implicit(&self, request: &Request) -> Option<Job> {
        let truth = match request.operation.as_str() {
            // The key was compared before: the object exists.
            "_non_existent" => false,
            "_is_a" => {
                let target: String = request.body.read().ok()?;
                let object = "IDL:omg.org/CORBA/Object:1.0";
                target == interface(self.state.contract) || target == object
            }
            _ => return None,
        };
        let mut out = Vec::new();
        if request.response_expected {
            request.reply_to.result(&mut out, &truth).ok()?;
        }
        Some(Job::Write(out))
    }
}

/// A reply with a system exception.
fn exception(reply_to: ReplyTo, exception: &SystemException) -> Vec<u8> {
    let mut out = Vec::new();
    reply_to
        .system_exception(&mut out, exception)
        .expect("ids of standard exceptions hold no NUL");
    out
}

/// A call of an operation.
struct Call {
    operation: Operation,
    request: Request,
}

impl Handler for Call {
    type Message = Vec<u8>;

    async fn answer(self, state: &ServiceState, corruptor: Option<&Corruptor>) -> Answer<Vec<u8>> {
        let serve = Serve {
            state,
            request: &self.request,
            corruptor,
        };
        let answering = self.operation.visit_unary(serve);
        let mut answer = answering.expect("streams do not exist in IIOP").await;
        // A oneway operation is served, counted and not answered.
        if !self.request.response_expected {
            answer.message.clear();
        }
        answer
    }

    fn wrong_status(&self) -> Vec<u8> {
        exception(self.request.reply_to, &SystemException::named("UNKNOWN"))
    }
}

/// Answers one request.
struct Serve<'a> {
    state: &'a ServiceState,
    request: &'a Request,
    corruptor: Option<&'a Corruptor>,
}

impl Serve<'_> {
    fn write<O: Unary>(&self, found: Result<O::Reply, CallError>) -> Result<Vec<u8>, Error> {
        // Header, request id, status and a small reply fit without a second allocation.
        let mut out = Vec::with_capacity(64);
        let reply_to = self.request.reply_to;
        match found {
            Ok(reply) => reply_to.result(&mut out, &reply)?,
            Err(CallError::Application(text) | CallError::NotFound(text)) => {
                let exception = UserException {
                    id: UserException::application_error_id(self.state.contract.name()),
                    message: Some(text),
                };
                reply_to.user_exception(&mut out, &exception)?;
            }
            // TRANSIENT: the request could not be served now and may be sent again.
            Err(CallError::Unavailable) => {
                reply_to.system_exception(&mut out, &SystemException::named("TRANSIENT"))?;
            }
        }
        Ok(out)
    }
}

type Answering<'a> = Pin<Box<dyn Future<Output = Answer<Vec<u8>>> + Send + 'a>>;

impl<'a> UnaryVisitor for Serve<'a> {
    type Output = Answering<'a>;

    fn visit<O: Unary>(self) -> Answering<'a> {
        let marshal = move || Answer {
            message: exception(self.request.reply_to, &SystemException::marshal()),
            refused: false,
        };
        if const { O::Request::CONTRACT.is_json_and_protobuf_only() } {
            return Box::pin(ready(marshal()));
        }
        Box::pin(async move {
            // Arguments that cannot be read are a MARSHAL exception, and no application
            // error.
            let Ok(request) = self.request.body.read::<O::Request>() else {
                return marshal();
            };
            let found = self.state.answer::<O>(request, self.corruptor).await;
            let refused = matches!(
                found,
                Err(CallError::Application(_) | CallError::NotFound(_))
            );
            let Ok(mut message) = self.write::<O>(found) else {
                return marshal();
            };
            if let Some(mutation) = &self.state.mutation {
                mutation.bytes(&mut message);
            }
            Answer { message, refused }
        })
    }
}
