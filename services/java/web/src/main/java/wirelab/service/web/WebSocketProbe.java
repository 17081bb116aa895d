package wirelab.service.web;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** As much of a WebSocket client (RFC 6455) as one message and the stream that answers it need. */
final class WebSocketProbe {
    private static final int FIN = 0x80;
    private static final int OPCODE = 0x0f;
    private static final int TEXT = 1;
    private static final int BINARY = 2;
    private static final int CLOSE = 8;
    private static final int MASKED = 0x80;
    /** The length of a payload is in the next two bytes. */
    private static final int LONG = 126;

    /** With the key of RFC 6455 section 1.3. */
    private static final String UPGRADE = "Host: localhost\r\nConnection: Upgrade\r\n"
            + "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

    private static final byte[] NORMAL_CLOSURE = {1000 >> 8, (byte) 1000};

    private WebSocketProbe() {}

    /** Sends the body as one message, and returns when an empty text has ended what answers it. */
    static void call(OwnConnection connection, SelfCall.Request request, boolean text)
            throws IOException {
        DataInputStream input = new DataInputStream(connection.input());
        String ask = "GET " + request.path() + " HTTP/1.1\r\n" + UPGRADE + "\r\n";
        write(connection, ask.getBytes(StandardCharsets.US_ASCII));
        String head = head(input);
        if (!head.startsWith("HTTP/1.1 101")) {
            throw new IOException("the service answered its own call with \""
                    + head.lines().findFirst().orElse("") + "\"");
        }
        write(connection, frame(text ? TEXT : BINARY, request.body()));
        awaitEnd(input);
        write(connection, frame(CLOSE, NORMAL_CLOSURE));
        input.readAllBytes();
    }

    private static void write(OwnConnection connection, byte[] bytes) throws IOException {
        connection.output().write(bytes);
        connection.output().flush();
    }

    private static String head(DataInputStream input) throws IOException {
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            head.append((char) input.readUnsignedByte());
        }
        return head.toString();
    }

    /** A frame whose mask is 0, which leaves the payload as it is. */
    private static byte[] frame(int opcode, byte[] payload) {
        if (payload.length >= LONG) {
            throw new IllegalArgumentException(
                    "too long for a probe: " + payload.length + " bytes");
        }
        ByteArrayOutputStream frame = new ByteArrayOutputStream();
        frame.write(FIN | opcode);
        frame.write(MASKED | payload.length);
        frame.writeBytes(new byte[Integer.BYTES]);
        frame.writeBytes(payload);
        return frame.toByteArray();
    }

    private static void awaitEnd(DataInputStream input) throws IOException {
        while (true) {
            int opcode = input.readUnsignedByte() & OPCODE;
            int length = input.readUnsignedByte();
            byte[] payload = input.readNBytes(length == LONG ? input.readUnsignedShort() : length);
            if (opcode == CLOSE) {
                int status = payload.length < Short.BYTES ? 0 : ByteBuffer.wrap(payload).getShort();
                throw new IOException("the service closed its own call with status " + status);
            }
            if (opcode == TEXT && payload.length == 0) {
                return;
            }
        }
    }
}
