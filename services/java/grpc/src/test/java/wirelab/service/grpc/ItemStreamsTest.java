package wirelab.service.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Context;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import wirelab.service.Address;
import wirelab.service.Bench;
import wirelab.stream.v1.FeedRequest;
import wirelab.stream.v1.Item;
import wirelab.stream.v1.PushReply;
import wirelab.stream.v1.StreamGrpc;

/** Contract stream over real connections. */
class ItemStreamsTest {
    private static final long LONGEST_NS = 1_000_000_000;
    private static final int STEP_MS = 10;
    private static final int STEPS = 1500;

    private Bench bench;
    private ManagedChannel channel;
    private StreamGrpc.StreamBlockingStub stub;

    @BeforeEach
    void start() throws Exception {
        bench = Bench.start("stream", "{\"binding\":\"grpc\"}");
        channel = NettyChannelBuilder.forAddress(Address.internet(bench.running().address())).usePlaintext().build();
        stub = StreamGrpc.newBlockingStub(channel);
    }

    @AfterEach
    void stop() {
        channel.shutdownNow();
        bench.close();
    }

    private static List<Map<?, ?>> vectors(String key) throws Exception {
        List<Map<?, ?>> rows = new ArrayList<>();
        ((List<?>) ((Map<?, ?>) Bench.vectors("streams.json")).get(key)).forEach(row -> rows.add((Map<?, ?>) row));
        assertFalse(rows.isEmpty(), key);
        return rows;
    }

    private static long number(Object message, String field) {
        return ((Number) ((Map<?, ?>) message).get(field)).longValue();
    }

    private static FeedRequest request(Map<?, ?> vector) {
        Object fields = vector.get("request");
        return FeedRequest.newBuilder().setCount((int) number(fields, "count")).setBytes((int) number(fields, "bytes"))
                .setGapUs(number(fields, "gap_us")).setPattern((String) ((Map<?, ?>) fields).get("pattern"))
                .setSeed(number(fields, "seed")).build();
    }

    private static Item item(Object fields) {
        return Item.newBuilder().setIndex((int) number(fields, "index")).setDueNs(number(fields, "due_ns"))
                .setText((String) ((Map<?, ?>) fields).get("text")).build();
    }

    @Test
    void feedsAreThoseOfTheVectors() throws Exception {
        for (Map<?, ?> vector : vectors("feeds")) {
            List<?> expected = (List<?>) vector.get("items");
            if (number(expected.get(expected.size() - 1), "due_ns") > LONGEST_NS) {
                continue;
            }
            long received = 0;
            List<Item> plain = new ArrayList<>();
            for (Iterator<Item> items = stub.feed(request(vector)); items.hasNext(); ) {
                Item item = items.next();
                received = Math.max(received, item.getReceivedNs());
                assertTrue(item.getSentNs() >= received + item.getDueNs(), vector.get("name") + ": early");
                plain.add(item.toBuilder().clearSentNs().clearReceivedNs().build());
            }
            assertEquals(expected.stream().map(ItemStreamsTest::item).toList(), plain, (String) vector.get("name"));
        }
    }

    @Test
    void feedsBeyondALimitAreRefusedByName() throws Exception {
        for (Map<?, ?> vector : vectors("refused")) {
            assertRefused((String) vector.get("error"), () -> stub.feed(request(vector)).hasNext());
        }
        assertEquals(0, bench.streams().cancellations());
    }

    @Test
    void pushesAreThoseOfTheVectors() throws Exception {
        for (Map<?, ?> vector : vectors("pushes")) {
            Client<PushReply> client = new Client<>(StreamGrpc.newStub(channel)::push);
            ((List<?>) vector.get("items")).forEach(fields -> client.requests.onNext(item(fields)));
            client.requests.onCompleted();
            if (vector.get("error") != null) {
                assertRefused((String) vector.get("error"), client::next);
                continue;
            }
            Object reply = vector.get("reply");
            assertEquals(
                    PushReply.newBuilder().setCount((int) number(reply, "count")).setBytes(number(reply, "bytes"))
                            .setSha256((String) ((Map<?, ?>) reply).get("sha256")).build(),
                    client.next(), (String) vector.get("name"));
        }
    }

    @Test
    void chatAnswersItemByItem() throws Exception {
        Client<Item> client = new Client<>(StreamGrpc.newStub(channel)::chat);
        int index = 0;
        for (String text : List.of("a", "", "Größe", "😀")) {
            client.requests.onNext(Item.newBuilder().setIndex(index).setText(text).build());
            Item answer = client.next();
            assertEquals(index++, answer.getIndex());
            assertEquals(text, answer.getText());
            assertTrue(answer.getReceivedNs() > 0 && answer.getSentNs() >= answer.getReceivedNs());
        }
        client.requests.onNext(Item.newBuilder().setIndex(7).build());
        assertRefused("items must be numbered from 0 without gaps", client::next);
        assertEquals(4, bench.streams().items());
        assertEquals(0, bench.streams().cancellations());
    }

    @Test
    void aCancelledFeedEndsAtOnce() throws Exception {
        Context.CancellableContext context = Context.current().withCancellation();
        context.run(() -> stub.feed(FeedRequest.newBuilder().setCount(60).setGapUs(60_000_000)
                .setPattern("constant").build()).next());
        context.cancel(null);
        for (int step = 0; step < STEPS && bench.streams().cancellations() == 0; step++) {
            Thread.sleep(STEP_MS);
        }
        assertEquals(1, bench.streams().cancellations());
        assertEquals(1, bench.streams().items());
        assertEquals(0, bench.inFlight());
    }

    @Test
    void aSlowReaderHoldsTheServiceUp() throws Exception {
        int count = 1000;
        Iterator<Item> items = stub.feed(
                FeedRequest.newBuilder().setCount(count).setBytes(65_536).setPattern("constant").build());
        items.next();
        Thread.sleep(1000);
        assertTrue(bench.streams().items() < count / 2, bench.streams().items() + " items");
        for (int index = 1; index < count; index++) {
            assertEquals(index, items.next().getIndex());
        }
        assertFalse(items.hasNext());
        assertEquals(count, bench.streams().items());
        assertTrue(bench.streams().late() > count / 2, bench.streams().late() + " late");
    }

    private static void assertRefused(String text, org.junit.jupiter.api.function.Executable call) {
        Status status = assertThrows(StatusRuntimeException.class, call).getStatus();
        assertEquals(Status.Code.INVALID_ARGUMENT, status.getCode());
        assertEquals(text, status.getDescription());
    }

    /** One stream, whose replies are read one by one. */
    private static final class Client<R> implements StreamObserver<R> {
        private final BlockingQueue<Object> replies = new LinkedBlockingQueue<>();
        private final StreamObserver<Item> requests;

        Client(Function<StreamObserver<R>, StreamObserver<Item>> method) {
            requests = method.apply(this);
        }

        @SuppressWarnings("unchecked")
        R next() throws InterruptedException {
            Object reply = replies.poll(30, TimeUnit.SECONDS);
            if (reply instanceof StatusRuntimeException error) {
                throw error;
            }
            return (R) reply;
        }

        @Override
        public void onNext(R reply) {
            replies.add(reply);
        }

        @Override
        public void onError(Throwable error) {
            replies.add(error);
        }

        @Override
        public void onCompleted() {
            // What was answered came before.
        }
    }
}
