//! The metrics page: the Prometheus text format, version 0.0.4, on a port of its own; and there
//! the times of codecs.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, prometheus_text};
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use wirelab_contract::Contract;
use wirelab_contract::print_error;

use crate::metrics::own_process;
use crate::metrics::series::Series;
use crate::service::state::ServiceState;

/// Pause after an accept that failed.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// Seconds that one measurement of a codec takes at most.
const CODEC_S_MAX: f64 = 99.0;

/// Serves the page for ever.
pub(crate) async fn serve(listener: TcpListener, state: Arc<ServiceState>) {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Arc::clone(&state.metrics)));
    registry.register_collector(Box::new(Environment(Arc::clone(&state))));
    let router = Router::new()
        .route("/metrics", get(page).with_state(Arc::new(registry)))
        .route("/codec-times", get(codec_times).with_state(state));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let service = TowerToHyperService::new(router.clone());
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

async fn page(State(registry): State<Arc<Registry>>) -> Response {
    let mut page = String::new();
    // Not OpenMetrics: the lab's parser and its services in other languages share version 0.0.4.
    match prometheus_text::encode(&mut page, &registry) {
        Ok(()) => (
            [(header::CONTENT_TYPE, prometheus_text::CONTENT_TYPE)],
            page,
        )
            .into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

/// Blocks its thread: a measurement is for the time when no calls are made.
async fn codec_times(State(state): State<Arc<ServiceState>>, uri: Uri) -> Response {
    let query = uri.query().unwrap_or_default();
    let value = |name: &str| {
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        let found = pairs.find(|(key, _)| key == name);
        found.map_or_else(String::new, |(_, value)| value.into_owned())
    };
    let seconds = value("seconds").parse::<f64>();
    let Some(seconds) = seconds.ok().filter(|it| (0.0..=CODEC_S_MAX).contains(it)) else {
        let text = "seconds must be a number from 0 to 99";
        return (StatusCode::BAD_REQUEST, text).into_response();
    };
    let replies = state.replies.as_ref();
    let lasts = Duration::from_secs_f64(seconds);
    match replies.and_then(|replies| replies.times(&value("operation"), lasts)) {
        Some(Ok(times)) => Json(times).into_response(),
        Some(Err(error)) => (StatusCode::INTERNAL_SERVER_ERROR, error).into_response(),
        None => {
            let text = "no reply of that operation is kept";
            (StatusCode::NOT_FOUND, text).into_response()
        }
    }
}

/// What surrounds the calls: the store, the runtime and the process.
#[derive(Debug)]
struct Environment(Arc<ServiceState>);

impl Collector for Environment {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let Environment(state) = self;
        let mut series = Series(encoder);
        if state.contract == Contract::Charging {
            // A gauge in spite of `_total`: a debit makes it smaller.
            let help = "Sum of the balances of all accounts";
            series.gauge("wirelab_money_total", help, state.model.money())?;
        }
        if let Some(database) = &state.database {
            let usage = database.usage();
            let connections = [("in_use", usage.in_use), ("idle", usage.idle)];
            let (name, help) = ("wirelab_store_connections", "Connections of the pool");
            series.gauges(name, help, "state", connections)?;
        }
        let runtime = Handle::current().metrics();
        let workers = runtime.num_workers() as u64;
        series.gauge("tokio_workers", "Worker threads of the runtime", workers)?;
        let tasks = runtime.num_alive_tasks() as u64;
        series.gauge("tokio_tasks_alive", "Tasks that have not ended", tasks)?;
        // The page stays useful without these, so a failure is logged and no error.
        match own_process::read() {
            Ok(process) => series.process(&process),
            Err(error) => {
                log_unreadable(&error);
                Ok(())
            }
        }
    }
}

fn log_unreadable(error: &io::Error) {
    print_error!("wirelab: cannot read about the own process: {error}");
}
