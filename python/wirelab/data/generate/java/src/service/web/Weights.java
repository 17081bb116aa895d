package service.web;

import java.util.Collection;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** A field such as {@code Accept: a, b;q=0.5} as names, in lower case, with their weights (RFC 9110 section 12.4.2). */
public final class Weights {
    private final Map<String, Double> weights = new HashMap<>();

    private Weights() {}

    /** Reads the fields of that name; none at all make an empty list. */
    public static Weights of(Iterable<String> fields) {
        Weights read = new Weights();
        for (String field : fields) {
            for (String part : field.split(",")) {
                String[] pieces = part.split(";");
                String name = pieces.length == 0 ? "" : pieces[0].strip().toLowerCase(Locale.ROOT);
                if (!name.isEmpty()) {
                    read.weights.put(name, weight(pieces));
                }
            }
        }
        return read;
    }

    private static double weight(String[] pieces) {
        for (int at = 1; at < pieces.length; at++) {
            String[] parameter = pieces[at].strip().split("=", 2);
            if (parameter.length == 2 && parameter[0].equalsIgnoreCase("q")) {
                try {
                    return Double.parseDouble(parameter[1]);
                } catch (NumberFormatException unreadable) {
                    return 1;
                }
            }
        }
        return 1;
    }

    /** Whether a content coding of these names is asked for, by name or by {@code *}. */
    boolean allows(Collection<String> names) {
        for (String name : names) {
            if (weights.containsKey(name)) {
                return weights.get(name) > 0;
            }
        }
        return weights.getOrDefault("*", 0.0) > 0;
    }

    /** Whether a media type is acceptable: the most specific range decides; an empty list allows all. */
    public boolean accepts(String mediaType) {
        if (weights.isEmpty()) {
            return true;
        }
        String kind = mediaType.substring(0, mediaType.indexOf('/')) + "/*";
        for (String range : new String[] {mediaType, kind, "*/*"}) {
            if (weights.containsKey(range)) {
                return weights.get(range) > 0;
            }
        }
        return false;
    }
}
