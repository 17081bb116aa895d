//! What a service counts about its own calls, and the page that tells it.

pub(crate) mod exposition;
mod own_process;

use std::fmt::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use wirelab_contract::{Contract, Operation};

use crate::faults::FaultAction;

/// Counters of one service process.
#[derive(Debug)]
pub(crate) struct Metrics {
    contract: Contract,
    epoch: Instant,
    book: Mutex<Book>,
    delays: Mutex<Histogram<u64>>,
}

/// All that changes with every call, under one lock, so that a reader never
/// sees a call half counted.
#[derive(Debug)]
struct Book {
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
}

impl Default for Book {
    fn default() -> Self {
        Book {
            open: false,
            arrived: 0,
            calls: [0; Operation::ALL.len()],
            errors: [0; Operation::ALL.len()],
            faults: [0; FaultAction::NAMES.len()],
            in_flight: 0,
            balance_ns: 0,
            connections: 0,
            accept_errors: 0,
        }
    }
}

impl Metrics {
    /// Counters that stand still until [`Metrics::open`].
    pub(crate) fn new(contract: Contract) -> Self {
        let delays = Histogram::new(3).expect("3 significant digits are legal");
        Metrics {
            contract,
            epoch: Instant::now(),
            book: Mutex::default(),
            delays: Mutex::new(delays),
        }
    }

    /// From now on calls and connections count.
    pub(crate) fn open(&self) {
        self.book().open = true;
    }

    /// A call arrives. Returns its number, from 1; none while nothing counts.
    pub(crate) fn begin(&self, operation: Operation) -> Option<u64> {
        let now = self.now_ns();
        let mut book = self.book();
        if !book.open {
            return None;
        }
        book.arrived += 1;
        book.calls[operation as usize] += 1;
        book.in_flight += 1;
        // Sum of ends less sum of starts: time in calls without a timestamp per call.
        book.balance_ns -= now;
        Some(book.arrived)
    }

    /// A call that [`Metrics::begin`] numbered has ended.
    pub(crate) fn end(&self) {
        let now = self.now_ns();
        let mut book = self.book();
        book.in_flight -= 1;
        book.balance_ns += now;
    }

    /// A call was answered with an application error.
    pub(crate) fn error(&self, operation: Operation) {
        self.book().errors[operation as usize] += 1;
    }

    /// A fault was committed; `fault` is a place in [`FaultAction::NAMES`].
    pub(crate) fn fault(&self, fault: usize) {
        self.book().faults[fault] += 1;
    }

    /// A connection was accepted.
    pub(crate) fn connection(&self) {
        let mut book = self.book();
        book.connections += u64::from(book.open);
    }

    /// A connection could not be accepted.
    pub(crate) fn accept_error(&self) {
        self.book().accept_errors += 1;
    }

    /// What an injected delay really was.
    pub(crate) fn delay(&self, real: Duration) {
        let ns = u64::try_from(real.as_nanos()).unwrap_or(u64::MAX);
        let mut delays = self.delays.lock().unwrap_or_else(PoisonError::into_inner);
        delays.record(ns).expect("a histogram of this kind grows");
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now_ns(&self) -> i128 {
        self.epoch.elapsed().as_nanos() as i128
    }

    /// Appends the counters as Prometheus text.
    pub(crate) fn write(&self, page: &mut String) {
        self.write_calls(page);
        self.write_delays(page);
    }

    fn write_calls(&self, page: &mut String) {
        let now = self.now_ns();
        let book = self.book();
        let seconds = (book.balance_ns + i128::from(book.in_flight) * now) as f64 / 1e9;
        for (name, counts) in [
            ("wirelab_calls_total", &book.calls),
            ("wirelab_errors_total", &book.errors),
        ] {
            let own = Operation::all_of(self.contract);
            let (names, counts): (Vec<_>, Vec<_>) = own
                .map(|operation| (operation.name(), counts[operation as usize]))
                .unzip();
            labelled(page, name, "counter", "operation", &names, &counts);
        }
        labelled(
            page,
            "wirelab_faults_total",
            "counter",
            "fault",
            &FaultAction::NAMES,
            &book.faults,
        );
        sample(page, "wirelab_calls_in_flight", "gauge", book.in_flight);
        sample(page, "wirelab_call_seconds_total", "counter", seconds);
        sample(
            page,
            "wirelab_connections_total",
            "counter",
            book.connections,
        );
        sample(
            page,
            "wirelab_accept_errors_total",
            "counter",
            book.accept_errors,
        );
    }

    fn write_delays(&self, page: &mut String) {
        let delays = self.delays.lock().unwrap_or_else(PoisonError::into_inner);
        let name = "wirelab_delay_seconds";
        kind(page, name, "summary");
        for quantile in [0.5, 0.9, 0.99, 1.0] {
            let seconds = delays.value_at_quantile(quantile) as f64 / 1e9;
            line(
                page,
                format_args!("{name}{{quantile=\"{quantile}\"}} {seconds}"),
            );
        }
        let sum = delays.mean() * delays.len() as f64 / 1e9;
        line(
            page,
            format_args!("{name}_sum {sum}\n{name}_count {}", delays.len()),
        );
    }
}

/// Appends one line; writing to a string cannot fail.
fn line(page: &mut String, text: std::fmt::Arguments<'_>) {
    writeln!(page, "{text}").expect("a string takes every line");
}

fn kind(page: &mut String, name: &str, kind: &str) {
    line(page, format_args!("# TYPE {name} {kind}"));
}

/// Appends a metric that has one value.
pub(crate) fn sample(page: &mut String, name: &str, of: &str, value: impl std::fmt::Display) {
    kind(page, name, of);
    line(page, format_args!("{name} {value}"));
}

/// Appends a metric that has one value for each value of a label.
pub(crate) fn labelled(
    page: &mut String,
    name: &str,
    of: &str,
    label: &str,
    values: &[&str],
    counts: &[u64],
) {
    kind(page, name, of);
    for (value, count) in values.iter().zip(counts) {
        line(page, format_args!("{name}{{{label}=\"{value}\"}} {count}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(metrics: &Metrics, name: &str) -> f64 {
        let mut page = String::new();
        metrics.write(&mut page);
        let line = page
            .lines()
            .find(|line| line.starts_with(name))
            .expect(name);
        line.rsplit(' ').next().unwrap().parse().unwrap()
    }

    #[test]
    fn nothing_counts_before_the_service_is_open() {
        let metrics = Metrics::new(Contract::Transfer);
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
        let metrics = Metrics::new(Contract::Transfer);
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
    fn delays_are_told_as_they_were() {
        let metrics = Metrics::new(Contract::Transfer);
        for us in [100, 200, 300] {
            metrics.delay(Duration::from_micros(us));
        }
        let median = value(&metrics, "wirelab_delay_seconds{quantile=\"0.5\"}");
        assert!((median / 200e-6 - 1.0).abs() < 1e-3);
        assert_eq!(value(&metrics, "wirelab_delay_seconds_count"), 3.0);
    }
}
