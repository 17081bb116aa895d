package wirelab.service.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import wirelab.service.Bench;
import wirelab.service.Calls;
import wirelab.service.contract.message.StreamMessages.FeedRequest;
import wirelab.service.contract.message.StreamMessages.Item;

/** Schedules, limits and sums of contract stream against the golden vectors; the run of a Feed. */
class StreamTest {
    private static List<Map<?, ?>> vectors(String key) throws IOException {
        List<Map<?, ?>> rows = new ArrayList<>();
        ((List<?>) ((Map<?, ?>) Bench.vectors("streams.json")).get(key)).forEach(row -> rows.add((Map<?, ?>) row));
        assertFalse(rows.isEmpty(), key);
        return rows;
    }

    private static long number(Map<?, ?> message, String field) {
        return ((Number) message.get(field)).longValue();
    }

    private static FeedRequest request(Map<?, ?> vector) {
        Map<?, ?> fields = (Map<?, ?>) vector.get("request");
        FeedRequest ask = new FeedRequest();
        ask.count = (int) number(fields, "count");
        ask.bytes = (int) number(fields, "bytes");
        ask.gap_us = number(fields, "gap_us");
        ask.pattern = (String) fields.get("pattern");
        ask.seed = number(fields, "seed");
        return ask;
    }

    @Test
    void itemsAreThoseOfTheVectors() throws Exception {
        for (Map<?, ?> vector : vectors("feeds")) {
            FeedRequest ask = request(vector);
            Stream.check(ask);
            Schedule schedule = new Schedule(ask);
            for (Object each : (List<?>) vector.get("items")) {
                Map<?, ?> expected = (Map<?, ?>) each;
                Item item = schedule.next();
                String name = vector.get("name") + ", item " + item.index;
                assertEquals(number(expected, "index"), item.index, name);
                assertEquals(number(expected, "due_ns"), item.due_ns, name);
                assertEquals(expected.get("text"), item.text, name);
            }
            assertFalse(schedule.hasNext());
        }
    }

    @Test
    void requestsBeyondALimitAreRefusedByName() throws Exception {
        for (Map<?, ?> vector : vectors("refused")) {
            ApplicationError error = assertThrows(ApplicationError.class, () -> Stream.check(request(vector)));
            assertEquals(vector.get("error"), error.getMessage(), (String) vector.get("name"));
        }
    }

    @Test
    void pushesAreThoseOfTheVectors() throws Exception {
        for (Map<?, ?> vector : vectors("pushes")) {
            Intake intake = new Intake();
            String refused = null;
            for (Object each : (List<?>) vector.get("items")) {
                Map<?, ?> item = (Map<?, ?>) each;
                try {
                    intake.add((int) number(item, "index"), (String) item.get("text"));
                } catch (ApplicationError error) {
                    refused = error.getMessage();
                }
            }
            assertEquals(vector.get("error"), refused, (String) vector.get("name"));
            if (refused == null) {
                Map<?, ?> reply = (Map<?, ?>) vector.get("reply");
                var sum = intake.reply();
                assertEquals(number(reply, "count"), sum.count);
                assertEquals(number(reply, "bytes"), sum.bytes);
                assertEquals(reply.get("sha256"), sum.sha256);
            }
        }
    }

    @Test
    void textsEndAtTheirBound() throws Exception {
        new Intake().add(0, "a".repeat(Stream.TEXT_BYTES_MAX));
        ApplicationError error = assertThrows(
                ApplicationError.class, () -> new Intake().add(0, "ü".repeat(Stream.TEXT_BYTES_MAX / 2 + 1)));
        assertEquals("at most 65536 bytes in a text", error.getMessage());
    }

    /** proc(5): the first number is CLOCK_BOOTTIME, which differs only by the time of a suspended machine. */
    @Test
    void nanoTimeIsTheClockOfTheKernel() throws Exception {
        double uptime = Double.parseDouble(Files.readString(Path.of("/proc/uptime")).split(" ")[0]);
        assertEquals(uptime, System.nanoTime() / 1e9, 5);
    }

    @Test
    void itemsHaveTheirTimesAndAreNeverEarly() throws Exception {
        try (Fed fed = new Fed(20, 500, "bursts")) {
            assertTrue(fed.ended.await(30, TimeUnit.SECONDS));
            assertEquals(20, fed.items.size());
            for (Item item : fed.items) {
                assertTrue(item.sent_ns >= fed.receivedNs + item.due_ns, "item " + item.index);
                assertEquals(item.index == 0 ? fed.receivedNs : 0, item.received_ns);
            }
            assertEquals(20, fed.calls.streams().items());
            assertEquals(0, fed.calls.streams().cancellations());
        }
    }

    @Test
    void aReaderThatIsNotReadyDelaysItemsAndIsCounted() throws Exception {
        try (Fed fed = new Fed(4, 0, "constant", () -> false)) {
            Thread.sleep(30);
            assertEquals(0, fed.calls.streams().items());
            fed.ready = () -> true;
            fed.run.proceed();
            assertTrue(fed.ended.await(30, TimeUnit.SECONDS));
            assertEquals(4, fed.calls.streams().late());
        }
    }

    @Test
    void aCancelledFeedSendsNothingMore() throws Exception {
        try (Fed fed = new Fed(1000, 50_000, "constant")) {
            assertTrue(fed.first.await(30, TimeUnit.SECONDS));
            fed.run.cancel();
            fed.run.cancel();
            int sent = fed.items.size();
            Thread.sleep(150);
            assertEquals(sent, fed.items.size());
            assertEquals(1, fed.calls.streams().cancellations());
            assertEquals(1, fed.ended.getCount());
        }
    }

    /** A Feed under way, and what its reader got. */
    private static final class Fed implements FeedRun.Reader, AutoCloseable {
        private final Stream model = new Stream(false);
        private final Calls calls = new Calls(model.operations(), 0);
        private final List<Item> items = new ArrayList<>();
        private final CountDownLatch first = new CountDownLatch(1);
        private final CountDownLatch ended = new CountDownLatch(1);
        private final long receivedNs = System.nanoTime();
        private final FeedRun run;
        private volatile BooleanSupplier ready;

        Fed(int count, long gapUs, String pattern) {
            this(count, gapUs, pattern, () -> true);
        }

        Fed(int count, long gapUs, String pattern, BooleanSupplier ready) {
            FeedRequest ask = new FeedRequest();
            ask.count = count;
            ask.gap_us = gapUs;
            ask.pattern = pattern;
            this.ready = ready;
            run = new FeedRun(model, calls, calls.tally("Feed").begin(), receivedNs, ask, this);
            run.start();
        }

        @Override
        public boolean isReady() {
            return ready.getAsBoolean();
        }

        @Override
        public void send(Item item) {
            items.add(item);
            first.countDown();
        }

        @Override
        public void complete() {
            ended.countDown();
        }

        @Override
        public void close() {
            model.close();
        }
    }
}
