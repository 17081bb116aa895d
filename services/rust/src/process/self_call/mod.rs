//! One real call that a service makes to itself before it says that it is ready.

mod session;
mod web;
mod websocket;

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use wirelab_contract::calendar::DeployRequest;
use wirelab_contract::charging::CreditControlRequest;
use wirelab_contract::petclinic::ListPetTypesRequest;
use wirelab_contract::records::CountAllocationsRequest;
use wirelab_contract::stream::FeedRequest;
use wirelab_contract::transfer::HelloRequest;
use wirelab_contract::{Call, Contract, streams};

use crate::documents::config::ServiceConfig;
use crate::documents::ready::Ready;
use crate::service::state::ServiceState;
use wirelab_stack::BindingFamily;

/// Time that the call may take.
// Generous: a text of 64 MiB may have to be made and sent first, also by a debug build.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Why the service cannot answer itself.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SelfCallError {
    #[error("cannot connect: {0}")]
    Connect(#[from] std::io::Error),
    #[error("{0}")]
    Http(#[from] hyper::Error),
    #[error("{0}")]
    Body(#[from] axum::Error),
    #[error("{0}")]
    WebSocket(#[from] tokio_tungstenite::tungstenite::Error),
    #[error("answered {0}")]
    Answer(String),
    #[error("no answer within {} s", TIMEOUT.as_secs())]
    Timeout,
}

/// Calls the service that will be `ready`, by a connection of its `own` where
/// it has one, and checks that the answer is one.
///
/// # Errors
/// When there is no good answer.
pub(crate) async fn call(
    ready: &Ready,
    config: &ServiceConfig,
    state: &ServiceState,
    own: Option<UnixStream>,
) -> Result<(), SelfCallError> {
    let call = async {
        match (own, ready.address.strip_prefix("unix:")) {
            // A socket pair instead of the port: with mtls the service has no client certificate.
            (Some(own), _) => exchange(own, config, state).await,
            (None, Some(path)) => exchange(UnixStream::connect(path).await?, config, state).await,
            (None, None) => {
                exchange(TcpStream::connect(&ready.address).await?, config, state).await
            }
        }
    };
    tokio::time::timeout(TIMEOUT, call)
        .await
        .map_err(|_| SelfCallError::Timeout)?
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    config: &ServiceConfig,
    state: &ServiceState,
) -> Result<(), SelfCallError> {
    match config.stack.binding.family() {
        BindingFamily::Http => web::exchange(stream, config, state).await,
        BindingFamily::Websocket => websocket::exchange(stream, config, state).await,
        BindingFamily::Iiop | BindingFamily::Raw => session::exchange(stream, config, state).await,
    }
}

/// A call that changes nothing.
fn probe(contract: Contract) -> Call {
    match contract {
        Contract::Transfer => Call::Hello { hello_bytes: 0 },
        Contract::Charging => Call::CreditControl(CreditControlRequest { id: 1 }),
        // Deploy keeps nothing.
        Contract::Calendar => Call::Deploy(DeployRequest {
            document: "self".to_owned(),
        }),
        // A read: with a database it proves that the tables can be reached.
        Contract::Records => Call::CountAllocations(CountAllocationsRequest {}),
        Contract::Petclinic => Call::ListPetTypes(ListPetTypesRequest {}),
        Contract::Stream => Call::Feed(FeedRequest {
            gap_us: 0,
            ..streams::sample(1)
        }),
    }
}

/// Something that is done with the harmless call's request.
pub(super) trait WithRequest {
    /// What comes of it.
    type Output;

    /// Does it.
    fn with<M: wirelab_contract::Message>(self, call: &Call, message: &M) -> Self::Output;
}

/// Lets `with` see the request of the harmless call.
pub(super) fn with_request<W: WithRequest>(contract: Contract, with: W) -> W::Output {
    let call = probe(contract);
    match &call {
        Call::CreditControl(request) => with.with(&call, request),
        Call::Deploy(request) => with.with(&call, request),
        Call::CountAllocations(request) => with.with(&call, request),
        Call::ListPetTypes(request) => with.with(&call, request),
        Call::Feed(request) => with.with(&call, request),
        _ => with.with(&call, &HelloRequest {}),
    }
}
