//! The life of a service process: configured, ready, stopped.

mod exposition;
mod self_call;
mod validation;

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use wirelab_contract::Contract;
use wirelab_contract::print_error;

use crate::binding::http::calls::Calls;
use crate::binding::raw::reports::Reports;
use crate::binding::{connect, grpc, http, iiop, raw, rest, soap, websocket};
use crate::codec::Representation as _;
use crate::codec::compression::Compressor as _;
use crate::connection::listener::{BACKLOG, Listener, listen_tcp, local, loopback};
use crate::connection::shutdown::Shutdown;
use crate::documents::config::ServiceConfig;
use crate::documents::config::{Stack, StoreKind};
use crate::documents::ready::{self, OWN, Ready, Role};
use crate::refusal::{Refusal, Refused};
use crate::service::rows::{self, Driver};
use crate::service::state::{FAULT_EXIT, ServiceState};
use self_call::SelfCallError;
use validation::{H2_CONNECTION_WINDOW_MIN, check};
use wirelab_stack::{Binding, Compression, Reply, Security, Transport};

/// Exit code of a refused configuration.
const REFUSED_EXIT: u8 = 2;

/// Exit code of a service that could not start for a reason that is not the
/// configuration's.
const BROKEN_EXIT: u8 = 1;

/// Why a service did not start.
#[derive(Debug, thiserror::Error)]
enum StartError {
    #[error("refused: {0}")]
    Refused(#[from] Refusal),
    #[error("{0}")]
    Machine(#[from] io::Error),
    #[error("a call to itself failed: {0}")]
    SelfCall(#[from] SelfCallError),
}

/// Is a service process from its configuration on standard input to its end,
/// by docs/reference/process.md. Call it first thing in `main`: it blocks
/// SIGTERM and SIGINT in the calling thread.
///
/// `driver` opens databases; without one only the store `memory` is served.
///
/// Returns exit code 0 after an order to stop, 2 when the configuration was
/// refused, 70 by the fault switch `fail_start`, 1 when the machine failed.
pub fn serve_from_stdin(driver: Option<Driver>) -> ExitCode {
    match run(driver) {
        Ok(code) => code,
        Err(StartError::Refused(refusal)) => {
            print_error!("wirelab: refused: {refusal}");
            match print_line(&Refused { refused: refusal }) {
                Ok(()) => ExitCode::from(REFUSED_EXIT),
                Err(error) => broken(&error),
            }
        }
        Err(error) => broken(&error),
    }
}

fn broken(error: &dyn std::error::Error) -> ExitCode {
    print_error!("wirelab: {error}");
    ExitCode::from(BROKEN_EXIT)
}

fn run(driver: Option<Driver>) -> Result<ExitCode, StartError> {
    // First: threads inherit the signal mask of the thread that starts them (pthread_sigmask(3)).
    let shutdown = Shutdown::new()?;
    let mut line = String::new();
    // One line, not to the end of input: that end is the order to stop.
    io::stdin().lock().read_line(&mut line)?;
    let config = ServiceConfig::parse(&line)?;
    let contract = check(&config)?;
    // After the checks, so that a wrong configuration is refused and not hidden.
    if config.faults.fail_start {
        return Ok(ExitCode::from(FAULT_EXIT as u8));
    }
    // Made after the checks: a refused configuration starts no thread.
    let runtime = runtime(config.processors)?;
    let served = runtime.block_on(serve(Arc::new(config), contract, driver, &shutdown));
    shutdown.remove_socket();
    served.map(|()| ExitCode::SUCCESS)
}

/// A runtime with that number of threads for service code: with one, it is the only
/// thread that does anything.
fn runtime(processors: u32) -> io::Result<Runtime> {
    if processors == 1 {
        Builder::new_current_thread().enable_all().build()
    } else {
        Builder::new_multi_thread()
            .worker_threads(processors as usize)
            .enable_all()
            .build()
    }
}

async fn serve(
    config: Arc<ServiceConfig>,
    contract: Contract,
    driver: Option<Driver>,
    shutdown: &Shutdown,
) -> Result<(), StartError> {
    // Before the port is open: whoever can connect finds the tables reset.
    let database = rows::open(driver, &config.store, contract).await?;
    let store_pool = database.as_ref().map(|rows| rows.connections_max());
    let state = Arc::new(ServiceState::new(&config, contract, database));
    let gate = config
        .faults
        .touch_connections()
        .then(|| Arc::clone(&state.gate));
    let listener = Listener::open(&config, gate, Arc::clone(&state.metrics))?;
    if let Some(path) = listener.path() {
        shutdown.remove_at_end(path.to_owned());
    }
    let page = listen_tcp(
        "metrics_listen",
        loopback("metrics_listen", &config.metrics_listen)?,
        None,
    )?;
    let report = report_listener(&config)?;
    let mut ready = ready(&config, contract, &listener, &page, report.as_ref())?;
    ready.set.insert("store_pool".to_owned(), store_pool.into());
    let own = match config.stack.security {
        Security::None => None,
        Security::Tls | Security::Mtls => Some(listener.self_connection()?),
    };
    // After the socket is open: an order that comes earlier is still pending in the signal
    // mask or the pipe.
    shutdown.watch()?;
    if contract == Contract::Transfer {
        // The text is made here, or the first call would wait for it.
        let _made = state.model.text();
    }
    tokio::spawn(exposition::serve(page, Arc::clone(&state)));
    let reports = report.map(|listener| {
        let reports = Arc::new(Reports::default());
        tokio::spawn(Arc::clone(&reports).serve(listener));
        reports
    });
    let (task_config, task_state) = (Arc::clone(&config), Arc::clone(&state));
    let serving = stack(listener, task_config, task_state, reports, shutdown.clone());
    let serving = tokio::spawn(serving);
    self_call::call(&ready, &config, &state, own).await?;
    if let Some(replies) = &state.replies {
        replies.forget();
    }
    // After the self-call, which must not be counted.
    state.metrics.open();
    print_line(&ready)?;
    // The task ends by an order only; an error here is a panic within it.
    serving.await.map_err(io::Error::other)?
}

/// Where one-way stacks report their progress: a listener next to the service.
fn report_listener(config: &ServiceConfig) -> Result<Option<TcpListener>, Refusal> {
    if config.stack.reply == Reply::TwoWay {
        return Ok(None);
    }
    // The same interface as the service, so that a link carries the reports too.
    let mut address = local(&config.listen)?;
    address.set_port(0);
    listen_tcp("listen", address, None).map(Some)
}

/// Serves on the stack that was asked for, and starts nothing of the others.
async fn stack(
    listener: Listener,
    config: Arc<ServiceConfig>,
    state: Arc<ServiceState>,
    reports: Option<Arc<Reports>>,
    shutdown: Shutdown,
) -> Result<(), StartError> {
    match config.stack.binding {
        Binding::Rest | Binding::Sse => {
            let calls = Calls::new(rest::router(&state), state, rest::operation);
            http::serve(listener, config, calls, shutdown).await;
        }
        Binding::Connect => {
            let calls = Calls::new(connect::router(&state), state, connect::operation);
            http::serve(listener, config, calls, shutdown).await;
        }
        Binding::Websocket => websocket::serve(listener, config, state, shutdown).await,
        Binding::Grpc => {
            grpc::serve(listener, &config, state, shutdown)
                .await
                .map_err(io::Error::other)?;
        }
        Binding::Soap => {
            let calls = Calls::new(soap::router(&state, &config), state, soap::operation);
            http::serve(listener, config, calls, shutdown).await;
        }
        Binding::Iiop => iiop::serve(listener, &config, state, shutdown).await,
        Binding::Raw => raw::serve(listener, &config, state, reports, shutdown).await,
    }
    Ok(())
}

fn ready(
    config: &ServiceConfig,
    contract: Contract,
    listener: &Listener,
    page: &TcpListener,
    report: Option<&TcpListener>,
) -> Result<Ready, StartError> {
    let address = listener.address()?;
    let object = config.stack.binding == Binding::Iiop;
    let report = report.map(TcpListener::local_addr).transpose()?;
    Ok(Ready {
        ready: true,
        ior: object.then(|| iiop::reference(contract, &address)),
        report: report.map(|address| address.to_string()),
        address,
        metrics: page.local_addr()?.to_string(),
        pid: std::process::id(),
        language: "rust".to_owned(),
        runtime: ready::runtime(),
        libraries: ready::libraries(&libraries(&config.stack, config.store.kind)),
        set: settings(config, listener)?,
    })
}

/// The libraries on a stack's request path, by role.
fn libraries(stack: &Stack, store: StoreKind) -> Vec<(Role, &'static str)> {
    let server: &[&str] = match (stack.binding, stack.transport) {
        (Binding::Grpc, _) => &["tonic", "hyper", "h2", "tokio"],
        (Binding::Rest | Binding::Sse | Binding::Soap, Transport::Http2) => {
            &["axum", "hyper", "h2", "tokio"]
        }
        (Binding::Rest | Binding::Sse | Binding::Soap, _) => &["axum", "hyper", "tokio"],
        (Binding::Connect, Transport::Http2) => &["connectrpc", "axum", "hyper", "h2", "tokio"],
        (Binding::Connect, _) => &["connectrpc", "axum", "hyper", "tokio"],
        (Binding::Websocket, _) => &["tokio-tungstenite", "axum", "hyper", "tokio"],
        (Binding::Iiop | Binding::Raw, _) => &[OWN, "tokio"],
    };
    let of = |role: Role| move |&name: &&'static str| (role, name);
    let mut rows: Vec<_> = server.iter().map(of(Role::Server)).collect();
    rows.extend(stack.codec.libraries().iter().map(of(Role::Codec)));
    rows.extend(match stack.compression {
        Compression::None | Compression::PermessageDeflate => None,
        Compression::Gzip => Some((Role::Compression, "flate2")),
        Compression::Zstd => Some((Role::Compression, "zstd")),
    });
    if stack.security != Security::None {
        rows.push((Role::Tls, "rustls"));
    }
    let store: &[&str] = match store {
        StoreKind::Sqlite => &["sqlx", "libsqlite3-sys"],
        StoreKind::Postgres => &["sqlx"],
        StoreKind::Memory | StoreKind::H2 | StoreKind::Hsqldb => &[],
    };
    rows.extend(store.iter().map(of(Role::Store)));
    rows
}

/// Window that hyper and tonic offer by default (hyper 1.12).
const H2_WINDOW_DEFAULT: u32 = 1 << 20;

/// What is actually set, as the sockets and libraries have it.
fn settings(
    config: &ServiceConfig,
    listener: &Listener,
) -> Result<BTreeMap<String, Value>, StartError> {
    let socket = &config.socket;
    let window = (config.stack.transport == Transport::Http2)
        .then(|| socket.h2_window.unwrap_or(H2_WINDOW_DEFAULT));
    let flavor = if config.processors == 1 {
        "current_thread"
    } else {
        "multi_thread"
    };
    let stack = &config.stack;
    let settings = json!({
        "nagle": listener.nagle(),
        "writes": socket.writes,
        "quickack": socket.quickack,
        "tcp_window": listener.receive_buffer()?,
        "h2_window": window,
        "h2_connection_window": window.map(|bytes| bytes.max(H2_CONNECTION_WINDOW_MIN)),
        "processors": config.processors,
        "tokio_runtime": flavor,
        "backlog": BACKLOG,
        "compression": stack.compression,
        "compression_level": stack.compression.level(),
        "security": stack.security,
        "end_of_message": stack.end_of_message,
        "http_cache": stack.http_cache,
        "close_delay_ms": stack.close_delay_ms,
        "hello_bytes": config.store.hello_bytes,
        "accounts": config.store.accounts,
        "balance": config.store.balance,
        "store": config.store.kind,
        "mutant": config.faults.mutant,
    });
    Ok(serde_json::from_value(settings).expect("the settings are an object"))
}

/// Prints one line of JSON, at once.
fn print_line(value: &impl Serialize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, value)?;
    out.write_all(b"\n")?;
    out.flush()
}
