package wirelab.service.web;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;

/** As much of an HTTP/2 client (RFC 9113) as one small request needs. */
final class Http2Probe {
    private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final int DATA = 0;
    private static final int HEADERS = 1;
    private static final int RST_STREAM = 3;
    private static final int SETTINGS = 4;
    private static final int GOAWAY = 7;
    private static final int END_STREAM = 1;
    private static final int END_HEADERS = 4;
    /** {@code :status: 200} of the static table (RFC 7541 appendix A), as an indexed field; 400 and 500 likewise. */
    private static final Map<Integer, Integer> STATUS = Map.of(0x88, 200, 0x8c, 400, 0x8e, 500);

    private Http2Probe() {}

    static int status(OwnConnection connection, SelfCall.Request request, boolean secure)
            throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(PREFACE);
        frame(out, SETTINGS, 0, 0, new byte[0]);
        frame(out, HEADERS, END_HEADERS | (request.body() == null ? END_STREAM : 0), 1, fields(request, secure));
        if (request.body() != null) {
            frame(out, DATA, END_STREAM, 1, request.body());
        }
        connection.output().write(out.toByteArray());
        connection.output().flush();
        return read(new DataInputStream(connection.input()));
    }

    private static void frame(ByteArrayOutputStream out, int kind, int flags, int stream, byte[] payload) {
        out.writeBytes(ByteBuffer.allocate(9)
                .putInt(payload.length << 8 | kind).put((byte) flags).putInt(stream).array());
        out.writeBytes(payload);
    }

    /**
     * Fields with indexed names where the static table (RFC 7541 appendix A) has them, which Tomcat
     * wants of pseudo-fields; the others as literals without indexing (section 6.2.2).
     */
    private static byte[] fields(SelfCall.Request request, boolean secure) {
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        block.write(request.body() == null ? 0x82 : 0x83); // :method: GET or POST
        block.write(secure ? 0x87 : 0x86); // :scheme: https or http
        block.write(1); // :authority
        literal(block, "localhost");
        block.write(4); // :path
        literal(block, request.path());
        request.fields().forEach((name, value) -> {
            block.write(0);
            literal(block, name.toLowerCase(Locale.ROOT));
            literal(block, value);
        });
        return block.toByteArray();
    }

    private static void literal(ByteArrayOutputStream block, String text) {
        byte[] octets = text.getBytes(StandardCharsets.US_ASCII);
        if (octets.length >= 127) {
            throw new IllegalArgumentException("too long for a probe: " + text);
        }
        block.write(octets.length);
        block.writeBytes(octets);
    }

    private static int read(DataInputStream input) throws IOException {
        while (true) {
            int head = input.readInt();
            input.readByte();
            int stream = input.readInt();
            byte[] payload = input.readNBytes(head >>> 8);
            int kind = head & 0xff;
            if (kind == GOAWAY || kind == RST_STREAM) {
                throw new IOException("the service ended its own HTTP/2 call by frame type " + kind);
            }
            if (kind == HEADERS && stream == 1) {
                return status(payload);
            }
        }
    }

    private static int status(byte[] block) {
        int at = 0;
        // A change of the table's size may come first (RFC 7541 section 6.3): an integer of prefix 5.
        if (block.length > 0 && (block[0] & 0xe0) == 0x20) {
            boolean longer = (block[0] & 0x1f) == 0x1f;
            for (at = 1; longer; at++) {
                longer = (block[at] & 0x80) != 0;
            }
        }
        return at < block.length ? STATUS.getOrDefault(block[at] & 0xff, 0) : 0;
    }
}
