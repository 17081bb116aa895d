package wirelab.service.contract;

import java.io.IOException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import wirelab.service.Calls;
import wirelab.service.contract.message.StreamMessages.FeedRequest;
import wirelab.service.contract.message.StreamMessages.Item;

/**
 * One Feed under way: its items are sent when they are due, by one thread at a time. A reader that is
 * slow delays them; nothing but the next item is stored. Times are CLOCK_MONOTONIC in ns, which HotSpot's
 * nanoTime is on Linux (os_posix.cpp).
 */
public final class FeedRun {
    private static final long LATE_AFTER_NS = 10_000_000;

    /** The way to the client. */
    public interface Reader {
        /** Whether an item would go to the client now; if not, {@link FeedRun#proceed} is to be called later. */
        boolean isReady();

        /** Sends an item; returns when the library has taken it. */
        void send(Item item) throws IOException;

        /** The last item was sent. */
        void complete();
    }

    private final Stream model;
    private final Calls calls;
    private final Calls.Call call;
    private final Schedule schedule;
    private final Reader reader;
    private final long receivedNs;
    private final AtomicBoolean over = new AtomicBoolean();
    private Item next;
    private boolean waits;
    private volatile Future<?> alarm;

    /** Of a request that was checked, received at that time, within a call that ends with the stream. */
    public FeedRun(Stream model, Calls calls, Calls.Call call, long receivedNs, FeedRequest ask, Reader reader) {
        this.model = model;
        this.calls = calls;
        this.call = call;
        this.receivedNs = receivedNs;
        this.reader = reader;
        schedule = new Schedule(ask);
        next = schedule.next();
        next.received_ns = receivedNs;
    }

    /** Begins to send, in a thread of the model's. */
    public void start() {
        alarm = model.runIn(0, this::proceed);
    }

    /** Sends what is due and can be sent; to be called when the reader has become ready. */
    public void proceed() {
        try {
            boolean sent;
            do {
                sent = sendNext();
            } while (sent);
        } catch (IOException | RuntimeException gone) {
            cancel();
        }
    }

    private synchronized boolean sendNext() throws IOException {
        if (over.get() || waits) {
            return false;
        }
        long leftNs = receivedNs + next.due_ns - System.nanoTime();
        if (leftNs > 0) {
            waits = true;
            alarm = model.runIn(leftNs, this::ring);
            return false;
        }
        if (!reader.isReady()) {
            return false;
        }
        next.sent_ns = System.nanoTime();
        reader.send(next);
        calls.streams().addItem(next.sent_ns - receivedNs - next.due_ns > LATE_AFTER_NS);
        if (schedule.hasNext()) {
            next = schedule.next();
            return true;
        }
        if (end()) {
            reader.complete();
        }
        return false;
    }

    private void ring() {
        synchronized (this) {
            waits = false;
        }
        proceed();
    }

    /** Ends the stream before its last item: the client is gone. */
    public void cancel() {
        if (end()) {
            calls.streams().cancelled();
            Future<?> pending = alarm;
            if (pending != null) {
                pending.cancel(false);
            }
        }
    }

    private boolean end() {
        boolean first = over.compareAndSet(false, true);
        if (first) {
            call.close();
        }
        return first;
    }
}
