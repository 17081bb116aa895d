package wirelab.caller;

/** Moments of one call, nanoseconds of CLOCK_MONOTONIC; 0: not reported. Libraries stamp in threads of their own. */
public final class Stamps {
    final long intended;
    volatile long sent;
    volatile long flushed;
    volatile long firstByte;

    Stamps(long intended) {
        this.intended = intended;
    }

    /** The library began to send. */
    public void sent() {
        sent = now();
    }

    /** The request was written. */
    public void flushed() {
        flushed = now();
    }

    /** The reply began. */
    public void firstByte() {
        firstByte = now();
    }

    /** CLOCK_MONOTONIC, which HotSpot's nanoTime is on Linux (os_linux.cpp). */
    static long now() {
        return System.nanoTime();
    }
}
