//! What a service counts about its own calls, and what its process used.

pub(crate) mod own_process;
pub(crate) mod series;

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use wirelab_contract::{Contract, Operation};

use crate::faults::FaultAction;
use series::Series;

/// Counters of one service process.
#[derive(Debug)]
pub(crate) struct Metrics {
    contract: Contract,
    epoch: Instant,
    counters: Mutex<Counters>,
    delays: Mutex<Histogram<u64>>,
}

/// All that changes with every call, under one lock, so that a reader never
/// sees a call half counted.
#[derive(Debug)]
struct Counters {
    open: bool,
    arrived: u64,
    calls: [u64; Operation::ALL.len()],
    errors: [u64; Operation::ALL.len()],
    faults: [u64; FaultAction::NAMES.len()],
    in_flight: u64,
    /// Sum of the ends of finished calls less the starts of all calls, in ns
    /// since the epoch; with `in_flight` times now it gives the time spent so far.
    balance_ns: i128,
    connections: u64,
    accept_errors: u64,
    items: ItemCounts,
}

/// What was counted of the contract stream.
#[derive(Debug, Default, Clone, Copy)]
struct ItemCounts {
    sent: u64,
    late: u64,
    cancelled: u64,
}

impl Default for Counters {
    fn default() -> Self {
        Counters {
            open: false,
            arrived: 0,
            calls: [0; Operation::ALL.len()],
            errors: [0; Operation::ALL.len()],
            faults: [0; FaultAction::NAMES.len()],
            in_flight: 0,
            balance_ns: 0,
            connections: 0,
            accept_errors: 0,
            items: ItemCounts::default(),
        }
    }
}

impl Metrics {
    /// Counters that do not count until [`Metrics::open`].
    pub(crate) fn new(contract: Contract) -> Self {
        // 3 significant digits: 0.1 % of the value, in nanoseconds.
        let delays = Histogram::new(3).expect("3 significant digits are legal");
        Metrics {
            contract,
            epoch: Instant::now(),
            counters: Mutex::default(),
            delays: Mutex::new(delays),
        }
    }

    /// From now on calls and connections count.
    pub(crate) fn open(&self) {
        self.counters().open = true;
    }

    /// A call arrives. Returns its number, from 1; none while nothing counts.
    pub(crate) fn begin(&self, operation: Operation) -> Option<u64> {
        let now = self.now_ns();
        let mut counters = self.counters();
        if !counters.open {
            return None;
        }
        counters.arrived += 1;
        counters.calls[operation as usize] += 1;
        counters.in_flight += 1;
        // Sum of ends less sum of starts: time in calls without a timestamp per call.
        counters.balance_ns -= now;
        Some(counters.arrived)
    }

    /// A call that [`Metrics::begin`] numbered has ended.
    pub(crate) fn end(&self) {
        let now = self.now_ns();
        let mut counters = self.counters();
        // A call that began before the service was open has no arrival, and never gets
        // here.
        counters.in_flight -= 1;
        counters.balance_ns += now;
    }

    /// A call was answered with an application error.
    pub(crate) fn error(&self, operation: Operation) {
        self.counters().errors[operation as usize] += 1;
    }

    /// A fault was committed; `fault` is a place in [`FaultAction::NAMES`].
    pub(crate) fn fault(&self, fault: usize) {
        self.counters().faults[fault] += 1;
    }

    /// A connection was accepted.
    pub(crate) fn connection(&self) {
        let mut counters = self.counters();
        // The self-call's connection comes before the service is open.
        counters.connections += u64::from(counters.open);
    }

    /// A connection could not be accepted.
    pub(crate) fn accept_error(&self) {
        self.counters().accept_errors += 1;
    }

    /// An item of a stream is sent.
    pub(crate) fn item_sent(&self, is_late: bool) {
        let mut counters = self.counters();
        if counters.open {
            counters.items.sent += 1;
            counters.items.late += u64::from(is_late);
        }
    }

    /// A stream ended before its last item.
    pub(crate) fn stream_cancelled(&self) {
        let mut counters = self.counters();
        counters.items.cancelled += u64::from(counters.open);
    }

    /// Streams that ended before their last item.
    #[cfg(test)]
    pub(crate) fn streams_cancelled(&self) -> u64 {
        self.counters().items.cancelled
    }

    /// What an injected delay really was.
    pub(crate) fn delay(&self, real: Duration) {
        // Never reached in practice: 2^64 ns are 584 years.
        let ns = u64::try_from(real.as_nanos()).unwrap_or(u64::MAX);
        let mut delays = self.delays.lock().unwrap_or_else(PoisonError::into_inner);
        delays.record(ns).expect("a histogram of this kind grows");
    }

    fn counters(&self) -> MutexGuard<'_, Counters> {
        self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now_ns(&self) -> i128 {
        self.epoch.elapsed().as_nanos() as i128
    }

    fn encode_calls(&self, series: &mut Series<'_>) -> fmt::Result {
        let now = self.now_ns();
        let counters = self.counters();
        // Every call under way has contributed minus its start; now times their number
        // completes the sum.
        let seconds = (counters.balance_ns + i128::from(counters.in_flight) * now) as f64 / 1e9;
        let by_operation = |counts: &[u64; Operation::ALL.len()]| -> Vec<(&str, u64)> {
            Operation::all_of(self.contract)
                .map(|operation| (operation.name(), counts[operation as usize]))
                .collect()
        };
        let calls = "Calls that reached the service's own code";
        series.counters(
            "wirelab_calls",
            calls,
            "operation",
            by_operation(&counters.calls),
        )?;
        let errors = "Calls answered with an application error";
        series.counters(
            "wirelab_errors",
            errors,
            "operation",
            by_operation(&counters.errors),
        )?;
        let faults = FaultAction::NAMES.into_iter().zip(counters.faults);
        series.counters("wirelab_faults", "Faults injected", "fault", faults)?;
        let in_flight = "Calls that have not ended";
        series.gauge("wirelab_calls_in_flight", in_flight, counters.in_flight)?;
        series.counter("wirelab_call_seconds", "Time spent in calls", seconds)?;
        let accepted = "Connections accepted";
        series.counter("wirelab_connections", accepted, counters.connections)?;
        let failed = "Connections that could not be accepted";
        series.counter("wirelab_accept_errors", failed, counters.accept_errors)
    }

    fn encode_items(&self, series: &mut Series<'_>) -> fmt::Result {
        let counts = self.counters().items;
        series.counter("wirelab_stream_items", "Items sent", counts.sent)?;
        let late = "Items sent more than 10 ms after they were due";
        series.counter("wirelab_stream_late_items", late, counts.late)?;
        let cancelled = "Streams that ended before their last item";
        series.counter("wirelab_stream_cancelled", cancelled, counts.cancelled)
    }

    fn encode_delays(&self, series: &mut Series<'_>) -> fmt::Result {
        let delays = self.delays.lock().unwrap_or_else(PoisonError::into_inner);
        let quantiles = [("0.5", 0.5), ("0.9", 0.9), ("0.99", 0.99), ("1", 1.0)]
            .map(|(label, quantile)| (label, delays.value_at_quantile(quantile) as f64 / 1e9));
        // Of the histogram's buckets, so within its resolution of the true sum.
        let sum = delays.mean() * delays.len() as f64 / 1e9;
        series.summary(
            "wirelab_delay_seconds",
            "Injected delays as they were",
            quantiles,
            (sum, delays.len()),
        )
    }
}

impl Collector for Metrics {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut series = Series(encoder);
        self.encode_calls(&mut series)?;
        if self.contract == Contract::Stream {
            self.encode_items(&mut series)?;
        }
        self.encode_delays(&mut series)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use prometheus_client::encoding::prometheus_text;
    use prometheus_client::registry::Registry;

    use super::*;

    fn page(metrics: &Arc<Metrics>) -> String {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(Arc::clone(metrics)));
        let mut page = String::new();
        prometheus_text::encode(&mut page, &registry).unwrap();
        page
    }

    fn value(metrics: &Arc<Metrics>, name: &str) -> f64 {
        let page = page(metrics);
        let line = page
            .lines()
            .find(|line| line.starts_with(name))
            .expect(name);
        line.rsplit(' ').next().unwrap().parse().unwrap()
    }

    #[test]
    fn nothing_counts_before_the_service_is_open() {
        let metrics = Arc::new(Metrics::new(Contract::Transfer));
        metrics.connection();
        assert_eq!(metrics.begin(Operation::Hello), None);
        metrics.open();
        assert_eq!(metrics.begin(Operation::Hello), Some(1));
        assert_eq!(metrics.begin(Operation::Submit), Some(2));
        assert_eq!(value(&metrics, "wirelab_connections_total"), 0.0);
        assert_eq!(
            value(&metrics, "wirelab_calls_total{operation=\"Submit\"}"),
            1.0
        );
    }

    #[test]
    fn time_spent_grows_while_calls_are_in_flight_and_stays_after() {
        let metrics = Arc::new(Metrics::new(Contract::Transfer));
        metrics.open();
        metrics.begin(Operation::Hello);
        metrics.begin(Operation::Hello);
        std::thread::sleep(Duration::from_millis(10));
        let under_way = value(&metrics, "wirelab_call_seconds_total");
        assert!((0.02..0.2).contains(&under_way), "{under_way}");
        metrics.end();
        metrics.end();
        let ended = value(&metrics, "wirelab_call_seconds_total");
        std::thread::sleep(Duration::from_millis(5));
        assert_eq!(value(&metrics, "wirelab_call_seconds_total"), ended);
        assert!(ended >= under_way);
    }

    #[test]
    fn delays_are_reported_as_measured() {
        let metrics = Arc::new(Metrics::new(Contract::Transfer));
        for us in [100, 200, 300] {
            metrics.delay(Duration::from_micros(us));
        }
        let median = value(&metrics, "wirelab_delay_seconds{quantile=\"0.5\"}");
        assert!((median / 200e-6 - 1.0).abs() < 1e-3);
        assert_eq!(value(&metrics, "wirelab_delay_seconds_count"), 3.0);
    }

    #[test]
    fn the_page_is_prometheus_text_with_the_names_of_the_documentation() {
        let page = page(&Arc::new(Metrics::new(Contract::Charging)));
        for line in [
            "# TYPE wirelab_calls_total counter",
            "wirelab_calls_total{operation=\"Credit\"} 0",
            "wirelab_errors_total{operation=\"ConfirmAction\"} 0",
            "wirelab_faults_total{fault=\"freeze\"} 0",
            "# TYPE wirelab_calls_in_flight gauge",
            "wirelab_calls_in_flight 0",
            "wirelab_connections_total 0",
            "wirelab_accept_errors_total 0",
            "wirelab_delay_seconds_count 0",
        ] {
            assert!(page.lines().any(|own| own == line), "{line} in {page}");
        }
        assert!(page.contains("wirelab_call_seconds_total 0"));
        assert!(page.contains("wirelab_delay_seconds{quantile=\"1\"} 0"));
        // The end mark of OpenMetrics, which version 0.0.4 does not have.
        assert!(!page.contains("# EOF"));
    }
}
