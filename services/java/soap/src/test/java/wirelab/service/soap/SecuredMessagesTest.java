package wirelab.service.soap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.wss4j.dom.WSConstants;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import wirelab.service.Bench;
import wirelab.service.Envelopes;
import wirelab.service.wss.KeyFiles;
import wirelab.service.wss.Message;

/** A service takes signed and encrypted messages, and answers in kind; all others get a fault. */
class SecuredMessagesTest {
    private static final String V11 = "http://schemas.xmlsoap.org/soap/envelope/";
    private static final String V12 = "http://www.w3.org/2003/05/soap-envelope";
    private static final String SHA256 = WSConstants.RSA_SHA256;
    private static final String GCM = WSConstants.AES_256_GCM;
    private static final String OAEP = WSConstants.KEYTRANSPORT_RSAOAEP_XENC11;
    private static final String TEXT = "Hello, wirelab";

    @TempDir
    static Path folder;

    private static Path keys;
    private static Path otherKeys;

    @BeforeAll
    static void createKeys() throws Exception {
        keys = KeyFiles.create(folder, "keys.p12");
        otherKeys = KeyFiles.create(folder, "other.p12");
    }

    @ParameterizedTest
    @CsvSource({"signature,1.1", "signature,1.2", "encryption,1.1", "encryption,1.2",
        "signature-encryption,1.1", "signature-encryption,1.2"})
    void securedRequestsGetSecuredReplies(String value, String soap) throws Exception {
        try (Bench bench = start(value, soap)) {
            Message request = message(soap, keys, false);
            if (value.startsWith("signature")) {
                request.stamp(0, 300).sign(SHA256, "Body", "Timestamp");
            }
            if (value.endsWith("encryption")) {
                request.encrypt(GCM, OAEP);
            }
            Bench.Reply reply = post(bench, soap, request.text());
            assertEquals(200, reply.status(), reply::text);
            assertEquals(value.startsWith("signature"), reply.text().contains("SignatureValue"), reply::text);
            assertEquals(value.endsWith("encryption"), reply.text().contains("CipherValue"), reply::text);
            assertEquals(value.equals("signature"), reply.text().contains(TEXT), reply::text);
            assertEquals(1, bench.counts("Hello")[0]);
            assertTrue(String.valueOf(bench.running().set().get("ws_security")).contains("2048 bits"));
        }
    }

    @Test
    void whatIsNotSignedAsAgreedGetsAFault() throws Exception {
        String signed = sign(keys, false).text();
        Map<String, String> refused = new LinkedHashMap<>();
        refused.put("unsigned", message("1.1", keys, false).text());
        refused.put("no header", envelope(V11));
        refused.put("a longer body", signed.replace("</HelloRequest>", "<x/></HelloRequest>"));
        refused.put("a later timestamp", signed.replaceFirst("(<wsu:Expires>)\\d{4}", "$12999"));
        refused.put("another signature", signed.replaceFirst("(SignatureValue[^>]*>)....", "$1AAAA"));
        refused.put("no timestamp", message("1.1", keys, false).sign(SHA256, "Body").text());
        refused.put("a timestamp that is not signed", message("1.1", keys, false).stamp(0, 300).sign(SHA256, "Body").text());
        refused.put("a body that is not signed", message("1.1", keys, false).stamp(0, 300).sign(SHA256, "Timestamp").text());
        refused.put("an expired timestamp", message("1.1", keys, false).stamp(400, 300).sign(SHA256, "Body", "Timestamp").text());
        refused.put("an old timestamp", message("1.1", keys, false).stamp(400, 4000).sign(SHA256, "Body", "Timestamp").text());
        refused.put("a timestamp of the future", message("1.1", keys, false).stamp(-200, 300).sign(SHA256, "Body", "Timestamp").text());
        refused.put("a timestamp without an end", message("1.1", keys, false).stamp(0, 0).sign(SHA256, "Body", "Timestamp").text());
        refused.put("another key", sign(otherKeys, false).text());
        refused.put("the service's own key", sign(keys, true).text());
        refused.put("SHA-1", message("1.1", keys, false).stamp(0, 300).sign(WSConstants.RSA_SHA1, "Body", "Timestamp").text());
        refused.put("a body that is elsewhere", wrap(signed));
        refused.put("encrypted as well", sign(keys, false).encrypt(GCM, OAEP).text());
        assertRefused("signature", refused);
    }

    @Test
    void whatIsNotEncryptedAsAgreedGetsAFault() throws Exception {
        String encrypted = message("1.1", keys, false).encrypt(GCM, OAEP).text();
        Map<String, String> refused = new LinkedHashMap<>();
        refused.put("plain", message("1.1", keys, false).text());
        refused.put("no header", envelope(V11));
        refused.put("signed only", sign(keys, false).text());
        int last = encrypted.lastIndexOf("</xenc:CipherValue>");
        refused.put("another cipher text", encrypted.substring(0, last - 12) + "AAAA" + encrypted.substring(last - 8));
        refused.put("a wrapped key of another size", encrypted.replaceFirst("(<xenc:CipherValue>)[^<]{40}", "$1"));
        refused.put("for another key", message("1.1", otherKeys, false).encrypt(GCM, OAEP).text());
        refused.put("CBC", message("1.1", keys, false).encrypt(WSConstants.AES_256, OAEP).text());
        refused.put("PKCS #1 v1.5", message("1.1", keys, false).encrypt(GCM, WSConstants.KEYTRANSPORT_RSA15).text());
        refused.put("deep", new Message(envelope(V11).replace("<HelloRequest", "<x>".repeat(5000) + "<HelloRequest")
                .replace("</HelloRequest>", "</HelloRequest>" + "</x>".repeat(5000)), keys, false).encrypt(GCM, OAEP).text());
        assertRefused("encryption", refused);
    }

    @Test
    void whatIsOnlySignedOrOnlyEncryptedIsNotBoth() throws Exception {
        Map<String, String> refused = new LinkedHashMap<>();
        refused.put("signed", sign(keys, false).text());
        refused.put("encrypted", message("1.1", keys, false).encrypt(GCM, OAEP).text());
        assertRefused("signature-encryption", refused);
    }

    @Test
    void aSignedMessageIsTakenOnce() throws Exception {
        try (Bench bench = start("signature", "1.1")) {
            String signed = sign(keys, false).text();
            assertEquals(200, post(bench, "1.1", signed).status());
            assertEquals(500, post(bench, "1.1", signed).status());
            assertEquals(200, post(bench, "1.1", sign(keys, false).text()).status());
            assertEquals(2, bench.counts("Hello")[0]);
        }
    }

    private static void assertRefused(String value, Map<String, String> requests) throws Exception {
        List<String> taken = new ArrayList<>();
        try (Bench bench = start(value, "1.1")) {
            for (Map.Entry<String, String> request : requests.entrySet()) {
                Bench.Reply reply = post(bench, "1.1", request.getValue());
                if (reply.status() != 500 || !reply.text().contains("<faultcode>soap:Client</faultcode>")) {
                    taken.add(request.getKey() + ": " + reply.status() + " " + reply.text());
                }
                assertFalse(reply.text().contains(TEXT), request.getKey());
            }
            assertEquals(List.of(), taken);
            assertEquals(0, bench.counts("Hello")[0]);
        }
    }

    /** The signed body goes into the header, and the body is another one (XML signature wrapping). */
    private static String wrap(String signed) {
        int start = signed.indexOf("<soapenv:Body");
        int end = signed.indexOf("</soapenv:Body>") + "</soapenv:Body>".length();
        return signed.substring(0, start).replace("</soapenv:Header>",
                        "<w:w xmlns:w='urn:w'>" + signed.substring(start, end) + "</w:w></soapenv:Header>")
                + "<soapenv:Body><HelloRequest xmlns=\"urn:wirelab:transfer:v1\"/></soapenv:Body></soapenv:Envelope>";
    }

    private static Message sign(Path file, boolean byService) throws Exception {
        return message("1.1", file, byService).stamp(0, 300).sign(SHA256, "Body", "Timestamp");
    }

    private static Message message(String soap, Path file, boolean byService) throws Exception {
        return new Message(envelope(soap.equals("1.1") ? V11 : V12), file, byService);
    }

    private static String envelope(String version) {
        return "<soapenv:Envelope xmlns:soapenv=\"" + version + "\"><soapenv:Header/><soapenv:Body><HelloRequest"
                + " xmlns=\"urn:wirelab:transfer:v1\"> </HelloRequest></soapenv:Body></soapenv:Envelope>";
    }

    private static Bench start(String value, String soap) throws Exception {
        return Bench.start("transfer",
                "{\"binding\":\"soap\",\"soap\":\"" + soap + "\",\"ws_security\":\"" + value + "\"}",
                "\"keystore\":{\"path\":\"" + keys + "\",\"password\":\"" + KeyFiles.PASSWORD + "\"}");
    }

    private static Bench.Reply post(Bench bench, String soap, String envelope) throws Exception {
        return Envelopes.post(bench, "transfer", soap, "urn:wirelab:transfer:v1#Hello", envelope);
    }
}
