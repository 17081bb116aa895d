//! The life of a service process: configured, ready, stopped.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

use crate::calls::{Desk, FAULT_EXIT};
use crate::check::{H2_CONNECTION_WINDOW_MIN, check};
use crate::config::{Binding, Compression, ServiceConfig, Transport};
use crate::delay::Pauses;
use crate::listener::{BACKLOG, Listener, listen_tcp, loopback};
use crate::metrics::Metrics;
use crate::orders::Gate;
use crate::ready::{self, Ready};
use crate::refusal::{Refusal, Refused};
use crate::self_call::{self, SelfCallError};
use crate::stop::Stop;
use crate::{exposition, grpc, gzip, rest};

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
/// Returns exit code 0 after an order to stop, 2 when the configuration was
/// refused, 70 by the fault switch `fail_start`, 1 when the machine failed.
pub fn serve_from_stdin() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(StartError::Refused(refusal)) => {
            eprintln!("wirelab: refused: {refusal}");
            match print_line(&Refused { refused: refusal }) {
                Ok(()) => ExitCode::from(REFUSED_EXIT),
                Err(error) => broken(&error),
            }
        }
        Err(error) => broken(&error),
    }
}

fn broken(error: &dyn std::error::Error) -> ExitCode {
    eprintln!("wirelab: {error}");
    ExitCode::from(BROKEN_EXIT)
}

fn run() -> Result<ExitCode, StartError> {
    let stop = Stop::new()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let config = ServiceConfig::parse(&line)?;
    check(&config)?;
    if config.faults.fail_start {
        return Ok(ExitCode::from(FAULT_EXIT as u8));
    }
    let runtime = runtime(config.processors)?;
    let served = runtime.block_on(serve(config, &stop));
    stop.remove_socket();
    served.map(|()| ExitCode::SUCCESS)
}

/// A runtime with so many threads for service code: with one, it is the only
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

async fn serve(config: ServiceConfig, stop: &Stop) -> Result<(), StartError> {
    let desk = Arc::new(desk(&config));
    let gate = config
        .faults
        .touch_connections()
        .then(|| Arc::clone(&desk.gate));
    let http2 = config.stack.transport == Transport::Http2;
    let listener = Listener::open(&config, http2, gate, Arc::clone(&desk.metrics))?;
    if let Some(path) = listener.path() {
        stop.remove_at_end(path.to_owned());
    }
    let page = listen_tcp(
        "metrics_listen",
        loopback("metrics_listen", &config.metrics_listen)?,
        None,
    )?;
    let ready = ready(&config, &listener, &page)?;
    stop.watch()?;
    tokio::spawn(exposition::serve(page, Arc::clone(&desk.metrics)));
    let text = wirelab_contract::texts::text(config.store.hello_bytes as usize);
    let serving = tokio::spawn(stack(
        listener,
        config.clone(),
        text,
        Arc::clone(&desk),
        stop.clone(),
    ));
    self_call::hello(&ready.address, &config.stack).await?;
    desk.metrics.open();
    print_line(&ready)?;
    serving.await.map_err(io::Error::other)?
}

/// Serves on the stack that was asked for, and starts nothing of the others.
async fn stack(
    listener: Listener,
    config: ServiceConfig,
    text: String,
    desk: Arc<Desk>,
    stop: Stop,
) -> Result<(), StartError> {
    match config.stack.binding {
        Binding::Rest => rest::serve(listener, config, text, desk, stop).await,
        Binding::Grpc => {
            grpc::serve(listener, config, text, desk, stop)
                .await
                .map_err(io::Error::other)?;
        }
    }
    Ok(())
}

fn desk(config: &ServiceConfig) -> Desk {
    let grpc = config.stack.binding == Binding::Grpc;
    Desk {
        metrics: Arc::new(Metrics::new()),
        faults: config.faults.clone(),
        pauses: Pauses::default(),
        gate: Arc::new(Gate::new()),
        operation: if grpc {
            grpc::operation
        } else {
            rest::operation
        },
        grpc,
    }
}

fn ready(
    config: &ServiceConfig,
    listener: &Listener,
    page: &TcpListener,
) -> Result<Ready, StartError> {
    let libraries: &[&str] = match (config.stack.binding, config.stack.transport) {
        (Binding::Grpc, _) => &["tonic", "prost", "h2", "hyper", "tokio"],
        (Binding::Rest, Transport::Http2) => &["axum", "h2", "hyper", "tokio"],
        (Binding::Rest, Transport::Http11) => &["axum", "hyper", "tokio"],
    };
    Ok(Ready {
        ready: true,
        address: listener.address()?,
        metrics: page.local_addr()?.to_string(),
        pid: std::process::id(),
        language: "rust".to_owned(),
        runtime: ready::runtime(),
        libraries: ready::libraries(libraries),
        set: settings(config, listener)?,
    })
}

/// Window that hyper and tonic offer when they are not told (hyper 1.12).
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
    let gzip_level = (config.stack.compression == Compression::Gzip).then_some(gzip::LEVEL);
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
        "compression": config.stack.compression,
        "gzip_level": gzip_level,
        "hello_bytes": config.store.hello_bytes,
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
