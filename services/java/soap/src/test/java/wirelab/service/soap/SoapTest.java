package wirelab.service.soap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.Connection;
import java.sql.DriverManager;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import wirelab.service.Bench;
import wirelab.service.Envelopes;

/** SOAP by its bytes: annotations say one thing, and the library may write another. */
class SoapTest {
    private static final String V11 = "http://schemas.xmlsoap.org/soap/envelope/";
    private static final String V12 = "http://www.w3.org/2003/05/soap-envelope";
    private static final String SUBMIT = "urn:wirelab:transfer:v1#Submit";

    @ParameterizedTest
    @CsvSource({"transfer,soap-literal,1.1,4", "calendar,soap-literal,1.2,3", "charging,soap-literal,1.1,7",
        "transfer,soap-rpc,1.2,4", "calendar,soap-rpc,1.1,3", "charging,soap-rpc,1.1,7",
        "records,soap-literal,1.1,3", "records,soap-literal,1.2,3", "records,soap-rpc,1.1,3"})
    void everyGoldenEnvelopeIsUnderstood(String contract, String codec, String soap, int operations) throws Exception {
        try (Bench bench = start(contract, codec, soap, "")) {
            assertTrue(Envelopes.put(bench, contract, codec, soap) >= operations);
        }
    }

    @Test
    void literalMessagesFaultsAndGarbage() throws Exception {
        try (Bench bench = start("transfer", "soap-literal", "1.1", "")) {
            Bench.Reply reply = submit(bench, "<batch>é🔩<![CDATA[<]]>&#13;</batch><unknown/>"
                    + "<records><id>9223372036854775807</id><quantity>2</quantity><item>x</item></records><records/>");
            assertEquals("<soap:Envelope xmlns:soap=\"" + V11 + "\"><soap:Body><SubmitReply"
                    + " xmlns=\"urn:wirelab:transfer:v1\"><batch>é🔩&lt;&#13;</batch><accepted>1</accepted>"
                    + "<quantity_total>2</quantity_total><refused><id>0</id><reason>quantity must be positive</reason>"
                    + "</refused></SubmitReply></soap:Body></soap:Envelope>", reply.text());
            fault(500, "batch must not be empty", submit(bench, ""));
            assertEquals(1, bench.counts("Submit")[1]);
            client(submit(bench, "<batch>b</batch><records><quantity>2147483648</quantity></records>"));
            client(Envelopes.post(bench, "transfer", "1.1", SUBMIT, "garbage"));
            client(Envelopes.post(bench, "transfer", "1.1", SUBMIT, envelope(V11, "")));
            client(Envelopes.post(bench, "transfer", "1.1", "urn:wirelab:transfer:v1#Hello", request("<batch>b</batch>")));
            client(Envelopes.post(bench, "transfer", "1.1", SUBMIT,
                    request("<batch>b</batch>").replace("?>", "?><!DOCTYPE a [<!ENTITY b 'c'>]>")));
            code("VersionMismatch", Envelopes.post(bench, "transfer", "1.1", SUBMIT, request("").replace(V11, V12)));
            code("MustUnderstand", Envelopes.post(bench, "transfer", "1.1", SUBMIT, request("").replace("<soapenv:Body>",
                    "<soapenv:Header><x:y xmlns:x='urn:x' soapenv:mustUnderstand='1'/></soapenv:Header><soapenv:Body>")));
            assertEquals(200, submit(bench, "<batch>b</batch>").status());
            assertEquals(405, bench.http("GET /transfer/soap HTTP/1.1", null).status());
            assertEquals(404, bench.http("POST /transfer HTTP/1.1", new byte[0]).status());
            assertEquals(415, bench.http("POST /transfer/soap HTTP/1.1", new byte[0]).status());
        }
    }

    @Test
    void faultsOfVersion12() throws Exception {
        try (Bench bench = start("charging", "soap-literal", "1.2", "")) {
            Bench.Reply reply = Envelopes.post(bench, "charging", "1.2", "urn:wirelab:charging:v1#CreditControl",
                    envelope(V12, "<CreditControlRequest xmlns='urn:wirelab:charging:v1'><id>0</id></CreditControlRequest>"));
            fault(400, "no such account", reply);
            assertTrue(reply.text().contains("<soap:Value>soap:Sender</soap:Value>"), reply.text());
            assertTrue(reply.text().contains("<soap:Text xml:lang=\"en\">no such account</soap:Text>"), reply.text());
            Bench.Reply other = Envelopes.post(bench, "charging", "1.1", "urn:wirelab:charging:v1#CreditControl",
                    envelope(V11, "<CreditControlRequest xmlns='urn:wirelab:charging:v1'><id>1</id></CreditControlRequest>"));
            code("VersionMismatch", other);
        }
    }

    @ParameterizedTest
    @CsvSource({"1.1,Server", "1.2,Receiver"})
    void aDatabaseThatIsGoneIsTheServersFault(String soap, String code) throws Exception {
        try (Bench bench = start("records", "soap-literal", soap, "\"store\":{\"kind\":\"h2\"}")) {
            try (Connection other = DriverManager.getConnection("jdbc:h2:mem:wirelab")) {
                other.createStatement().execute("DROP TABLE allocations");
            }
            Bench.Reply reply = Envelopes.post(bench, "records", soap, "urn:wirelab:records:v1#CountAllocations",
                    envelope(soap.equals("1.1") ? V11 : V12, "<CountAllocationsRequest xmlns='urn:wirelab:records:v1'/>"));
            fault(500, "database unavailable", reply);
            assertTrue(reply.text().contains("soap:" + code + "<"), reply.text());
            assertEquals(0, bench.counts("CountAllocations")[1]);
        }
    }

    @Test
    void rpcAsksForThePassword() throws Exception {
        try (Bench bench = start("charging", "soap-rpc", "1.1",
                "\"store\":{\"accounts\":1,\"balance\":100,\"username\":\"u\",\"password\":\"pä\"}")) {
            String call = "<w:reserve xmlns:w='urn:wirelab:charging:v1'><id>1</id><am>5</am></w:reserve>";
            String action = "urn:wirelab:charging:v1#Reserve";
            fault(500, "authentication failed", Envelopes.post(bench, "charging", "1.1", action, envelope(V11, call)));
            fault(500, "authentication failed", Envelopes.post(bench, "charging", "1.1", action, login("x", call)));
            Bench.Reply reply = Envelopes.post(bench, "charging", "1.1", action, login("pä", call));
            assertTrue(reply.text().matches(".*<(\\w+):reserveResponse xmlns:\\1=\"urn:wirelab:charging:v1\">"
                    + "<res>\\d+</res><cn>\\d+</cn></\\1:reserveResponse>.*"), reply.text());
        }
    }

    /** The reader of the call that the service makes itself is the chosen one's, and so is the row. */
    @ParameterizedTest
    @CsvSource({"jdk,com.sun.org.apache.xerces.internal.impl.XMLStreamReaderImpl,com.sun.xml.internal.stream",
        "woodstox,com.ctc.wstx.sr.ValidatingStreamReader,woodstox-core",
        "aalto,com.fasterxml.aalto.stax.StreamReaderImpl,aalto-xml"})
    void theChosenParserReadsEveryRequestWithinTheSameLimits(String parser, String reader, String library)
            throws Exception {
        for (String codec : new String[] {"soap-literal", "soap-rpc"}) {
            String stack = "{\"binding\":\"soap\",\"codec\":\"" + codec + "\",\"parser\":\"" + parser + "\"}";
            assertTrue(Bench.libraries(stack, "").stream().anyMatch(row -> row.startsWith("codec " + library + " ")));
            try (Bench bench = Bench.start("transfer", stack)) {
                assertEquals(reader, bench.running().set().get("parser"));
                assertTrue(Envelopes.put(bench, "transfer", codec, "1.1") >= 4);
            }
        }
        try (Bench bench = Bench.start("transfer", "{\"binding\":\"soap\",\"parser\":\"" + parser + "\"}")) {
            assertEquals(200, submit(bench, "<batch>é🔩<![CDATA[<]]></batch><records/>").status());
            client(Envelopes.post(bench, "transfer", "1.1", SUBMIT, "garbage"));
            client(Envelopes.post(bench, "transfer", "1.1", SUBMIT,
                    request("<batch>b</batch>").replace("?>", "?><!DOCTYPE a [<!ENTITY b 'c'>]>")));
            client(Envelopes.post(bench, "transfer", "1.1", SUBMIT, request("<batch>&b;</batch>")));
            client(submit(bench, "<batch>b</batch>" + "<x>".repeat(100) + "</x>".repeat(100)));
            client(submit(bench, "<batch a='" + "a".repeat(65_537) + "'>b</batch>"));
            assertEquals(200, submit(bench, "<batch>b</batch>" + "<x>".repeat(90) + "</x>".repeat(90)).status());
        }
    }

    /** Which reader there is makes no difference for what cannot be read at all. */
    @ParameterizedTest
    @ValueSource(strings = {"default", "jdk", "woodstox", "aalto"})
    void whatHasNoEnvelopeIsTheClientsFault(String parser) throws Exception {
        try (Bench bench = Bench.start("transfer", "{\"binding\":\"soap\",\"parser\":\"" + parser + "\"}")) {
            for (String body : new String[] {"", " ", "<?xml version='9'?>", "<?xml version='9'?><a/>", "<"}) {
                Bench.Reply reply = Envelopes.post(bench, "transfer", "1.1", SUBMIT, body);
                assertTrue(reply.status() == 400 || reply.text().matches("(?s).*<faultcode>\\w+:Client</faultcode>.*"),
                        body + ": " + reply.status() + " " + reply.text());
            }
            assertEquals(200, submit(bench, "<batch>b</batch>").status());
        }
    }

    private static String login(String password, String call) {
        String wss = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd";
        return envelope(V11, call).replace("<soapenv:Body>", "<soapenv:Header><s:Security xmlns:s='" + wss
                + "' soapenv:mustUnderstand='1'><s:UsernameToken><s:Username>u</s:Username><s:Password>" + password
                + "</s:Password></s:UsernameToken></s:Security></soapenv:Header><soapenv:Body>");
    }

    private static Bench start(String contract, String codec, String soap, String more) throws Exception {
        return Bench.start(contract,
                "{\"binding\":\"soap\",\"codec\":\"" + codec + "\",\"soap\":\"" + soap + "\"}", more);
    }

    private static Bench.Reply submit(Bench bench, String fields) throws Exception {
        return Envelopes.post(bench, "transfer", "1.1", SUBMIT, request(fields));
    }

    private static String request(String fields) {
        return envelope(V11, "<w:SubmitRequest xmlns:w='urn:wirelab:transfer:v1' xmlns='urn:wirelab:transfer:v1'>"
                + fields + "</w:SubmitRequest>");
    }

    private static String envelope(String version, String child) {
        return "<?xml version=\"1.0\" encoding=\"UTF-8\"?><soapenv:Envelope xmlns:soapenv=\"" + version
                + "\"><soapenv:Body>" + child + "</soapenv:Body></soapenv:Envelope>";
    }

    private static void fault(int status, String text, Bench.Reply reply) throws Exception {
        assertEquals(text, Envelopes.fault(reply));
        assertEquals(status, reply.status());
    }

    private static void client(Bench.Reply reply) throws Exception {
        code("Client", reply);
    }

    private static void code(String code, Bench.Reply reply) {
        assertEquals(500, reply.status());
        assertTrue(reply.text().contains("<faultcode>soap:" + code + "</faultcode>"), reply.text());
    }
}
