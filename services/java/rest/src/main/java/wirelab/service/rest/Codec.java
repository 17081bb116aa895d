package wirelab.service.rest;

import java.util.List;
import wirelab.service.contract.Exchange;
import wirelab.service.contract.Model;

/** How messages become bytes. Threads share it. */
interface Codec {
    /** The media type, as Content-Type says it. */
    String contentType();

    /** Media types that are read, without parameters; the first is the one that is written. */
    List<String> mediaTypes();

    /** The operations that this codec can carry, over the message classes that it takes. */
    List<? extends Exchange<?, ?>> exchanges(Model model);

    /** Reads one message; throws {@link Malformed} when the bytes are none. */
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
