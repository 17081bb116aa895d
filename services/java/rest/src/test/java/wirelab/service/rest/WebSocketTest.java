package wirelab.service.rest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static wirelab.service.rest.StreamOperationsTest.LONGEST_NS;
import static wirelab.service.rest.StreamOperationsTest.checkItems;
import static wirelab.service.rest.StreamOperationsTest.number;
import static wirelab.service.rest.StreamOperationsTest.vectors;

import jakarta.websocket.Session;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.catalina.connector.Connector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.io.TempDirFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import wirelab.service.Bench;
import wirelab.service.Refusal;
import wirelab.service.contract.Stream;

/** Contract stream over WebSocket; the client is the JDK's. */
class WebSocketTest {
    private static final int STEP_MS = 10;
    private static final int STEPS = 1500;
    private static final int MAX = 394_240;
    private static final int FEEDS = 300;
    /** Where nothing bounds it, Tomcat waits 30 s for the answer to a close, 60 s for a reader. */
    private static final long STOP_NS_MAX = 5_000_000_000L;
    private static final WebSocketClient.Closed GOING_AWAY = new WebSocketClient.Closed(1001);
    private static final WebSocketClient.Closed CANNOT_ACCEPT = new WebSocketClient.Closed(1003);
    private static final WebSocketClient.Closed TOO_BIG = new WebSocketClient.Closed(1009);

    private static Bench start(String codec) throws Exception {
        return Bench.start("stream", stack(codec));
    }

    private static String stack(String codec) {
        return "{\"binding\":\"websocket\",\"codec\":\"" + codec + "\"}";
    }

    private static void awaitCancellation(Bench bench) throws Exception {
        for (int step = 0; step < STEPS && bench.streams().cancellations() == 0; step++) {
            Thread.sleep(STEP_MS);
        }
        assertEquals(1, bench.streams().cancellations());
        assertEquals(0, bench.inFlight());
    }

    private static void assertError(WebSocketClient client, Object text) throws Exception {
        assertEquals(Bench.json(Map.of("error", text)), client.next());
        assertEquals("", client.next());
    }

    @ParameterizedTest
    @ValueSource(strings = {"json", "protobuf"})
    void feedsAreThoseOfTheVectorsOneAfterAnotherOnOneConnection(String codec) throws Exception {
        try (Bench bench = start(codec)) {
            WebSocketClient client = WebSocketClient.open(bench, codec, "feed");
            long feeds = 0;
            for (Map<?, ?> vector : vectors("feeds")) {
                List<?> expected = (List<?>) vector.get("items");
                if (number(expected.get(expected.size() - 1), "due_ns") > LONGEST_NS) {
                    continue;
                }
                client.ask(vector.get("request"));
                checkItems((String) vector.get("name"), expected, client.items());
                feeds++;
            }
            assertEquals(feeds, bench.counts("Feed")[0]);
            assertEquals(0, bench.inFlight());
        }
    }

    /** The next request may overtake the thread that has just sent the end. */
    @ParameterizedTest
    @ValueSource(strings = {"json", "protobuf"})
    void feedsFollowEachOtherAtOnce(String codec) throws Exception {
        try (Bench bench = start(codec)) {
            WebSocketClient client = WebSocketClient.open(bench, codec, "feed");
            for (int feed = 0; feed < FEEDS; feed++) {
                client.feed(2, 8, 0);
                assertEquals(2, client.items().size());
            }
            assertEquals(2 * FEEDS, bench.streams().items());
            assertEquals(0, bench.streams().cancellations());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"json", "protobuf"})
    void feedsBeyondALimitAreRefusedByNameAndTheConnectionStays(String codec) throws Exception {
        try (Bench bench = start(codec)) {
            WebSocketClient client = WebSocketClient.open(bench, codec, "feed");
            List<Map<?, ?>> rows = vectors("refused");
            for (Map<?, ?> vector : rows) {
                client.ask(vector.get("request"));
                assertError(client, vector.get("error"));
            }
            client.sendEnd();
            assertError(client, "an end is not a FeedRequest");
            client.feed(3, 1, 0);
            assertEquals(3, client.items().size());
            assertEquals(rows.size(), bench.counts("Feed")[1]);
            assertEquals(0, bench.streams().cancellations());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"json", "protobuf"})
    void itemsAreSentOneByOne(String codec) throws Exception {
        try (Bench bench = start(codec)) {
            WebSocketClient client = WebSocketClient.open(bench, codec, "feed");
            long start = System.nanoTime();
            client.feed(2, 1, 2_000_000);
            assertEquals(0, number(client.item(client.next()), "index"));
            assertTrue(System.nanoTime() - start < 2_000_000_000L, "the first item waited");
            client.ping("during a feed");
            assertEquals("pong during a feed", client.next());
            assertEquals(1, client.items().size());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"json", "protobuf"})
    void aRequestDuringAFeedEndsTheConnection(String codec) throws Exception {
        try (Bench bench = start(codec)) {
            WebSocketClient client = WebSocketClient.open(bench, codec, "feed");
            client.feed(60, 1, 60_000_000);
            client.next();
            client.feed(1, 1, 0);
            assertEquals(new WebSocketClient.Closed(1008), client.next());
            awaitCancellation(bench);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"json", "protobuf"})
    void pushesAreThoseOfTheVectorsOneAfterAnotherOnOneConnection(String codec) throws Exception {
        try (Bench bench = start(codec)) {
            WebSocketClient client = WebSocketClient.open(bench, codec, "push");
            List<Map<?, ?>> rows = vectors("pushes");
            for (Map<?, ?> vector : rows) {
                for (Object item : (List<?>) vector.get("items")) {
                    client.sendItem(item);
                }
                if (vector.get("error") != null) {
                    // What follows the mistake is dropped, right or wrong, up to the client's end.
                    assertError(client, vector.get("error"));
                    client.sendItem(0, "dropped");
                    client.sendItem(7, "dropped");
                    client.sendEnd();
                } else {
                    client.sendEnd();
                    assertEquals(vector.get("reply"), client.reply(), (String) vector.get("name"));
                    assertEquals("", client.next());
                }
            }
            assertEquals(rows.size(), bench.counts("Push")[0]);
            long wrong = rows.stream().filter(row -> row.get("error") != null).count();
            assertEquals(wrong, bench.counts("Push")[1]);
            assertEquals(0, bench.inFlight());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"json", "protobuf"})
    void chatAnswersItemByItem(String codec) throws Exception {
        try (Bench bench = start(codec)) {
            WebSocketClient client = WebSocketClient.open(bench, codec, "chat");
            for (int chat = 0; chat < 2; chat++) {
                int index = 0;
                for (String text : List.of("a", "", "Größe", "😀", "x".repeat(65_536))) {
                    client.sendItem(index, text);
                    Object answer = client.item(client.next());
                    assertEquals(index++, number(answer, "index"));
                    assertEquals(0, number(answer, "due_ns"));
                    assertEquals(text, ((Map<?, ?>) answer).get("text"));
                    assertTrue(number(answer, "received_ns") > 0, answer.toString());
                    long heldNs = number(answer, "sent_ns") - number(answer, "received_ns");
                    assertTrue(heldNs >= 0, answer.toString());
                }
                client.sendEnd();
                assertEquals("", client.next());
            }
            client.sendItem(7, "");
            assertError(client, "items must be numbered from 0 without gaps");
            client.sendItem(0, "dropped");
            client.sendEnd();
            client.sendItem(0, "x".repeat(65_537));
            assertError(client, "at most 65536 bytes in a text");
            client.sendEnd();
            client.sendEnd();
            assertEquals("", client.next());
            assertEquals(10, bench.streams().items());
            assertEquals(5, bench.counts("Chat")[0]);
            assertEquals(2, bench.counts("Chat")[1]);
            assertEquals(0, bench.streams().cancellations());
            assertEquals(0, bench.inFlight());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"{", "[]", "null", "1", "{\"index\":1.5}", "{\"text\":\"\\ud800\"}"})
    void whatIsNotAnItemInJsonIsAnsweredWithAnError(String text) throws Exception {
        try (Bench bench = start("json")) {
            WebSocketClient client = WebSocketClient.open(bench, "json", "chat");
            client.sendText(text, true);
            checkMalformed(bench, client);
        }
    }

    @Test
    void whatIsNotAnItemInProtobufIsAnsweredWithAnError() throws Exception {
        try (Bench bench = start("protobuf")) {
            WebSocketClient client = WebSocketClient.open(bench, "protobuf", "chat");
            client.sendBytes(new byte[] {0x2a, 5, 'a'}, true);
            checkMalformed(bench, client);
        }
    }

    private static void checkMalformed(Bench bench, WebSocketClient client) throws Exception {
        Map<?, ?> error = (Map<?, ?>) Bench.value((String) client.next());
        assertEquals(List.of("error"), List.copyOf(error.keySet()));
        assertEquals("", client.next());
        client.sendEnd();
        client.sendItem(0, "good");
        assertEquals("good", ((Map<?, ?>) client.item(client.next())).get("text"));
        client.sendEnd();
        assertEquals("", client.next());
        assertEquals(2, bench.counts("Chat")[0]);
        assertEquals(0, bench.counts("Chat")[1]);
    }

    @Test
    void messagesOfTheGreatestLengthComeInFragments() throws Exception {
        String item = "{\"index\":0,\"text\":\"ä\"}";
        String longest = item + " ".repeat(MAX - item.length() - 1);
        assertEquals(MAX, longest.getBytes(StandardCharsets.UTF_8).length);
        assertEquals(MAX, Stream.MESSAGE_BYTES_MAX);
        try (Bench bench = start("json")) {
            WebSocketClient client = WebSocketClient.open(bench, "json", "chat");
            for (int at = 0; at < longest.length(); at += 10_000) {
                int end = Math.min(at + 10_000, longest.length());
                client.sendText(longest.substring(at, end), end == longest.length());
            }
            assertEquals("ä", ((Map<?, ?>) client.item(client.next())).get("text"));
            client.sendText(longest.substring(1) + "  ", true);
            assertEquals(TOO_BIG, client.next());
            awaitCancellation(bench);
        }
    }

    /** Bytes count, not characters. */
    @ParameterizedTest
    @CsvSource({"ä,2", "€,3", "😀,4"})
    void textsAreMeasuredInBytes(String character, int bytes) throws Exception {
        try (Bench bench = start("json")) {
            WebSocketClient client = WebSocketClient.open(bench, "json", "push");
            String form = "{\"index\":0,\"more\":\"%s\"}";
            client.sendText(String.format(form, character.repeat(MAX / bytes - 20)), true);
            client.sendEnd();
            assertEquals(1, number(client.reply(), "count"));
            assertEquals("", client.next());
            client.sendText(String.format(form, character.repeat(MAX / bytes)), true);
            assertEquals(TOO_BIG, client.next());
        }
    }

    @Test
    void bytesOfTheGreatestLengthComeInFragments() throws Exception {
        // Field 15, which is unknown, has the 394,233 bytes that are left.
        byte[] longest = new byte[MAX];
        byte[] start = {0x2a, 1, 'a', 0x7a, (byte) 0xf9, (byte) 0x87, 0x18};
        System.arraycopy(start, 0, longest, 0, start.length);
        try (Bench bench = start("protobuf")) {
            WebSocketClient client = WebSocketClient.open(bench, "protobuf", "chat");
            for (int at = 0; at < MAX; at += 10_000) {
                int end = Math.min(at + 10_000, MAX);
                client.sendBytes(Arrays.copyOfRange(longest, at, end), end == MAX);
            }
            assertEquals("a", ((Map<?, ?>) client.item(client.next())).get("text"));
            client.sendBytes(new byte[MAX + 1], true);
            assertEquals(TOO_BIG, client.next());
            awaitCancellation(bench);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"feed", "push", "chat"})
    void messagesOfTheOtherKindEndTheConnection(String operation) throws Exception {
        try (Bench bench = start("json")) {
            WebSocketClient client = WebSocketClient.open(bench, "json", operation);
            client.sendBytes(new byte[0], true);
            assertEquals(CANNOT_ACCEPT, client.next());
        }
        try (Bench bench = start("protobuf")) {
            WebSocketClient client = WebSocketClient.open(bench, "protobuf", operation);
            client.sendText("", false);
            client.sendText("{}", true);
            assertEquals(CANNOT_ACCEPT, client.next());
        }
    }

    /** At once, not with the next item. */
    @ParameterizedTest
    @CsvSource({"json,abort", "json,close", "protobuf,abort", "protobuf,close"})
    void aCancelledFeedEnds(String codec, String how) throws Exception {
        try (Bench bench = start(codec)) {
            WebSocketClient client = WebSocketClient.open(bench, codec, "feed");
            client.feed(60, 1, 60_000_000);
            client.next();
            if (how.equals("abort")) {
                client.abort();
            } else {
                client.close();
            }
            awaitCancellation(bench);
            assertEquals(1, bench.streams().items());
        }
    }

    @Test
    void cancelledChatsAreCountedAndPushesAreNot() throws Exception {
        try (Bench bench = start("json")) {
            for (String operation : List.of("push", "chat")) {
                WebSocketClient client = WebSocketClient.open(bench, "json", operation);
                client.sendItem(0, "a");
                for (int step = 0; step < STEPS && bench.inFlight() == 0; step++) {
                    Thread.sleep(STEP_MS);
                }
                assertEquals(1, bench.inFlight());
                client.abort();
                for (int step = 0; step < STEPS && bench.inFlight() > 0; step++) {
                    Thread.sleep(STEP_MS);
                }
                assertEquals(0, bench.inFlight());
                assertEquals(operation.equals("chat") ? 1 : 0, bench.streams().cancellations());
            }
            // Between two streams there is nothing to cancel.
            WebSocketClient client = WebSocketClient.open(bench, "json", "chat");
            client.sendEnd();
            assertEquals("", client.next());
            client.close();
            assertEquals(new WebSocketClient.Closed(1000), client.next());
            assertEquals(1, bench.streams().cancellations());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"json", "protobuf"})
    void aSlowReaderHoldsTheServiceUp(String codec) throws Exception {
        try (Bench bench = start(codec)) {
            int count = 1000;
            WebSocketClient client = WebSocketClient.open(bench, codec, "feed", false);
            client.feed(count, 65_536, 0);
            Thread.sleep(1000);
            assertTrue(bench.streams().items() < count / 2, bench.streams().items() + " items");
            client.read(Long.MAX_VALUE);
            List<Object> items = client.items();
            assertEquals(count, items.size());
            for (int index = 0; index < count; index++) {
                assertEquals(index, number(items.get(index), "index"));
            }
            assertEquals(count, bench.streams().items());
            assertTrue(bench.streams().late() > count / 2, bench.streams().late() + " late");
        }
    }

    /** A client of Chat that does not read is not read from, either. */
    @Test
    void aSlowReaderOfChatIsNotReadFrom() throws Exception {
        try (Bench bench = start("json")) {
            WebSocketClient client = WebSocketClient.open(bench, "json", "chat", false);
            int count = 1000;
            Thread sender = new Thread(() -> {
                try {
                    for (int index = 0; index < count; index++) {
                        client.sendItem(index, "x".repeat(65_536));
                    }
                    client.sendEnd();
                } catch (Exception error) {
                    throw new AssertionError(error);
                }
            });
            sender.start();
            Thread.sleep(1000);
            assertTrue(bench.streams().items() < count / 2, bench.streams().items() + " items");
            client.read(Long.MAX_VALUE);
            assertEquals(count, client.items().size());
            sender.join();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"json", "protobuf"})
    void stopEndsIdleConnectionsAndFeedsWithStatus1001(String codec) throws Exception {
        Bench bench = start(codec);
        List<WebSocketClient> clients = new ArrayList<>();
        for (String operation : List.of("feed", "push", "chat")) {
            clients.add(WebSocketClient.open(bench, codec, operation));
        }
        WebSocketClient reader = WebSocketClient.open(bench, codec, "feed");
        reader.feed(60, 1, 60_000_000);
        reader.next();
        long start = System.nanoTime();
        bench.close();
        assertTrue(System.nanoTime() - start < STOP_NS_MAX, "an idle connection held the stop up");
        assertEquals(GOING_AWAY, reader.next());
        for (WebSocketClient client : clients) {
            assertEquals(GOING_AWAY, client.next());
        }
        assertEquals(1, bench.streams().cancellations());
        assertEquals(0, bench.inFlight());
    }

    /** The grace of a service that stops is for the calls in flight. */
    @Test
    void stopLetsAFeedEndThatEndsWithinTheGrace() throws Exception {
        Bench bench = start("json");
        WebSocketClient reader = WebSocketClient.open(bench, "json", "feed");
        reader.feed(10, 1, 20_000);
        reader.next();
        bench.close();
        for (int left = 9; left > 0; left--) {
            assertTrue(reader.next() instanceof String, "item " + (10 - left));
        }
        assertEquals("", reader.next());
        assertEquals(GOING_AWAY, reader.next());
        assertEquals(0, bench.streams().cancellations());
    }

    /** No close can be sent while an item is being written. */
    @Test
    void readersThatAreStuckDoNotHoldTheStopUp() throws Exception {
        Bench bench = start("json");
        for (int reader = 0; reader < 5; reader++) {
            WebSocketClient.open(bench, "json", "feed", false).feed(1000, 65_536, 0);
        }
        for (int step = 0; step < STEPS && bench.inFlight() < 5; step++) {
            Thread.sleep(STEP_MS);
        }
        long sent = -1;
        // Until no buffer takes an item any more.
        while (sent != bench.streams().items()) {
            sent = bench.streams().items();
            Thread.sleep(20 * STEP_MS);
        }
        long start = System.nanoTime();
        bench.close();
        assertTrue(System.nanoTime() - start < STOP_NS_MAX, "a reader held the stop up");
        assertEquals(5, bench.streams().cancellations());
    }

    /** The service's call to itself is a Feed over its own socket. */
    @Test
    void feedsTravelOverAUnixSocket(@TempDir(factory = ShortFolder.class) Path folder)
            throws Exception {
        for (String codec : List.of("json", "protobuf")) {
            String listen = "\"listen\":\"unix:" + folder.resolve(codec) + "\"";
            Bench.start("stream", stack(codec), listen).close();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "\"compression\":\"gzip\"", "\"codec\":\"xml\"", "\"transport\":\"http/2\"",
        "\"end_of_message\":\"chunked\""
    })
    void whatIsNotServedIsRefused(String axis) {
        String stack = "{\"binding\":\"websocket\"," + axis + "}";
        assertThrows(Refusal.class, () -> Bench.start("stream", stack));
        assertThrows(Refusal.class, () -> Bench.start("transfer", "{\"binding\":\"websocket\"}"));
    }

    @ParameterizedTest
    @CsvSource({"json,jackson-databind", "protobuf,protobuf-java"})
    void librariesAreTomcatItsWebSocketAndTheCodec(String codec, String library)
            throws Exception {
        List<String> rows = Bench.libraries("stream", stack(codec), "\"processors\":1");
        assertEquals("server " + Bench.origin(Connector.class), rows.get(0));
        assertEquals("server " + Bench.origin(Session.class), rows.get(1));
        assertTrue(rows.get(2).startsWith("codec " + library + " "), rows.toString());
    }

    /** The path of a Unix socket has 107 bytes at most, and the checkout's may be long. */
    static final class ShortFolder implements TempDirFactory {
        @Override
        public Path createTempDirectory(
                AnnotatedElementContext element, ExtensionContext extension) throws IOException {
            return Files.createTempDirectory(Path.of("/tmp"), "wirelab-");
        }
    }
}
