package wirelab.service;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/** Accounts for every call, in the same way for every binding: a few additions, two clock readings. */
public final class Calls {
    /** From this delay on the service sleeps: timers of kernel and JVM are late by up to a millisecond. */
    private static final long SPIN_BELOW_NS = 2_000_000;

    private static final long END_NS_MAX = 20_000_000_000L;
    private static final long LOOK_EVERY_NS = 100_000;

    private final Map<String, Tally> tallies = new LinkedHashMap<>();
    private final LongAdder ended = new LongAdder();
    private final LongAdder spentNs = new LongAdder();
    private final LongAdder connections = new LongAdder();
    private final Delays delays = new Delays();
    private final StreamCounts streams = new StreamCounts();
    private final long delayNs;
    private final boolean keepsReplies;

    /** Accounts for these operations; every call is delayed by {@code delayUs}. */
    public Calls(List<String> operations, long delayUs) {
        this(operations, delayUs, false);
    }

    /** As above; where {@code keepsReplies}, the last reply of each operation is kept. */
    public Calls(List<String> operations, long delayUs, boolean keepsReplies) {
        operations.forEach(operation -> tallies.put(operation, new Tally()));
        delayNs = delayUs * 1000;
        this.keepsReplies = keepsReplies;
    }

    /** The counters of one operation. */
    public final class Tally {
        private final LongAdder begun = new LongAdder();
        private final LongAdder failed = new LongAdder();
        private volatile Coded reply;

        /** To be called on entry into the service's code; returns after the injected delay. */
        public Call begin() {
            long start = System.nanoTime();
            begun.increment();
            if (delayNs > 0) {
                delay(start);
            }
            return new Call(this, start);
        }

        long begun() {
            return begun.sum();
        }

        long failed() {
            return failed.sum();
        }

        /** The last reply; null before the first, and where none are kept. */
        Coded reply() {
            return reply;
        }
    }

    /** One call under way; {@link #close} is to be called once, on return from the service's code. */
    public final class Call implements AutoCloseable {
        private final Tally tally;
        private final long start;

        private Call(Tally tally, long start) {
            this.tally = tally;
            this.start = start;
        }

        /** The call is being answered with this reply. */
        public void replied(Coded reply) {
            if (keepsReplies) {
                tally.reply = reply;
            }
        }

        /** The call is being answered with an application error. */
        public void failed() {
            tally.failed.increment();
        }

        @Override
        public void close() {
            spentNs.add(System.nanoTime() - start);
            ended.increment();
        }
    }

    /** The counters of an operation of the contract. */
    public Tally tally(String operation) {
        return tallies.get(operation);
    }

    /** The counters of contract {@code stream}. */
    public StreamCounts streams() {
        return streams;
    }

    /** A connection was accepted. */
    public void connected() {
        connections.increment();
    }

    Map<String, Tally> tallies() {
        return tallies;
    }

    long connections() {
        return connections.sum();
    }

    double spentSeconds() {
        return spentNs.sum() / 1e9;
    }

    Delays delays() {
        return delays;
    }

    /** Calls under way. Ends are read first, so that it is never negative. */
    long inFlight() {
        long over = ended.sum();
        return tallies.values().stream().mapToLong(Tally::begun).sum() - over;
    }

    /** Forgets everything when the calls under way have ended: a stream may end after its last item was read. */
    void reset() {
        long start = System.nanoTime();
        while (inFlight() > 0) {
            if (System.nanoTime() - start > END_NS_MAX) {
                throw new IllegalStateException("the service's call to itself does not end");
            }
            LockSupport.parkNanos(LOOK_EVERY_NS);
        }
        for (Tally tally : tallies.values()) {
            tally.begun.reset();
            tally.failed.reset();
            tally.reply = null;
        }
        ended.reset();
        spentNs.reset();
        connections.reset();
        streams.reset();
        delays.reset();
    }

    private void delay(long start) {
        if (delayNs >= SPIN_BELOW_NS) {
            for (long left = delayNs; left > 0; left = delayNs - (System.nanoTime() - start)) {
                LockSupport.parkNanos(left);
            }
        }
        while (System.nanoTime() - start < delayNs) {
            Thread.onSpinWait();
        }
        delays.record(System.nanoTime() - start);
    }
}
