//! Metrics in the form that prometheus-client encodes.

use std::fmt;

use prometheus_client::encoding::{
    DescriptorEncoder, EncodeCounterValue, EncodeGaugeValue, NoLabelSet,
};
use prometheus_client::metrics::MetricType;

use super::own_process::ProcessUsage;

/// Writes metrics whose values are read at the time of the scrape.
pub(crate) struct Series<'a>(pub(crate) DescriptorEncoder<'a>);

impl Series<'_> {
    /// A counter; the format appends `_total` to `name`.
    pub(crate) fn counter(
        &mut self,
        name: &str,
        help: &str,
        value: impl EncodeCounterValue,
    ) -> fmt::Result {
        let kind = MetricType::Counter;
        let mut metric = self.0.encode_descriptor(name, help, None, kind)?;
        metric.encode_counter::<NoLabelSet, _, u64>(&value, None)
    }

    /// A counter for each value of a label; the format appends `_total` to `name`.
    pub(crate) fn counters<'v>(
        &mut self,
        name: &str,
        help: &str,
        label: &str,
        rows: impl IntoIterator<Item = (&'v str, u64)>,
    ) -> fmt::Result {
        let kind = MetricType::Counter;
        let mut family = self.0.encode_descriptor(name, help, None, kind)?;
        for (value, count) in rows {
            let labels = [(label, value)];
            let mut metric = family.encode_family(&labels)?;
            metric.encode_counter::<NoLabelSet, _, u64>(&count, None)?;
        }
        Ok(())
    }

    /// A gauge.
    pub(crate) fn gauge(
        &mut self,
        name: &str,
        help: &str,
        value: impl EncodeGaugeValue,
    ) -> fmt::Result {
        let kind = MetricType::Gauge;
        let mut metric = self.0.encode_descriptor(name, help, None, kind)?;
        metric.encode_gauge(&value)
    }

    /// A gauge for each value of a label.
    pub(crate) fn gauges<const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        label: &str,
        rows: [(&str, u64); N],
    ) -> fmt::Result {
        let kind = MetricType::Gauge;
        let mut family = self.0.encode_descriptor(name, help, None, kind)?;
        for (value, count) in rows {
            let labels = [(label, value)];
            family.encode_family(&labels)?.encode_gauge(&count)?;
        }
        Ok(())
    }

    /// The series of a summary: quantiles, sum and count.
    ///
    /// prometheus-client has no summaries, so that the three are untyped.
    pub(crate) fn summary(
        &mut self,
        name: &str,
        help: &str,
        quantiles: impl IntoIterator<Item = (&'static str, f64)>,
        (sum, count): (f64, u64),
    ) -> fmt::Result {
        // Scrapers read `quantile` labels all the same.
        let kind = MetricType::Unknown;
        let mut family = self.0.encode_descriptor(name, help, None, kind)?;
        for (quantile, value) in quantiles {
            let labels = [("quantile", quantile)];
            family.encode_family(&labels)?.encode_gauge(&value)?;
        }
        let of_sum = format!("{name}_sum");
        let mut metric = self.0.encode_descriptor(&of_sum, help, None, kind)?;
        metric.encode_gauge(&sum)?;
        let of_count = format!("{name}_count");
        let mut metric = self.0.encode_descriptor(&of_count, help, None, kind)?;
        metric.encode_gauge(&count)
    }

    /// The names of Prometheus's own client libraries.
    pub(crate) fn process(&mut self, process: &ProcessUsage) -> fmt::Result {
        let seconds = process.cpu.as_secs_f64();
        self.counter("process_cpu_seconds", "CPU time of all threads", seconds)?;
        for (name, help, value) in [
            (
                "process_resident_memory_bytes",
                "Resident memory",
                process.resident_bytes,
            ),
            (
                "process_resident_memory_max_bytes",
                "The most resident memory so far",
                process.resident_max_bytes,
            ),
            ("process_threads", "Threads", process.threads),
            (
                "process_open_fds",
                "Open file descriptors",
                process.descriptors as u64,
            ),
        ] {
            self.gauge(name, help, value)?;
        }
        Ok(())
    }
}
