package service.codec;

import java.util.List;

/** The bytes of messages. Threads share it. */
public interface Codec {
    /** Media types that are read, without parameters; the first is the one that is written. */
    List<String> mediaTypes();

    /** Reads one message of a class; throws {@link Malformed} for bytes that are not one. */
    Object read(byte[] bytes, Class<?> message) throws Malformed;

    /** Writes one message. */
    byte[] write(Object message);

    /** Writes an error's text. */
    byte[] error(String text);

    /** Bytes that are not a message of the expected class. */
    final class Malformed extends Exception {
        private static final long serialVersionUID = 1L;

        Malformed(Throwable cause) {
            super(String.valueOf(cause.getMessage()).lines().findFirst().orElse(""), cause);
        }

        Malformed(String message) {
            super(message);
        }
    }
}
