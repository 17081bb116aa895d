package wirelab.service.web;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Content codings, there and back. */
class CodingTest {
    private static final byte[] TEXT = "a text, a text, a text".getBytes();

    @ParameterizedTest
    @EnumSource(value = Coding.class, names = "NONE", mode = EnumSource.Mode.EXCLUDE)
    void aClosedDecoderLeavesTheStreamOfTheNextRequestOpen(Coding coding) throws Exception {
        AtomicBoolean closed = new AtomicBoolean();
        InputStream packed = new ByteArrayInputStream(coding.encode(TEXT)) {
            @Override
            public void close() {
                closed.set(true);
            }
        };
        try (InputStream plain = coding.decode(packed)) {
            assertArrayEquals(TEXT, plain.readAllBytes());
        }
        assertFalse(closed.get());
    }
}
