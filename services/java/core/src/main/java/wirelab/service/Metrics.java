package wirelab.service;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.BindException;
import java.nio.charset.StandardCharsets;
import wirelab.service.contract.Model;

/** {@code GET /metrics} in the text format of Prometheus. */
final class Metrics implements AutoCloseable {
    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final JvmGcMetrics pauses = new JvmGcMetrics();
    private final HttpServer server;
    private final String address;

    private Metrics(String listen, Calls calls, Model model) throws IOException {
        registry.getPrometheusRegistry().register(new OwnMetrics(calls, model));
        new JvmMemoryMetrics().bindTo(registry);
        new JvmThreadMetrics().bindTo(registry);
        pauses.bindTo(registry);
        server = HttpServer.create(Address.internet(listen), 0);
        server.createContext("/metrics", this::answer);
        server.start();
        address = Address.withPort(listen, server.getAddress().getPort());
    }

    /** Listens, or refuses an address that is taken. */
    static Metrics serve(String listen, Calls calls, Model model) throws Refusal, IOException {
        try {
            return new Metrics(listen, calls, model);
        } catch (BindException taken) {
            throw new Refusal("metrics_listen", listen + ": " + taken.getMessage(), "use port 0, or a free port");
        }
    }

    String address() {
        return address;
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            byte[] text = registry.scrape().getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
            exchange.sendResponseHeaders(200, text.length);
            exchange.getResponseBody().write(text);
        }
    }

    @Override
    public void close() {
        pauses.close();
        server.stop(0);
    }
}
