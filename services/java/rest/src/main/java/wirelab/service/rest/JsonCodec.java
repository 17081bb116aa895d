package wirelab.service.rest;

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
import java.util.List;
import wirelab.service.contract.Exchange;
import wirelab.service.contract.Exchanges;
import wirelab.service.contract.Lists;
import wirelab.service.contract.Model;
import wirelab.service.contract.message.ErrorMessage;

/** JSON by Jackson, which by itself would take {@code "5"} and {@code 1.5} for integers. */
final class JsonCodec implements Codec {
    /**
     * Tokens of a whole message: Jackson counts nothing finer. The largest item, a record of four
     * fields, has ten of them; twice as many leave room for fields that nobody knows.
     */
    private static final long TOKENS_MAX = 20L * Lists.ITEMS_MAX;

    private final ObjectMapper mapper;

    JsonCodec() {
        JsonFactory factory = JsonFactory.builder()
                // The body's own bound is the limit; Jackson's is below the largest upload.
                .streamReadConstraints(StreamReadConstraints.builder()
                        .maxStringLength(Integer.MAX_VALUE)
                        .maxTokenCount(TOKENS_MAX)
                        .build())
                .build();
        mapper = JsonMapper.builder(factory)
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
    }

    @Override
    public String contentType() {
        return "application/json";
    }

    @Override
    public List<String> mediaTypes() {
        return List.of("application/json");
    }

    @Override
    public List<Exchange<?, ?>> exchanges(Model model) {
        return Exchanges.of(model);
    }

    @Override
    public Object read(byte[] bytes, Class<?> message) throws Malformed {
        try {
            // Strictly: Jackson's own decoder takes surrogates and overlong forms of UTF-8.
            String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
            Object read = mapper.readValue(text, message);
            if (read == null) {
                throw new Malformed("null is no " + message.getSimpleName());
            }
            return read;
        } catch (CharacterCodingException error) {
            throw new Malformed("the body is not UTF-8");
        } catch (JsonProcessingException error) {
            throw new Malformed(error);
        }
    }

    @Override
    public byte[] write(Object message) {
        try {
            return mapper.writeValueAsBytes(message);
        } catch (JsonProcessingException error) {
            throw new IllegalStateException("a reply that is no JSON", error);
        }
    }

    @Override
    public byte[] error(String text) {
        return write(new ErrorMessage(text));
    }
}
