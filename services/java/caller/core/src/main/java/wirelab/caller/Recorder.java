package wirelab.caller;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Records the calls of some users. */
final class Recorder {
    private static final long SLOT_NS = 100_000_000;
    private static final int EXAMPLES_MAX = 10;

    final Tally all = new Tally();
    private final Map<String, Tally> operations = new TreeMap<>();
    final List<String> examples = new ArrayList<>();
    private final List<Long> series = new ArrayList<>();
    private final Distribution goodSequences = new Distribution();
    private final Distribution failedSequences = new Distribution();
    private long sequences;
    private long sequenceErrors;
    long ended;
    long fine;
    long inFlightNs;

    /** Keeps a call that has ended; the window is [start, end). */
    synchronized void record(String operation, Stamps at, long done, Failure why, long start, long end) {
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
        if (at.arrival < start || at.arrival >= end) {
            return;
        }
        if (why != null && examples.size() < EXAMPLES_MAX && !examples.contains(why.getMessage())) {
            examples.add(why.getMessage());
        }
        all.record(at, done, why);
        operations.computeIfAbsent(operation, name -> new Tally()).record(at, done, why);
    }

    /** Keeps a sequence that has ended; the window is [start, end). */
    synchronized void recordSequence(long arrival, long done, boolean isFailed, long start, long end) {
        if (arrival < start || arrival >= end) {
            return;
        }
        sequences++;
        sequenceErrors += isFailed ? 1 : 0;
        (isFailed ? failedSequences : goodSequences).add(done - arrival);
    }

    synchronized void addLag(long ns) {
        all.add("lag", ns);
    }

    void merge(Recorder other) {
        synchronized (other) {
            all.merge(other.all);
            other.operations.forEach(
                    (name, of) -> operations.computeIfAbsent(name, key -> new Tally()).merge(of));
            goodSequences.merge(other.goodSequences);
            failedSequences.merge(other.failedSequences);
            sequences += other.sequences;
            sequenceErrors += other.sequenceErrors;
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
            ended += other.ended;
            fine += other.fine;
            inFlightNs += other.inFlightNs;
        }
    }

    /** Calls by the tenth of a second of a window of that length. */
    List<Long> series(long lengthNs) {
        return series.subList(0, (int) Math.min(series.size(), (lengthNs + SLOT_NS - 1) / SLOT_NS));
    }

    /** Each of these operations by itself, where there are several. */
    List<Outcome.Operation> operations(List<String> names) {
        return names.size() < 2 ? List.of() : names.stream().map(this::operation).toList();
    }

    private Outcome.Operation operation(String name) {
        Tally of = operations.getOrDefault(name, new Tally());
        return new Outcome.Operation(name, of.ok + of.errors, of.ok, of.errors, of.kinds, of.codes, of.times());
    }

    /** Null where there were none. */
    Outcome.Sequences sequences() {
        if (sequences == 0) {
            return null;
        }
        Distribution response = new Distribution();
        response.merge(goodSequences);
        response.merge(failedSequences);
        boolean isMixed = sequenceErrors > 0 && sequenceErrors < sequences;
        return new Outcome.Sequences(
                sequences, sequenceErrors, response.times(), isMixed ? goodSequences.times() : null);
    }
}
