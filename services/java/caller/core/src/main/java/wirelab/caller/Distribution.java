package wirelab.caller;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** A histogram with the exact sum and bounds of its values, nanoseconds. */
final class Distribution {
    /** The largest value: an hour, as the engine's. */
    private static final long LONGEST_NS = 3_600_000_000_000L;

    private static final int DIGITS = 3;
    private static final double SAMPLES_ABOVE = 10 - 1e-9;
    private static final Map<String, Double> PERCENTILES = new LinkedHashMap<>();

    static {
        for (String percentile : new String[] {"50", "90", "99", "99.9", "99.99"}) {
            PERCENTILES.put("p" + percentile, Double.valueOf(percentile));
        }
    }

    private final Histogram histogram = new Histogram(1, LONGEST_NS, DIGITS);
    private double sum;
    private long min = Long.MAX_VALUE;
    private long max;

    /** One distribution, as {@code contracts/process/event.schema.json} has it. */
    record Times(long count, double meanNs, long minNs, long maxNs, Map<String, Long> percentilesNs, String hdr) {}

    void add(long ns) {
        long value = Math.min(Math.max(ns, 1), LONGEST_NS);
        histogram.recordValue(value);
        sum += value;
        min = Math.min(min, value);
        max = Math.max(max, value);
    }

    void merge(Distribution other) {
        histogram.add(other.histogram);
        sum += other.sum;
        min = Math.min(min, other.min);
        max = Math.max(max, other.max);
    }

    boolean isEmpty() {
        return histogram.getTotalCount() == 0;
    }

    Times times() {
        long count = histogram.getTotalCount();
        Map<String, Long> percentiles = new LinkedHashMap<>();
        PERCENTILES.forEach((name, value) -> {
            if (count * (100 - value) / 100 >= SAMPLES_ABOVE) {
                percentiles.put(name, Math.min(histogram.getValueAtPercentile(value), max));
            }
        });
        ByteBuffer encoded = ByteBuffer.allocate(histogram.getNeededByteBufferCapacity());
        int length = histogram.encodeIntoCompressedByteBuffer(encoded);
        String hdr = Base64.getEncoder().encodeToString(Arrays.copyOf(encoded.array(), length));
        return new Times(count, sum / count, min, max, percentiles, hdr);
    }
}
