package wirelab.caller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class RecorderTest {
    @Test
    void aDistributionHasTheValuesThatWereRecorded() throws DataFormatException {
        Distribution distribution = new Distribution();
        for (long ms = 1; ms <= 1000; ms++) {
            distribution.add(ms * 1_000_000);
        }
        Distribution.Times times = distribution.times();
        assertEquals(1000, times.count());
        assertEquals(500.5e6, times.meanNs());
        assertEquals(1_000_000, times.minNs());
        assertEquals(1_000_000_000, times.maxNs());
        assertEquals(500e6, times.percentilesNs().get("p50"), 500e3);
        assertEquals(990e6, times.percentilesNs().get("p99"), 990e3);
        assertFalse(times.percentilesNs().containsKey("p99.9"), "of 1,000 samples one is above it only");
        ByteBuffer encoded = ByteBuffer.wrap(Base64.getDecoder().decode(times.hdr()));
        assertEquals(1000, Histogram.decodeFromCompressedByteBuffer(encoded, 1).getTotalCount());
    }

    private static Stamps stamps(long intended, long sent) {
        Stamps at = new Stamps(intended);
        at.sent = sent;
        return at;
    }

    @Test
    void aCallBelongsToTheWindowByItsIntendedTime() {
        Recorder recorder = new Recorder();
        recorder.record(stamps(50, 60), 150, null, 100, 1000); // before, ends within
        recorder.record(stamps(200, 210), 300, null, 100, 1000); // within
        recorder.record(stamps(900, 910), 1500, null, 100, 1000); // ends behind
        assertEquals(2, recorder.ok);
        assertEquals(2, recorder.ended);
        assertEquals(50 + 90 + 90, recorder.inFlightNs);
        assertFalse(recorder.times().containsKey("write"), "a time without its stamp is absent");
    }

    @Test
    void failedCallsAreCountedByKindAndHaveATime() {
        Recorder recorder = new Recorder();
        recorder.record(stamps(200, 210), 300, Failure.wrong("another text"), 100, 1000);
        recorder.record(stamps(200, 0), 400, Failure.unfinished(), 100, 1000);
        assertEquals(2, recorder.errors);
        assertEquals(1, recorder.kinds.get("wrong"));
        assertEquals(1, recorder.codes.get("unfinished"));
        assertEquals(2, recorder.times().get("response_failed").count());
        assertEquals(2, recorder.times().get("response").count());
    }
}
