package wirelab.service;

import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Times the codec of a reply alone, without a store and a connection: contracts/process/codec-times.schema.json. */
final class CodecTimes {
    /** Shorter batches grow: next to them the clock's own time, some 30 ns, does not count. */
    private static final long BATCH_NS_MIN = 5_000_000;

    /** Of the messages that wait to be encoded. */
    private static final int RUNS_MAX = 1 << 16;

    /** What was made last, so that no compiler leaves the making out. */
    private static volatile Object sink;

    private CodecTimes() {}

    private interface Run {
        Object run(int number) throws Exception;
    }

    /** Batches of one direction; each has more runs than the one before until it is long enough. */
    private static final class Series {
        private final List<Map<String, Object>> batches = new ArrayList<>();
        private int runs = 1;

        void batch(Run run) throws Exception {
            long start = System.nanoTime();
            for (int number = 0; number < runs; number++) {
                sink = run.run(number);
            }
            long spentNs = System.nanoTime() - start;
            Map<String, Object> batch = new LinkedHashMap<>();
            batch.put("runs", runs);
            batch.put("ns", spentNs);
            batches.add(batch);
            if (spentNs < BATCH_NS_MIN && runs < RUNS_MAX) {
                runs *= 2;
            }
        }
    }

    /** Encodes and decodes in turn for {@code seconds}. */
    static Map<String, Object> measure(String operation, Coded reply, double seconds) throws Exception {
        Series encode = new Series();
        Series decode = new Series();
        byte[] bytes = reply.encode(reply.message());
        long start = System.nanoTime();
        do {
            Object[] messages = new Object[encode.runs];
            for (int number = 0; number < messages.length; number++) {
                messages[number] = reply.message();
            }
            encode.batch(number -> reply.encode(messages[number]));
            decode.batch(number -> reply.decode(bytes));
        } while (System.nanoTime() - start < seconds * 1e9);
        Map<String, Object> times = new LinkedHashMap<>();
        times.put("operation", operation);
        times.put("bytes", bytes.length);
        times.put("sha256", HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes)));
        times.put("encode", encode.batches);
        times.put("decode", decode.batches);
        return times;
    }
}
