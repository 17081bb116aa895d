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
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import wirelab.service.contract.Model;

/** {@code GET /metrics} in the text format of Prometheus, and {@code GET /codec-times}. */
final class Metrics implements AutoCloseable {
    private static final Pattern CODEC_TIMES = Pattern.compile("operation=([A-Za-z]+)&seconds=(.*)");
    private static final Pattern SECONDS = Pattern.compile("[0-9]{1,2}(?:\\.[0-9]+)?");
    private static final String PLAIN = "text/plain; charset=utf-8";

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final JvmGcMetrics pauses = new JvmGcMetrics();
    private final Calls calls;
    private final HttpServer server;
    private final String address;

    private Metrics(String listen, Calls calls, Model model) throws IOException {
        this.calls = calls;
        registry.getPrometheusRegistry().register(new OwnMetrics(calls, model));
        new JvmMemoryMetrics().bindTo(registry);
        new JvmThreadMetrics().bindTo(registry);
        pauses.bindTo(registry);
        server = HttpServer.create(Address.internet(listen), 0);
        server.createContext("/metrics", this::answer);
        server.createContext("/codec-times", this::timeCodec);
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
        send(exchange, 200, "text/plain; version=0.0.4; charset=utf-8", registry.scrape());
    }

    private void timeCodec(HttpExchange exchange) throws IOException {
        Matcher asked = CODEC_TIMES.matcher(String.valueOf(exchange.getRequestURI().getQuery()));
        Calls.Tally tally = asked.matches() ? calls.tally(asked.group(1)) : null;
        if (tally == null || tally.reply() == null) {
            send(exchange, 404, PLAIN, "no reply of that operation is kept");
            return;
        }
        if (!SECONDS.matcher(asked.group(2)).matches()) {
            send(exchange, 400, PLAIN, "seconds must be a number from 0 to 99");
            return;
        }
        try {
            Map<String, Object> times =
                    CodecTimes.measure(asked.group(1), tally.reply(), Double.parseDouble(asked.group(2)));
            send(exchange, 200, "application/json", Json.write(times));
        } catch (Exception error) {
            send(exchange, 500, PLAIN, error.toString());
        }
    }

    private static void send(HttpExchange exchange, int status, String type, String text) throws IOException {
        try (exchange) {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", type);
            exchange.sendResponseHeaders(status, bytes.length);
            exchange.getResponseBody().write(bytes);
        }
    }

    @Override
    public void close() {
        pauses.close();
        server.stop(0);
    }
}
