package wirelab.caller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigInteger;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class ScheduleTest {
    private static final List<Long> LEVEL = Collections.nCopies(8, 1000L);

    private static Schedule schedule(String kind, double rate, long seed) {
        return new Schedule(new Plan.Load(kind, 0, 0, null, null, rate, BigInteger.valueOf(seed), 1));
    }

    @Test
    void constantArrivalsAreEvenlySpaced() {
        Schedule arrivals = schedule("constant", 4, 0);
        for (int at = 0; at < 5; at++) {
            assertEquals(at * 250_000_000L, arrivals.next());
        }
    }

    /** The first numbers of {@code wirelab-engine arrivals --rate 1000 --poisson-seed 7}. */
    @Test
    void poissonArrivalsAreThoseOfTheEngine() {
        Schedule arrivals = schedule("poisson", 1000, 7);
        for (long expected : new long[] {494017, 510948, 2821169, 3695670, 4297957}) {
            assertEquals(expected, arrivals.next());
        }
    }

    @Test
    void poissonGapsHaveTheMeanAndTheDeviationOfAnExponential() {
        Schedule arrivals = schedule("poisson", 1000, 3);
        int count = 200_000;
        double last = 0;
        double sum = 0;
        double squares = 0;
        for (int at = 0; at < count; at++) {
            double next = arrivals.next();
            sum += next - last;
            squares += (next - last) * (next - last);
            last = next;
        }
        double mean = sum / count;
        assertEquals(1e6, mean, 1e4);
        assertEquals(1e6, Math.sqrt(squares / count - mean * mean), 2e4);
    }

    @Test
    void aSeriesIsStationaryWhenItsLastSpansAreLevel() {
        assertFalse(Schedule.isStationary(LEVEL.subList(0, 7), 0));
        assertTrue(Schedule.isStationary(LEVEL, 0));
        assertFalse(Schedule.isStationary(LEVEL, 2667));
        assertFalse(Schedule.isStationary(List.of(1000L, 1100L, 1200L, 1300L, 1400L, 1500L, 1600L, 1700L), 0));
        assertTrue(Schedule.isStationary(List.of(3L, 5L, 4L, 6L, 5L, 2L, 4L, 5L), 0));
        assertFalse(Schedule.isStationary(Collections.nCopies(8, 0L), 0));
    }
}
