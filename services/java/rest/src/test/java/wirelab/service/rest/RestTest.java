package wirelab.service.rest;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.github.luben.zstd.Zstd;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.Base64;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import wirelab.service.Bench;
import wirelab.service.Refusal;
import wirelab.service.contract.Lists;
import wirelab.service.contract.Text;

/** REST over raw sockets. */
class RestTest {
    private static final String JSON = "{\"binding\":\"rest\",\"codec\":\"json\"";
    private static final String POST = " HTTP/1.1\r\nContent-Type: application/json";

    @Test
    void callsErrorsAndGarbage() throws Exception {
        try (Bench bench = Bench.start("transfer", JSON + "}")) {
            Bench.Reply hello = bench.http("GET /transfer/hello HTTP/1.1", null);
            assertEquals("{\"text\":\"Hello, wirelab\"}", hello.text());
            assertTrue(hello.head().contains("Content-Length: 25\r\n"), hello.head());
            assertEquals(404, bench.http("GET /transfer//hello HTTP/1.1", null).status());
            assertEquals(404, bench.http("GET /transfer/hello/ HTTP/1.1", null).status());
            assertEquals(406, bench.http("GET /transfer/hello HTTP/1.1\r\nAccept: text/html", null).status());
            assertEquals(405, bench.http("HEAD /transfer/hello HTTP/1.1", null).status());
            Bench.Reply wrong = bench.http("DELETE /transfer/submit HTTP/1.1", null);
            assertEquals(405, wrong.status());
            assertTrue(wrong.head().contains("Allow: POST\r\n"), wrong.head());
            assertEquals(415, bench.http("POST /transfer/submit HTTP/1.1", "{}".getBytes()).status());
            assertEquals(400, bench.http("POST /transfer/submit" + POST, "{\"batch\":".getBytes()).status());
            byte[] noUtf8 = {'{', '"', 'b', 'a', 't', 'c', 'h', '"', ':', '"', (byte) 0xed, (byte) 0xa0, (byte) 0x80, '"', '}'};
            assertEquals(400, bench.http("POST /transfer/submit" + POST, noUtf8).status());
            bench.exchange("nonsense\r\n\r\n".getBytes());
            assertEquals(200, bench.http("GET /transfer/hello HTTP/1.0", null).status());
        }
    }

    @Test
    void operationsAreThoseOfTheVectors() throws Exception {
        try (Bench bench = Bench.start("transfer", JSON + "}")) {
            for (Object each : (List<?>) Bench.vectors("operations.json")) {
                Map<?, ?> vector = (Map<?, ?>) each;
                String operation = (String) vector.get("operation");
                if (!operation.equals("Download")) {
                    Bench.Reply reply = bench.http("POST /transfer/" + operation.toLowerCase() + POST, body(vector));
                    Object expected = vector.get("error") == null ? vector.get("reply") : Map.of("error", vector.get("error"));
                    assertEquals(expected, Bench.value(reply.text()), (String) vector.get("name"));
                    assertEquals(vector.get("error") == null ? 200 : 400, reply.status());
                }
            }
            assertTrue(bench.counts("Submit")[1] > 0);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"json", "protobuf", "xml", "cbor", "msgpack", "avro"})
    void whatIsTimedAreTheBytesOfTheReply(String codec) throws Exception {
        String stack = "{\"binding\":\"rest\",\"codec\":\"" + codec + "\"}";
        try (Bench bench = Bench.start("transfer", stack, "\"codec_times\":true")) {
            Bench.Reply reply = bench.http("GET /transfer/hello HTTP/1.1", null);
            assertEquals(200, reply.status());
            assertArrayEquals(reply.body(), bench.encodeAgain("Hello"));
        }
        try (Bench bench = Bench.start("transfer", stack)) {
            bench.http("GET /transfer/hello HTTP/1.1", null);
            assertThrows(NullPointerException.class, () -> bench.encodeAgain("Hello"), "kept without being asked");
        }
    }

    @Test
    void aCodecWithoutMessagesIsNotTimed() {
        Refusal refused = assertThrows(Refusal.class, () -> Bench.start(
                "transfer", "{\"binding\":\"rest\",\"codec\":\"text\"}", "\"codec_times\":true"));
        assertEquals("codec_times", refused.option);
    }

    @ParameterizedTest
    @ValueSource(strings = {"memory", "h2"})
    void recordsHaveTheStudysBytes(String kind) throws Exception {
        try (Bench bench = Bench.start("records", JSON + "}", "\"store\":{\"kind\":\"" + kind + "\"}")) {
            byte[] alice = "{\"name\":\"Alice\",\"id\":113517,\"courseCode\":\"CS31245\"}".getBytes();
            String team = "\"teamDetails\":{\"member1\":\"Alice\",\"member2\":\"Derek\",\"member1id\":113517,"
                    + "\"member2id\":113520,\"courseCode\":\"CS31245\",\"groupId\":879253}}";
            String reply = bench.http("POST /records/allocate" + POST, alice).text();
            assertEquals("{\"message\":\"Your team has been allocated for the course\"," + team, reply);
            // Jagannathan (2022), figure 2.1.
            assertEquals(List.of(51, 187), List.of(alice.length, reply.length()));
            byte[] find = "{\"groupId\":879253}".getBytes();
            assertEquals("{" + team, bench.http("POST /records/find-allocation" + POST, find).text());
            assertEquals(400, bench.http("POST /records/find-allocation" + POST, "{}".getBytes()).status());
            if (kind.equals("h2")) {
                try (Connection other = DriverManager.getConnection("jdbc:h2:mem:wirelab")) {
                    other.createStatement().execute("DROP TABLE allocations");
                }
                Bench.Reply gone = bench.http("POST /records/count-allocations" + POST, "{}".getBytes());
                assertEquals("503 {\"error\":\"database unavailable\"}", gone.status() + " " + gone.text());
            }
        }
    }

    private static byte[] body(Map<?, ?> vector) {
        Map<Object, Object> request = new HashMap<>((Map<?, ?>) vector.get("request"));
        if (vector.get("records_repeated") instanceof Number times) {
            Object record = ((List<?>) request.get("records")).get(0);
            request.put("records", Collections.nCopies(times.intValue(), record));
        }
        if (vector.get("data_pattern_bytes") instanceof Number bytes) {
            byte[] data = Text.pattern(0, bytes.intValue());
            request.put("data", Base64.getEncoder().encodeToString(data));
        }
        return Bench.json(request).getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void bodiesAreCompressedWhereAllowed() throws Exception {
        try (Bench bench = Bench.start("transfer", JSON + ",\"compression\":\"gzip\"}")) {
            Bench.Reply packed = bench.http("GET /transfer/hello HTTP/1.1\r\nAccept-Encoding: br, gzip;q=0.5", null);
            assertTrue(packed.head().contains("Content-Encoding: gzip"), packed.head());
            byte[] plain = new GZIPInputStream(new ByteArrayInputStream(packed.body())).readAllBytes();
            assertEquals("{\"text\":\"Hello, wirelab\"}", new String(plain));
            assertEquals(200, bench.http("POST /transfer/submit" + POST + "\r\nContent-Encoding: gzip",
                    gzip("{\"batch\":\"b\"}".getBytes())).status());
            assertEquals(415, bench.http("POST /transfer/submit" + POST + "\r\nContent-Encoding: zstd",
                    "{}".getBytes()).status());
        }
        try (Bench bench = Bench.start("transfer", JSON + ",\"compression\":\"zstd\",\"end_of_message\":\"chunked\"}")) {
            Bench.Reply reply = bench.http("POST /transfer/submit" + POST + "\r\nContent-Encoding: zstd",
                    Zstd.compress("{\"batch\":\"\"}".getBytes()));
            assertTrue(reply.text().contains("batch must not be empty"), reply.text());
            assertTrue(reply.head().contains("Transfer-Encoding: chunked") || reply.head().contains("Connection: close"));
        }
    }

    private static byte[] gzip(byte[] plain) throws Exception {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(packed)) {
            out.write(plain);
        }
        return packed.toByteArray();
    }

    /** More items than a list may have, as short as each codec can write it. */
    @Test
    void listsEndAtTheirBound() throws Exception {
        int items = Lists.ITEMS_MAX + 200; // parsers have room for a few other fields
        Map<String, byte[]> requests = Map.of(
                "json", ("{\"batch\":\"b\",\"records\":[" + "{},".repeat(items - 1) + "{}]}").getBytes(),
                "protobuf", ("\n\u0001b" + "\u0012\u0000".repeat(items)).getBytes(),
                "xml", ("<SubmitRequest xmlns='urn:wirelab:transfer:v1'><batch>b</batch>"
                        + "<records/>".repeat(items) + "</SubmitRequest>").getBytes());
        Map<String, String> types = Map.of(
                "json", "application/json", "protobuf", "application/x-protobuf", "xml", "application/xml");
        for (String codec : types.keySet()) {
            try (Bench bench = Bench.start("transfer", "{\"binding\":\"rest\",\"codec\":\"" + codec + "\"}")) {
                Bench.Reply reply = bench.http(
                        "POST /transfer/submit HTTP/1.1\r\nContent-Type: " + types.get(codec), requests.get(codec));
                assertEquals(400, reply.status(), codec);
                assertTrue(reply.text().contains(Lists.TOO_MANY), codec + ": " + reply.text());
                // Jackson's limit on tokens is coarser: so short a list is refused by the operation.
                assertEquals(codec.equals("json") ? 1 : 0, bench.counts("Submit")[1], codec);
            }
        }
        try (Bench bench = Bench.start("transfer", JSON + "}")) {
            byte[] endless = ("{\"records\":[" + "{},".repeat(10 * items) + "{}]}").getBytes();
            assertEquals(400, bench.http("POST /transfer/submit" + POST, endless).status());
            assertEquals(0, bench.counts("Submit")[1]);
        }
    }

    @Test
    void errorsAreWrittenInEveryCodec() throws Exception {
        try (Bench bench = Bench.start("calendar", "{\"binding\":\"rest\",\"codec\":\"protobuf\"}")) {
            Bench.Reply reply = bench.http(
                    "POST /calendar/entries HTTP/1.1\r\nContent-Type: application/x-protobuf", new byte[0]);
            assertEquals(400, reply.status());
            assertArrayEquals("\n\u0017owner must not be empty".getBytes(), reply.body());
        }
        try (Bench bench = Bench.start("calendar", "{\"binding\":\"rest\",\"codec\":\"xml\"}")) {
            Bench.Reply reply = bench.http("POST /calendar/entries HTTP/1.1\r\nContent-Type: text/xml; charset=utf-8",
                    "<e:EntriesRequest xmlns:e='urn:wirelab:calendar:v1'/>".getBytes());
            assertEquals("<?xml version=\"1.0\" encoding=\"UTF-8\"?><Error xmlns=\"urn:wirelab:calendar:v1\">"
                    + "<error>owner must not be empty</error></Error>", reply.text());
        }
    }
}
