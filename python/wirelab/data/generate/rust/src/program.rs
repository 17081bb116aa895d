//! Answers one operation: reads its sample reply, listens, and ends on SIGTERM.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, lookup_host};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use super::options::Options;
use super::{codec, contract, grpc, http};

/// Exit code of options that cannot be honoured.
pub const REFUSED_EXIT: u8 = 2;

/// Time that calls in flight get when the service is to stop.
const GRACE: Duration = Duration::from_secs(1);

/// Connections that may wait to be accepted.
const BACKLOG: u32 = 4096;

/// Serves with these arguments until SIGTERM; the exit code of the program.
pub fn run(arguments: impl Iterator<Item = String>) -> ExitCode {
    let options = match Options::read(arguments) {
        Ok(options) => options,
        Err(error) => {
            report(&error);
            return ExitCode::from(REFUSED_EXIT);
        }
    };
    match serve_until_stopped(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report(&error);
            ExitCode::FAILURE
        }
    }
}

/// A full disk or a closed pipe does not change how the program ends.
fn report(error: &dyn Display) {
    let _written = writeln!(io::stderr(), "service: {error}");
}

fn serve_until_stopped(options: &Options) -> io::Result<()> {
    let sample = std::fs::read(&options.reply)?;
    runtime(options.processors)?.block_on(serve(options, &sample))
}

/// A runtime with that number of threads for the service: with one, it is the only thread.
fn runtime(processors: usize) -> io::Result<Runtime> {
    if processors == 1 {
        Builder::new_current_thread().enable_all().build()
    } else {
        Builder::new_multi_thread()
            .worker_threads(processors)
            .enable_all()
            .build()
    }
}

async fn serve(options: &Options, sample: &[u8]) -> io::Result<()> {
    let unreadable = |error| {
        let file = options.reply.display();
        io::Error::other(format!("{file} cannot be read: {error}"))
    };
    let stop = watch_signals()?;
    let stopping = wait_for(stop.clone());
    let serving = async {
        if options.binding == "grpc" {
            let shared = grpc::Shared {
                sample: codec::from_protobuf(sample).map_err(unreadable)?,
                numbered: options.numbered,
                coding: options.compression,
            };
            let serving = grpc::serve(listen(options).await?, shared, stopping);
            return serving.await.map_err(io::Error::other);
        }
        let exchange = contract::exchange(&options.codec, sample, options.numbered);
        let router = http::router(options, exchange.map_err(unreadable)?);
        http::serve(listen(options).await?, router, options.http2, stopping).await
    };
    let grace = async {
        wait_for(stop).await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        ended = serving => ended,
        () = grace => Ok(()),
    }
}

/// Becomes true with SIGTERM or SIGINT.
fn watch_signals() -> io::Result<watch::Receiver<bool>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let (sender, receiver) = watch::channel(false);
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        let _nobody_left = sender.send(true);
    });
    Ok(receiver)
}

async fn wait_for(mut stop: watch::Receiver<bool>) {
    let _closed = stop.wait_for(|stop| *stop).await;
}

async fn listen(options: &Options) -> io::Result<TcpListener> {
    let (host, port) = &options.address;
    let address = lookup_host((host.as_str(), *port)).await?.next();
    let address = address.ok_or_else(|| io::Error::other(format!("{host} has no address")))?;
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()?
    } else {
        TcpSocket::new_v6()?
    };
    // A port in TIME_WAIT would otherwise be refused for a minute (socket(7)).
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}
