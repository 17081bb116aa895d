package wirelab.caller;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Plans as the process carries them out, for the tests of every library. */
public final class CarriedOut {
    /** Members of a group without a warm-up. */
    public static final String COLD = "'first_calls':1000,'warmup':{'min_s':0,'max_s':0}";

    /** Members of a group of ten calls, one after the other. */
    public static final String TEN =
            "'load':{'kind':'closed','users':1},'window':{'calls':{'calls':10,'max_s':60}}," + COLD;

    private CarriedOut() {}

    /**
     * Carries out a plan of one group and returns the group's result. Quotes are single ones; {@code stack}
     * holds the axes.
     */
    public static JsonNode group(String target, String stack, String operation, String rest) throws IOException {
        String plan = "{'progress_ms':0,'groups':[{'name':'main','target':'" + target + "','stack':{" + stack
                + "},'workload':{'kind':'contract','contract':'transfer','operation':'" + operation
                + "','bytes':14}," + rest + "}]}";
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        assertEquals(0, Main.carryOut(plan.replace('\'', '"'), output), output::toString);
        String[] lines = output.toString(StandardCharsets.UTF_8).split("\n");
        return Plan.JSON.readTree(lines[lines.length - 1]).get("groups").get(0);
    }

    /** All ten calls were right. */
    public static void assertRight(JsonNode group) {
        assertEquals(10, group.get("ok").asInt(), group::toString);
        assertEquals(10, group.get("calls_whole_run").asInt(), group::toString);
    }

    /** All ten calls failed in that way. */
    public static void assertFailed(JsonNode group, String kind, String code) {
        assertEquals(10, group.get("errors_by_kind").path(kind).asInt(), group::toString);
        assertEquals(10, group.get("errors_by_code").path(code).asInt(), group::toString);
        assertEquals(10, group.get("times").get("response_failed").get("count").asInt());
    }

    /** An address where nobody listens. */
    public static String nobody() throws IOException {
        try (ServerSocket once = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return "127.0.0.1:" + once.getLocalPort();
        }
    }

    /** Waits until each user has a call under way. */
    public static void meet(CountDownLatch users) {
        users.countDown();
        try {
            users.await(10, TimeUnit.SECONDS);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }
}
