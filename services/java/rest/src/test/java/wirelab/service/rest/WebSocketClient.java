package wirelab.service.rest;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assertions;
import wirelab.service.Bench;
import wirelab.stream.v1.FeedRequest;
import wirelab.stream.v1.Item;
import wirelab.stream.v1.PushReply;

/** One connection of the JDK's client in a codec; messages are maps of their fields. */
final class WebSocketClient implements WebSocket.Listener {
    private static final int PATIENCE_S = 30;

    /** The service ended the connection. */
    record Closed(int status) {}

    private final boolean text;
    private final boolean reads;
    private final BlockingQueue<Object> received = new LinkedBlockingQueue<>();
    private final StringBuilder characters = new StringBuilder();
    private ByteBuffer octets = ByteBuffer.allocate(0);
    private WebSocket socket;

    private WebSocketClient(boolean text, boolean reads) {
        this.text = text;
        this.reads = reads;
    }

    /** Connects to the path of an operation. */
    static WebSocketClient open(Bench bench, String codec, String operation) throws Exception {
        return open(bench, codec, operation, true);
    }

    /** As above; where it does not {@code reads}, {@link #read} asks for messages. */
    static WebSocketClient open(Bench bench, String codec, String operation, boolean reads)
            throws Exception {
        WebSocketClient client = new WebSocketClient(codec.equals("json"), reads);
        URI address = URI.create("ws://" + bench.running().address() + "/stream/" + operation);
        client.socket = HttpClient.newHttpClient().newWebSocketBuilder().buildAsync(address, client)
                .get(PATIENCE_S, TimeUnit.SECONDS);
        return client;
    }

    void read(long messages) {
        socket.request(messages);
    }

    /** Breaks the connection without a close. */
    void abort() {
        socket.abort();
    }

    void close() throws Exception {
        socket.sendClose(WebSocket.NORMAL_CLOSURE, "").get(PATIENCE_S, TimeUnit.SECONDS);
    }

    void ping(String payload) throws Exception {
        ByteBuffer bytes = StandardCharsets.UTF_8.encode(payload);
        socket.sendPing(bytes).get(PATIENCE_S, TimeUnit.SECONDS);
    }

    void ask(Object request) throws Exception {
        if (text) {
            sendText(Bench.json(request), true);
        } else {
            sendBytes(FeedRequest.newBuilder()
                    .setCount((int) number(request, "count"))
                    .setBytes((int) number(request, "bytes"))
                    .setGapUs(number(request, "gap_us"))
                    .setPattern((String) ((Map<?, ?>) request).get("pattern"))
                    .setSeed(number(request, "seed")).build().toByteArray(), true);
        }
    }

    void feed(int count, int bytes, long gapUs) throws Exception {
        ask(Map.of("count", count, "bytes", bytes, "gap_us", gapUs,
                "pattern", "constant", "seed", 1));
    }

    void sendItem(Object item) throws Exception {
        if (text) {
            sendText(Bench.json(item), true);
        } else {
            sendBytes(Item.newBuilder().setIndex((int) number(item, "index"))
                    .setText((String) ((Map<?, ?>) item).get("text")).build().toByteArray(), true);
        }
    }

    void sendItem(int index, String text) throws Exception {
        sendItem(Map.of("index", index, "text", text));
    }

    void sendEnd() throws Exception {
        sendText("", true);
    }

    void sendText(String part, boolean last) throws Exception {
        socket.sendText(part, last).get(PATIENCE_S, TimeUnit.SECONDS);
    }

    void sendBytes(byte[] part, boolean last) throws Exception {
        socket.sendBinary(ByteBuffer.wrap(part), last).get(PATIENCE_S, TimeUnit.SECONDS);
    }

    /** A text, bytes, or a {@link Closed}. */
    Object next() throws Exception {
        Object next = received.poll(PATIENCE_S, TimeUnit.SECONDS);
        Assertions.assertNotNull(next, "nothing came");
        if (next instanceof Throwable error) {
            throw new AssertionError(error);
        }
        return next;
    }

    /** The items up to the end. */
    List<Object> items() throws Exception {
        List<Object> items = new ArrayList<>();
        for (Object next = next(); !next.equals(""); next = next()) {
            items.add(item(next));
        }
        return items;
    }

    Object item(Object message) throws Exception {
        if (text) {
            return Bench.value((String) message);
        }
        Item item = Item.parseFrom((byte[]) message);
        return Map.of("index", item.getIndex(), "due_ns", item.getDueNs(),
                "sent_ns", item.getSentNs(), "received_ns", item.getReceivedNs(),
                "text", item.getText());
    }

    Object reply() throws Exception {
        if (text) {
            return Bench.value((String) next());
        }
        PushReply reply = PushReply.parseFrom((byte[]) next());
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("count", reply.getCount());
        fields.put("bytes", (int) reply.getBytes());
        fields.put("sha256", reply.getSha256());
        return fields;
    }

    private static long number(Object message, String field) {
        return StreamOperationsTest.number(message, field);
    }

    @Override
    public void onOpen(WebSocket opened) {
        if (reads) {
            opened.request(1);
        }
    }

    @Override
    public CompletionStage<?> onText(WebSocket from, CharSequence part, boolean last) {
        characters.append(part);
        if (last) {
            received.add(characters.toString());
            characters.setLength(0);
        }
        return proceed(from);
    }

    @Override
    public CompletionStage<?> onBinary(WebSocket from, ByteBuffer part, boolean last) {
        octets = ByteBuffer.allocate(octets.capacity() + part.remaining())
                .put(octets.rewind()).put(part);
        if (last) {
            received.add(octets.array());
            octets = ByteBuffer.allocate(0);
        }
        return proceed(from);
    }

    @Override
    public CompletionStage<?> onPong(WebSocket from, ByteBuffer payload) {
        received.add("pong " + StandardCharsets.UTF_8.decode(payload));
        return proceed(from);
    }

    private CompletionStage<?> proceed(WebSocket from) {
        if (reads) {
            from.request(1);
        }
        return null;
    }

    @Override
    public CompletionStage<?> onClose(WebSocket from, int status, String reason) {
        received.add(new Closed(status));
        return null;
    }

    @Override
    public void onError(WebSocket from, Throwable error) {
        received.add(error);
    }
}
