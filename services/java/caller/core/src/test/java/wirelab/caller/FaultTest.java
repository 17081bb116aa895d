package wirelab.caller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Libraries that fail in a way that no service can cause. */
class FaultTest {
    private static final String PLAN = "{'progress_ms':0,'groups':[{'name':'m','target':'127.0.0.1:1',"
            + "'stack':{'binding':'rest'},'workload':{'kind':'contract','contract':'transfer','operation':'Hello'},"
            + "'load':%s,'window':{'duration_s':0.3},'warmup':{'min_s':0,'max_s':0},'drain_s':1}]}";

    /** Makes its clients by their number, from 1 on. */
    private record Broken(AtomicInteger made, boolean isMade) implements Library {
        @Override
        public Map<String, Set<String>> able() {
            return Map.of("binding", Set.of("rest"));
        }

        @Override
        public Map<String, String> stamps() {
            return Map.of();
        }

        @Override
        public List<Class<?>> classes(Target target) {
            return List.of();
        }

        @Override
        public Client client(Target target, Connections connections) {
            if (made.incrementAndGet() > 1 && !isMade) {
                throw new IllegalStateException("no second client");
            }
            return new Client() {
                @Override
                public void call(Stamps at) throws InterruptedException {
                    at.sent();
                    if (isMade) {
                        throw new NoClassDefFoundError("a/Missing");
                    }
                    Thread.sleep(200);
                }

                @Override
                public void close() {
                    // Holds nothing.
                }
            };
        }
    }

    private static void assertFault(String load, boolean isMade, String said) {
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        String plan = String.format(PLAN, load).replace('\'', '"');
        int code = Main.carryOut(plan, output, Optional.of(new Broken(new AtomicInteger(), isMade)));
        String[] lines = output.toString(StandardCharsets.UTF_8).split("\n");
        String last = lines[lines.length - 1];
        assertTrue(last.contains("\"kind\":\"internal\"") && last.contains(said), last);
        assertEquals(3, code);
    }

    @Test
    void anErrorOfTheMachineIsNotAFailedCall() {
        assertFault("{'kind':'closed','users':2}", true, "a/Missing");
    }

    @Test
    void aClientThatCannotBeMadeIsAFault() {
        assertFault("{'kind':'constant','rate':100,'in_flight_max':2}", false, "no second client");
    }
}
