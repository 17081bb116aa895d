package wirelab.service.contract;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import wirelab.service.Bench;

/** Texts and patterns are those of every other service. */
class TextTest {
    @Test
    void digestsAreThoseOfTheVectors() throws Exception {
        List<?> sizes = (List<?>) Bench.vectors("texts.json");
        for (Object each : sizes) {
            Map<?, ?> size = (Map<?, ?>) each;
            int bytes = ((Number) size.get("bytes")).intValue();
            assertEquals(size.get("text_sha256"), sha256(Text.text(bytes).getBytes(StandardCharsets.US_ASCII)));
            assertEquals(size.get("pattern_sha256"), sha256(Text.pattern(0, bytes)));
        }
    }

    @Test
    void aPatternMayBeginAnywhere() {
        byte[] whole = Text.pattern(0, 100);
        for (int from = 0; from < 20; from++) {
            byte[] part = new byte[60];
            System.arraycopy(whole, from, part, 0, 60);
            assertArrayEquals(part, Text.pattern(from, 60));
        }
    }

    private static String sha256(byte[] data) {
        return Transfer.sha256(data);
    }
}
