package wirelab.service.contract.message;

import java.util.Base64;
import java.util.regex.Pattern;

/**
 * The lexical forms of XML Schema part 2. What SOAP libraries read by themselves lets numbers overflow,
 * takes many a word for a boolean, and skips what is not base64. White space is that of XML, whose documents
 * hold no other characters up to the space.
 */
public final class Lexical {
    private static final Pattern DOUBLE = Pattern.compile("[+-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][+-]?[0-9]+)?");
    private static final Pattern SPACE = Pattern.compile("[ \t\r\n]+");

    private Lexical() {}

    /** The value that {@code text} stands for; throws {@link IllegalArgumentException} when it stands for none. */
    public static Object read(Class<?> type, String text) {
        if (type == int.class) {
            return Integer.valueOf(ascii(text.trim()));
        }
        if (type == long.class) {
            return Long.valueOf(ascii(text.trim()));
        }
        if (type == boolean.class) {
            return truth(text);
        }
        if (type == double.class) {
            return real(text);
        }
        return type == byte[].class ? bytes(text) : text;
    }

    /** The text of an integer, which Java would also read in the digits of other scripts. */
    public static String ascii(String integer) {
        for (int at = 0; at < integer.length(); at++) {
            if (integer.charAt(at) > '9') {
                throw new NumberFormatException("not an integer: " + integer);
            }
        }
        return integer;
    }

    /** xsd:boolean. */
    static boolean truth(String text) {
        return switch (text.trim()) {
            case "true", "1" -> true;
            case "false", "0" -> false;
            default -> throw new IllegalArgumentException("not a boolean: " + text);
        };
    }

    /** xsd:double, whose infinities are not written as Java writes them. */
    static double real(String text) {
        String number = text.trim();
        return switch (number) {
            case "INF" -> Double.POSITIVE_INFINITY;
            case "-INF" -> Double.NEGATIVE_INFINITY;
            case "NaN" -> Double.NaN;
            default -> {
                if (!DOUBLE.matcher(number).matches()) {
                    throw new NumberFormatException("not a double: " + number);
                }
                yield Double.parseDouble(number);
            }
        };
    }

    /** xsd:double. */
    static String format(double value) {
        if (Double.isInfinite(value)) {
            return value > 0 ? "INF" : "-INF";
        }
        return Double.toString(value);
    }

    /** xsd:base64Binary; white space may be anywhere in it. */
    static byte[] bytes(String text) {
        boolean spaced = text.chars().anyMatch(letter -> letter <= ' ');
        return Base64.getDecoder().decode(spaced ? SPACE.matcher(text).replaceAll("") : text);
    }
}
