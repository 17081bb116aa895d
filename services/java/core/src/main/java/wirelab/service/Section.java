package wirelab.service;

import java.math.BigInteger;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One object of the configuration. Unknown keys and wrong types are refused by name. */
final class Section {
    private final String name;
    private final Map<String, Object> members;

    private Section(String name, Map<String, Object> members) {
        this.name = name;
        this.members = members;
    }

    /** The section {@code name} (empty: the whole) of which only {@code known} keys are legal. */
    static Section of(String name, Object value, List<String> known) throws Refusal {
        String option = name.isEmpty() ? "configuration" : name;
        if (value == null && !name.isEmpty()) {
            value = Map.of();
        }
        if (!(value instanceof Map<?, ?> map)) {
            throw new Refusal(option, "must be a JSON object", "write {} for the defaults");
        }
        Map<String, Object> members = new LinkedHashMap<>();
        for (Map.Entry<?, ?> member : map.entrySet()) {
            String key = String.valueOf(member.getKey());
            if (!known.contains(key)) {
                throw new Refusal(
                        name.isEmpty() ? key : name + "." + key,
                        "there is no such option",
                        "the options here are " + String.join(", ", known));
            }
            members.put(key, member.getValue());
        }
        return new Section(name, members);
    }

    Section section(String key, String... known) throws Refusal {
        return of(option(key), members.get(key), List.of(known));
    }

    String option(String key) {
        return name.isEmpty() ? key : name + "." + key;
    }

    boolean has(String key) {
        return members.get(key) != null;
    }

    /** A text; {@code unset} where the key is absent or null. */
    String text(String key, String unset) throws Refusal {
        Object value = members.get(key);
        if (value != null && !(value instanceof String)) {
            throw wrongType(key, "a string", value);
        }
        return value == null ? unset : (String) value;
    }

    /** True or false; false where the key is absent or null. */
    boolean flag(String key) throws Refusal {
        Object value = members.get(key);
        if (value != null && !(value instanceof Boolean)) {
            throw wrongType(key, "true or false", value);
        }
        return value != null && (Boolean) value;
    }

    /** A whole number within bounds; null where the key is absent or null. */
    Long integer(String key, long min, long max) throws Refusal {
        Object value = members.get(key);
        if (value == null) {
            return null;
        }
        if (!(value instanceof Integer || value instanceof Long || value instanceof BigInteger)) {
            throw wrongType(key, "a whole number", value);
        }
        BigInteger number = new BigInteger(value.toString());
        if (number.compareTo(BigInteger.valueOf(min)) < 0 || number.compareTo(BigInteger.valueOf(max)) > 0) {
            throw new Refusal(
                    option(key),
                    "must be " + min + " to " + max + ", not " + value,
                    "choose a number within that range");
        }
        return number.longValueExact();
    }

    long integer(String key, long min, long max, long unset) throws Refusal {
        Long value = integer(key, min, max);
        return value == null ? unset : value;
    }

    private Refusal wrongType(String key, String expected, Object value) {
        return new Refusal(
                option(key),
                "must be " + expected + ", not " + Json.write(value),
                "see docs/reference/process.md for its type");
    }
}
