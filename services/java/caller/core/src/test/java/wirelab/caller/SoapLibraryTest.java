package wirelab.caller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static wirelab.caller.CarriedOut.TEN;
import static wirelab.caller.CarriedOut.assertFailed;
import static wirelab.caller.CarriedOut.assertRight;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpHandler;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;

/** The same over SOAP, compared with the envelopes of {@code contracts/vectors}. */
public abstract class SoapLibraryTest extends HttpLibraryTest {
    protected static final String XML = "text/xml; charset=utf-8";
    private final String fault;
    private final Set<String> envelopes = ConcurrentHashMap.newKeySet();

    /** Of the requests that {@link #recordRequests} answered. */
    protected final Set<String> actions = ConcurrentHashMap.newKeySet();
    protected final Set<String> protocols = ConcurrentHashMap.newKeySet();
    protected final Set<Integer> ports = ConcurrentHashMap.newKeySet();

    protected SoapLibraryTest(String codec) throws IOException {
        this(codec, Envelopes.of("Hello", codec, "1.1"));
    }

    private SoapLibraryTest(String codec, JsonNode golden) {
        super("'binding':'soap','codec':'" + codec + "'", "/transfer/soap", XML, golden.get("reply_envelope").asText());
        fault = golden.get("error_envelope").asText();
    }

    /** Notes each request and answers it. */
    protected HttpHandler recordRequests(String type, String body) {
        return exchange -> {
            Headers headers = exchange.getRequestHeaders();
            assertTrue(headers.containsKey("Content-Length"));
            actions.add(headers.getFirst(headers.containsKey("SOAPAction") ? "SOAPAction" : "Content-Type"));
            protocols.add(exchange.getProtocol());
            ports.add(exchange.getRemoteAddress().getPort());
            envelopes.add(Envelopes.normalize(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8)));
            answer(exchange, 200, type, body);
        };
    }

    /** All ten calls were right, and their requests were the golden one. */
    protected void assertGolden(JsonNode golden, JsonNode group) throws IOException {
        assertRight(group);
        assertEquals(Set.of(Envelopes.normalize(golden.get("request_envelope").asText())), envelopes);
        Set<String> parts = Set.of("service", "queueing", "read", "response");
        parts.forEach(part -> assertTrue(group.get("times").has(part), part));
        assertTrue(!group.get("times").has("write") && !group.has("connections_opened"), group::toString);
    }

    @Test
    void aFaultIsAnErrorOfTheApplication() throws IOException {
        JsonNode group = runPlan(startServer(replyHandler(500, fault)), TEN);
        assertFailed(group, "application", "application_error");
        assertEquals("not enough credit", group.get("error_examples").get(0).asText());
    }
}
