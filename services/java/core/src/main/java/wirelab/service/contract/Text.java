package wirelab.service.contract;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.function.LongUnaryOperator;

/** The texts, patterns and digests of contracts/README.md. */
public final class Text {
    /** What each output of SplitMix64 adds to the state. */
    static final long GAMMA = 0x9E3779B97F4A7C15L;
    private static final byte[] ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
            .getBytes(StandardCharsets.US_ASCII);
    private static final String GREETING = "Hello, wirelab";
    private static final int LETTERS_PER_OUTPUT = 10;

    private Text() {}

    /** Output number {@code index}, from 0, of SplitMix64 with seed 0 (Steele, Lea, Flood 2014). */
    private static long output(long index) {
        return mix((index + 1) * GAMMA);
    }

    /** The output of SplitMix64 in that state. */
    static long mix(long state) {
        long z = state;
        z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
        z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
        return z ^ z >>> 31;
    }

    /** text(n): n ASCII letters. */
    public static String text(int bytes) {
        if (bytes == GREETING.length()) {
            return GREETING;
        }
        return letters(bytes, Text::output);
    }

    /** That many letters of base64, ten of each output; {@code outputs} is called with 0, 1, 2, … */
    static String letters(int count, LongUnaryOperator outputs) {
        byte[] letters = new byte[count];
        long z = 0;
        for (int at = 0; at < count; at++) {
            if (at % LETTERS_PER_OUTPUT == 0) {
                z = outputs.applyAsLong(at / LETTERS_PER_OUTPUT);
            }
            letters[at] = ALPHABET[(int) (z >>> 6 * (at % LETTERS_PER_OUTPUT)) & 63];
        }
        return new String(letters, StandardCharsets.US_ASCII);
    }

    /** The bytes {@code from} to {@code from + length} of the endless pattern. */
    public static byte[] pattern(long from, int length) {
        byte[] pattern = new byte[length];
        long z = 0;
        for (int at = 0; at < length; at++) {
            long place = from + at;
            if (at == 0 || place % Long.BYTES == 0) {
                z = output(place / Long.BYTES);
            }
            pattern[at] = (byte) (z >>> 8 * (place % Long.BYTES));
        }
        return pattern;
    }

    /** A fresh SHA-256. */
    public static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException impossible) {
            throw new AssertionError("every Java platform has SHA-256", impossible);
        }
    }

    /** Lower-case hexadecimal digits. */
    public static String hex(byte[] digest) {
        return HexFormat.of().formatHex(digest);
    }
}
