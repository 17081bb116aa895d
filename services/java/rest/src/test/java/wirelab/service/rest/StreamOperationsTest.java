package wirelab.service.rest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.github.luben.zstd.ZstdInputStream;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import wirelab.service.Bench;
import wirelab.service.Refusal;
import wirelab.service.StreamCounts;

/** Contract stream over real connections; the client is the JDK's. */
class StreamOperationsTest {
    static final long LONGEST_NS = 1_000_000_000;
    private static final int STEP_MS = 10;
    private static final int STEPS = 1500;

    private static Bench start(String binding, String transport) throws Exception {
        return Bench.start("stream", "{\"binding\":\"" + binding + "\",\"transport\":\"" + transport + "\"}");
    }

    private static <T> HttpResponse<T> post(
            Bench bench, String path, String type, HttpRequest.BodyPublisher body, HttpResponse.BodyHandler<T> handler)
            throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + bench.running().address() + path))
                .header("Content-Type", type).POST(body).build();
        return HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build().send(request, handler);
    }

    private static HttpResponse<InputStream> feed(Bench bench, String request) throws Exception {
        return post(bench, "/stream/feed", "application/json", HttpRequest.BodyPublishers.ofString(request),
                HttpResponse.BodyHandlers.ofInputStream());
    }

    static List<Map<?, ?>> vectors(String key) throws Exception {
        List<Map<?, ?>> rows = new ArrayList<>();
        ((List<?>) ((Map<?, ?>) Bench.vectors("streams.json")).get(key)).forEach(row -> rows.add((Map<?, ?>) row));
        assertFalse(rows.isEmpty(), key);
        return rows;
    }

    static long number(Object message, String field) {
        return ((Number) ((Map<?, ?>) message).get(field)).longValue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"rest", "sse"})
    void feedsAreThoseOfTheVectors(String binding) throws Exception {
        try (Bench bench = start(binding, "http/1.1")) {
            for (Map<?, ?> vector : vectors("feeds")) {
                List<?> expected = (List<?>) vector.get("items");
                if (number(expected.get(expected.size() - 1), "due_ns") > LONGEST_NS) {
                    continue;
                }
                HttpResponse<InputStream> reply = feed(bench, Bench.json(vector.get("request")));
                assertEquals(200, reply.statusCode());
                assertEquals(binding.equals("sse") ? "text/event-stream" : "application/x-ndjson",
                        reply.headers().firstValue("Content-Type").orElseThrow());
                assertEquals("chunked", reply.headers().firstValue("Transfer-Encoding").orElseThrow());
                checkItems((String) vector.get("name"), expected,
                        items(binding, new String(reply.body().readAllBytes(), StandardCharsets.UTF_8)));
            }
        }
    }

    /** The items of a body, which is spelled as contracts/README.md says. */
    private static List<Object> items(String binding, String body) throws Exception {
        List<Object> items = new ArrayList<>();
        String end = binding.equals("sse") ? "\n\n" : "\n";
        assertTrue(body.endsWith(end), body);
        for (String event : body.split(end)) {
            String start = binding.equals("sse") ? "id:" + items.size() + "\ndata:" : "";
            assertTrue(event.startsWith(start), event);
            items.add(Bench.value(event.substring(start.length())));
        }
        return items;
    }

    static void checkItems(String name, List<?> expected, List<?> items) {
        assertEquals(expected.size(), items.size(), name);
        long received = number(items.get(0), "received_ns");
        for (int index = 0; index < items.size(); index++) {
            Object item = items.get(index);
            assertEquals(number(expected.get(index), "due_ns"), number(item, "due_ns"), name);
            assertEquals(index, number(item, "index"), name);
            assertEquals(((Map<?, ?>) expected.get(index)).get("text"), ((Map<?, ?>) item).get("text"), name);
            assertTrue(number(item, "sent_ns") >= received + number(item, "due_ns"), name + ": early " + index);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rest", "sse"})
    void feedsBeyondALimitAreRefusedByName(String binding) throws Exception {
        try (Bench bench = start(binding, "http/1.1")) {
            List<Map<?, ?>> rows = vectors("refused");
            for (Map<?, ?> vector : rows) {
                HttpResponse<InputStream> reply = feed(bench, Bench.json(vector.get("request")));
                assertEquals(400, reply.statusCode());
                assertEquals(Bench.json(Map.of("error", vector.get("error"))),
                        new String(reply.body().readAllBytes(), StandardCharsets.UTF_8));
            }
            assertEquals(rows.size(), bench.counts("Feed")[1]);
            assertEquals(0, bench.streams().cancellations());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rest", "sse"})
    void itemsAreSentOneByOne(String binding) throws Exception {
        try (Bench bench = start(binding, "http/1.1")) {
            long start = System.nanoTime();
            InputStream body = feed(bench, "{\"count\":2,\"gap_us\":2000000,\"pattern\":\"constant\"}").body();
            assertTrue(body.read() >= 0);
            assertTrue(System.nanoTime() - start < 2_000_000_000L, "the first item waited for the second");
            assertEquals(2, items(binding, (binding.equals("sse") ? "i" : "{")
                    + new String(body.readAllBytes(), StandardCharsets.UTF_8)).size());
        }
    }

    /** Tomcat's buffer of 8 kB has room for all twenty. */
    @Test
    void itemsWaitForTheBufferOfTheLibrary() throws Exception {
        try (Bench bench = Bench.start("stream", "{\"binding\":\"rest\",\"flush\":\"library\"}")) {
            long start = System.nanoTime();
            InputStream body = feed(bench, "{\"count\":20,\"gap_us\":20000,\"pattern\":\"constant\"}").body();
            String text = new String(body.readNBytes(1), StandardCharsets.UTF_8);
            assertTrue(System.nanoTime() - start >= 19 * 20_000_000L, "the first item did not wait for the last");
            text += new String(body.readAllBytes(), StandardCharsets.UTF_8);
            assertEquals(20, items("rest", text).size());
        }
    }

    /** Each item can be decompressed when it has come, and the body has the end of its coding. */
    @ParameterizedTest
    @CsvSource({"rest,gzip", "rest,zstd", "sse,gzip", "sse,zstd"})
    void compressedItemsAreSentOneByOne(String binding, String coding) throws Exception {
        String stack = "{\"binding\":\"" + binding + "\",\"compression\":\"" + coding + "\"}";
        try (Bench bench = Bench.start("stream", stack)) {
            HttpRequest request = HttpRequest.newBuilder(
                            URI.create("http://" + bench.running().address() + "/stream/feed"))
                    .header("Content-Type", "application/json")
                    .header("Accept-Encoding", coding)
                    .POST(HttpRequest.BodyPublishers.ofString(
                            "{\"count\":2,\"gap_us\":2000000,\"pattern\":\"constant\"}"))
                    .build();
            long start = System.nanoTime();
            HttpResponse<InputStream> reply = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()
                    .send(request, HttpResponse.BodyHandlers.ofInputStream());
            assertEquals(coding, reply.headers().firstValue("Content-Encoding").orElseThrow());
            InputStream plain = coding.equals("gzip")
                    ? new GZIPInputStream(reply.body(), 1)
                    : new ZstdInputStream(reply.body());
            String text = new String(plain.readNBytes(1), StandardCharsets.UTF_8);
            assertTrue(System.nanoTime() - start < 2_000_000_000L, "the first item waited for the second");
            text += new String(plain.readAllBytes(), StandardCharsets.UTF_8);
            assertEquals(2, items(binding, text).size());
        }
    }

    @Test
    void bodiesThatAreNotWhatTheirCodingSaysAreRefused() throws Exception {
        for (String coding : List.of("gzip", "zstd")) {
            try (Bench bench = Bench.start("stream", "{\"binding\":\"rest\",\"compression\":\"" + coding + "\"}")) {
                String head = "POST /stream/push HTTP/1.1\r\nContent-Type: application/x-ndjson\r\nContent-Encoding: ";
                byte[] body = "no such thing".getBytes(StandardCharsets.UTF_8);
                assertEquals(400, bench.http(head + coding, body).status(), coding);
                assertEquals(415, bench.http(head + "br", body).status(), coding);
            }
        }
    }

    /** A client that is gone is found when the next items are written. */
    @ParameterizedTest
    @ValueSource(strings = {"rest", "sse"})
    void aCancelledFeedEnds(String binding) throws Exception {
        try (Bench bench = start(binding, "http/1.1")) {
            InputStream body = feed(bench, "{\"count\":1000,\"gap_us\":20000,\"pattern\":\"constant\"}").body();
            assertTrue(body.read() >= 0);
            body.close();
            StreamCounts counts = bench.streams();
            for (int step = 0; step < STEPS && counts.cancellations() == 0; step++) {
                Thread.sleep(STEP_MS);
            }
            assertEquals(1, counts.cancellations());
            assertEquals(0, bench.inFlight());
            assertTrue(counts.items() < 1000, counts.items() + " items");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rest", "sse"})
    void aSlowReaderHoldsTheServiceUp(String binding) throws Exception {
        try (Bench bench = start(binding, "http/1.1")) {
            int count = 1000;
            InputStream body = feed(bench,
                    "{\"count\":" + count + ",\"bytes\":65536,\"pattern\":\"constant\"}").body();
            assertTrue(body.read() >= 0);
            Thread.sleep(1000);
            assertTrue(bench.streams().items() < count / 2, bench.streams().items() + " items");
            body.transferTo(OutputStream.nullOutputStream());
            assertEquals(count, bench.streams().items());
            assertTrue(bench.streams().late() > count / 2, bench.streams().late() + " late");
        }
    }

    @Test
    void pushesAreThoseOfTheVectors() throws Exception {
        try (Bench bench = start("rest", "http/1.1")) {
            for (Map<?, ?> vector : vectors("pushes")) {
                StringBuilder lines = new StringBuilder();
                for (Object item : (List<?>) vector.get("items")) {
                    lines.append(Bench.json(item)).append('\n');
                }
                HttpResponse<String> reply = push(bench, lines.toString().getBytes(StandardCharsets.UTF_8));
                boolean good = vector.get("error") == null;
                assertEquals(good ? 200 : 400, reply.statusCode());
                assertEquals(good ? vector.get("reply") : Map.of("error", vector.get("error")),
                        Bench.value(reply.body()), (String) vector.get("name"));
            }
        }
    }

    /** In chunks, because the length of what a stream has is unknown. */
    private static HttpResponse<String> push(Bench bench, byte[] lines) throws Exception {
        return post(bench, "/stream/push", "application/x-ndjson",
                HttpRequest.BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(lines)),
                HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void linesThatAreNotItemsAreRefused() throws Exception {
        Map<String, Integer> statuses = Map.of("{\n", 400, "[]\n", 400, "\n", 400, "{\"index\":1.5}\n", 400,
                // In ISO 8859-1 it is not UTF-8.
                "{\"text\":\"\u00ff\"}\n", 400,
                "{\"more\":1}\n", 200, "{}", 200);
        try (Bench bench = start("rest", "http/1.1")) {
            for (Map.Entry<String, Integer> row : statuses.entrySet()) {
                byte[] body = row.getKey().getBytes(StandardCharsets.ISO_8859_1);
                assertEquals(row.getValue(), push(bench, body).statusCode(), row.getKey());
            }
        }
    }

    @Test
    void linesEndAtTheirBound() throws Exception {
        ItemLines endless = new ItemLines(new ByteArrayInputStream(new byte[10 << 20]));
        assertThrows(ItemLines.TooLong.class, endless::next);
        byte[] text = new byte[6 * 65_536 + 1024];
        assertEquals(text.length, new ItemLines(new ByteArrayInputStream(text)).next().length);
    }

    @ParameterizedTest
    @ValueSource(strings = {"rest", "sse"})
    void typesAndMethodsAreNegotiated(String binding) throws Exception {
        try (Bench bench = start(binding, "http/1.1")) {
            byte[] body = "{}".getBytes(StandardCharsets.UTF_8);
            String post = "POST /stream/feed HTTP/1.1\r\nContent-Type: application/json";
            assertEquals(400, bench.http(post, body).status());
            assertEquals(406, bench.http(post + "\r\nAccept: text/html", body).status());
            assertEquals(415, bench.http(post + "\r\nContent-Encoding: gzip", body).status());
            assertEquals(415, bench.http("POST /stream/feed HTTP/1.1\r\nContent-Type: text/plain", body).status());
            assertEquals(405, bench.http("GET /stream/feed HTTP/1.1", null).status());
            assertEquals(404, bench.http("POST /stream/chat HTTP/1.1", body).status());
            assertEquals(binding.equals("sse") ? 404 : 405, bench.http("GET /stream/push HTTP/1.1", null).status());
        }
    }

    /** The service's call to itself is a Feed over its own transport. */
    @ParameterizedTest
    @ValueSource(strings = {"rest", "sse"})
    void feedsTravelOverHttp2(String binding) throws Exception {
        try (Bench bench = start(binding, "http/2")) {
            assertEquals(505, bench.http("GET /stream/feed HTTP/1.1", null).status());
        }
    }

    @Test
    void whatIsNotStreamedIsRefused() {
        for (String axis : List.of("\"compression\":\"br\"", "\"codec\":\"xml\"", "\"end_of_message\":\"until-close\"",
                "\"flush\":\"often\"", "\"flush\":\"library\",\"compression\":\"gzip\"")) {
            assertThrows(Refusal.class, () -> Bench.start("stream", "{\"binding\":\"rest\"," + axis + "}"), axis);
        }
        assertThrows(Refusal.class, () -> Bench.start("stream", "{\"binding\":\"sse\",\"flush\":\"library\"}"));
        assertThrows(Refusal.class, () -> Bench.start("transfer", "{\"binding\":\"rest\",\"flush\":\"library\"}"));
        assertThrows(Refusal.class, () -> Bench.start("transfer", "{\"binding\":\"sse\"}"));
    }
}
