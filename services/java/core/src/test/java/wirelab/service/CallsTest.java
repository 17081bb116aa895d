package wirelab.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Calls are counted, and delays are at least what was asked for. */
class CallsTest {
    @Test
    void countsAndDelays() {
        Calls calls = new Calls(List.of("A", "B"), 300);
        try (Calls.Call call = calls.tally("A").begin()) {
            assertEquals(1, calls.inFlight());
            call.failed();
        }
        assertEquals(0, calls.inFlight());
        assertEquals(1, calls.tally("A").begun());
        assertEquals(1, calls.tally("A").failed());
        assertEquals(0, calls.tally("B").begun());
        assertEquals(1, calls.delays().count());
        assertTrue(calls.delays().sumSeconds() >= 300e-6);
        assertTrue(calls.spentSeconds() >= 300e-6);
        calls.reset();
        assertEquals(0, calls.delays().count() + calls.tally("A").begun());
    }

    @Test
    void quantilesAreWithinTheirBucket() {
        Delays delays = new Delays();
        for (long us = 1; us <= 1000; us++) {
            delays.record(us * 1000);
        }
        assertEquals(500e-6, delays.quantileSeconds(0.5), 500e-6 / 1000);
        assertEquals(990e-6, delays.quantileSeconds(0.99), 990e-6 / 1000);
        assertEquals(500.5e-3, delays.sumSeconds(), 1e-9);
    }
}
