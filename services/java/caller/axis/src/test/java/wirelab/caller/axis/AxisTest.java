package wirelab.caller.axis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static wirelab.caller.CarriedOut.TEN;
import static wirelab.caller.CarriedOut.assertFailed;
import static wirelab.caller.CarriedOut.assertRight;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpHandler;
import java.io.IOException;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import wirelab.caller.CarriedOut;
import wirelab.caller.Envelopes;
import wirelab.caller.SoapLibraryTest;

/** Axis 1.4. */
class AxisTest extends SoapLibraryTest {
    AxisTest() throws IOException {
        super("soap-encoded");
    }

    @ParameterizedTest
    @CsvSource({
        "Hello,http/1.1,keep,1", "HelloBytes,http/1.1,keep,1", "Hello,http/1.1,close,10", "Hello,http/1.0,close,10",
        "HelloBytes,http/1.0,close,10"
    })
    void requestsSayWhatTheEnginesSayOverSuchConnections(
            String operation, String transport, String connection, int opened) throws IOException {
        JsonNode golden = Envelopes.of(operation, "soap-encoded", "1.1");
        String target = startServer(recordRequests(XML, golden.get("reply_envelope").asText()));
        String axes = stack + ",'transport':'" + transport + "','connection':'" + connection + "'";
        assertGolden(golden, CarriedOut.group(target, axes, operation, TEN));
        assertEquals(Set.of(transport.toUpperCase(Locale.ROOT)), protocols);
        assertEquals(Set.of("\"urn:wirelab:transfer:v1#" + operation + '"'), actions);
        assertEquals(opened, ports.size());
    }

    @Test
    void moreUsersThanTwoHaveAConnectionEach() throws IOException {
        HttpHandler noting = recordRequests(type, reply);
        CountDownLatch users = new CountDownLatch(5);
        String target = startServer(exchange -> {
            CarriedOut.meet(users);
            noting.handle(exchange);
        });
        runPlan(target, TEN.replace("'users':1", "'users':5"));
        assertEquals(5, ports.size());
    }

    private String startServer(int status, String type, String body) {
        return startServer(exchange -> answer(exchange, status, type, body));
    }

    @ParameterizedTest
    @CsvSource({"503,text/html,Service Unavailable", "404,text/plain,Not Found"})
    void anotherStatusIsAnErrorOfTheApplication(int status, String type, String reason) throws IOException {
        JsonNode group = runPlan(startServer(status, type, "no"), TEN);
        assertFailed(group, "application", "application_error");
        assertEquals("(" + status + ")" + reason, group.get("error_examples").get(0).asText());
    }

    /** Axis expects a fault of SOAP there, whatever the status is, and reads the body as an envelope. */
    @ParameterizedTest
    @ValueSource(strings = {"text/plain", "text/html; charset=utf-8"})
    void anErrorPageOfAnotherTypeThanHtmlIsWrong(String type) throws IOException {
        assertFailed(runPlan(startServer(503, type, "no"), TEN), "wrong", "wrong_reply");
    }

    @Test
    void aRightReplyOfStatus500IsGood() throws IOException {
        assertRight(runPlan(startServer(500, XML, reply), TEN));
    }

    /** Axis makes a fault of its own of it. */
    @Test
    void anEnvelopeOfAnotherNamespaceIsAnErrorOfTheApplication() throws IOException {
        JsonNode group = runPlan(startServer(200, XML, "<Envelope/>"), TEN);
        assertFailed(group, "application", "application_error");
        assertEquals("Version Mismatch", group.get("error_examples").get(0).asText());
    }
}
