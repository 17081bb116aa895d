package wirelab.service.rest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import wirelab.service.Bench;

/** The process contract, on a process of its own. */
class ProcessTest {
    private static final String CONFIGURATION = "{\"contract\":\"charging\",\"stack\":{\"binding\":\"rest\"},"
            + "\"listen\":\"127.0.0.1:%d\",\"store\":{\"accounts\":3,\"balance\":100},\"processors\":1,"
            + "\"collector\":{\"gc\":\"serial\"},\"faults\":{\"delay_us\":1000}}\n";

    @TempDir
    Path folder;

    @Test
    void readyMetricsAndTheEndOfInput() throws Exception {
        Process process = start(0);
        Map<?, ?> ready = line(process);
        assertEquals(true, ready.get("ready"), ready.toString());
        assertEquals((int) process.pid(), ready.get("pid"));
        Map<?, ?> set = (Map<?, ?>) ready.get("set");
        assertEquals(1, set.get("processors"));
        assertEquals("serial", set.get("gc"));
        Map<?, ?> first = (Map<?, ?>) ((List<?>) ready.get("libraries")).get(0);
        assertEquals(List.of("server", "tomcat-embed-core"), List.of(first.get("role"), first.get("name")));
        String metrics = get("http://" + ready.get("metrics") + "/metrics");
        for (String sample : new String[] {
            "wirelab_money_total 300.0", "wirelab_calls_total{operation=\"Credit\"} 0.0", "wirelab_calls_in_flight 0.0",
            "wirelab_call_seconds_total 0.0", "wirelab_connections_total 0.0", "process_cpu_seconds_total",
            "process_resident_memory_bytes", "jvm_memory_used_bytes{area=\"heap\"", "jvm_threads_live_threads",
            "wirelab_delay_seconds_count 0"
        }) {
            assertTrue(metrics.contains(sample), sample + " is not in " + metrics);
        }
        process.getOutputStream().close();
        assertTrue(process.waitFor(30, TimeUnit.SECONDS));
        assertEquals(0, process.exitValue());
    }

    @Test
    void aSignalEndsItToo() throws Exception {
        Process process = start(0);
        line(process);
        process.destroy();
        assertTrue(process.waitFor(30, TimeUnit.SECONDS));
        assertEquals(0, process.exitValue());
    }

    /** Tomcat makes folders; none of them stay, whichever way the process is stopped. */
    @Test
    void temporaryFilesGoWithTheProcess() throws Exception {
        for (boolean bySignal : new boolean[] {false, true}) {
            Process process = start(0);
            line(process);
            try (Stream<Path> made = Files.walk(temporary())) {
                assertTrue(made.anyMatch(path -> path.getFileName().toString().startsWith("tomcat")));
            }
            if (bySignal) {
                process.destroy();
            } else {
                process.getOutputStream().close();
            }
            assertTrue(process.waitFor(30, TimeUnit.SECONDS));
            try (Stream<Path> left = Files.list(temporary())) {
                assertEquals(List.of(), left.toList());
            }
        }
    }

    @Test
    void aTakenPortIsRefused() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, java.net.InetAddress.getLoopbackAddress())) {
            Process process = start(taken.getLocalPort());
            Map<?, ?> refused = (Map<?, ?>) line(process).get("refused");
            assertEquals("listen", refused.get("option"));
            assertTrue(process.waitFor(30, TimeUnit.SECONDS));
            assertEquals(2, process.exitValue());
        }
    }

    /** By the launcher; the class path that it names is replaced by this test's own. */
    private Process start(int port) throws Exception {
        Path launcher = Path.of(System.getProperty("wirelab.contracts"), "..", "services", "java", "launcher", "src",
                "wirelab-java-service");
        Path java = folder.resolve("java");
        Files.writeString(java, "#!/bin/sh\nwhile [ \"$1\" != -cp ]; do flags=\"$flags $1\"; shift; done\n"
                + "exec " + Path.of(System.getProperty("java.home"), "bin", "java")
                + " $flags -XX:TieredStopAtLevel=1 -cp \"$WIRELAB_TEST_CLASS_PATH\" wirelab.service.Main\n");
        Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwxr-xr-x"));
        ProcessBuilder builder = new ProcessBuilder("sh", launcher.toString()).redirectError(
                ProcessBuilder.Redirect.INHERIT);
        builder.environment().put("JAVA", java.toString());
        builder.environment().put("WIRELAB_TEST_CLASS_PATH", System.getProperty("java.class.path"));
        builder.environment().put("TMPDIR", Files.createDirectories(temporary()).toString());
        Process process = builder.start();
        process.getOutputStream().write(String.format(CONFIGURATION, port).getBytes(StandardCharsets.UTF_8));
        process.getOutputStream().flush();
        return process;
    }

    private Path temporary() {
        return folder.resolve("temporary");
    }

    private static Map<?, ?> line(Process process) throws Exception {
        return (Map<?, ?>) Bench.value(
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8)).readLine());
    }

    private static String get(String address) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(address)).build();
        return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body();
    }
}
