package service.codec;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The texts of values, in XML Schema's lexical forms; of times and durations in the JSON of Protocol Buffers. */
public final class Texts {
    private static final Pattern INTEGER = Pattern.compile("[+-]?[0-9]{1,40}");
    private static final Pattern REAL = Pattern.compile("[+-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][+-]?[0-9]+)?");
    private static final Pattern SPACE = Pattern.compile("[ \t\r\n]+");
    private static final Pattern DURATION = Pattern.compile("(-?)([0-9]{1,12})(\\.([0-9]{1,9}))?s");
    private static final Instant FIRST = Instant.parse("0001-01-01T00:00:00Z");
    private static final Instant LAST = Instant.parse("9999-12-31T23:59:59.999999999Z");
    /** 10,000 years. */
    private static final long DURATION_SECONDS_MAX = 315_576_000_000L;
    private static final long UNSIGNED_32_MAX = 0xffff_ffffL;

    private Texts() {}

    /** Digits that Java would also read in other scripts. */
    private static String digits(String text) {
        String trimmed = text.trim();
        if (!INTEGER.matcher(trimmed).matches()) {
            throw new NumberFormatException("not an integer: " + text);
        }
        return trimmed;
    }

    /** Throws {@link IllegalArgumentException} when {@code text} is not such a value; as all that follow. */
    public static int int32(String text) {
        return Integer.parseInt(digits(text));
    }

    public static long int64(String text) {
        return Long.parseLong(digits(text));
    }

    public static long unsigned32(String text) {
        return unsigned32(int64(text));
    }

    /** The number, where 32 bits can hold it. */
    public static long unsigned32(long number) {
        if (number < 0 || number > UNSIGNED_32_MAX) {
            throw new NumberFormatException("not an unsigned number of 32 bits: " + number);
        }
        return number;
    }

    public static long unsigned64(String text) {
        String digits = digits(text);
        return digits.startsWith("-") ? unsigned64Negative(digits) : Long.parseUnsignedLong(digits);
    }

    private static long unsigned64Negative(String digits) {
        if (Long.parseLong(digits) != 0) {
            throw new NumberFormatException("not an unsigned number: " + digits);
        }
        return 0;
    }

    public static boolean bool(String text) {
        return switch (text.trim()) {
            case "true", "1" -> true;
            case "false", "0" -> false;
            default -> throw new IllegalArgumentException("not a boolean: " + text);
        };
    }

    public static double float64(String text) {
        String number = text.trim();
        return switch (number) {
            case "INF" -> Double.POSITIVE_INFINITY;
            case "-INF" -> Double.NEGATIVE_INFINITY;
            case "NaN" -> Double.NaN;
            default -> Double.parseDouble(real(number));
        };
    }

    public static float float32(String text) {
        String number = text.trim();
        return switch (number) {
            case "INF" -> Float.POSITIVE_INFINITY;
            case "-INF" -> Float.NEGATIVE_INFINITY;
            case "NaN" -> Float.NaN;
            default -> Float.parseFloat(real(number));
        };
    }

    private static String real(String number) {
        if (!REAL.matcher(number).matches()) {
            throw new NumberFormatException("not a number: " + number);
        }
        return number;
    }

    /** xsd:double, whose infinities are not written as Java writes them. */
    public static String write(double value) {
        if (Double.isInfinite(value)) {
            return value > 0 ? "INF" : "-INF";
        }
        return Double.toString(value);
    }

    /** xsd:float, as above. */
    public static String write(float value) {
        if (Float.isInfinite(value)) {
            return value > 0 ? "INF" : "-INF";
        }
        return Float.toString(value);
    }

    /** xsd:base64Binary; white space may be anywhere in it. */
    public static byte[] bytes(String text) {
        boolean spaced = text.chars().anyMatch(letter -> letter <= ' ');
        return Base64.getDecoder().decode(spaced ? SPACE.matcher(text).replaceAll("") : text);
    }

    /** RFC 3339, of the years 1 to 9999. */
    public static Instant instant(String text) {
        try {
            Instant instant = Instant.parse(text);
            if (instant.isBefore(FIRST) || instant.isAfter(LAST)) {
                throw new IllegalArgumentException("not a timestamp of the years 1 to 9999: " + text);
            }
            return instant;
        } catch (DateTimeException error) {
            throw new IllegalArgumentException("not a timestamp of RFC 3339: " + text, error);
        }
    }

    /** With 0, 3, 6 or 9 digits of the second's fraction. */
    public static String write(Instant value) {
        return DateTimeFormatter.ISO_INSTANT.format(value);
    }

    /** Seconds with {@code s}: 3.5s. */
    public static Duration duration(String text) {
        Matcher parts = DURATION.matcher(text);
        if (!parts.matches() || Long.parseLong(parts.group(2)) > DURATION_SECONDS_MAX) {
            throw new IllegalArgumentException("not a duration such as 3.5s: " + text);
        }
        String fraction = parts.group(4) == null ? "" : parts.group(4);
        int nanos = Integer.parseInt((fraction + "000000000").substring(0, 9));
        Duration duration = Duration.ofSeconds(Long.parseLong(parts.group(2)), nanos);
        return parts.group(1).isEmpty() ? duration : duration.negated();
    }

    /** As above, with 0, 3, 6 or 9 digits of the fraction. */
    public static String write(Duration value) {
        Duration length = value.abs();
        String sign = value.isNegative() ? "-" : "";
        return sign + length.getSeconds() + fraction(length.getNano()) + "s";
    }

    private static String fraction(int nanos) {
        if (nanos == 0) {
            return "";
        }
        String digits = String.valueOf(1_000_000_000 + nanos).substring(1);
        if (nanos % 1_000_000 == 0) {
            return "." + digits.substring(0, 3);
        }
        return "." + (nanos % 1_000 == 0 ? digits.substring(0, 6) : digits);
    }
}
