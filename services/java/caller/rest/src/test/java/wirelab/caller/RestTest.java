package wirelab.caller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A plan as the process carries it out, against a server of the JDK. */
class RestTest {
    private static final String COLD = "'first_calls':1000,'warmup':{'min_s':0,'max_s':0}";
    private static final String TEN =
            "'load':{'kind':'closed','users':1},'window':{'calls':{'calls':10,'max_s':20}}," + COLD;
    private HttpServer server;

    private String serving(HttpHandler handler) throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newCachedThreadPool());
        server.createContext("/transfer/hello", handler);
        server.start();
        return "127.0.0.1:" + server.getAddress().getPort();
    }

    @AfterEach
    void stop() {
        if (server != null) {
            server.stop(0);
        }
    }

    private static void answer(HttpExchange exchange, int status, String body) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(status, body.length());
        exchange.getResponseBody().write(body.getBytes(StandardCharsets.UTF_8));
        exchange.close();
    }

    private static void hello(HttpExchange exchange) throws IOException {
        answer(exchange, 200, "{\"text\":\"Hello, wirelab\"}");
    }

    private static JsonNode carriedOut(String target, String rest) throws IOException {
        String plan = "{'progress_ms':0,'groups':[{'name':'main','target':'" + target
                + "','stack':{'binding':'rest'},'workload':{'kind':'contract','contract':'transfer',"
                + "'operation':'Hello','bytes':14}," + rest + "}]}";
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        assertEquals(0, Main.carryOut(plan.replace('\'', '"'), output), output::toString);
        String[] lines = output.toString(StandardCharsets.UTF_8).split("\n");
        return Plan.JSON.readTree(lines[lines.length - 1]).get("groups").get(0);
    }

    @Test
    void everyCallIsCountedByBothSides() throws IOException {
        AtomicInteger served = new AtomicInteger();
        JsonNode group = carriedOut(serving(exchange -> {
            served.incrementAndGet();
            hello(exchange);
        }), TEN);
        assertEquals(10, group.get("ok").asInt(), group::toString);
        assertEquals(10, served.get());
        assertEquals(10, group.get("first_calls_ns").size());
        assertTrue(group.get("times").has("read") && !group.get("times").has("write"), group::toString);
        assertTrue(!group.has("connections_opened"), "HttpClient does not report them");
    }

    @Test
    void anOpenLoadKeepsIntendedTimes() throws IOException {
        // Each call takes 50 ms and one is made at a time, but 100 arrive per second.
        JsonNode group = carriedOut(serving(exchange -> {
            sleep(50);
            hello(exchange);
        }), "'load':{'kind':'constant','rate':100,'in_flight_max':1},'window':{'duration_s':0.5},'drain_s':20," + COLD);
        assertEquals(50, group.get("calls").asInt());
        assertTrue(group.get("queue_max").asInt() >= 20, group::toString);
        assertTrue(group.get("times").get("response").get("max_ns").asLong() > 1_500_000_000L);
    }

    private static void sleep(int ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    private static void assertFailed(JsonNode group, String kind, String code) {
        assertEquals(10, group.get("errors_by_kind").path(kind).asInt(), group::toString);
        assertEquals(10, group.get("errors_by_code").path(code).asInt(), group::toString);
        assertEquals(10, group.get("times").get("response_failed").get("count").asInt());
    }

    @Test
    void anotherTextIsWrong() throws IOException {
        assertFailed(carriedOut(serving(e -> answer(e, 200, "{\"text\":\"Hello, wirelaB\"}")), TEN), "wrong", "wrong_reply");
    }

    @Test
    void whatIsNoJsonIsWrong() throws IOException {
        assertFailed(carriedOut(serving(e -> answer(e, 200, "Hello, wirelab")), TEN), "wrong", "wrong_reply");
    }

    @Test
    void anotherStatusIsAnErrorOfTheApplication() throws IOException {
        assertFailed(carriedOut(serving(e -> answer(e, 500, "no")), TEN), "application", "application_error");
    }

    @Test
    void aClosedPortRefuses() throws IOException {
        assertFailed(carriedOut("127.0.0.1:1", TEN), "refused", "connection_refused");
    }

    @Test
    void aDroppedConnectionIsClosed() throws IOException {
        assertFailed(carriedOut(serving(HttpExchange::close), TEN), "closed", "connection_closed");
    }

    @Test
    void aSlowReplyIsATimeout() throws IOException {
        String target = serving(exchange -> {
            sleep(300);
            hello(exchange);
        });
        assertFailed(carriedOut(target, TEN + ",'timeout_s':0.05"), "timeout", "timeout");
    }

    @Test
    void aCallThatOutlivesTheDrainIsUnfinished() throws IOException {
        JsonNode group = carriedOut(
                serving(exchange -> sleep(3000)),
                "'load':{'kind':'closed','users':2},'window':{'duration_s':0.1},'drain_s':0.1," + COLD);
        assertEquals(2, group.get("errors_by_kind").path("unfinished").asInt(), group::toString);
    }
}
