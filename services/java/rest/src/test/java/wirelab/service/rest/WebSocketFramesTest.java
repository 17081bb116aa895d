package wirelab.service.rest;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import wirelab.service.Address;
import wirelab.service.Bench;

/** Frames that no library sends (RFC 6455), over raw sockets. */
class WebSocketFramesTest {
    private static final int PATIENCE_MS = 30_000;
    private static final int FIN = 0x80;
    private static final int CONTINUATION = 0;
    private static final int TEXT = 1;
    private static final int CLOSE = 8;
    private static final int PING = 9;
    private static final int PONG = 10;
    private static final String VERSION = "Sec-WebSocket-Version: 13\r\n";
    /** Of RFC 6455 section 1.3. */
    private static final String KEY = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    private static final byte[] MASK = {1, 2, 3, 4};

    private Bench bench;

    @BeforeEach
    void start() throws Exception {
        bench = Bench.start("stream", "{\"binding\":\"websocket\",\"codec\":\"json\"}");
    }

    @AfterEach
    void stop() {
        bench.close();
    }

    private static String handshake(String path, String fields) {
        return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n"
                + "Upgrade: websocket\r\n" + fields + "\r\n";
    }

    /** A connection on which the handshake is done. */
    private final class Peer implements AutoCloseable {
        private final Socket socket = new Socket();
        private final DataInputStream input;
        private final String head;

        Peer(String path, String fields) throws IOException {
            socket.connect(Address.internet(bench.running().address()), PATIENCE_MS);
            socket.setSoTimeout(PATIENCE_MS);
            input = new DataInputStream(socket.getInputStream());
            write(handshake(path, VERSION + KEY + fields).getBytes(StandardCharsets.US_ASCII));
            StringBuilder read = new StringBuilder();
            while (read.indexOf("\r\n\r\n") < 0) {
                read.append((char) input.readUnsignedByte());
            }
            head = read.toString();
            assertTrue(head.startsWith("HTTP/1.1 101"), head);
        }

        void write(byte[] bytes) throws IOException {
            socket.getOutputStream().write(bytes);
        }

        void send(int first, String payload) throws IOException {
            write(frame(first, payload.getBytes(StandardCharsets.UTF_8)));
        }

        /** The payload of the next frame, which has that first byte. */
        byte[] read(int first) throws IOException {
            assertEquals(first, input.readUnsignedByte());
            int length = input.readUnsignedByte();
            return input.readNBytes(length == 126 ? input.readUnsignedShort() : length);
        }

        void assertClosed(int status) throws IOException {
            assertEquals(status, ByteBuffer.wrap(read(FIN | CLOSE)).getShort());
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    private static byte[] frame(int first, byte[] payload) {
        ByteArrayOutputStream frame = new ByteArrayOutputStream();
        frame.write(first);
        if (payload.length < 126) {
            frame.write(0x80 | payload.length);
        } else {
            frame.writeBytes(ByteBuffer.allocate(3)
                    .put((byte) (0x80 | 126)).putShort((short) payload.length).array());
        }
        frame.writeBytes(MASK);
        for (int at = 0; at < payload.length; at++) {
            frame.write(payload[at] ^ MASK[at % MASK.length]);
        }
        return frame.toByteArray();
    }

    private Peer connect(String path) throws IOException {
        return new Peer(path, "");
    }

    /** The bytes in hexadecimal are sent as they are. */
    @ParameterizedTest
    @CsvSource({
        "an unmasked message,8100,1002",
        "an unmasked message with a payload,81027b7d,1002",
        "a ping in fragments,098000000000,1002",
        "a ping of 126 bytes,89fe007e00000000,1002",
        "an unknown opcode,838000000000,1002",
        "an unknown control opcode,8b8000000000,1002",
        "a reserved bit,c18000000000,1002",
        "a fragment without a beginning,808000000000,1002",
        "a message within a message,0180000000008180 00000000,1002",
        "a close of one byte,88810000000003,1002",
        "a negative length,81ff8000000000000000 00000000,1002",
        "a text that is not UTF-8,818100000000ff,1007",
        "a surrogate in UTF-8,818300000000eda080,1007",
        "half a character,818100000000c3,1007",
        "binary,828000000000,1003"
    })
    void whatIsNotAllowedEndsTheConnection(String name, String hexadecimal, int status)
            throws IOException {
        byte[] bytes = HexFormat.of().parseHex(hexadecimal.replace(" ", ""));
        for (String path : new String[] {"/stream/feed", "/stream/push", "/stream/chat"}) {
            try (Peer peer = connect(path)) {
                peer.write(bytes);
                peer.assertClosed(status);
            }
        }
        assertEquals(0, bench.inFlight());
    }

    @Test
    void aFrameLongerThanAnyMessageEndsTheConnectionBeforeItIsComplete() throws IOException {
        try (Peer peer = connect("/stream/push")) {
            // One terabyte.
            peer.write(HexFormat.of().parseHex("81ff" + "0000010000000000" + "00000000"));
            byte[] part = new byte[500_000];
            Arrays.fill(part, (byte) ' ');
            peer.write(part);
            peer.assertClosed(1009);
        }
    }

    @Test
    void fragmentsMayDivideACharacterAndEncloseAPing() throws IOException {
        try (Peer peer = connect("/stream/chat")) {
            byte[] item = "{\"index\":0,\"text\":\"ä\"}".getBytes(StandardCharsets.UTF_8);
            int middle = item.length - 3;
            peer.write(frame(TEXT, Arrays.copyOf(item, middle)));
            peer.send(FIN | PING, "within");
            assertArrayEquals("within".getBytes(StandardCharsets.UTF_8), peer.read(FIN | PONG));
            peer.send(CONTINUATION, "");
            byte[] rest = Arrays.copyOfRange(item, middle, item.length);
            peer.write(frame(FIN | CONTINUATION, rest));
            String answer = new String(peer.read(FIN | TEXT), StandardCharsets.UTF_8);
            assertTrue(answer.contains("\"text\":\"ä\""), answer);
            // An end in fragments.
            peer.send(TEXT, "");
            peer.send(FIN | CONTINUATION, "");
            assertEquals(0, peer.read(FIN | TEXT).length);
        }
    }

    /** The messages of a stream may come in one segment. */
    @Test
    void messagesMayFollowEachOtherAtOnce() throws IOException {
        try (Peer peer = connect("/stream/push")) {
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            for (int index = 0; index < 100; index++) {
                String item = "{\"index\":" + index + "}";
                all.writeBytes(frame(FIN | TEXT, item.getBytes(StandardCharsets.UTF_8)));
            }
            all.writeBytes(frame(FIN | TEXT, new byte[0]));
            peer.write(all.toByteArray());
            String reply = new String(peer.read(FIN | TEXT), StandardCharsets.UTF_8);
            assertTrue(reply.startsWith("{\"count\":100,"), reply);
            assertEquals(0, peer.read(FIN | TEXT).length);
        }
    }

    @Test
    void aCloseIsAnsweredAndEndsTheConnection() throws IOException {
        try (Peer peer = connect("/stream/feed")) {
            peer.write(frame(FIN | CLOSE, new byte[] {1000 >> 8, (byte) 1000}));
            peer.assertClosed(1000);
            assertEquals(-1, peer.input.read());
        }
    }

    @Test
    void extensionsAndSubprotocolsAreNotChosen() throws IOException {
        try (Peer peer = new Peer("/stream/feed",
                "Sec-WebSocket-Extensions: permessage-deflate\r\n"
                        + "Sec-WebSocket-Protocol: chat\r\n")) {
            // The answer to the key, in the same section.
            assertTrue(peer.head.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), peer.head);
            assertFalse(peer.head.toLowerCase().contains("sec-websocket-extensions"), peer.head);
            assertFalse(peer.head.toLowerCase().contains("sec-websocket-protocol"), peer.head);
        }
    }

    @Test
    void requestsThatAreNotUpgradesAreRefused() throws IOException {
        Bench.Reply plain = bench.http("GET /stream/feed HTTP/1.1", null);
        assertEquals(426, plain.status());
        assertTrue(plain.head().contains("Upgrade: websocket"), plain.head());
        assertEquals(426, bench.http("POST /stream/push HTTP/1.1", new byte[] {'{', '}'}).status());
        assertEquals(404, bench.http("GET /stream/other HTTP/1.1", null).status());
        assertRefused(404, "/stream/other", VERSION + KEY);
        assertRefused(426, "/stream/chat", VERSION.replace("13", "8") + KEY);
        assertRefused(400, "/stream/chat", VERSION);
        assertEquals(0, bench.counts("Feed")[0]);
    }

    private void assertRefused(int status, String path, String fields) throws IOException {
        byte[] reply = bench.exchange(handshake(path, fields).getBytes(StandardCharsets.US_ASCII));
        String text = new String(reply, StandardCharsets.ISO_8859_1);
        assertTrue(text.startsWith("HTTP/1.1 " + status + " "), text);
    }
}
