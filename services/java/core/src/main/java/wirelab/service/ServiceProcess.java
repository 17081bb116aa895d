package wirelab.service;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import sun.misc.Signal;
import wirelab.service.contract.Calendar;
import wirelab.service.contract.Charging;
import wirelab.service.contract.MemoryRecordStore;
import wirelab.service.contract.Model;
import wirelab.service.contract.Petclinic;
import wirelab.service.contract.RecordStore;
import wirelab.service.contract.Records;
import wirelab.service.contract.Stream;
import wirelab.service.contract.Transfer;

/** From the configuration to the exit code. */
public final class ServiceProcess {
    private static final int EXIT_OK = 0;
    private static final int EXIT_FAILED = 1;
    private static final int EXIT_REFUSED = 2;
    private static final int LINE_BYTES_MAX = 1 << 20;
    private static final long GRACE_MS = 1000;

    private final InputStream input;
    private final PrintStream output;
    private final CountDownLatch stop = new CountDownLatch(1);

    /** Reads the orders from {@code input} and answers on {@code output}. */
    public ServiceProcess(InputStream input, PrintStream output) {
        this.input = input;
        this.output = output;
    }

    /** Serves until it is ordered to stop; {@code line} is the configuration, or null when it is yet to be read. */
    public int run(String line) {
        try {
            Configuration configuration = Configuration.read(line == null ? readLine() : line);
            JvmState.check(configuration);
            listenForStop();
            serve(configuration);
            return EXIT_OK;
        } catch (Refusal refusal) {
            Map<String, Object> refused = new LinkedHashMap<>();
            refused.put("option", refusal.option);
            refused.put("message", refusal.getMessage());
            refused.put("remedy", refusal.remedy);
            output.println(Json.write(Map.of("refused", refused)));
            return EXIT_REFUSED;
        } catch (IOException | InterruptedException | RuntimeException | LinkageError error) {
            error.printStackTrace();
            return EXIT_FAILED;
        }
    }

    private void serve(Configuration configuration) throws Refusal, IOException, InterruptedException {
        try (Model model = model(configuration)) {
            serve(configuration, model);
        }
    }

    private void serve(Configuration configuration, Model model) throws Refusal, IOException, InterruptedException {
        Calls calls = new Calls(model.operations(), configuration.delayUs(), configuration.codecTimes());
        try (Metrics metrics = Metrics.serve(configuration.metricsListen(), calls, model)) {
            Binding.Running running = Binding.loadInstalled().start(configuration, model, calls);
            try {
                running.callSelf();
                calls.reset();
                output.println(Json.write(ready(configuration, model, running, metrics)));
                stop.await();
            } finally {
                running.stop(GRACE_MS);
            }
        }
    }

    /** What a configuration's service holds; refuses a database that cannot be used. */
    public static Model model(Configuration configuration) throws Refusal {
        Configuration.Store store = configuration.store();
        return switch (configuration.contract()) {
            case "transfer" -> new Transfer(store.helloBytes());
            case "charging" -> new Charging(store.accounts(), store.balance());
            case "records" -> new Records(records(store.database()));
            case "petclinic" -> new Petclinic();
            case "stream" -> new Stream(!configuration.stack().binding().equals("grpc"));
            default -> new Calendar();
        };
    }

    private static RecordStore records(Configuration.Database database) throws Refusal {
        return database.isMemory() ? new MemoryRecordStore() : Databases.loadInstalled().openRecords(database);
    }

    private static Map<String, Object> ready(
            Configuration configuration, Model model, Binding.Running running, Metrics metrics) {
        Map<String, Object> set = new LinkedHashMap<>(JvmState.now());
        set.putAll(running.set());
        set.put("writes", "joined");
        if (model.pool() != null) {
            set.put("store_pool", model.pool().max());
        }
        if (configuration.contract().equals("petclinic")) {
            set.put("options", configuration.options().asMap());
        }
        if (configuration.delayUs() > 0) {
            set.put("delay_us", configuration.delayUs());
        }
        Map<String, Object> ready = new LinkedHashMap<>();
        ready.put("ready", true);
        ready.put("address", running.address());
        ready.put("metrics", metrics.address());
        ready.put("pid", ProcessHandle.current().pid());
        ready.put("language", "java");
        ready.put("runtime", JvmState.runtime());
        ready.put("libraries", Libraries.of(configuration));
        ready.put("set", set);
        if (running.ior() != null) {
            ready.put("ior", running.ior());
        }
        return ready;
    }

    private String readLine() throws IOException, Refusal {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int next = input.read(); next >= 0 && next != '\n'; next = input.read()) {
            line.write(next);
            if (line.size() > LINE_BYTES_MAX) {
                throw new Refusal("configuration", "the line is longer than " + LINE_BYTES_MAX + " bytes",
                        "write one JSON object on one line of standard input");
            }
        }
        return line.toString(StandardCharsets.UTF_8);
    }

    private void listenForStop() {
        Signal.handle(new Signal("TERM"), signal -> stop.countDown());
        Signal.handle(new Signal("INT"), signal -> stop.countDown());
        Thread reader = new Thread(this::awaitEndOfInput, "standard-input");
        reader.setDaemon(true);
        reader.start();
    }

    private void awaitEndOfInput() {
        byte[] ignored = new byte[1024];
        try {
            while (input.read(ignored) >= 0) {
                // Only the end of the input is an order.
            }
        } catch (IOException error) {
            System.err.println("standard input: " + error.getMessage());
        } finally {
            stop.countDown();
        }
    }
}
