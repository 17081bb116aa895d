package wirelab.service;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.function.Function;

/**
 * What the service offers under one binding, or one of its entries in {@code service.json}, which
 * is linked in: what it does not name is refused.
 */
record Offer(
        String binding,
        List<String> codecs,
        List<String> transports,
        List<String> compressions,
        List<String> securities,
        List<String> soapVersions,
        List<String> ends,
        List<String> httpCaches,
        List<String> flushes,
        List<String> sockets,
        List<String> contracts,
        List<String> stores,
        List<String> repositories,
        List<String> fetches,
        List<String> mappers,
        List<String> validations,
        List<String> parsers,
        List<String> wsSecurities,
        boolean codecTimes) {

    private static final List<String> COLLECTORS = List.of("serial", "parallel", "g1", "zgc");

    private static final List<String> STORED_CONTRACTS = List.of("records", "petclinic");

    /** HikariConfig.SOFT_TIMEOUT_FLOOR. */
    private static final int POOL_TIMEOUT_MS_MIN = 500;

    /** Of the module of a binding on the class path: no entry of another one is asked for. */
    private static final String[] FULL_CODECS = ServiceLoader.load(Binding.class)
            .findFirst()
            .map(binding -> binding.fullCodecs().toArray(String[]::new))
            .orElse(new String[0]);

    private static final List<Offer> ENTRIES = entries();

    static final String UNIX = "unix:";

    private static List<Offer> entries() {
        try (InputStream file = Offer.class.getResourceAsStream("service.json")) {
            Map<?, ?> manifest = (Map<?, ?>) Json.read(new String(file.readAllBytes(), StandardCharsets.UTF_8));
            return ((List<?>) manifest.get("serves")).stream()
                    .map(entry -> entry((Map<?, ?>) manifest.get("defaults"), (Map<?, ?>) entry))
                    .toList();
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    /** What an entry does not state is as in the defaults; codecs are those of the module that serves. */
    private static Offer entry(Map<?, ?> defaults, Map<?, ?> stated) {
        Map<Object, Object> fields = new HashMap<>(defaults);
        fields.putAll(stated);
        return new Offer(
                (String) fields.get("binding"),
                words(fields, "codecs", FULL_CODECS),
                words(fields, "transports"),
                words(fields, "compression", "none"),
                words(fields, "security", "none"),
                words(fields, "soap", "1.1"),
                words(fields, "end_of_message", "content-length"),
                words(fields, "http_cache", "none"),
                words(fields, "flushes", "item"),
                words(fields, "sockets", "tcp"),
                words(fields, "contracts"),
                words(fields, "stores", "memory"),
                words(fields, "repositories"),
                words(fields, "fetches"),
                words(fields, "mappers"),
                words(fields, "validations"),
                words(fields, "parsers", Configuration.Stack.DEFAULT_PARSER),
                words(fields, "ws_security", "none", Configuration.USERNAME_TOKEN),
                Boolean.TRUE.equals(fields.get("codec_times")));
    }

    private static List<String> words(Map<?, ?> fields, String key, String... absent) {
        return fields.get(key) instanceof List<?> words
                ? words.stream().map(String.class::cast).toList()
                : List.of(absent);
    }

    /** The words of one axis over some entries, in the order of {@code service.json}. */
    private static List<String> union(List<Offer> entries, Function<Offer, List<String>> axis) {
        return entries.stream().flatMap(entry -> axis.apply(entry).stream()).distinct().toList();
    }

    static Offer of(String binding) throws Refusal {
        word("stack.binding", binding, union(ENTRIES, entry -> List.of(entry.binding)), "the Java service");
        List<Offer> own = ENTRIES.stream().filter(entry -> entry.binding.equals(binding)).toList();
        return new Offer(
                binding,
                union(own, Offer::codecs),
                union(own, Offer::transports),
                union(own, Offer::compressions),
                union(own, Offer::securities),
                union(own, Offer::soapVersions),
                union(own, Offer::ends),
                union(own, Offer::httpCaches),
                union(own, Offer::flushes),
                union(own, Offer::sockets),
                union(own, Offer::contracts),
                union(own, Offer::stores),
                union(own, Offer::repositories),
                union(own, Offer::fetches),
                union(own, Offer::mappers),
                union(own, Offer::validations),
                union(own, Offer::parsers),
                union(own, Offer::wsSecurities),
                own.stream().anyMatch(Offer::codecTimes));
    }

    /** The entries of a binding that have a codec. */
    private static List<Offer> with(String binding, String codec) {
        return ENTRIES.stream()
                .filter(entry -> entry.binding.equals(binding) && entry.codecs.contains(codec))
                .toList();
    }

    /** Refuses the first option that the service cannot honour. */
    static void check(Configuration config) throws Refusal {
        Configuration.Stack stack = config.stack();
        Offer offer = of(stack.binding());
        String who = stack.binding() + "@java";
        word("contract", config.contract(), union(ENTRIES, Offer::contracts), "the Java service");
        word("stack.codec", stack.codec(), offer.codecs, who);
        word("stack.transport", stack.transport(), offer.transports, who);
        word("stack.compression", stack.compression(), offer.compressions, who);
        word("stack.security", stack.security(), offer.securities, who);
        word("stack.end_of_message", stack.endOfMessage(), offer.ends, who);
        word("stack.http_cache", stack.httpCache(), offer.httpCaches, who);
        checkCombinations(config);
        checkAddress("listen", config.listen(), offer.sockets.contains("unix"), true);
        checkAddress("metrics_listen", config.metricsListen(), false, false);
        checkFiles(config);
        if (config.collector().gc() != null) {
            word("collector.gc", config.collector().gc(), COLLECTORS, "the Java virtual machine");
        }
    }

    private static String word(String option, String value, List<String> legal, String who) throws Refusal {
        if (!legal.contains(value)) {
            String axis = option.substring(option.lastIndexOf('.') + 1);
            throw new Refusal(option, who + " serves " + String.join(", ", legal) + ", not \"" + value + "\"",
                    "use " + axis + "=" + String.join(" or " + axis + "=", legal));
        }
        return value;
    }

    private static void checkCombinations(Configuration config) throws Refusal {
        Configuration.Stack stack = config.stack();
        boolean http2 = stack.transport().equals("http/2");
        if (!union(with(stack.binding(), stack.codec()), Offer::contracts).contains(config.contract())) {
            List<String> legal = union(
                    ENTRIES.stream()
                            .filter(entry -> entry.binding.equals(stack.binding())
                                    && entry.contracts.contains(config.contract()))
                            .toList(),
                    Offer::codecs);
            throw new Refusal("stack.codec",
                    "codec " + stack.codec() + " carries no operation of contract " + config.contract(),
                    "use codec=" + String.join(" or codec=", legal));
        }
        List<Offer> entries = select(config);
        String who = stack.binding() + "@java with contract " + config.contract();
        word("stack.transport", stack.transport(), union(entries, Offer::transports), who);
        word("stack.compression", stack.compression(), union(entries, Offer::compressions), who);
        word("stack.end_of_message", stack.endOfMessage(), union(entries, Offer::ends), who);
        word("stack.flush", stack.flush(), union(entries, Offer::flushes), who);
        if (stack.flush().equals("library") && !stack.compression().equals("none")) {
            throw new Refusal("stack.flush", "a compressor that is not flushed keeps items until its block is full",
                    "use flush=item or compression=none");
        }
        if (stack.binding().equals("soap")) {
            word("stack.soap", stack.soap(),
                    union(with(stack.binding(), stack.codec()), Offer::soapVersions),
                    stack.codec() + " in Java");
        }
        word("stack.parser", stack.parser(),
                union(with(stack.binding(), stack.codec()), Offer::parsers),
                stack.codec() + " in Java");
        word("stack.ws_security", stack.wsSecurity(),
                stack.binding().equals("soap")
                        ? union(with(stack.binding(), stack.codec()), Offer::wsSecurities)
                        : List.of("none"),
                stack.codec() + " in Java");
        if (!stack.httpCache().equals("none") && !config.contract().equals("transfer")) {
            throw new Refusal("stack.http_cache",
                    config.contract() + " has no reply with an entity tag: only transfer's Hello has",
                    "use http_cache=none");
        }
        if (http2 && !stack.endOfMessage().equals("content-length")) {
            throw new Refusal("stack.end_of_message", "HTTP/2 frames carry their own end (RFC 9113 section 8.1)",
                    "use end_of_message=content-length or transport=http/1.1");
        }
        if (config.listen().startsWith(UNIX)) {
            checkUnix(config);
        }
        if (config.socket().h2Window() != null && !http2) {
            throw new Refusal("socket.h2_window", stack.transport() + " has no window of its own",
                    "use transport=http/2, or null");
        }
        checkWindow(config.socket().tcpWindow());
        checkLogin(config);
        checkDatabase(config);
        checkOptions(config);
        if (config.codecTimes() && select(config).stream().noneMatch(Offer::codecTimes)) {
            throw new Refusal("codec_times",
                    stack.binding() + "@java does not time codec " + stack.codec(),
                    "leave it out, or use binding=rest with another codec than text");
        }
    }

    /** The entries that have a configuration's binding, codec and contract. */
    private static List<Offer> select(Configuration config) {
        return with(config.stack().binding(), config.stack().codec()).stream()
                .filter(entry -> entry.contracts.contains(config.contract()))
                .toList();
    }

    private static void checkOptions(Configuration config) throws Refusal {
        Configuration.Options options = config.options();
        if (!config.contract().equals("petclinic")) {
            if (!options.given().isEmpty()) {
                throw new Refusal("options." + options.given().get(0), "only contract petclinic has options",
                        "leave it out, or use contract=petclinic");
            }
            return;
        }
        List<Offer> entries = select(config);
        String who = config.stack().binding() + "@java";
        word("options.repository", options.repository(), union(entries, Offer::repositories), who);
        word("options.fetch", options.fetch(), union(entries, Offer::fetches), who);
        word("options.mapper", options.mapper(), union(entries, Offer::mappers), who);
        word("options.validation", options.validation(), union(entries, Offer::validations), who);
        if (config.store().database().isMemory()) {
            for (String key : List.of("repository", "fetch")) {
                if (options.given().contains(key)) {
                    throw new Refusal("options." + key, "rows in memory are read without any library",
                            "leave it out, or use a store.kind other than memory");
                }
            }
        }
    }

    private static void checkDatabase(Configuration config) throws Refusal {
        Configuration.Database database = config.store().database();
        Configuration.Stack stack = config.stack();
        boolean stored = STORED_CONTRACTS.contains(config.contract());
        word("store.kind", database.kind(),
                stored ? union(select(config), Offer::stores) : List.of("memory"),
                stack.binding() + "@java with contract " + config.contract());
        if (database.isMemory()) {
            return;
        }
        boolean needsUrl = List.of("sqlite", "postgres").contains(database.kind());
        if (needsUrl && (database.url() == null || database.url().isEmpty())) {
            throw new Refusal("store.url", "store.kind " + database.kind() + " needs it, and it is missing",
                    "give the path of SQLite's file, or the URL of PostgreSQL");
        }
        if (database.timeoutMs() < POOL_TIMEOUT_MS_MIN) {
            throw new Refusal("store.timeout_ms", "half of it is for a free connection, and HikariCP waits at least "
                    + POOL_TIMEOUT_MS_MIN / 2 + " ms for one, not " + database.timeoutMs() / 2,
                    "use timeout_ms=" + POOL_TIMEOUT_MS_MIN + " or more");
        }
    }

    /** The kernel keeps receive buffers within bounds of its own (socket(7)); another size than requested is refused. */
    private static void checkWindow(Integer bytes) throws Refusal {
        if (bytes == null) {
            return;
        }
        String said;
        try (ServerSocket probe = new ServerSocket()) {
            probe.setReceiveBufferSize(bytes);
            int kernel = probe.getReceiveBufferSize();
            if (kernel == bytes) {
                return;
            }
            said = "the kernel made " + kernel + " bytes of " + bytes;
        } catch (IOException error) {
            said = "the kernel refuses " + bytes + " bytes: " + error.getMessage();
        }
        throw new Refusal("socket.tcp_window", said,
                "choose a size between its smallest and net.core.rmem_max, or null for the kernel's");
    }

    private static void checkUnix(Configuration config) throws Refusal {
        if (config.socket().nagle() || config.socket().tcpWindow() != null) {
            throw new Refusal("socket", "a Unix socket has neither Nagle's algorithm nor a TCP window",
                    "leave nagle and tcp_window out, or listen on 127.0.0.1:0");
        }
        if (!config.stack().security().equals("none")) {
            throw new Refusal("stack.security", "a Unix socket has no TLS in the Java service",
                    "use security=none, or listen on 127.0.0.1:0");
        }
    }

    private static void checkLogin(Configuration config) throws Refusal {
        String username = config.store().username();
        String password = config.store().password();
        String security = config.stack().wsSecurity();
        if (!security.equals("none") && security.equals(Configuration.USERNAME_TOKEN) != (username != null)) {
            throw new Refusal("stack.ws_security", security + (username == null
                    ? " needs store.username and store.password"
                    : " cannot be had with a UsernameToken"), "give these two with ws_security=username-token only");
        }
        if (username == null && password == null) {
            return;
        }
        if (!config.stack().binding().equals("soap")) {
            throw new Refusal("store.username", config.stack().binding() + " has no UsernameToken",
                    "use binding soap, or leave username and password out");
        }
        if (username == null || password == null) {
            throw new Refusal(username == null ? "store.username" : "store.password", "is missing",
                    "give both username and password, or neither");
        }
    }

    /** {@code links}: an address of a link is taken, too. */
    private static void checkAddress(String option, String address, boolean unixSockets, boolean links)
            throws Refusal {
        boolean unix = address.startsWith(UNIX) && address.length() > UNIX.length();
        if (unix ? unixSockets : isLocal(address, links)) {
            return;
        }
        if (unix) {
            throw new Refusal(option, "a Unix socket cannot be had here", "use 127.0.0.1:0 or [::1]:0");
        }
        throw new Refusal(option, "\"" + address + "\" is neither a loopback address nor a Unix socket"
                + (links ? ", nor an address of a link (198.18.0.0/15)" : ""),
                "use 127.0.0.1:0, [::1]:0" + (unixSockets ? " or unix:/path" : ""));
    }

    private static boolean isLocal(String address, boolean links) {
        int colon = address.lastIndexOf(':');
        // Only literals: a name would be asked of a resolver.
        if (colon < 0 || !address.substring(0, colon).matches("[0-9.]+|\\[[0-9a-fA-F:.]+\\]")
                || !address.substring(colon + 1).matches("[0-9]{1,5}")
                || Integer.parseInt(address.substring(colon + 1)) > 65_535) {
            return false;
        }
        try {
            InetAddress host = InetAddress.getByName(address.substring(0, colon));
            return host.isLoopbackAddress() || links && isOfLink(host.getAddress());
        } catch (UnknownHostException error) {
            return false;
        }
    }

    /** The network of the lab's links, 198.18.0.0/15, which nothing routes (RFC 2544, RFC 6890). */
    private static boolean isOfLink(byte[] host) {
        return host.length == 4 && (host[0] & 0xff) == 198 && (host[1] & 0xfe) == 18;
    }

    private static void checkFiles(Configuration config) throws Refusal {
        String security = config.stack().security();
        if (!security.equals("none")) {
            file("tls.certificate", config.tls().certificate());
            file("tls.key", config.tls().key());
        }
        if (security.equals("mtls")) {
            file("tls.client_ca", config.tls().clientCa());
        }
        if (config.stack().hasKeys()) {
            file("keystore.path", config.keystore().path());
            if (config.keystore().password() == null) {
                throw new Refusal("keystore.password", "is missing", "give the password of that file");
            }
        }
    }

    private static void file(String option, String path) throws Refusal {
        if (path == null || !java.nio.file.Files.isReadable(java.nio.file.Path.of(path))) {
            throw new Refusal(option, path == null ? "is missing" : path + " cannot be read",
                    "name a file that the service may read");
        }
    }
}
