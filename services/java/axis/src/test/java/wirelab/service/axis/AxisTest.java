package wirelab.service.axis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.Connection;
import java.sql.DriverManager;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import wirelab.service.Bench;
import wirelab.service.Envelopes;

/** SOAP rpc/encoded by its bytes. */
class AxisTest {
    private static final String STACK = "{\"binding\":\"soap\",\"codec\":\"soap-encoded\"}";
    private static final String HEAD = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><SOAP-ENV:Envelope"
            + " SOAP-ENV:encodingStyle=\"http://schemas.xmlsoap.org/soap/encoding/\""
            + " xmlns:SOAP-ENV=\"http://schemas.xmlsoap.org/soap/envelope/\""
            + " xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\""
            + " xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\""
            + " xmlns:SOAP-ENC=\"http://schemas.xmlsoap.org/soap/encoding/\"><SOAP-ENV:Body>";
    private static final String TAIL = "</SOAP-ENV:Body></SOAP-ENV:Envelope>";

    @ParameterizedTest
    @CsvSource({"transfer,4", "calendar,3", "charging,7", "records,3"})
    void everyGoldenEnvelopeIsUnderstood(String contract, int operations) throws Exception {
        try (Bench bench = Bench.start(contract, STACK)) {
            assertTrue(Envelopes.put(bench, contract, "soap-encoded", "1.1") >= operations);
        }
    }

    @Test
    void aDatabaseThatIsGoneIsTheServersFault() throws Exception {
        try (Bench bench = Bench.start("records", STACK, "\"store\":{\"kind\":\"h2\"}")) {
            String envelope = HEAD + "<countAllocations/>" + TAIL;
            String action = "urn:wirelab:records:v1#CountAllocations";
            Bench.Reply reply = Envelopes.post(bench, "records", "1.1", action, envelope);
            assertTrue(reply.text().contains("<count xsi:type=\"xsd:long\">10001</count>"), reply.text());
            try (Connection other = DriverManager.getConnection("jdbc:h2:mem:wirelab")) {
                other.createStatement().execute("DROP TABLE allocations");
            }
            reply = Envelopes.post(bench, "records", "1.1", action, envelope);
            assertEquals("500 database unavailable", reply.status() + " " + Envelopes.fault(reply));
            assertTrue(reply.text().contains(":Server</faultcode>"), reply.text());
        }
    }

    @Test
    void callsOfTheStudyErrorsAndGarbage() throws Exception {
        try (Bench bench = Bench.start("charging", STACK, "\"store\":{\"accounts\":1,\"balance\":100}")) {
            Bench.Reply reply = call(bench, "DirectDebit",
                    "<directDebit><am xsi:type=\"xsd:int\">5</am><id xsi:type=\"xsd:int\">1</id></directDebit>");
            assertTrue(reply.text().contains("<cn xsi:type=\"xsd:int\">"), reply.text());
            assertTrue(reply.text().contains("<directDebitResponse "), reply.text());
            reply = call(bench, "CreditControl", "<creditControl><id href=\"#a\"/></creditControl>"
                    + "<multiRef id=\"a\" xsi:type=\"xsd:int\">1</multiRef>");
            assertTrue(reply.text().contains("<balance xsi:type=\"xsd:int\">95</balance>"), reply.text());
            fault("not enough credit", call(bench, "Reserve", "<reserve><id>1</id><am>96</am></reserve>"));
            for (String wrong : new String[] {
                "<reserve><id>1</id><am xsi:type=\"xsd:int\">2147483648</am></reserve>", "<nope/>", "",
                "<x:reserve xmlns:x=\"urn:x\"><id>1</id><am>1</am></x:reserve>", "<credit><id>1</id><am>1</am></credit>",
            }) {
                client(call(bench, "Reserve", wrong));
            }
            client(Envelopes.post(bench, "charging", "1.1", "urn:wirelab:charging:v1#Reserve", "garbage"));
            client(Envelopes.post(bench, "charging", "1.1", "urn:wirelab:charging:v1#CreditControl",
                    (HEAD + "<creditControl><id>1</id></creditControl>" + TAIL)
                            .replace("?>", "?><!DOCTYPE a [<!ENTITY b 'c'>]>")));
            reply = call(bench, "CreditControl", "<creditControl><id>1</id></creditControl>");
            assertTrue(reply.text().contains("<balance xsi:type=\"xsd:int\">95</balance>"), reply.text());
        }
    }

    @Test
    void textsKeepTheirCharactersAndArraysTheirItems() throws Exception {
        try (Bench bench = Bench.start("calendar", STACK)) {
            Bench.Reply reply = call(bench, "Book", "<book><owner xsi:type=\"xsd:string\">é🔩&#13;&lt;</owner>"
                    + "<day>1</day><slot>3</slot><title>t</title><open xsi:type=\"xsd:boolean\">1</open>"
                    + "<weight xsi:type=\"xsd:double\">0.1</weight></book>");
            assertTrue(reply.text().contains("<owner xsi:type=\"xsd:string\">é🔩&#13;&lt;</owner>"), reply.text());
            reply = call(bench, "Entries", "<entries><owner>é🔩&#13;&lt;</owner><day>1</day></entries>");
            assertTrue(reply.text().matches("(?s).*<item xsi:type=\"\\w+:Entry\"><slot xsi:type=\"xsd:int\">3</slot>"
                    + "<title xsi:type=\"xsd:string\">t</title><open xsi:type=\"xsd:boolean\">true</open>"
                    + "<weight xsi:type=\"xsd:double\">0.1</weight></item>.*"), reply.text());
            fault("weight must be finite", call(bench, "Book", "<book><owner>o</owner><day>1</day><slot>3</slot>"
                    + "<title>t</title><weight xsi:type=\"xsd:double\">INF</weight></book>"));
        }
    }

    @ParameterizedTest
    @CsvSource({"xerces-sax,org.apache.xerces.jaxp.SAXParserImpl$JAXPSAXParser,xercesImpl 2.12.2",
        "crimson-sax,org.apache.crimson.parser.XMLReaderImpl,crimson 1.1.3"})
    void theChosenParserReadsEveryRequestWithinLimits(String parser, String reader, String library)
            throws Exception {
        String stack = STACK.replace("}", ",\"parser\":\"" + parser + "\"}");
        assertTrue(Bench.libraries(stack, "").contains("codec " + library));
        for (String contract : new String[] {"transfer", "calendar", "charging", "records"}) {
            try (Bench bench = Bench.start(contract, stack)) {
                assertEquals(reader, bench.running().set().get("parser"));
                assertTrue(Envelopes.put(bench, contract, "soap-encoded", "1.1") >= 3);
            }
        }
        try (Bench bench = Bench.start("charging", stack, "\"store\":{\"accounts\":1,\"balance\":100}")) {
            String good = HEAD + "<creditControl><id>1</id></creditControl>" + TAIL;
            for (String wrong : new String[] {
                "garbage", good.replace("?>", "?><!DOCTYPE a [<!ENTITY b 'c'>]>"),
                good.replace("?>", "?><!DOCTYPE a SYSTEM 'file:/etc/passwd'>"), good.replace("<id>1", "<id>&b;"),
                good.replace("<id>1", "<id>1" + "<x>".repeat(100) + "</x>".repeat(100)),
                good.replace("<id>1", "<id" + repeatNumbered(" a%d=''", 501) + ">1"),
                good.replace("<id>1", repeatNumbered("<a%d/>", 1_000) + "<id>1"),
                good.replace("<id>1", repeatNumbered("<b a%d=''/>", 1_000) + "<id>1"),
            }) {
                client(Envelopes.post(bench, "charging", "1.1", "urn:wirelab:charging:v1#CreditControl", wrong));
            }
            assertTrue(call(bench, "CreditControl", "<creditControl><id>1</id></creditControl>").text()
                    .contains("<balance xsi:type=\"xsd:int\">100</balance>"));
        }
    }

    private static String repeatNumbered(String format, int count) {
        return IntStream.range(0, count).mapToObj(format::formatted).collect(Collectors.joining());
    }

    private static Bench.Reply call(Bench bench, String operation, String child) throws Exception {
        String contract = operation.equals("Book") || operation.equals("Entries") ? "calendar" : "charging";
        return Envelopes.post(bench, contract, "1.1", "urn:wirelab:" + contract + ":v1#" + operation, HEAD + child + TAIL);
    }

    private static void fault(String text, Bench.Reply reply) throws Exception {
        client(reply);
        assertEquals(text, Envelopes.fault(reply));
    }

    private static void client(Bench.Reply reply) {
        assertEquals(500, reply.status());
        assertTrue(reply.text().contains("<faultcode>soapenv:Client</faultcode>"), reply.text());
    }
}
