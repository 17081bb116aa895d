package wirelab.caller;

import java.util.Map;
import java.util.TreeMap;

/** Calls of the window that are counted together. */
final class Tally {
    private final Map<String, Distribution> times = new TreeMap<>();
    private final Distribution good = new Distribution();
    private final Distribution failed = new Distribution();
    final Map<String, Long> kinds = new TreeMap<>();
    final Map<String, Long> codes = new TreeMap<>();
    long ok;
    long errors;

    void record(Stamps at, long done, Failure why) {
        if (why != null) {
            errors++;
            failed.add(done - at.intended);
            kinds.merge(why.kind, 1L, Long::sum);
            codes.merge(why.code, 1L, Long::sum);
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

    /** A time whose stamps were not reported is absent. */
    private void add(String name, long from, long to) {
        if (from != 0 && to != 0) {
            add(name, to - from);
        }
    }

    void add(String name, long ns) {
        times.computeIfAbsent(name, key -> new Distribution()).add(ns);
    }

    void merge(Tally other) {
        other.times.forEach((name, of) -> times.computeIfAbsent(name, key -> new Distribution()).merge(of));
        good.merge(other.good);
        failed.merge(other.failed);
        other.kinds.forEach((kind, n) -> kinds.merge(kind, n, Long::sum));
        other.codes.forEach((code, n) -> codes.merge(code, n, Long::sum));
        ok += other.ok;
        errors += other.errors;
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
