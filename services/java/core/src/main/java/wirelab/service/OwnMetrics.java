package wirelab.service;

import com.sun.management.OperatingSystemMXBean;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.prometheus.metrics.model.snapshots.Quantile;
import io.prometheus.metrics.model.snapshots.Quantiles;
import io.prometheus.metrics.model.snapshots.SummarySnapshot;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.ToLongFunction;
import wirelab.service.contract.Charging;
import wirelab.service.contract.Model;
import wirelab.service.contract.StorePool;
import wirelab.service.contract.Stream;

/** The metrics that docs/reference/process.md names, read when asked. */
final class OwnMetrics implements MultiCollector {
    private static final Path STATUS = Path.of("/proc/self/status");

    private final Calls calls;
    private final Model model;

    OwnMetrics(Calls calls, Model model) {
        this.calls = calls;
        this.model = model;
    }

    @Override
    public MetricSnapshots collect() {
        MetricSnapshots.Builder all = MetricSnapshots.builder()
                .metricSnapshot(countByOperation("wirelab_calls", Calls.Tally::begun))
                .metricSnapshot(countByOperation("wirelab_errors", Calls.Tally::failed))
                .metricSnapshot(counter("wirelab_call_seconds", calls.spentSeconds()))
                .metricSnapshot(counter("wirelab_connections", calls.connections()))
                .metricSnapshot(gauge("wirelab_calls_in_flight", calls.inFlight()))
                .metricSnapshot(delays())
                .metricSnapshot(counter("process_cpu_seconds", cpuSeconds()))
                .metricSnapshot(gauge("process_resident_memory_bytes", residentBytes()));
        if (model instanceof Charging charging) {
            all.metricSnapshot(counter("wirelab_money", charging.money()));
        }
        if (model instanceof Stream) {
            all.metricSnapshot(counter("wirelab_stream_items", calls.streams().items()))
                    .metricSnapshot(counter("wirelab_stream_late_items", calls.streams().late()))
                    .metricSnapshot(counter("wirelab_stream_cancelled", calls.streams().cancellations()));
        }
        if (model.pool() != null) {
            all.metricSnapshot(connections(model.pool()));
        }
        return all.build();
    }

    private static GaugeSnapshot connections(StorePool pool) {
        GaugeSnapshot.Builder snapshot = GaugeSnapshot.builder().name("wirelab_store_connections");
        Map.of("in_use", pool.inUse(), "idle", pool.idle()).forEach((state, count) -> snapshot.dataPoint(
                GaugeSnapshot.GaugeDataPointSnapshot.builder().labels(Labels.of("state", state)).value(count).build()));
        return snapshot.build();
    }

    private CounterSnapshot countByOperation(String name, ToLongFunction<Calls.Tally> count) {
        CounterSnapshot.Builder snapshot = CounterSnapshot.builder().name(name);
        calls.tallies().forEach((operation, tally) -> snapshot.dataPoint(
                CounterSnapshot.CounterDataPointSnapshot.builder()
                        .labels(Labels.of("operation", operation))
                        .value(count.applyAsLong(tally))
                        .build()));
        return snapshot.build();
    }

    private static CounterSnapshot counter(String name, double value) {
        return CounterSnapshot.builder()
                .name(name)
                .dataPoint(CounterSnapshot.CounterDataPointSnapshot.builder().value(value).build())
                .build();
    }

    private static GaugeSnapshot gauge(String name, double value) {
        return GaugeSnapshot.builder()
                .name(name)
                .dataPoint(GaugeSnapshot.GaugeDataPointSnapshot.builder().value(value).build())
                .build();
    }

    private SummarySnapshot delays() {
        Delays delays = calls.delays();
        long count = delays.count();
        SummarySnapshot.SummaryDataPointSnapshot.Builder point =
                SummarySnapshot.SummaryDataPointSnapshot.builder().count(count).sum(delays.sumSeconds());
        if (count > 0) {
            point.quantiles(Quantiles.of(
                    new Quantile(0.5, delays.quantileSeconds(0.5)), new Quantile(0.99, delays.quantileSeconds(0.99))));
        }
        return SummarySnapshot.builder().name("wirelab_delay_seconds").dataPoint(point.build()).build();
    }

    private static double cpuSeconds() {
        return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime() / 1e9;
    }

    /** From proc(5), in kB there; NaN where there is no such file. */
    private static double residentBytes() {
        try (var lines = Files.lines(STATUS)) {
            return lines.filter(line -> line.startsWith("VmRSS:"))
                    .mapToDouble(line -> Double.parseDouble(line.replaceAll("\\D+", "")) * 1024)
                    .findFirst()
                    .orElse(Double.NaN);
        } catch (IOException elsewhere) {
            return Double.NaN;
        }
    }
}
