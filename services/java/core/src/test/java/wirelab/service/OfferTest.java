package wirelab.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** This service takes exactly what service.json offers, a part of the lab's table of stacks. */
class OfferTest {
    private static final Path TABLE = Path.of("../../../python/wirelab/data/stack.json");
    private static final Path MANIFEST = Path.of("../service.json");

    @Test
    void offersAreThoseOfTheManifestAndOfTheTable() throws Exception {
        Map<String, Set<String>> codecs = new TreeMap<>();
        Map<String, Set<String>> transports = new TreeMap<>();
        Map<?, ?> defaults = (Map<?, ?>) document(MANIFEST).get("defaults");
        for (Map<?, ?> stated : rows(MANIFEST, "serves")) {
            Map<Object, Object> entry = new HashMap<>(defaults);
            entry.putAll(stated);
            String binding = (String) entry.get("binding");
            // An entry without codecs has those of its module, which is not on this class path.
            codecs.computeIfAbsent(binding, key -> new TreeSet<>())
                    .addAll(entry.containsKey("codecs") ? words(entry, "codecs") : List.of());
            transports.computeIfAbsent(binding, key -> new TreeSet<>()).addAll(words(entry, "transports"));
        }
        for (Map.Entry<String, Set<String>> each : codecs.entrySet()) {
            Offer offer = Offer.of(each.getKey());
            assertEquals(each.getValue(), new TreeSet<>(offer.codecs()), each.getKey());
            assertEquals(transports.get(each.getKey()), new TreeSet<>(offer.transports()), each.getKey());
            Map<?, ?> row = rows(TABLE, "bindings").stream()
                    .filter(binding -> binding.get("name").equals(each.getKey()))
                    .findFirst()
                    .orElseThrow();
            assertTrue(words(row, "codecs").containsAll(offer.codecs()), each.getKey());
            assertTrue(words(row, "transports").containsAll(offer.transports()), each.getKey());
        }
    }

    private static Map<?, ?> document(Path file) throws Exception {
        return (Map<?, ?>) Bench.value(Files.readString(file));
    }

    private static List<Map<?, ?>> rows(Path file, String key) throws Exception {
        return ((List<?>) document(file).get(key)).stream().<Map<?, ?>>map(row -> (Map<?, ?>) row).toList();
    }

    private static List<String> words(Map<?, ?> row, String key) {
        return ((List<?>) row.get(key)).stream().map(String.class::cast).toList();
    }
}
