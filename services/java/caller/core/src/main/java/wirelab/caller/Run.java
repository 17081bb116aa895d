package wirelab.caller;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ObjLongConsumer;

/** A group that is carried out: a thread per user, which makes one call at a time. */
final class Run {
    /** Bounds the memory of histograms: users share recorders. */
    private static final int RECORDERS_MAX = 16;

    private static final long UNKNOWN = Long.MAX_VALUE;

    final Plan.Group group;
    private final Library library;
    private final Target target;
    final Connections connections = new Connections();
    private final List<Recorder> recorders = new ArrayList<>();
    /** Made ahead, so that no call waits for classes of the library to be loaded for them. */
    private final List<Client> clients = new ArrayList<>();

    /** The window, CLOCK_MONOTONIC. */
    private volatile long start = UNKNOWN;
    private volatile long end = UNKNOWN;
    /** Held while the window opens. */
    private final Object opening = new Object();
    /** Of a window of calls; null: it has a length. */
    private final Quota quota;

    private final AtomicLong lastDone = new AtomicLong();
    private volatile boolean isOver;
    /** The drain is over as well. */
    private boolean isAbandoned;

    /** All calls that were due, and those among them that the library was called for. */
    private final AtomicLong begun = new AtomicLong();

    private final AtomicLong sent = new AtomicLong();
    final AtomicLong completed = new AtomicLong();
    final AtomicLong failed = new AtomicLong();
    final Set<Call> underWay = ConcurrentHashMap.newKeySet();
    volatile int queueMax;
    private final Map<Long, Long> first = new ConcurrentHashMap<>();
    private final Set<Thread> workers = ConcurrentHashMap.newKeySet();
    private final AtomicReference<Throwable> fault = new AtomicReference<>();
    private final CountDownLatch ended = new CountDownLatch(1);
    private final AtomicLong working = new AtomicLong(1);
    private final Deque<Long> waiting = new ArrayDeque<>();
    private int idle;
    private boolean isComplete;

    /** One call; the end of the drain and its own race for how it ended. */
    private final class Call {
        private final long number = begun.incrementAndGet();
        private final Stamps at;
        private final Recorder to;
        private final AtomicBoolean isSettled = new AtomicBoolean();

        Call(Recorder to, long intended) {
            this.to = to;
            at = new Stamps(intended);
        }

        void settle(long done, Failure why) {
            if (!isSettled.compareAndSet(false, true)) {
                return;
            }
            underWay.remove(this);
            if (at.sent != 0 || why == null) {
                sent.incrementAndGet();
            }
            if (why != null) {
                failed.incrementAndGet();
            }
            completed.incrementAndGet();
            lastDone.accumulateAndGet(done, Math::max);
            if (number <= group.firstCalls()) {
                first.put(number, why == null ? done - at.intended : 0);
            }
            to.record(at, done, why, start, windowEnd());
        }
    }

    Run(Plan.Group group, Library library, Target target) {
        this.group = group;
        this.library = library;
        this.target = target;
        for (int at = 0; at < Math.min(group.load().places(), RECORDERS_MAX); at++) {
            recorders.add(new Recorder());
        }
        int ahead = group.load().isClosed() ? group.load().users() : 1;
        for (int user = 0; user < ahead; user++) {
            clients.add(library.client(target, connections));
        }
        Plan.Calls calls = group.window().calls();
        quota = calls == null ? null : new Quota(calls.calls());
    }

    /** Ends the making of calls. */
    void stop() {
        isOver = true;
    }

    boolean isOver() {
        return isOver;
    }

    long start() {
        return start;
    }

    /** Whether a call that is intended at that moment is one of the run. */
    private boolean admits(long at) {
        if (at >= end) {
            return false;
        }
        return quota == null || isBefore(at) || quota.admit(at);
    }

    /** Whether a moment that is past lies before the window. */
    private boolean isBefore(long at) {
        if (start != UNKNOWN) {
            return at < start;
        }
        // The window may have begun and not be known yet.
        synchronized (opening) {
            return at < start;
        }
    }

    /** The end as far as it is known. */
    private long windowEnd() {
        return quota == null || endsWithUsers() ? end : Math.min(end, quota.closesAt());
    }

    /** Notes a call that is about to be made; false: the drain is over. */
    private synchronized boolean enter(Call call) {
        return !isAbandoned && underWay.add(call);
    }

    /** Makes a call, and returns when it had ended. Once the drain is over it fails without being made. */
    private long one(Client by, Recorder to, long intended) {
        Call call = new Call(to, intended);
        Failure why = null;
        if (!enter(call)) {
            call.settle(Stamps.now(), Failure.neverSent());
            return call.at.intended;
        }
        try {
            by.call(call.at);
        } catch (Exception error) {
            why = Failure.of(library, error);
        }
        long done = Stamps.now();
        call.settle(done, why);
        return done;
    }

    private void begin(String name, Runnable work) {
        working.incrementAndGet();
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (RuntimeException | Error error) {
                fault.compareAndSet(null, error);
                stop();
            } finally {
                workers.remove(Thread.currentThread());
                ended();
            }
        }, name);
        thread.setDaemon(true);
        workers.add(thread);
        thread.start();
    }

    private void ended() {
        if (working.decrementAndGet() == 0) {
            ended.countDown();
        }
    }

    /** Starts the load. */
    void begin() {
        if (group.load().isClosed()) {
            for (int user = 0; user < clients.size(); user++) {
                Client by = clients.get(user);
                Recorder to = recorders.get(user % recorders.size());
                begin("user-" + user, () -> runClosed(by, to));
            }
        } else {
            begin("arrivals", this::open);
        }
        ended();
    }

    private void runClosed(Client by, Recorder to) {
        try (by) {
            // A user's next call is intended when its last has ended: what the caller itself takes in
            // between is queueing.
            for (long at = Stamps.now(); !isOver && admits(at); ) {
                at = one(by, to, at);
            }
        }
    }

    /** Arrivals by the schedule, whatever became of the calls before them. */
    private void open() {
        // A window that is already open begins with the first arrival.
        long origin = start == UNKNOWN ? Stamps.now() : start;
        Schedule schedule = new Schedule(group.load());
        int places = 0;
        while (true) {
            long at = origin + schedule.next();
            // Until the end, which an interruption moves: arrivals of the window that this thread is late
            // for are calls all the same.
            for (long now = Stamps.now(); now < at && now < end; now = Stamps.now()) {
                LockSupport.parkNanos(Math.min(Math.min(at, end) - now, Schedule.SAMPLE_NS));
            }
            if (!admits(at)) {
                break;
            }
            if (!isBefore(at)) {
                recorders.get(0).addLag(Stamps.now() - at);
            }
            int beyond = put(at);
            if (beyond > 0 && places < group.load().inFlightMax()) {
                int place = places++;
                begin("place-" + place, () -> work(place));
            } else {
                queueMax = Math.max(queueMax, beyond);
            }
        }
        complete();
    }

    private void work(int place) {
        try (Client by = place < clients.size() ? clients.get(place) : library.client(target, connections)) {
            for (Long at = take(); at != null; at = take()) {
                one(by, recorders.get(place % recorders.size()), at);
            }
        }
    }

    /** Adds an arrival, and returns how many wait beyond the idle places. */
    private synchronized int put(long at) {
        waiting.add(at);
        notify();
        return waiting.size() - idle;
    }

    /** Waits for an arrival; null when there are no more. */
    private synchronized Long take() {
        idle++;
        try {
            while (waiting.isEmpty() && !isComplete) {
                wait();
            }
            return waiting.poll();
        } catch (InterruptedException drained) {
            return null;
        } finally {
            idle--;
        }
    }

    private synchronized void complete() {
        isComplete = true;
        notifyAll();
    }

    /** What ended a thread of this process, whose calls are missing then; null: nothing. */
    Throwable fault() {
        return fault.get();
    }

    /** Whether all calls end within that time. */
    boolean awaitEnd(long ns) throws InterruptedException {
        return ended.await(ns, TimeUnit.NANOSECONDS);
    }

    /**
     * The drain is over: calls still under way are unfinished, whatever their library does, and so are
     * arrivals that never found a place.
     */
    void abandon() {
        List<Long> unsent;
        synchronized (this) {
            isAbandoned = true;
            unsent = List.copyOf(waiting);
            waiting.clear();
        }
        long now = Stamps.now();
        underWay.forEach(call -> call.settle(now, Failure.unfinished()));
        unsent.forEach(at -> new Call(recorders.get(0), at).settle(now, Failure.neverSent()));
        workers.forEach(Thread::interrupt);
    }

    /** How the warm-up went. */
    record Warmed(double seconds, long calls, boolean stationary) {}

    /** Waits until the series is stationary, or the plan's bound. */
    Warmed warmUp(ObjLongConsumer<String> report) throws InterruptedException {
        long began = Stamps.now();
        List<Long> counts = new ArrayList<>();
        long seen = 0;
        boolean isStationary = false;
        for (long tick = 1; !isOver; tick++) {
            long until = began + Math.min(tick * Schedule.SAMPLE_NS, Plan.ns(group.warmup().maxS()));
            TimeUnit.NANOSECONDS.sleep(Math.max(0, until - Stamps.now()));
            long now = completed.get();
            counts.add(now - seen);
            seen = now;
            report.accept("warmup", began);
            isStationary = Schedule.isStationary(counts, group.load().isClosed() ? group.load().users() : 0);
            double elapsed = seconds(Stamps.now() - began);
            if (elapsed >= group.warmup().maxS() || elapsed >= group.warmup().minS() && isStationary) {
                break;
            }
        }
        return new Warmed(seconds(Stamps.now() - began), completed.get(), isStationary);
    }

    void openWindow() {
        synchronized (opening) {
            long now = Stamps.now();
            end = now + group.window().longestNs();
            start = now;
        }
    }

    /**
     * Settles the end: a window of calls closes when one call more arrives, that of a closed load
     * without a warm-up when its last call has ended.
     */
    void closeWindow() {
        long bound = start + group.window().longestNs();
        long closed = Math.min(bound, Stamps.now());
        if (quota != null) {
            boolean isComplete = endsWithUsers() && completed.get() >= quota.calls;
            closed = Math.min(closed, isComplete ? lastDone.get() + 1 : windowEnd());
        }
        end = closed;
    }

    private boolean endsWithUsers() {
        return group.load().isClosed() && !group.hasWarmup();
    }

    /** The window is over, or holds all its calls. */
    boolean isClosing() {
        if (isOver || Stamps.now() >= start + group.window().longestNs()) {
            return true;
        }
        return quota != null && !endsWithUsers() && quota.isFull();
    }

    static double seconds(long ns) {
        return ns / 1e9;
    }

    Outcome.Group outcome(Warmed warm) {
        Recorder all = new Recorder();
        recorders.forEach(all::merge);
        long length = end - start;
        double window = seconds(length);
        boolean isClosed = group.load().isClosed();
        List<Long> firstCalls = new ArrayList<>();
        for (long number = 1; number <= Math.min(begun.get(), group.firstCalls()); number++) {
            firstCalls.add(first.getOrDefault(number, 0L));
        }
        return new Outcome.Group(
                group.name(), isClosed ? "closed" : "open", start, window, warm,
                group.window().calls() == null ? null : group.window().calls().calls(),
                isClosed ? null : group.load().rate(),
                all.ok + all.errors, all.ok, all.errors, all.ended, all.kinds, all.codes, all.examples,
                all.fine / window, seconds(all.inFlightNs) / window, queueMax,
                connections.total(), connections.most(), sent.get(), all.times(), all.series(length), firstCalls);
    }
}
