package wirelab.caller.rest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static wirelab.caller.CarriedOut.COLD;
import static wirelab.caller.CarriedOut.TEN;
import static wirelab.caller.CarriedOut.assertFailed;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import wirelab.caller.CarriedOut;
import wirelab.caller.HttpLibraryTest;

/** Spring's RestClient. */
class RestTest extends HttpLibraryTest {
    RestTest() {
        super("'binding':'rest'", "/transfer/hello", "application/json", "{\"text\":\"Hello, wirelab\"}");
    }

    private void hello(HttpExchange exchange) throws IOException {
        answer(exchange, 200, type, reply);
    }

    @Test
    void everyCallIsCountedByBothSides() throws IOException {
        AtomicInteger served = new AtomicInteger();
        JsonNode group = runPlan(startServer(exchange -> {
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
        JsonNode group = runPlan(startServer(exchange -> {
            sleep(50);
            hello(exchange);
        }), "'load':{'kind':'constant','rate':100,'in_flight_max':1},'window':{'duration_s':0.5},'drain_s':20,"
                + COLD);
        assertEquals(50, group.get("calls").asInt());
        assertTrue(group.get("queue_max").asInt() >= 20, group::toString);
        assertTrue(group.get("times").get("response").get("max_ns").asLong() > 1_500_000_000L);
    }

    @ParameterizedTest
    @CsvSource({
        "json,application/json,''", "json,application/json,null", "json,application/json,{}",
        "protobuf,application/x-protobuf,''", "text,text/plain,''"
    })
    void aReplyWithoutATextIsWrong(String codec, String type, String body) throws IOException {
        HttpHandler replying = exchange -> answer(exchange, 200, type, body);
        String target = startServer(replying);
        for (String operation : List.of("Hello", "HelloBytes")) {
            JsonNode group = CarriedOut.group(target, stack + ",'codec':'" + codec + "'", operation, TEN);
            assertFailed(group, "wrong", "wrong_reply");
        }
    }

    @Test
    void aReplyOfAnotherTypeIsWrong() throws IOException {
        String target = startServer(exchange -> answer(exchange, 200, "text/html", reply));
        assertFailed(runPlan(target, TEN), "wrong", "wrong_reply");
    }

    @Test
    void anotherStatusIsAnErrorOfTheApplication() throws IOException {
        assertFailed(runPlan(startServer(replyHandler(500, "no")), TEN), "application", "application_error");
    }

    @Test
    void aCallThatOutlivesTheDrainIsUnfinished() throws IOException {
        JsonNode group = runPlan(
                startServer(exchange -> sleep(3000)),
                "'load':{'kind':'closed','users':2},'window':{'duration_s':0.1},'drain_s':0.1," + COLD);
        assertEquals(2, group.get("errors_by_kind").path("unfinished").asInt(), group::toString);
    }

    @Test
    void arrivalsThatOutliveTheDrainInTheQueueAreUnfinished() throws IOException {
        AtomicInteger served = new AtomicInteger();
        String target = startServer(exchange -> {
            served.incrementAndGet();
            sleep(3000);
        });
        JsonNode group = runPlan(
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
