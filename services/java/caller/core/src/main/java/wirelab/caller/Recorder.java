package wirelab.caller;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Records the calls of some users. */
final class Recorder {
    private static final long SLOT_NS = 100_000_000;
    private static final int EXAMPLES_MAX = 10;

    private final Map<String, Distribution> times = new TreeMap<>();
    private final Distribution good = new Distribution();
    private final Distribution failed = new Distribution();
    final Map<String, Long> kinds = new TreeMap<>();
    final Map<String, Long> codes = new TreeMap<>();
    final List<String> examples = new ArrayList<>();
    private final List<Long> series = new ArrayList<>();
    long ok;
    long errors;
    long ended;
    long fine;
    long inFlightNs;

    /** Keeps a call that has ended; the window is [start, end). */
    synchronized void record(Stamps at, long done, Failure why, long start, long end) {
        if (at.sent != 0) {
            inFlightNs += Math.max(0, Math.min(done, end) - Math.max(at.sent, start));
        }
        if (start <= done && done < end) {
            ended++;
            if (why == null) {
                fine++;
                int slot = (int) ((done - start) / SLOT_NS);
                while (series.size() <= slot) {
                    series.add(0L);
                }
                series.set(slot, series.get(slot) + 1);
            }
        }
        if (at.intended < start || at.intended >= end) {
            return;
        }
        if (why != null) {
            fail(done - at.intended, why);
            return;
        }
        ok++;
        good.add(done - at.intended);
        add("service", at.sent, done);
        add("queueing", at.intended, at.sent);
        add("write", at.sent, at.flushed);
        add("wait", at.flushed, at.firstByte);
        add("read", at.firstByte, done);
    }

    private void fail(long took, Failure why) {
        errors++;
        failed.add(took);
        kinds.merge(why.kind, 1L, Long::sum);
        codes.merge(why.code, 1L, Long::sum);
        if (examples.size() < EXAMPLES_MAX && !examples.contains(why.getMessage())) {
            examples.add(why.getMessage());
        }
    }

    /** A time whose stamps were not reported is absent. */
    private void add(String name, long from, long to) {
        if (from != 0 && to != 0) {
            times.computeIfAbsent(name, key -> new Distribution()).add(to - from);
        }
    }

    synchronized void addLag(long ns) {
        times.computeIfAbsent("lag", key -> new Distribution()).add(ns);
    }

    void merge(Recorder other) {
        synchronized (other) {
            other.times.forEach((name, of) -> times.computeIfAbsent(name, key -> new Distribution()).merge(of));
            good.merge(other.good);
            failed.merge(other.failed);
            other.kinds.forEach((kind, n) -> kinds.merge(kind, n, Long::sum));
            other.codes.forEach((code, n) -> codes.merge(code, n, Long::sum));
            other.examples.stream()
                    .filter(text -> !examples.contains(text))
                    .limit(EXAMPLES_MAX - examples.size())
                    .forEach(examples::add);
            while (series.size() < other.series.size()) {
                series.add(0L);
            }
            for (int slot = 0; slot < other.series.size(); slot++) {
                series.set(slot, series.get(slot) + other.series.get(slot));
            }
            ok += other.ok;
            errors += other.errors;
            ended += other.ended;
            fine += other.fine;
            inFlightNs += other.inFlightNs;
        }
    }

    /** Calls by the tenth of a second of a window of that length. */
    List<Long> series(long lengthNs) {
        return series.subList(0, (int) Math.min(series.size(), (lengthNs + SLOT_NS - 1) / SLOT_NS));
    }

    /** The distributions that got a value, by name. */
    Map<String, Distribution.Times> times() {
        Map<String, Distribution> named = new TreeMap<>(times);
        Distribution response = new Distribution();
        response.merge(good);
        response.merge(failed);
        named.put("response", response);
        if (errors > 0) {
            named.put("response_good", good);
            named.put("response_failed", failed);
        }
        Map<String, Distribution.Times> found = new TreeMap<>();
        named.forEach((name, of) -> {
            if (!of.isEmpty()) {
                found.put(name, of.times());
            }
        });
        return found;
    }
}
