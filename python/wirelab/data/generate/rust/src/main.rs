//! Answers one operation: reads its sample reply, listens, and ends on SIGTERM.

mod codec;
mod compression;
mod contract;
mod exchange;
mod grpc;
mod http;
mod model;
mod options;
mod rules;
mod soap;
mod values;
mod xml;
mod xml_model;

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, lookup_host};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use options::Options;

/// Exit code of options that cannot be honoured.
const REFUSED_EXIT: u8 = 2;

/// Time that calls in flight get when the service is to stop.
const GRACE: Duration = Duration::from_secs(1);

/// Connections that may wait to be accepted.
const BACKLOG: u32 = 4096;

fn main() -> ExitCode {
    let options = match Options::read(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("service: {error}");
            return ExitCode::from(REFUSED_EXIT);
        }
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("service: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> io::Result<()> {
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
