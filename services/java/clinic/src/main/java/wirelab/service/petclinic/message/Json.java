package wirelab.service.petclinic.message;

import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.CoercionAction;
import com.fasterxml.jackson.databind.cfg.CoercionInputShape;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.type.LogicalType;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import wirelab.service.contract.Lists;

/** Jackson as strict as the contract: its defaults accept {@code "5"} and {@code 1.5} as integers. */
final class Json {
    static final String MEDIA_TYPE = "application/json";

    /** Tokens of a whole message, of which Jackson knows no finer limit; an item has four. */
    private static final long TOKENS_MAX = 20L * Lists.ITEMS_MAX;

    static final ObjectMapper MAPPER = JsonMapper.builder(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder().maxTokenCount(TOKENS_MAX).build())
                    .build())
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
            .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
            .defaultSetterInfo(JsonSetter.Value.forValueNulls(Nulls.SKIP, Nulls.FAIL))
            .withCoercionConfig(LogicalType.Textual, only -> only
                    .setCoercion(CoercionInputShape.Boolean, CoercionAction.Fail)
                    .setCoercion(CoercionInputShape.Integer, CoercionAction.Fail)
                    .setCoercion(CoercionInputShape.Float, CoercionAction.Fail))
            .build();

    private Json() {}

    static <T> T read(byte[] body, Class<T> message) throws Messages.Malformed {
        return read(MAPPER, body, message);
    }

    static <T> T read(ObjectMapper mapper, byte[] body, Class<T> message) throws Messages.Malformed {
        try {
            // Strictly: Jackson's own decoder takes surrogates and overlong forms of UTF-8.
            String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(body)).toString();
            T read = mapper.readValue(text, message);
            if (read == null) {
                throw new Messages.Malformed("null is no object");
            }
            return read;
        } catch (CharacterCodingException error) {
            throw new Messages.Malformed("the body is not UTF-8");
        } catch (JsonProcessingException error) {
            throw new Messages.Malformed(error.getOriginalMessage());
        }
    }

    static byte[] write(Object reply) {
        return write(MAPPER, reply);
    }

    static byte[] write(ObjectMapper mapper, Object reply) {
        try {
            return mapper.writeValueAsBytes(reply);
        } catch (JsonProcessingException error) {
            throw new IllegalStateException("a reply that cannot be written", error);
        }
    }

    static byte[] error(String text) {
        return write(Map.of("error", text));
    }
}
