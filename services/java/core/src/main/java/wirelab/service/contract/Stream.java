package wirelab.service.contract;

import static wirelab.service.contract.ApplicationError.unless;

import java.util.List;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import wirelab.service.contract.message.StreamMessages.FeedRequest;

/** The contract {@code stream}: limits and errors of its requests, and the threads that send items when they are due. */
public final class Stream implements Model {
    /** The greatest number of items. */
    public static final int ITEMS_MAX = 1_000_000;
    /** The longest text, bytes in UTF-8. */
    public static final int TEXT_BYTES_MAX = 65_536;
    /** Bytes of a message: a text of that length, each byte escaped with six, and other fields. */
    public static final int MESSAGE_BYTES_MAX = 6 * TEXT_BYTES_MAX + 1024;
    /** All texts of a stream, bytes in UTF-8. */
    public static final long BYTES_MAX = 1L << 30;

    private static final long GAP_US_MAX = 60_000_000;
    private static final long DURATION_US_MAX = 3_600_000_000L;
    /** As many as Tomcat has for calls by default. */
    private static final int BLOCKING_THREADS = 200;

    private final ScheduledThreadPoolExecutor threads;

    /** {@code blocking}: writing to a reader that is slow holds a thread up. */
    public Stream(boolean blocking) {
        int count = blocking ? BLOCKING_THREADS : Runtime.getRuntime().availableProcessors();
        threads = new ScheduledThreadPoolExecutor(count, task -> {
            Thread thread = new Thread(task, "items");
            thread.setDaemon(true);
            // Not that of the web application, whose threads Tomcat reports when it stops.
            thread.setContextClassLoader(Stream.class.getClassLoader());
            return thread;
        });
        threads.setRemoveOnCancelPolicy(true);
    }

    @Override
    public List<String> operations() {
        return List.of("Feed", "Push", "Chat");
    }

    /** Whether a Feed is possible. */
    public static void check(FeedRequest ask) throws ApplicationError {
        unless(ask.count >= 1 && ask.count <= ITEMS_MAX, "count must be 1 to 1000000");
        unless(ask.bytes >= 0 && ask.bytes <= TEXT_BYTES_MAX, "bytes must be 0 to 65536");
        unless(ask.gap_us >= 0 && ask.gap_us <= GAP_US_MAX, "gap_us must be 0 to 60000000");
        unless(Schedule.PATTERNS.contains(ask.pattern), "pattern must be constant, bursts, pause or tokens");
        unless((long) ask.count * ask.bytes <= BYTES_MAX, "at most 1073741824 bytes");
        unless(ask.count * ask.gap_us <= DURATION_US_MAX, "at most 3600 s");
    }

    ScheduledFuture<?> runIn(long delayNs, Runnable task) {
        return threads.schedule(task, delayNs, TimeUnit.NANOSECONDS);
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
