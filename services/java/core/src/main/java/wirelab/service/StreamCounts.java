package wirelab.service;

import java.util.concurrent.atomic.LongAdder;

/** The counters of contract {@code stream}, which many calls add to. */
public final class StreamCounts {
    private final LongAdder items = new LongAdder();
    private final LongAdder late = new LongAdder();
    private final LongAdder cancelled = new LongAdder();

    /** An item was sent; {@code late}: more than 10 ms after it was due. */
    public void addItem(boolean late) {
        items.increment();
        if (late) {
            this.late.increment();
        }
    }

    /** A stream ended before its last item. */
    public void cancelled() {
        cancelled.increment();
    }

    /** Items sent. */
    public long items() {
        return items.sum();
    }

    /** Items of Feed that were late. */
    public long late() {
        return late.sum();
    }

    /** Streams that were cancelled. */
    public long cancellations() {
        return cancelled.sum();
    }

    void reset() {
        items.reset();
        late.reset();
        cancelled.reset();
    }
}
