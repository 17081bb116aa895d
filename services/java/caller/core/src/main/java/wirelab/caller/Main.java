package wirelab.caller;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sun.misc.Signal;

/** Carries out the engine's plan by the clients of Java's ecosystem ({@code docs/reference/process.md}). */
public final class Main {
    static final int REFUSED = 2;
    private static final int MACHINE = 3;
    /** Where the launcher puts the line that it read from standard input. */
    private static final String PLAN_VARIABLE = "WIRELAB_PLAN";

    private static final long LOOK_EVERY_MS = 1;
    private static final long NS_OF_MS = 1_000_000;
    /** {@code jar:file:/lib/NAME-VERSION.jar!/CLASS}. */
    private static final Pattern JAR = Pattern.compile(".*/([^/!]+?)-(\\d[^/!]*)\\.jar!/.*");

    /** What every library of this caller leaves as it is. */
    private static final Map<String, Set<String>> ABLE = Map.of(
            "compression", Set.of("none"), "in_flight", Set.of("1"), "security", Set.of("none"),
            "socket", Set.of("tcp"), "ws_security", Set.of("none"), "work", Set.of("decode"), "reply", Set.of("two-way"));

    private static final Map<String, String> DEFAULTS = Map.of(
            "connection", "keep", "compression", "none", "in_flight", "1", "security", "none", "socket", "tcp",
            "ws_security", "none", "work", "decode", "reply", "two-way");

    private final OutputStream output;
    private final Run run;
    private final int everyMs;
    private long dueNs;
    private long callsBefore;
    private long errorsBefore;
    private IOException broken;

    private Main(OutputStream output, Run run, int everyMs) {
        this.output = output;
        this.run = run;
        this.everyMs = everyMs;
    }

    /** To be started by the launcher, which finds the class path of the plan's stack. */
    public static void main(String[] arguments) {
        OutputStream output = new FileOutputStream(FileDescriptor.out);
        // Libraries that print go to the log; standard output is the process contract's.
        System.setOut(System.err);
        Logger.getLogger("").setLevel(Level.WARNING);
        // Threads of libraries may still wait for replies that nobody counts.
        Runtime.getRuntime().halt(carryOut(System.getenv(PLAN_VARIABLE), output));
    }

    /** Carries out a plan and prints JSON lines. Returns the exit code. */
    static int carryOut(String text, OutputStream output) {
        return carryOut(text, output, ServiceLoader.load(Library.class).findFirst());
    }

    static int carryOut(String text, OutputStream output, Optional<Library> installed) {
        try {
            try {
                Plan plan = Plan.read(text);
                Plan.Group group = plan.groups().get(0);
                Library library = installed.orElseThrow(
                        () -> new Refusal("stack.binding: this caller has no " + group.stack()));
                check(group, library);
                Target target = Target.of(group);
                Run run = new Run(group, library, target);
                Main process = new Main(output, run, plan.progressMs());
                write(output, process.outcome(library, target));
                return 0;
            } catch (Refusal refusal) {
                write(output, new Outcome.Fault("error", "plan", refusal.getMessage(), "use caller=engine"));
                return REFUSED;
            } catch (InterruptedException | RuntimeException | LinkageError error) {
                error.printStackTrace();
                write(output, new Outcome.Fault("error", "internal", error.toString(), "see the log"));
                return MACHINE;
            }
        } catch (IOException error) {
            error.printStackTrace();
            return MACHINE;
        }
    }

    private static void check(Plan.Group group, Library library) {
        Map<String, Set<String>> able = new TreeMap<>(ABLE);
        able.putAll(library.able());
        able.forEach((axis, values) -> {
            String value = group.axis(axis, DEFAULTS.get(axis));
            Refusal.unless(
                    value == null || values.contains(value), "stack." + axis + ": this caller has no \"" + value + '"');
        });
    }

    private static void write(OutputStream output, Object event) throws IOException {
        String line = Plan.JSON.writeValueAsString(event) + "\n";
        output.write(line.getBytes(StandardCharsets.UTF_8));
        output.flush();
    }

    /** Warm-up, window and drain. */
    private Outcome outcome(Library library, Target target) throws InterruptedException, IOException {
        CountDownLatch interrupted = new CountDownLatch(1);
        Signal.handle(new Signal("INT"), signal -> {
            interrupted.countDown();
            run.stop();
        });
        Run.Warmed warm = new Run.Warmed(0, 0, false);
        if (run.group.hasWarmup()) {
            run.begin();
            warm = run.warmUp(this::tick);
            run.openWindow();
        } else {
            run.openWindow();
            run.begin();
        }
        measure();
        run.closeWindow();
        run.stop();
        print("drain", Stamps.now());
        boolean isEnded = run.awaitEnd(Plan.ns(run.group.drainS()));
        if (run.fault() != null) {
            throw new IllegalStateException("a thread that makes calls ended: " + run.fault(), run.fault());
        }
        if (!isEnded) {
            run.abandon();
        }
        if (broken != null) {
            throw broken;
        }
        return new Outcome(
                "result", "java", version(), "Java " + Runtime.version(), libraries(library.classes(target)),
                Runtime.getRuntime().availableProcessors(), library.stamps(), interrupted.getCount() == 0,
                List.of(run.outcome(warm)));
    }

    private void measure() throws InterruptedException {
        callsBefore = run.completed.get();
        errorsBefore = run.failed.get();
        print("measure", run.start());
        while (!run.isClosing() && !run.awaitEnd(LOOK_EVERY_MS * NS_OF_MS)) {
            tick("measure", run.start());
        }
    }

    /** Prints a line when one is due. */
    private void tick(String phase, long began) {
        long now = Stamps.now();
        if (everyMs > 0 && now - dueNs >= 0) {
            dueNs = now + everyMs * NS_OF_MS;
            print(phase, began);
        }
    }

    private void print(String phase, long began) {
        try {
            write(output, new Outcome.Progress(
                    "progress", phase, Run.seconds(Stamps.now() - began), run.completed.get() - callsBefore,
                    run.failed.get() - errorsBefore, run.underWay.size()));
        } catch (IOException error) {
            broken = error;
            run.stop();
        }
    }

    /** Name and version of the libraries that these classes come from. */
    private static Map<String, String> libraries(List<Class<?>> classes) {
        Map<String, String> found = new TreeMap<>();
        for (Class<?> one : classes) {
            String file = String.valueOf(one.getResource('/' + one.getName().replace('.', '/') + ".class"));
            Matcher jar = JAR.matcher(file);
            if (jar.matches()) {
                found.put(jar.group(1), jar.group(2));
            } else {
                found.put(one.getPackageName(), System.getProperty("java.runtime.version"));
            }
        }
        return found;
    }

    /** The version of wirelab, which the build command of caller.json hands over. */
    private static String version() throws IOException {
        Properties build = new Properties();
        try (InputStream file = Main.class.getResourceAsStream("build.properties")) {
            build.load(file);
        }
        return build.getProperty("version");
    }
}
