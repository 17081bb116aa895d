package wirelab.service.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A server of PostgreSQL with a data folder and a Unix socket of its own. */
public final class Postgres implements AutoCloseable {
    private static final Path PROGRAMS = Path.of("/usr/lib/postgresql/15/bin");

    private final Path folder;

    private Postgres(Path folder) {
        this.folder = folder;
    }

    /** Whether it is installed where Debian puts it. */
    public static boolean isInstalled() {
        return Files.isExecutable(PROGRAMS.resolve("initdb"));
    }

    /** Makes and starts one. */
    public static Postgres start() throws IOException {
        Postgres server = new Postgres(Files.createTempDirectory(Path.of("/tmp"), "wirelab-pg-"));
        if (isRoot()) {
            UserPrincipal nobody =
                    server.folder.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("nobody");
            Files.setOwner(server.folder, nobody);
        }
        server.run("initdb", "-D", server.data(), "-U", "wirelab", "-A", "trust", "--no-sync");
        server.resume();
        return server;
    }

    /** What {@code store.url} is to be. */
    public String url() {
        return "postgres://wirelab@/postgres?host=" + folder;
    }

    /** Starts it again. */
    public void resume() throws IOException {
        run("pg_ctl", "-D", data(), "-w", "-l", folder + "/log", "-o", "-c listen_addresses='' -k " + folder, "start");
    }

    /** Stops it as a crash would. */
    public void crash() throws IOException {
        run("pg_ctl", "-D", data(), "-w", "-m", "immediate", "stop");
    }

    private String data() {
        return folder + "/data";
    }

    private static boolean isRoot() {
        return "root".equals(System.getProperty("user.name"));
    }

    /** PostgreSQL refuses to run as root. */
    private void run(String program, String... arguments) throws IOException {
        List<String> command = new ArrayList<>();
        if (isRoot()) {
            command.addAll(List.of("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"));
        }
        command.add(PROGRAMS.resolve(program).toString());
        command.addAll(List.of(arguments));
        Path output = Files.createTempFile("wirelab-pg", ".out");
        Process process = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        boolean ended = hasEnded(process);
        String said = Files.readString(output);
        Files.delete(output);
        if (!ended || process.exitValue() != 0) {
            throw new IOException(program + " failed: " + said);
        }
    }

    private static boolean hasEnded(Process process) {
        try {
            return process.waitFor(60, TimeUnit.SECONDS);
        } catch (InterruptedException hurry) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    @Override
    public void close() throws IOException {
        if (Files.exists(Path.of(data(), "postmaster.pid"))) {
            crash();
        }
        try (Stream<Path> found = Files.walk(folder)) {
            for (Path path : found.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        }
    }
}
