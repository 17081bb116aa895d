package wirelab.caller.soap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static wirelab.caller.CarriedOut.TEN;
import static wirelab.caller.CarriedOut.answer;
import static wirelab.caller.CarriedOut.assertFailed;
import static wirelab.caller.CarriedOut.assertRight;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import wirelab.caller.CarriedOut;
import wirelab.caller.Envelopes;

/** Plans that CXF carries out against a server of the JDK. */
class SoapTest {
    private static final String XML = "text/xml; charset=utf-8";
    private HttpServer server;

    private String serving(HttpHandler handler) throws IOException {
        server = CarriedOut.serving("/transfer/soap", handler);
        return CarriedOut.target(server);
    }

    @AfterEach
    void stop() {
        if (server != null) {
            server.stop(0);
        }
    }

    private static JsonNode carriedOut(String target, String rest) throws IOException {
        return CarriedOut.group(target, "'binding':'soap'", "Hello", rest);
    }

    private static String action(HttpExchange exchange) {
        String action = exchange.getRequestHeaders().getFirst("SOAPAction");
        return action == null ? exchange.getRequestHeaders().getFirst("Content-Type") : action;
    }

    @ParameterizedTest
    @CsvSource({
        "soap-literal,1.1,Hello", "soap-literal,1.1,HelloBytes", "soap-literal,1.2,Hello",
        "soap-rpc,1.1,Hello", "soap-rpc,1.2,HelloBytes"
    })
    void requestsSayWhatTheEnginesSay(String codec, String soap, String operation) throws IOException {
        JsonNode golden = Envelopes.of(operation, codec, soap);
        String type = soap.equals("1.1") ? XML : "application/soap+xml; charset=utf-8";
        Set<String> said = ConcurrentHashMap.newKeySet();
        Set<String> actions = ConcurrentHashMap.newKeySet();
        String target = serving(exchange -> {
            actions.add(action(exchange));
            assertTrue(exchange.getRequestHeaders().containsKey("Content-Length"));
            said.add(Envelopes.said(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8)));
            answer(exchange, 200, type, golden.get("reply_envelope").asText());
        });
        String stack = "'binding':'soap','codec':'" + codec + "','soap':'" + soap + "'";
        JsonNode group = CarriedOut.group(target, stack, operation, TEN);
        assertRight(group);
        assertEquals(Set.of(Envelopes.said(golden.get("request_envelope").asText())), said);
        String action = "\"urn:wirelab:transfer:v1#" + operation + '"';
        assertTrue(actions.size() == 1 && actions.iterator().next().contains(action), actions::toString);
        Set<String> parts = Set.of("service", "queueing", "read", "response");
        parts.forEach(part -> assertTrue(group.get("times").has(part), part));
        assertTrue(!group.get("times").has("write") && !group.has("connections_opened"), group::toString);
    }

    @ParameterizedTest
    @ValueSource(strings = {"keep", "close"})
    void aConnectionIsKeptOrNot(String connection) throws IOException {
        String reply = Envelopes.of("Hello", "soap-literal", "1.1").get("reply_envelope").asText();
        Set<Integer> ports = ConcurrentHashMap.newKeySet();
        String target = serving(exchange -> {
            ports.add(exchange.getRemoteAddress().getPort());
            exchange.getRequestBody().readAllBytes();
            answer(exchange, 200, XML, reply);
        });
        assertRight(CarriedOut.group(target, "'binding':'soap','connection':'" + connection + "'", "Hello", TEN));
        assertEquals(connection.equals("keep") ? 1 : 10, ports.size());
    }

    private static HttpHandler replying(int status, String body) {
        return exchange -> {
            exchange.getRequestBody().readAllBytes();
            answer(exchange, status, XML, body);
        };
    }

    @Test
    void anotherTextIsWrong() throws IOException {
        String reply = Envelopes.of("Hello", "soap-literal", "1.1").get("reply_envelope").asText();
        String target = serving(replying(200, reply.replace("wirelab<", "wirelaB<")));
        assertFailed(carriedOut(target, TEN), "wrong", "wrong_reply");
    }

    @ParameterizedTest
    @ValueSource(strings = {"Hello, wirelab", "", "<Envelope/>", "<!DOCTYPE a><a/>"})
    void whatIsNoEnvelopeIsWrong(String body) throws IOException {
        assertFailed(carriedOut(serving(replying(200, body)), TEN), "wrong", "wrong_reply");
    }

    @Test
    void aFaultIsAnErrorOfTheApplication() throws IOException {
        String fault = Envelopes.of("Hello", "soap-literal", "1.1").get("error_envelope").asText();
        JsonNode group = carriedOut(serving(replying(500, fault)), TEN);
        assertFailed(group, "application", "application_error");
        assertEquals("not enough credit", group.get("error_examples").get(0).asText());
    }

    @Test
    void anotherStatusIsAnErrorOfTheApplication() throws IOException {
        String target = serving(exchange -> {
            exchange.getRequestBody().readAllBytes();
            answer(exchange, 503, "text/plain", "no");
        });
        assertFailed(carriedOut(target, TEN), "application", "application_error");
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
        String target = serving(exchange -> CarriedOut.sleep(2000));
        assertFailed(carriedOut(target, TEN + ",'timeout_s':0.05"), "timeout", "timeout");
    }
}
