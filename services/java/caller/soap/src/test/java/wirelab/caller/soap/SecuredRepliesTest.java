package wirelab.caller.soap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static wirelab.caller.CarriedOut.TEN;
import static wirelab.caller.CarriedOut.assertFailed;
import static wirelab.caller.CarriedOut.assertRight;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.wss4j.dom.WSConstants;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import wirelab.caller.CarriedOut;
import wirelab.caller.Envelopes;
import wirelab.service.wss.KeyFiles;
import wirelab.service.wss.Message;

/** The caller secures its requests, and counts a reply that is not secured as agreed as failed. */
class SecuredRepliesTest {
    private static final String STACK = "'binding':'soap','codec':'soap-literal','ws_security':'";
    private static final String GCM = WSConstants.AES_256_GCM;
    private static final String OAEP = WSConstants.KEYTRANSPORT_RSAOAEP_XENC11;

    /** A reply of its own to each request. */
    private interface Reply {
        String make() throws Exception;
    }

    @TempDir
    static Path folder;

    private static Path keys;
    private static Path otherKeys;
    private static String plain;

    private final List<String> requests = new CopyOnWriteArrayList<>();
    private HttpServer server;

    @BeforeAll
    static void createKeys() throws Exception {
        keys = KeyFiles.create(folder, "keys.p12");
        otherKeys = KeyFiles.create(folder, "other.p12");
        plain = Envelopes.of("Hello", "soap-literal", "1.1").get("reply_envelope").asText();
    }

    @BeforeEach
    void create() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"signature", "encryption", "signature-encryption"})
    void securedRepliesAreRightAndRequestsAreSecured(String value) throws Exception {
        assertRight(run(value, 200, () -> {
            Message reply = new Message(plain, keys, true);
            if (value.startsWith("signature")) {
                reply.stamp(0, 300).sign(WSConstants.RSA_SHA256, "Body", "Timestamp");
            }
            return (value.endsWith("encryption") ? reply.encrypt(GCM, OAEP) : reply).text();
        }));
        assertEquals(10, requests.size());
        for (String request : requests) {
            assertEquals(value.startsWith("signature"), request.contains("SignatureValue"), request);
            assertEquals(value.endsWith("encryption"), request.contains("CipherValue"), request);
            assertEquals(value.equals("signature"), request.contains("HelloRequest"), request);
        }
    }

    @ParameterizedTest
    @CsvSource({"signature", "encryption", "signature-encryption"})
    void plainRepliesAreWrong(String value) throws Exception {
        assertFailed(run(value, 200, () -> plain), "wrong", "wrong_reply");
    }

    @Test
    void aChangedReplyIsWrong() throws Exception {
        assertFailed(run("signature", 200, () -> sign(keys, true, 0).replace("Hello, ", "Hellu, ")), "wrong", "wrong_reply");
    }

    @Test
    void anOldReplyIsWrong() throws Exception {
        assertFailed(run("signature", 200, () -> sign(keys, true, 400)), "wrong", "wrong_reply");
    }

    @Test
    void aReplyByAnotherKeyIsWrong() throws Exception {
        assertFailed(run("signature", 200, () -> sign(otherKeys, true, 0)), "wrong", "wrong_reply");
        assertFailed(run("signature", 200, () -> sign(keys, false, 0)), "wrong", "wrong_reply");
    }

    @Test
    void aFaultIsAnErrorOfTheApplication() throws Exception {
        String fault = Envelopes.of("Hello", "soap-literal", "1.1").get("error_envelope").asText();
        JsonNode group = run("signature", 500, () -> fault);
        assertFailed(group, "application", "application_error");
        assertEquals("not enough credit", group.get("error_examples").get(0).asText());
    }

    @Test
    void requestsHaveAUsernameToken() throws Exception {
        String rest = TEN + ",'username':'wirelab','password':'pass'";
        assertRight(CarriedOut.group(serve(200, () -> plain), STACK + "username-token'", "Hello", rest));
        assertTrue(requests.stream().allMatch(request -> request.matches(
                "(?s).*Username>wirelab</.*#PasswordText\">pass</.*")), requests::toString);
        assertFalse(requests.get(0).contains("Nonce"));
    }

    private static String sign(Path file, boolean byService, int agoS) throws Exception {
        return new Message(plain, file, byService)
                .stamp(agoS, 300).sign(WSConstants.RSA_SHA256, "Body", "Timestamp").text();
    }

    private JsonNode run(String value, int status, Reply reply) throws IOException {
        String rest = TEN + ",'keystore':{'path':'" + keys + "','password':'" + KeyFiles.PASSWORD + "'}";
        return CarriedOut.group(serve(status, reply), STACK + value + "'", "Hello", rest);
    }

    private String serve(int status, Reply reply) throws IOException {
        stop();
        create();
        server.createContext("/transfer/soap", exchange -> {
            requests.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            byte[] bytes;
            try {
                bytes = reply.make().getBytes(StandardCharsets.UTF_8);
            } catch (Exception error) {
                throw new IOException(error);
            }
            exchange.getResponseHeaders().set("Content-Type", "text/xml; charset=utf-8");
            exchange.sendResponseHeaders(status, bytes.length);
            exchange.getResponseBody().write(bytes);
            exchange.close();
        });
        server.start();
        return "127.0.0.1:" + server.getAddress().getPort();
    }
}
