package wirelab.service.contract.message;

import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.cfg.CoercionAction;
import com.fasterxml.jackson.databind.cfg.CoercionInputShape;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.type.LogicalType;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import wirelab.service.contract.Lists;

/** Jackson as strict as the contracts: its defaults accept {@code "5"} and {@code 1.5} as integers. */
public final class StrictJackson {
    /**
     * Tokens of a whole message: Jackson counts nothing finer. The largest item, a record of four
     * fields, has ten of them; twice as many leave room for fields that nobody knows.
     */
    private static final long TOKENS_MAX = 20L * Lists.ITEMS_MAX;

    private StrictJackson() {}

    /** For a format of Jackson's, whose limits it sets. */
    public static JsonMapper.Builder builder(JsonFactory format) {
        // The body's own bound is the limit; Jackson's is below the largest upload.
        format.setStreamReadConstraints(StreamReadConstraints.builder()
                .maxStringLength(Integer.MAX_VALUE)
                .maxTokenCount(TOKENS_MAX)
                .build());
        return JsonMapper.builder(format)
                .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
                .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
                .defaultSetterInfo(JsonSetter.Value.forValueNulls(Nulls.SKIP, Nulls.FAIL))
                .withCoercionConfig(LogicalType.Textual, only -> only
                        .setCoercion(CoercionInputShape.Boolean, CoercionAction.Fail)
                        .setCoercion(CoercionInputShape.Integer, CoercionAction.Fail)
                        .setCoercion(CoercionInputShape.Float, CoercionAction.Fail));
    }

    /** Strictly: Jackson's own decoder takes surrogates and overlong forms of UTF-8. */
    public static String text(byte[] bytes) throws CharacterCodingException {
        return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    }
}
