package wirelab.service;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import wirelab.service.contract.Model;

/** A service of this module within the test's own process, and raw sockets to it. */
public final class Bench implements AutoCloseable {
    private static final int PATIENCE_MS = 30_000;

    static {
        Logger.getLogger("").setLevel(Level.WARNING);
    }

    private final Binding.Running running;
    private final Calls calls;
    private final Model model;

    private Bench(Binding.Running running, Calls calls, Model model) {
        this.running = running;
        this.model = model;
        this.calls = calls;
    }

    /** Starts the stack {@code {"binding": …}} of a contract, as the process would up to its ready line. */
    public static Bench start(String contract, String stack) throws Exception {
        return start(contract, stack, "");
    }

    /** As above with more members of the configuration, such as {@code "store":{…}}. */
    public static Bench start(String contract, String stack, String more) throws Exception {
        Configuration configuration = configuration(contract, stack, more);
        Model model = ServiceProcess.model(configuration);
        Calls calls = new Calls(model.operations(), configuration.delayUs(), configuration.codecTimes());
        Binding binding = Binding.loadInstalled();
        Bench bench = new Bench(binding.start(configuration, model, calls), calls, model);
        bench.running.callSelf();
        calls.reset();
        return bench;
    }

    static Configuration configuration(String contract, String stack, String more) throws Refusal {
        String listen = more.contains("\"listen\"") ? "" : "\"listen\":\"127.0.0.1:0\",";
        String rest = more.isEmpty() ? "" : "," + more;
        return Configuration.read("{" + listen + "\"contract\":\"" + contract + "\",\"stack\":" + stack + rest + "}");
    }

    /** The ready line's libraries of a stack, each as {@code "codec jackson-core 2.21.4"}. */
    public static List<String> libraries(String stack, String more) throws Refusal {
        return libraries("transfer", stack, more);
    }

    /** As above, of a contract. */
    public static List<String> libraries(String contract, String stack, String more) throws Refusal {
        return Libraries.of(configuration(contract, stack, more)).stream()
                .map(row -> String.join(" ", row.values()))
                .toList();
    }

    /** The library that a class was loaded from, as its row names it: file name and version, or the JDK's. */
    public static String origin(Class<?> loaded) {
        CodeSource source = loaded.getProtectionDomain().getCodeSource();
        return source == null || source.getLocation().getProtocol().equals("jrt")
                ? loaded.getPackageName() + " " + Runtime.version()
                : Path.of(source.getLocation().getPath()).getFileName().toString()
                        .replaceFirst("-(\\d.*)\\.jar$", " $1");
    }

    /** The running stack. */
    public Binding.Running running() {
        return running;
    }

    /** The bytes of the last reply of an operation, by the code that is timed, from a message that those bytes gave. */
    public byte[] encodeAgain(String operation) throws Exception {
        Coded reply = calls.tally(operation).reply();
        byte[] bytes = reply.encode(reply.message());
        Map<String, Object> times = CodecTimes.measure(operation, reply, 0.02);
        if (!times.get("bytes").equals(bytes.length) || reply.decode(bytes) == null) {
            throw new AssertionError(times + " of " + bytes.length + " bytes");
        }
        return bytes;
    }

    /** Calls that reached the operation, and those answered with an application error. */
    public long[] counts(String operation) {
        return new long[] {calls.tally(operation).begun(), calls.tally(operation).failed()};
    }

    /** The counters of contract stream. */
    public StreamCounts streams() {
        return calls.streams();
    }

    /** Calls under way. */
    public long inFlight() {
        return calls.inFlight();
    }

    /** Sends bytes over a connection of their own and returns all that comes until its end. */
    public byte[] exchange(byte[] bytes) throws IOException {
        String address = running.address();
        try (Socket socket = new Socket()) {
            socket.connect(Address.internet(address), PATIENCE_MS);
            socket.setSoTimeout(PATIENCE_MS);
            socket.getOutputStream().write(bytes);
            socket.shutdownOutput();
            return socket.getInputStream().readAllBytes();
        }
    }

    /** One HTTP/1.1 request on a connection of its own; {@code head} is the request line and fields. */
    public Reply http(String head, byte[] body) throws IOException {
        try (Socket socket = new Socket()) {
            socket.connect(Address.internet(running.address()), PATIENCE_MS);
            socket.setSoTimeout(PATIENCE_MS);
            String fields = head + "\r\nHost: localhost\r\nConnection: close\r\n"
                    + (body == null ? "" : "Content-Length: " + body.length + "\r\n") + "\r\n";
            byte[] message = concat(fields.getBytes(StandardCharsets.UTF_8), body == null ? new byte[0] : body);
            socket.getOutputStream().write(message);
            return Reply.of(socket.getInputStream());
        }
    }

    private static byte[] concat(byte[] first, byte[] second) {
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }

    /** An HTTP reply that ended with its connection. */
    public record Reply(int status, String head, byte[] body) {
        private static final Pattern STATUS = Pattern.compile("HTTP/1\\.[01] (\\d{3})");

        static Reply of(InputStream input) throws IOException {
            byte[] all = input.readAllBytes();
            String text = new String(all, StandardCharsets.ISO_8859_1);
            int end = text.indexOf("\r\n\r\n");
            Matcher status = STATUS.matcher(text);
            if (end < 0 || !status.lookingAt()) {
                throw new IOException("no HTTP reply: " + text);
            }
            byte[] body = Arrays.copyOfRange(all, end + 4, all.length);
            return new Reply(Integer.parseInt(status.group(1)), text.substring(0, end + 2), body);
        }

        /** The body as UTF-8. */
        public String text() {
            return new String(body, StandardCharsets.UTF_8);
        }
    }

    /** A file of golden vectors, as maps and lists. */
    public static Object vectors(String name) throws IOException {
        return Json.read(Files.readString(Path.of(System.getProperty("wirelab.contracts"), "vectors", name)));
    }

    /** Maps and lists as JSON. */
    public static String json(Object value) {
        return Json.write(value);
    }

    /** JSON as maps and lists. */
    public static Object value(String json) throws IOException {
        return Json.read(json);
    }

    @Override
    public void close() {
        running.stop(1000);
        model.close();
    }
}
