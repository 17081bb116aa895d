package wirelab.service.rest;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import wirelab.service.contract.Stream;

/** The lines of a request, each of a bounded length. */
final class ItemLines {
    private static final int BYTES_MAX = Stream.MESSAGE_BYTES_MAX;

    /** A line is longer than any message. */
    static final class TooLong extends IOException {
        private static final long serialVersionUID = 1L;

        TooLong() {
            super("a line has at most " + BYTES_MAX + " bytes");
        }
    }

    private final InputStream from;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream();

    /** {@code from} is buffered. */
    ItemLines(InputStream from) {
        this.from = from;
    }

    /** The next line without its end; null after the last one, which may lack its end. */
    byte[] next() throws IOException {
        line.reset();
        int octet = from.read();
        if (octet < 0) {
            return null;
        }
        for (; octet >= 0 && octet != '\n'; octet = from.read()) {
            if (line.size() == BYTES_MAX) {
                throw new TooLong();
            }
            line.write(octet);
        }
        return line.toByteArray();
    }

    /** A body that is one message. */
    static byte[] readWhole(InputStream body) throws IOException {
        byte[] whole = body.readNBytes(BYTES_MAX + 1);
        if (whole.length > BYTES_MAX) {
            throw new TooLong();
        }
        return whole;
    }
}
