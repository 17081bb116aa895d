package wirelab.caller;

import java.util.concurrent.atomic.AtomicLong;

/** The calls that a window of calls holds. */
final class Quota {
    private static final long UNKNOWN = Long.MAX_VALUE;

    final long calls;
    /** May go below 0: users race for the last call. */
    private final AtomicLong left;
    /** The latest arrival that was admitted, of as many as noted. */
    private final AtomicLong lastIn = new AtomicLong(Long.MIN_VALUE);

    private final AtomicLong noted = new AtomicLong();
    /** The first arrival that was one too many. */
    private final AtomicLong fullAt = new AtomicLong(UNKNOWN);

    Quota(long calls) {
        this.calls = calls;
        left = new AtomicLong(calls);
    }

    /** Whether an arrival of the window is one of its calls. */
    boolean admit(long at) {
        if (left.decrementAndGet() >= 0) {
            lastIn.accumulateAndGet(at, Math::max);
            noted.incrementAndGet();
            return true;
        }
        fullAt.accumulateAndGet(at, Math::min);
        return false;
    }

    /**
     * When the window closes: when one call more arrives. It holds all that were admitted, because an
     * arrival may take from the quota before an earlier one of another user does. The largest long: not
     * yet known.
     */
    long closesAt() {
        long full = fullAt.get();
        return full == UNKNOWN || noted.get() < calls ? UNKNOWN : Math.max(full, lastIn.get() + 1);
    }

    /** Whether it is known when the window closes. */
    boolean isFull() {
        return closesAt() != UNKNOWN;
    }
}
