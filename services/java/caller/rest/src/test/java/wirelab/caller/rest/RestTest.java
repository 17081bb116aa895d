package wirelab.caller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static wirelab.caller.CarriedOut.COLD;
import static wirelab.caller.CarriedOut.TEN;
import static wirelab.caller.CarriedOut.assertFailed;
import static wirelab.caller.CarriedOut.sleep;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A plan as the process carries it out, against a server of the JDK. */
class RestTest {
    private HttpServer server;

    private String serving(HttpHandler handler) throws IOException {
        server = CarriedOut.serving("/transfer/hello", handler);
        return CarriedOut.target(server);
    }

    @AfterEach
    void stop() {
        if (server != null) {
            server.stop(0);
        }
    }

    private static void answer(HttpExchange exchange, int status, String body) throws IOException {
        CarriedOut.answer(exchange, status, "application/json", body);
    }

    private static void hello(HttpExchange exchange) throws IOException {
        answer(exchange, 200, "{\"text\":\"Hello, wirelab\"}");
    }

    private static JsonNode carriedOut(String target, String rest) throws IOException {
        return CarriedOut.group(target, "'binding':'rest'", "Hello", rest);
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
        }), "'load':{'kind':'constant','rate':100,'in_flight_max':1},'window':{'duration_s':0.5},'drain_s':20,"
                + COLD);
        assertEquals(50, group.get("calls").asInt());
        assertTrue(group.get("queue_max").asInt() >= 20, group::toString);
        assertTrue(group.get("times").get("response").get("max_ns").asLong() > 1_500_000_000L);
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
        assertFailed(carriedOut(CarriedOut.nobody(), TEN), "refused", "connection_refused");
    }

    @Test
    void aDroppedConnectionIsClosed() throws IOException {
        assertFailed(carriedOut(serving(CarriedOut::drop), TEN), "closed", "connection_closed");
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

    @Test
    void arrivalsThatOutliveTheDrainInTheQueueAreUnfinished() throws IOException {
        AtomicInteger served = new AtomicInteger();
        String target = serving(exchange -> {
            served.incrementAndGet();
            sleep(3000);
        });
        JsonNode group = carriedOut(
                target,
                "'load':{'kind':'constant','rate':100,'in_flight_max':1},'window':{'duration_s':0.5},'drain_s':0.1,"
                        + COLD);
        assertEquals(50, group.get("errors_by_kind").path("unfinished").asInt(), group::toString);
        assertEquals(50, group.get("calls").asInt(), group::toString);
        assertEquals(50, group.get("first_calls_ns").size());
        assertEquals(50, group.get("times").get("response_failed").get("count").asInt());
        assertEquals(1, group.get("calls_whole_run").asInt());
        assertEquals(1, served.get());
    }
}
