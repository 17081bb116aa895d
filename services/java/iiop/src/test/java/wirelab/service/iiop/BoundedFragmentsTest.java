package wirelab.service.iiop;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BoundedFragmentsTest {
    private static final int REQUEST = 0;
    private static final int FRAGMENT = 7;
    private static final long BYTES_MAX = 10_000;

    private final ByteArrayOutputStream sent = new ByteArrayOutputStream();

    @ParameterizedTest
    @ValueSource(ints = {1, 5, 12, 4096})
    void whatEndsInTimePasses(int atATime) throws IOException {
        for (int request = 0; request < 50; request++) {
            message(REQUEST, true, request, 3_000);
            message(REQUEST, false, request + 100, 20_000);
            message(FRAGMENT, true, request, 3_000);
            message(FRAGMENT, false, request, 3_000);
        }
        assertArrayEquals(sent.toByteArray(), read(atATime));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 5, 12, 4096})
    void oneMessageWithoutEndIsRefused(int atATime) throws IOException {
        message(REQUEST, true, 1, 3_000);
        message(FRAGMENT, true, 1, 3_000);
        message(FRAGMENT, true, 1, 2_976);
        read(atATime);
        message(FRAGMENT, true, 1, 4);
        assertThrows(IOException.class, () -> read(atATime));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4096})
    void manyMessagesWithoutEndAreRefused(int atATime) throws IOException {
        for (int request = 0; request < 9; request++) {
            message(REQUEST, true, request, 4);
        }
        read(atATime);
        message(REQUEST, true, 9, 4);
        assertThrows(IOException.class, () -> read(atATime));
    }

    private byte[] read(int atATime) throws IOException {
        ByteArrayOutputStream seen = new ByteArrayOutputStream();
        InputStream bounded = new BoundedFragments(new ByteArrayInputStream(sent.toByteArray()), BYTES_MAX);
        byte[] part = new byte[atATime];
        for (int count = bounded.read(part); count >= 0; count = bounded.read(part)) {
            seen.write(part, 0, count);
        }
        return seen.toByteArray();
    }

    /** Every other request in little-endian. */
    private void message(int kind, boolean more, int request, int size) {
        boolean isLittle = request % 2 == 1;
        ByteBuffer message = ByteBuffer.allocate(12 + size);
        message.order(isLittle ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN);
        message.put("GIOP".getBytes()).put((byte) 1).put((byte) 2);
        message.put((byte) ((more ? 2 : 0) | (isLittle ? 1 : 0))).put((byte) kind);
        message.putInt(size).putInt(request);
        sent.writeBytes(message.array());
    }
}
