package wirelab.caller.soap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static wirelab.caller.CarriedOut.TEN;
import static wirelab.caller.CarriedOut.assertFailed;
import static wirelab.caller.CarriedOut.assertRight;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import wirelab.caller.CarriedOut;
import wirelab.caller.Envelopes;
import wirelab.caller.SoapLibraryTest;

/** Apache CXF. */
class SoapTest extends SoapLibraryTest {
    SoapTest() throws IOException {
        super("soap-literal");
    }

    @ParameterizedTest
    @CsvSource({
        "soap-literal,1.1,Hello", "soap-literal,1.1,HelloBytes", "soap-literal,1.2,Hello",
        "soap-rpc,1.1,Hello", "soap-rpc,1.2,HelloBytes"
    })
    void requestsSayWhatTheEnginesSay(String codec, String soap, String operation) throws IOException {
        JsonNode golden = Envelopes.of(operation, codec, soap);
        String type = soap.equals("1.1") ? XML : "application/soap+xml; charset=utf-8";
        String target = startServer(recordRequests(type, golden.get("reply_envelope").asText()));
        String axes = "'binding':'soap','codec':'" + codec + "','soap':'" + soap + "'";
        assertGolden(golden, CarriedOut.group(target, axes, operation, TEN));
        String action = "\"urn:wirelab:transfer:v1#" + operation + '"';
        assertTrue(actions.size() == 1 && actions.iterator().next().contains(action), actions::toString);
    }

    @ParameterizedTest
    @ValueSource(strings = {"keep", "close"})
    void aConnectionIsKeptOrNot(String connection) throws IOException {
        String target = startServer(recordRequests(type, reply));
        assertRight(CarriedOut.group(target, stack + ",'connection':'" + connection + "'", "Hello", TEN));
        assertEquals(connection.equals("keep") ? 1 : 10, ports.size());
    }

    @Test
    void anEnvelopeOfNoNamespaceIsWrong() throws IOException {
        assertFailed(runPlan(startServer(replyHandler(200, "<Envelope/>")), TEN), "wrong", "wrong_reply");
    }

    @Test
    void anotherStatusIsAnErrorOfTheApplication() throws IOException {
        String target = startServer(exchange -> answer(exchange, 503, "text/plain", "no"));
        assertFailed(runPlan(target, TEN), "application", "application_error");
    }
}
