package wirelab.service;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;

/**
 * The libraries on the request path of every stack, by role. Codecs of REST name theirs in {@code
 * Codecs}. A row is a class that works for every call. The name and the version of its library
 * are those of the file that the class comes from; what a factory chooses is asked of the factory.
 */
final class Libraries {
    /** {@code jar:file:/lib/NAME-VERSION.jar!/CLASS}. */
    private static final Pattern JAR = Pattern.compile(".*/([^/!]+?)-(\\d[^/!]*)\\.jar!/.*");

    private static final Supplier<String> TOMCAT = () -> "org.apache.catalina.connector.CoyoteAdapter";
    private static final Supplier<String> AXIS = () -> "org.apache.axis.server.AxisServer";
    private static final Supplier<String> PROTOBUF = () -> "com.google.protobuf.CodedInputStream";
    private static final Supplier<String> JACORB = () -> "org.jacorb.orb.ORB";

    private static final List<Supplier<String>> SPRING_MVC =
            List.of(TOMCAT, () -> "org.springframework.web.servlet.DispatcherServlet");

    private static final Map<String, List<Supplier<String>>> SERVERS = Map.of(
            "rest", SPRING_MVC,
            "sse", SPRING_MVC,
            "websocket", List.of(TOMCAT, () -> "org.apache.tomcat.websocket.server.WsFrameServer"),
            "soap", List.of(
                    TOMCAT,
                    () -> "org.apache.cxf.transport.servlet.CXFNonSpringServlet",
                    () -> "org.apache.cxf.phase.PhaseInterceptorChain"),
            "soap-encoded", List.of(TOMCAT, AXIS),
            "grpc", List.of(
                    () -> "io.grpc.netty.shaded.io.grpc.netty.NettyServerHandler",
                    () -> "io.grpc.internal.ServerImpl",
                    () -> "io.grpc.stub.ServerCalls"),
            "iiop", List.of(JACORB));

    /** Where the binding has no table of its own. */
    private static final Map<String, List<Supplier<String>>> CODECS = Map.of(
            "grpc", List.of(() -> "io.grpc.protobuf.lite.ProtoLiteUtils", PROTOBUF),
            "iiop", List.of(JACORB));

    private static final Map<String, String> COMPRESSIONS = Map.of(
            "gzip", "java.util.zip.GZIPOutputStream",
            "zstd", "com.github.luben.zstd.Zstd",
            "permessage-deflate", "java.util.zip.Deflater");

    private static final Map<String, String> DRIVERS = Map.of(
            "sqlite", "org.sqlite.JDBC",
            "h2", "org.h2.Driver",
            "hsqldb", "org.hsqldb.jdbc.JDBCDriver",
            "postgres", "org.postgresql.Driver");

    /** Netty's binding to BoringSSL, which grpc-java prefers to JSSE where the machine can load it. */
    private static final String TCNATIVE = "io.grpc.netty.shaded.io.netty.internal.tcnative.SSL";

    private static final String OPENSSL = "io.grpc.netty.shaded.io.netty.handler.ssl.OpenSsl";

    private Libraries() {}

    /** The rows of the ready line, in the order of the roles. */
    static List<Map<String, String>> of(Configuration configuration) {
        Configuration.Stack stack = configuration.stack();
        String server = stack.codec().equals("soap-encoded") ? stack.codec() : stack.binding();
        List<Map<String, String>> rows = new ArrayList<>();
        SERVERS.get(server).forEach(worker -> rows.add(row("server", worker.get())));
        Binding.loadInstalled().serverWorkers(configuration).forEach(worker -> rows.add(row("server", worker)));
        List<Supplier<String>> codec = CODECS.get(server);
        if (codec == null) {
            Binding.loadInstalled().codecWorkers(stack).forEach(worker -> rows.add(row("codec", worker)));
        } else {
            codec.forEach(worker -> rows.add(row("codec", worker.get())));
        }
        if (server.equals("soap") && (stack.hasKeys() || configuration.store().username() != null)) {
            rows.add(row("codec", "org.apache.wss4j.dom.engine.WSSecurityEngine"));
        }
        if (stack.hasKeys()) {
            rows.add(row("codec", "org.apache.xml.security.Init"));
        }
        if (!stack.compression().equals("none")) {
            rows.add(row("compression", COMPRESSIONS.get(stack.compression())));
        }
        if (!stack.security().equals("none")) {
            rows.add(tls(stack.binding()));
        }
        Binding.loadInstalled().storeWorkers(configuration).forEach(worker -> rows.add(row("store", worker)));
        store(configuration.store().database()).forEach(worker -> rows.add(row("store", worker)));
        return rows;
    }

    /** Driver, what connects it where that is a library of its own, and pool. */
    private static List<String> store(Configuration.Database database) {
        if (database.isMemory()) {
            return List.of();
        }
        List<String> workers = new ArrayList<>(List.of(DRIVERS.get(database.kind())));
        if (database.kind().equals("postgres") && database.url().contains("host=")) {
            workers.add("org.newsclub.net.unix.AFUNIXSocket");
        }
        workers.add("com.zaxxer.hikari.HikariDataSource");
        return workers;
    }

    private static Map<String, String> tls(String binding) {
        try {
            if (binding.equals("grpc") && (boolean) Class.forName(OPENSSL).getMethod("isAvailable").invoke(null)) {
                Map<String, String> row = row("tls", TCNATIVE);
                row.computeIfPresent("name", (key, jar) -> jar + " (netty-tcnative)");
                return row;
            }
            return row("tls", SSLContext.getInstance("TLS").getProvider().getClass().getName());
        } catch (ReflectiveOperationException | NoSuchAlgorithmException error) {
            throw new IllegalStateException("the libraries for TLS could not be asked which of them works", error);
        }
    }

    /** The class is looked up, not loaded: naming it must not put it where calls have not. */
    private static Map<String, String> row(String role, String worker) {
        if (worker.equals(Binding.OWN)) {
            return row(role, Binding.OWN, projectVersion());
        }
        URL file = ClassLoader.getSystemResource(worker.replace('.', '/') + ".class");
        if (file == null) {
            throw new IllegalStateException("no " + worker + " on the class path: correct the table in Libraries");
        }
        if (file.getProtocol().equals("jrt")) {
            String inside = worker.substring(0, worker.lastIndexOf('.'));
            return row(role, inside, System.getProperty("java.runtime.version"));
        }
        Matcher jar = JAR.matcher(file.toString());
        if (!jar.matches()) {
            throw new IllegalStateException(file + " does not name a version: take libraries from jars");
        }
        return row(role, jar.group(1), jar.group(2));
    }

    private static Map<String, String> row(String role, String name, String version) {
        Map<String, String> row = new LinkedHashMap<>();
        row.put("role", role);
        row.put("name", name);
        row.put("version", version);
        return row;
    }

    /** The version of wirelab, which the build command of service.json hands over. */
    private static String projectVersion() {
        Properties build = new Properties();
        try (InputStream file = Libraries.class.getResourceAsStream("build.properties")) {
            build.load(file);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        return build.getProperty("version");
    }
}
