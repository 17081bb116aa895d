package wirelab.caller;

import java.util.List;

/**
 * The arrivals of an open load: nanoseconds from its origin, never decreasing. They are those of the
 * engine with one thread.
 */
final class Schedule {
    /** The length of a sample of the warm-up. */
    static final long SAMPLE_NS = 50_000_000;

    private static final double NS = 1e9;
    private static final double BITS_53 = 0x1p53;

    // The warm-up's test, as crates/load/src/schedule/warmup.rs has it.
    private static final int SPAN = 4;
    private static final double LEVEL = 0.05;
    private static final double ERRORS = 2;
    private static final int ROUNDS = 3;

    private final double gapNs;
    private final boolean isPoisson;
    private long number;
    private double atNs;
    private long state;

    Schedule(Plan.Load load) {
        gapNs = NS / load.rate();
        isPoisson = load.kind().equals("poisson");
        state = load.seed() == null ? 0 : load.seed().longValue();
    }

    long next() {
        if (isPoisson) {
            // Inverse transform of the exponential distribution.
            atNs += -Math.log(1 - unit()) * gapNs;
            return (long) atNs;
        }
        // From the number, not by adding up gaps: no drift in long runs.
        return (long) (number++ * gapNs);
    }

    /** The next number in [0, 1) of SplitMix64 (Steele, Lea, Flood 2014). */
    private double unit() {
        state += 0x9E3779B97F4A7C15L;
        long z = state;
        z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
        z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
        z ^= z >>> 31;
        return (z >>> 11) / BITS_53;
    }

    /**
     * Whether the mean of the last four samples is that of the four before, within 5 % or two standard
     * errors of such counts, and every user of a closed load has ended three calls on average.
     */
    static boolean isStationary(List<Long> counts, int users) {
        int size = counts.size();
        if (size < 2 * SPAN) {
            return false;
        }
        double before = sum(counts.subList(size - 2 * SPAN, size - SPAN));
        double after = sum(counts.subList(size - SPAN, size));
        return sum(counts) >= (long) ROUNDS * users
                && after > 0
                && Math.abs(after - before)
                        <= Math.max(LEVEL * (after + before) / 2, ERRORS * Math.sqrt(after + before));
    }

    private static long sum(List<Long> counts) {
        return counts.stream().mapToLong(Long::longValue).sum();
    }
}
