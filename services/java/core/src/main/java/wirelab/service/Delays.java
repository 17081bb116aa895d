package wirelab.service;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;

/**
 * A histogram of durations that may be written by many threads at once. Values below 2,048 ns have
 * a bucket each; from there on every doubling is cut into 1,024, so that a bucket is at most 1/1024
 * of its value wide.
 */
final class Delays {
    private static final int PER_DOUBLING = 1 << 10;
    /** Up to 2^38 ns, 4.6 minutes. */
    private static final int DOUBLINGS = 28;

    private static final int BUCKETS = (DOUBLINGS + 1) * PER_DOUBLING;

    private final AtomicLongArray counts = new AtomicLongArray(BUCKETS);
    private final LongAdder sumNs = new LongAdder();

    void record(long ns) {
        counts.incrementAndGet(bucketOf(Math.max(ns, 0)));
        sumNs.add(ns);
    }

    void reset() {
        for (int bucket = 0; bucket < BUCKETS; bucket++) {
            counts.set(bucket, 0);
        }
        sumNs.reset();
    }

    long count() {
        long count = 0;
        for (int bucket = 0; bucket < BUCKETS; bucket++) {
            count += counts.get(bucket);
        }
        return count;
    }

    double sumSeconds() {
        return sumNs.sum() / 1e9;
    }

    /** The quantile (0 to 1) in seconds; NaN when nothing was recorded. */
    double quantileSeconds(double quantile) {
        double rank = quantile * count();
        if (rank == 0) {
            return Double.NaN;
        }
        int bucket = 0;
        long seen = counts.get(0);
        while (seen < rank && bucket < BUCKETS - 1) {
            seen += counts.get(++bucket);
        }
        return middleNs(bucket) / 1e9;
    }

    private static int bucketOf(long ns) {
        int exponent = Math.max(64 - Long.numberOfLeadingZeros(ns) - 11, 0);
        return (int) Math.min((long) exponent * PER_DOUBLING + (ns >>> exponent), BUCKETS - 1);
    }

    private static double middleNs(int bucket) {
        int exponent = Math.max(bucket / PER_DOUBLING - 1, 0);
        long low = (long) (bucket - exponent * PER_DOUBLING) << exponent;
        return low + ((1L << exponent) - 1) / 2.0;
    }
}
