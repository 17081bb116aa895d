package wirelab.parse;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Times one parser, as docs/reference/parsers.md describes:
 * {@code PARSER WARMUP_NS WINDOW_NS BLOCKS NAME=FILE...}. Prints one line of JSON; refuses with exit
 * code 2 what it is not given rightly, and ends with 1 where the parser fails.
 */
public final class Main {
    private Main() {}

    /** Times the parser that the arguments name. */
    public static void main(String[] arguments) {
        try {
            System.out.println(json(run(arguments)));
        } catch (IllegalArgumentException refused) {
            System.err.println("wirelab-parse: " + refused.getMessage());
            System.exit(2);
        } catch (Exception failed) {
            System.err.println(failed.getClass().getName() + ": " + failed.getMessage());
            System.exit(1);
        }
    }

    private static Timing.Result run(String... arguments) throws Exception {
        if (arguments.length < 5) {
            throw new IllegalArgumentException("usage: PARSER WARMUP_NS WINDOW_NS BLOCKS NAME=FILE...");
        }
        Parsers.Maker maker = Parsers.ALL.get(arguments[0]);
        if (maker == null) {
            throw new IllegalArgumentException("no parser is named " + arguments[0]);
        }
        Timing.Plan plan = new Timing.Plan(
                positive(arguments[1], Long.MAX_VALUE),
                positive(arguments[2], Long.MAX_VALUE),
                (int) positive(arguments[3], Integer.MAX_VALUE));
        List<Timing.Document> documents = new ArrayList<>();
        for (String named : Arrays.asList(arguments).subList(4, arguments.length)) {
            int end = named.indexOf('=');
            if (end < 0) {
                throw new IllegalArgumentException(named + " is not NAME=FILE");
            }
            documents.add(new Timing.Document(named.substring(0, end), Files.readAllBytes(Path.of(named.substring(end + 1)))));
        }
        if (!List.of("json", "protobuf", "cbor", "cdr").contains(arguments[0])) {
            for (Timing.Document document : documents) {
                Prolog.check(document.bytes());
            }
        }
        return Timing.run(maker, documents, plan);
    }

    private static long positive(String text, long most) {
        long value = Long.parseLong(text);
        if (value < 1 || value > most) {
            throw new IllegalArgumentException(text + " is not a number from 1 to " + most);
        }
        return value;
    }

    private static String json(Timing.Result result) {
        List<String> documents = new ArrayList<>();
        for (Timing.Times times : result.documents()) {
            documents.add("{\"name\":\"" + times.name() + "\",\"fingerprint\":\"" + times.fingerprint()
                    + "\",\"parses\":" + times.parses() + ",\"elapsed_ns\":" + times.elapsedNs()
                    + ",\"block_ns\":" + Arrays.toString(times.blockNs()) + "}");
        }
        return "{\"implementation\":\"" + result.implementation().getName()
                + "\",\"library\":\"" + library(result.implementation())
                + "\",\"runtime\":\"OpenJDK " + Runtime.version()
                + "\",\"first_ns\":" + result.firstNs() + ",\"warmup_ns\":" + result.warmupNs()
                + ",\"calm\":" + result.calm() + ",\"documents\":[" + String.join(",", documents) + "]}";
    }

    /** The jar that a class comes from, without its extension; "JDK" for the JDK's own. */
    private static String library(Class<?> implementation) {
        var source = implementation.getProtectionDomain().getCodeSource();
        if (source == null || source.getLocation() == null || source.getLocation().getProtocol().equals("jrt")) {
            return "JDK";
        }
        return Path.of(source.getLocation().getPath()).getFileName().toString().replaceFirst("\\.jar$", "");
    }
}
