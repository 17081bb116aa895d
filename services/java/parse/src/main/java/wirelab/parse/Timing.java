package wirelab.parse;

import java.util.List;

/**
 * Times one parser in this process: the first parse apart, with the making of the parser; then warm-up
 * until calm, which counts from {@link #WARM_PARSES} parses and {@link #WARM_SHARE} of its bound on, or
 * until the bound; then blocks of parses, the documents in turn.
 */
final class Timing {
    /** A document in memory. */
    record Document(String name, byte[] bytes) {}

    /** Bounds, in nanoseconds; {@code windowNs} is for each document, shared by its blocks. */
    record Plan(long warmupNs, long windowNs, int blocks) {
        /** Whether a warm-up of that number of parses and that time may end when times are stable. */
        boolean isWarm(long parses, long elapsedNs) {
            return parses >= WARM_PARSES && elapsedNs >= WARM_SHARE * warmupNs;
        }
    }

    /** What one document took. */
    record Times(String name, String fingerprint, long parses, long elapsedNs, double[] blockNs) {}

    /** What a process measured; {@code calm}: the last rounds of warm-up took equally long. */
    record Result(Class<?> implementation, long firstNs, long warmupNs, boolean calm, List<Times> documents) {}

    /** Rounds of warm-up whose means must lie within {@link #CALM} of each other. */
    private static final int ROUNDS = 5;

    private static final double CALM = 1.05;

    /** Parses of a process before which calm means nothing: the JIT has not compiled a slow parser yet. */
    static final long WARM_PARSES = 20_000;

    /** Of the bound of warm-up, after which calm may end it: the JIT compiles in the background. */
    static final double WARM_SHARE = 0.5;

    /** Parses in a block at least as long as this are not disturbed by the clock. */
    private static final long ROUND_NS = 10_000_000;

    private final Parser[] parsers;
    private final Document[] documents;
    private final long[] expected;
    /** Of one parse, as warm-up found it. */
    private final double[] parseNs;
    private final Plan plan;

    private Timing(Parser parser, List<Document> documents, Plan plan) throws Exception {
        this.documents = documents.toArray(new Document[0]);
        this.plan = plan;
        parsers = new Parser[this.documents.length];
        expected = new long[parsers.length];
        parseNs = new double[parsers.length];
        for (int at = 0; at < parsers.length; at++) {
            parsers[at] = parser.of(this.documents[at].name());
            expected[at] = parsers[at].parse(this.documents[at].bytes());
        }
    }

    static Result run(Parsers.Maker maker, List<Document> documents, Plan plan) throws Exception {
        Document first = documents.get(0);
        long start = System.nanoTime();
        Parser parser = maker.make();
        parser.of(first.name()).parse(first.bytes());
        long firstNs = System.nanoTime() - start;
        Timing timing = new Timing(parser, documents, plan);
        long warmupStart = System.nanoTime();
        boolean calm = timing.warmUp();
        long warmupNs = System.nanoTime() - warmupStart;
        return new Result(parser.implementation(), firstNs, warmupNs, calm, timing.measure());
    }

    private boolean warmUp() throws Exception {
        long begun = System.nanoTime();
        long parses = 0;
        double[] recent = new double[ROUNDS];
        for (int round = 0; ; round++) {
            double total = 0;
            for (int at = 0; at < parsers.length; at++) {
                long start = System.nanoTime();
                long count = 0;
                long elapsed = 0;
                while (elapsed < ROUND_NS / parsers.length) {
                    block(at, 1);
                    count++;
                    elapsed = System.nanoTime() - start;
                }
                parses += count;
                parseNs[at] = (double) elapsed / count;
                total += parseNs[at];
            }
            recent[round % ROUNDS] = total;
            boolean calm = round >= ROUNDS - 1 && spread(recent) < CALM;
            long elapsed = System.nanoTime() - begun;
            if (elapsed > plan.warmupNs() || calm && plan.isWarm(parses, elapsed)) {
                return calm;
            }
        }
    }

    private List<Times> measure() throws Exception {
        double[][] blocks = new double[parsers.length][plan.blocks()];
        long[] parses = new long[parsers.length];
        long[] elapsed = new long[parsers.length];
        for (int block = 0; block < plan.blocks(); block++) {
            for (int at = 0; at < parsers.length; at++) {
                long count = Math.max(1, (long) (plan.windowNs() / (double) plan.blocks() / parseNs[at]));
                long start = System.nanoTime();
                block(at, count);
                long took = System.nanoTime() - start;
                blocks[at][block] = (double) took / count;
                parses[at] += count;
                elapsed[at] += took;
            }
        }
        Times[] times = new Times[parsers.length];
        for (int at = 0; at < parsers.length; at++) {
            String seen = parsers[at].fingerprint(documents[at].bytes());
            times[at] = new Times(documents[at].name(), seen, parses[at], elapsed[at], blocks[at]);
        }
        return List.of(times);
    }

    /** Parses that many times, and proves that each parse read all of the document. */
    private void block(int at, long count) throws Exception {
        long sum = 0;
        for (long done = 0; done < count; done++) {
            sum += parsers[at].parse(documents[at].bytes());
        }
        if (sum != count * expected[at]) {
            throw new IllegalStateException("parses of " + documents[at].name() + " differ from the first one");
        }
    }

    private static double spread(double[] values) {
        double low = values[0];
        double high = values[0];
        for (double value : values) {
            low = Math.min(low, value);
            high = Math.max(high, value);
        }
        return high / low;
    }
}
