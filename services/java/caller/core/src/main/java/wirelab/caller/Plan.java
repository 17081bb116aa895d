package wirelab.caller;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import java.io.IOException;
import java.math.BigInteger;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The part of {@code contracts/process/plan.schema.json} that this caller reads, with the plan's defaults. */
record Plan(Integer progressMs, List<Group> groups) {
    /** Of every document of this process. */
    static final ObjectMapper JSON = new ObjectMapper()
            .setPropertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

    private static final int PROGRESS_MS = 500;
    private static final double TIMEOUT_S = 10;
    private static final double DRAIN_S = 10;
    private static final double NS = 1e9;
    private static final int FIRST_CALLS_MAX = 1000;

    Plan {
        progressMs = progressMs == null ? PROGRESS_MS : progressMs;
    }

    /** A workload of a contract. */
    record Workload(String kind, String contract, String operation, Integer bytes, JsonNode data) {
        private static final int GREETING_BYTES = 14;

        Workload {
            bytes = bytes == null ? GREETING_BYTES : bytes;
        }
    }

    /** When calls are made. */
    record Load(
            String kind, int users, double thinkS, Integer iterations, JsonNode stages, double rate, BigInteger seed,
            int inFlightMax) {
        boolean isClosed() {
            return "closed".equals(kind);
        }

        /** How many calls can be under way. */
        int places() {
            return isClosed() ? users : inFlightMax;
        }
    }

    /** A number of calls with a bound in time. */
    record Calls(long calls, double maxS) {}

    /** A length of time, or a number of calls. */
    record Window(Double durationS, Calls calls) {
        long longestNs() {
            return ns(calls != null ? calls.maxS() : durationS);
        }
    }

    /** The least and the most seconds of the warm-up. */
    record Warmup(double minS, double maxS) {}

    /** A file of PKCS #12 for messages that are signed or encrypted. */
    record Keystore(String path, String password) {}

    /** One kind of calls under one load. */
    record Group(
            String name, String target, String object, String username, String password, Keystore keystore,
            Map<String, String> stack, Double timeoutS, Double drainS, Workload workload, Load load, Window window, Warmup warmup, int firstCalls) {
        private static final Warmup BOUNDS = new Warmup(0.2, 5);

        Group {
            timeoutS = timeoutS == null ? TIMEOUT_S : timeoutS;
            drainS = drainS == null ? DRAIN_S : drainS;
            warmup = warmup == null ? BOUNDS : warmup;
            stack = stack == null ? Map.of() : stack;
        }

        /** The value of an axis, or what it is when the plan does not name it. */
        String axis(String name, String otherwise) {
            return stack.getOrDefault(name, otherwise);
        }

        boolean isBytes() {
            return workload.operation().equals("HelloBytes");
        }

        boolean hasWarmup() {
            return warmup.maxS() > 0;
        }
    }

    static long ns(double seconds) {
        return (long) (seconds * NS);
    }

    /** Reads one JSON object. Throws {@link Refusal} by the name of what this caller cannot carry out. */
    static Plan read(String text) {
        Plan plan;
        try {
            plan = JSON.readValue(text == null ? "" : text, Plan.class);
        } catch (IOException error) {
            throw new Refusal("the plan is not one JSON object: " + error.getMessage());
        }
        int groups = plan.groups == null ? 0 : plan.groups.size();
        Refusal.unless(groups == 1, "groups: this caller carries out one group, not " + groups);
        check(plan.groups.get(0));
        return plan;
    }

    private static void check(Group group) {
        Window window = group.window;
        Refusal.unless(
                window != null && (window.durationS == null) != (window.calls == null),
                "window: either duration_s or calls is needed");
        Workload work = group.workload;
        Refusal.unless(
                work != null && "contract".equals(work.kind) && "transfer".equals(work.contract)
                        && Set.of("Hello", "HelloBytes").contains(String.valueOf(work.operation))
                        && (work.data == null || work.data.isNull()),
                "workload: this caller calls Hello and HelloBytes of contract transfer alone");
        boolean isReferred = group.object != null || !group.axis("binding", "").equals("iiop");
        Refusal.unless(isReferred, "object: binding iiop needs the reference that the service prints");
        String security = group.axis("ws_security", "none");
        boolean isNamed = group.username != null && group.password != null;
        Refusal.unless(
                security.equals("username-token") ? isNamed : group.username == null && group.password == null,
                "username, password: they belong to ws_security=username-token");
        boolean hasKeys = !security.equals("none") && !security.equals("username-token");
        boolean isKeyed = group.keystore != null && group.keystore.path != null && group.keystore.password != null;
        Refusal.unless(
                hasKeys ? isKeyed : group.keystore == null,
                "keystore: path and password belong to messages that are signed or encrypted");
        Refusal.unless(
                group.firstCalls >= 0 && group.firstCalls <= FIRST_CALLS_MAX,
                "first_calls: at most " + FIRST_CALLS_MAX + " can be kept");
        check(group.load);
    }

    private static void check(Load load) {
        Refusal.unless(
                load != null && Set.of("closed", "constant", "poisson").contains(String.valueOf(load.kind)),
                "load.kind: this caller holds closed, constant and poisson loads");
        if (load.isClosed()) {
            Refusal.unless(load.users >= 1, "load.users: at least one user is needed");
            boolean plain = load.thinkS == 0 && load.iterations == null && (load.stages == null || load.stages.isNull());
            Refusal.unless(plain, "load: users of this caller have neither pauses, stages nor iterations");
        } else {
            Refusal.unless(load.rate > 0 && load.inFlightMax >= 1, "load: rate and in_flight_max must be positive");
        }
    }
}
