//! The metrics page: Prometheus text on a port of its own.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use wirelab_contract::Contract;
use wirelab_contract::complain;

use super::own_process;
use crate::metrics::{labelled, sample};
use crate::service::state::ServiceState;

/// Pause after an accept that failed.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// Serves the page for ever.
pub(crate) async fn serve(listener: TcpListener, state: Arc<ServiceState>) {
    let router = Router::new().route("/metrics", get(page)).with_state(state);
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let service = TowerToHyperService::new(router.clone());
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

async fn page(State(state): State<Arc<ServiceState>>) -> impl IntoResponse {
    let mut page = String::new();
    state.metrics.write(&mut page);
    if state.contract == Contract::Charging {
        sample(
            &mut page,
            "wirelab_money_total",
            "gauge",
            state.model.money(),
        );
    }
    if let Some(database) = &state.database {
        let usage = database.usage();
        let counts = [usage.in_use, usage.idle];
        let name = "wirelab_store_connections";
        labelled(
            &mut page,
            name,
            "gauge",
            "state",
            &["in_use", "idle"],
            &counts,
        );
    }
    let runtime = Handle::current().metrics();
    sample(&mut page, "tokio_workers", "gauge", runtime.num_workers());
    sample(
        &mut page,
        "tokio_tasks_alive",
        "gauge",
        runtime.num_alive_tasks(),
    );
    if let Err(error) = write_process(&mut page) {
        complain!("wirelab: cannot read about the own process: {error}");
    }
    (
        [(
            header::CONTENT_TYPE,
            "text/plain; version=0.0.4; charset=utf-8",
        )],
        page,
    )
}

fn write_process(page: &mut String) -> io::Result<()> {
    let process = own_process::read()?;
    sample(
        page,
        "process_cpu_seconds_total",
        "counter",
        process.cpu.as_secs_f64(),
    );
    sample(
        page,
        "process_resident_memory_bytes",
        "gauge",
        process.resident_bytes,
    );
    sample(
        page,
        "process_resident_memory_max_bytes",
        "gauge",
        process.resident_max_bytes,
    );
    sample(page, "process_threads", "gauge", process.threads);
    sample(page, "process_open_fds", "gauge", process.descriptors);
    Ok(())
}
