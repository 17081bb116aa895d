package wirelab.service;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The process: {@code docs/reference/process.md}. To be started by the launcher, which sets the JVM's flags. */
public final class Main {
    /** Where the launcher puts the line that it read from standard input. */
    static final String CONFIGURATION_VARIABLE = "WIRELAB_CONFIGURATION";

    private Main() {}

    /** Serves until the end of standard input, SIGTERM or SIGINT. */
    public static void main(String[] arguments) {
        PrintStream lines = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        // Libraries that print go to the log; standard output is the process contract's.
        System.setOut(System.err);
        Logger.getLogger("").setLevel(Level.WARNING);
        // For an end that is not this method's, such as SIGHUP.
        Runtime.getRuntime().addShutdownHook(new Thread(TemporaryFolder::remove));
        int code = new ServiceProcess(System.in, lines).run(System.getenv(CONFIGURATION_VARIABLE));
        lines.flush();
        TemporaryFolder.remove();
        Runtime.getRuntime().halt(code);
    }
}
