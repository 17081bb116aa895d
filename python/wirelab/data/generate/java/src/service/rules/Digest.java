package service.rules;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.time.Instant;

/** The values that fields add to a digest; integers add themselves. */
public final class Digest {
    private static final int NANOS = 1_000_000_000;

    private Digest() {}

    public static long of(boolean value) {
        return value ? 1 : 0;
    }

    /** The bits of the double; both zeros count as 0. */
    public static long of(double value) {
        return value == 0 ? 0 : Double.doubleToLongBits(value);
    }

    /** Number of code points and the first of them. */
    public static long of(String value) {
        return value.isEmpty() ? 0 : value.codePointCount(0, value.length()) + (long) value.codePointAt(0);
    }

    /** Length and first byte. */
    public static long of(byte[] value) {
        return value.length == 0 ? 0 : value.length + (value[0] & 0xffL);
    }

    /** Length and first byte. */
    public static long of(ByteString value) {
        return value.isEmpty() ? 0 : value.size() + (value.byteAt(0) & 0xffL);
    }

    /** Seconds and nanoseconds. */
    public static long of(Instant value) {
        return value.getEpochSecond() + value.getNano();
    }

    /** Seconds and nanoseconds, both with the sign of the duration. */
    public static long of(Duration value) {
        boolean borrowed = value.isNegative() && value.getNano() > 0;
        return value.getSeconds() + value.getNano() + (borrowed ? 1L - NANOS : 0);
    }

    /** Seconds and nanoseconds. */
    public static long of(com.google.protobuf.Timestamp value) {
        return value.getSeconds() + value.getNanos();
    }

    /** Seconds and nanoseconds. */
    public static long of(com.google.protobuf.Duration value) {
        return value.getSeconds() + value.getNanos();
    }
}
