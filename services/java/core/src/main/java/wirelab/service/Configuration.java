package wirelab.service;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What the service is asked to be (docs/reference/process.md). Sizes in bytes, times in the unit
 * of their name; a boxed number is null where the kernel or the library decides.
 */
public record Configuration(
        String contract,
        Stack stack,
        String listen,
        String metricsListen,
        Store store,
        Socket socket,
        Integer processors,
        Collector collector,
        Tls tls,
        Keystore keystore,
        long delayUs,
        Options options,
        boolean codecTimes) {

    /** The service's side of a stack. */
    public record Stack(
            String binding,
            String codec,
            String compression,
            String transport,
            String security,
            String soap,
            String endOfMessage,
            String httpCache,
            String flush,
            String parser,
            String wsSecurity) {
        /** The parser of XML that the stack's library takes by itself. */
        public static final String DEFAULT_PARSER = "default";

        /** Whether messages are signed or encrypted. */
        public boolean hasKeys() {
            return !wsSecurity.equals("none") && !wsSecurity.equals(USERNAME_TOKEN);
        }
    }

    /** What the service holds. */
    public record Store(
            int helloBytes, int accounts, int balance, String username, String password, Database database) {}

    /**
     * Where rows are kept: {@code kind} is {@code memory} without a database. {@code pool} is the number
     * of connections at most, null for the pool library's own.
     */
    public record Database(String kind, String url, Integer pool, int timeoutMs) {
        /** Whether rows are kept in the service itself. */
        public boolean isMemory() {
            return kind.equals("memory");
        }
    }

    /** Options of accepted sockets. */
    public record Socket(boolean nagle, Integer tcpWindow, Integer h2Window) {}

    /** The collector and the largest heap that the launcher was asked for. */
    public record Collector(String gc, Long heapMaxBytes) {}

    /** PEM files. */
    public record Tls(String certificate, String key, String clientCa) {}

    /** A file of PKCS #12 for messages that are signed or encrypted. */
    public record Keystore(String path, String password) {}

    /** How {@code petclinic} works inside; {@code given} are the keys that the configuration names. */
    public record Options(String repository, String fetch, String mapper, String validation, List<String> given) {
        Map<String, String> asMap() {
            Map<String, String> all = new LinkedHashMap<>();
            all.put("repository", repository);
            all.put("fetch", fetch);
            all.put("mapper", mapper);
            all.put("validation", validation);
            return all;
        }
    }

    /** The value of the axis {@code ws_security} whose token {@code store} has. */
    static final String USERNAME_TOKEN = "username-token";

    private static final int STORE_BYTES_MAX = 64 << 20;
    private static final int POOL_MAX = 10_000;
    private static final int STORE_TIMEOUT_MS = 2000;
    private static final int STORE_TIMEOUT_MS_MAX = 600_000;
    private static final int PROCESSORS_MAX = 1024;
    private static final long DELAY_US_MAX = 60_000_000;
    /** RFC 9113 section 6.9.2: every connection starts with this window. */
    private static final int H2_WINDOW_MIN = 65_535;

    private static final String[] OTHER_FAULTS = {
        "delay_operation", "freeze", "wrong", "close_mid_reply", "reset", "hang", "endless", "garbage",
        "exit_at_call", "fail_start", "text_check_ns_per_kb", "mutant"
    };

    /** Reads one line and checks that this service can honour it. */
    public static Configuration read(String line) throws Refusal {
        Object json;
        try {
            json = Json.read(line);
        } catch (IOException error) {
            throw new Refusal(
                    "configuration",
                    "not a JSON object: " + error.getMessage().lines().findFirst().orElse(""),
                    "write one JSON object on one line of standard input (docs/reference/process.md)");
        }
        Section top = Section.of("", json, List.of("contract", "stack", "listen", "metrics_listen",
                "store", "socket", "processors", "collector", "faults", "tls", "keystore", "options", "codec_times"));
        Stack stack = stack(top);
        Configuration configuration = new Configuration(
                top.text("contract", ""), stack, top.text("listen", ""),
                top.text("metrics_listen", "127.0.0.1:0"), store(top), socket(top),
                box(top.integer("processors", 1, PROCESSORS_MAX)), collector(top), tls(top), keystore(top), delayUs(top),
                options(top), top.flag("codec_times"));
        Offer.check(configuration);
        return configuration;
    }

    private static Stack stack(Section top) throws Refusal {
        Section stack = top.section("stack", "binding", "codec", "compression", "transport",
                "security", "soap", "end_of_message", "http_cache", "flush", "close_delay_ms", "reply", "parser",
                "ws_security");
        if (stack.integer("close_delay_ms", 0, Integer.MAX_VALUE, 0) > 0) {
            throw new Refusal("stack.close_delay_ms", "the libraries of the Java service close at once",
                    "use close_delay_ms=0, or a service in Rust");
        }
        if (!stack.text("reply", "two-way").equals("two-way")) {
            throw new Refusal("stack.reply", "only raw has one-way messages, and the Java service has no raw",
                    "use reply=two-way, or raw@rust");
        }
        String binding = stack.text("binding", "");
        Offer offer = Offer.of(binding);
        return new Stack(
                binding,
                stack.text("codec", offer.codecs().get(0)),
                stack.text("compression", "none"),
                stack.text("transport", offer.transports().get(0)),
                stack.text("security", "none"),
                stack.text("soap", "1.1"),
                stack.text("end_of_message", "content-length"),
                stack.text("http_cache", "none"),
                stack.text("flush", "item"),
                stack.text("parser", Stack.DEFAULT_PARSER),
                stack.text("ws_security", "none"));
    }

    private static Store store(Section top) throws Refusal {
        Section store = top.section("store", "hello_bytes", "accounts", "balance", "username", "password",
                "kind", "url", "pool", "timeout_ms");
        return new Store(
                (int) store.integer("hello_bytes", 0, STORE_BYTES_MAX, 14),
                (int) store.integer("accounts", 0, 10_000_000, 1000),
                (int) store.integer("balance", 0, Integer.MAX_VALUE, 1_000_000_000),
                store.text("username", null),
                store.text("password", null),
                new Database(
                        store.text("kind", "memory"),
                        store.text("url", null),
                        box(store.integer("pool", 1, POOL_MAX)),
                        (int) store.integer("timeout_ms", 1, STORE_TIMEOUT_MS_MAX, STORE_TIMEOUT_MS)));
    }

    private static Options options(Section top) throws Refusal {
        String[] keys = {"repository", "fetch", "mapper", "validation"};
        Section options = top.section("options", keys);
        return new Options(options.text("repository", "data-jpa"), options.text("fetch", "eager"),
                options.text("mapper", "on"), options.text("validation", "on"),
                Stream.of(keys).filter(options::has).toList());
    }

    private static Socket socket(Section top) throws Refusal {
        Section socket = top.section("socket", "nagle", "writes", "quickack", "tcp_window", "h2_window");
        if (!socket.text("writes", "joined").equals("joined")) {
            throw new Refusal("socket.writes", "the libraries of the Java service decide themselves when to send",
                    "use writes=joined, or a service in Rust for writes=split");
        }
        if (socket.has("quickack")) {
            throw new Refusal("socket.quickack", "the JDK sets TCP_QUICKACK, which the kernel clears again"
                    + " (tcp(7)), on no read of these libraries", "use null, or a service in Rust");
        }
        return new Socket(
                socket.flag("nagle"),
                box(socket.integer("tcp_window", 1, Integer.MAX_VALUE / 2)),
                box(socket.integer("h2_window", H2_WINDOW_MIN, Integer.MAX_VALUE)));
    }

    private static Collector collector(Section top) throws Refusal {
        Section collector = top.section("collector", "gc", "heap_max_bytes");
        return new Collector(
                collector.text("gc", null), collector.integer("heap_max_bytes", 1 << 20, Long.MAX_VALUE));
    }

    private static Tls tls(Section top) throws Refusal {
        Section tls = top.section("tls", "certificate", "key", "client_ca");
        return new Tls(tls.text("certificate", null), tls.text("key", null), tls.text("client_ca", null));
    }

    private static Keystore keystore(Section top) throws Refusal {
        Section keystore = top.section("keystore", "path", "password");
        return new Keystore(keystore.text("path", null), keystore.text("password", null));
    }

    private static long delayUs(Section top) throws Refusal {
        String[] known = new String[OTHER_FAULTS.length + 1];
        known[0] = "delay_us";
        System.arraycopy(OTHER_FAULTS, 0, known, 1, OTHER_FAULTS.length);
        Section faults = top.section("faults", known);
        for (String fault : OTHER_FAULTS) {
            if (faults.has(fault) && !(fault.equals("fail_start") && !faults.flag(fault))) {
                throw new Refusal("faults." + fault, "only the embedded Rust services have it",
                        "measure it on a service in Rust, or leave it out");
            }
        }
        return faults.integer("delay_us", 0, DELAY_US_MAX, 0);
    }

    private static Integer box(Long value) {
        return value == null ? null : value.intValue();
    }
}
