package wirelab.caller;

import java.util.concurrent.atomic.AtomicLong;

/** Counts the connections of a group, where its library reports them. */
public final class Connections {
    private final AtomicLong open = new AtomicLong();
    private final AtomicLong opened = new AtomicLong();
    private final AtomicLong peak = new AtomicLong();
    private volatile boolean isReported;

    /** The library says when connections open and close. */
    public void report() {
        isReported = true;
    }

    /** One more is open. */
    public void opened() {
        opened.incrementAndGet();
        long now = open.incrementAndGet();
        peak.accumulateAndGet(now, Math::max);
    }

    /** One less is. */
    public void closed() {
        open.decrementAndGet();
    }

    /** How many were opened; null: not reported. */
    Long total() {
        return isReported ? opened.get() : null;
    }

    /** Most at one time; null: not reported. */
    Long most() {
        return isReported ? peak.get() : null;
    }
}
