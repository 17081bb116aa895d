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
import com.fasterxml.jackson.dataformat.cbor.CBORFactory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.msgpack.jackson.dataformat.MessagePackFactory;
import wirelab.service.contract.Exchange;
import wirelab.service.contract.Exchanges;
import wirelab.service.contract.Lists;
import wirelab.service.contract.Model;
import wirelab.service.contract.message.ErrorMessage;

/**
 * JSON, CBOR (RFC 8949) and MessagePack by Jackson, which by itself would take {@code "5"} and
 * {@code 1.5} for integers.
 */
final class JacksonCodec implements Codec {
    /**
     * Tokens of a whole message: Jackson counts nothing finer. The largest item, a record of four
     * fields, has ten of them; twice as many leave room for fields that nobody knows.
     */
    private static final long TOKENS_MAX = 20L * Lists.ITEMS_MAX;

    private static final String JSON = "application/json";

    private final String mediaType;
    private final ObjectMapper mapper;

    private JacksonCodec(String mediaType, JsonFactory format) {
        // The body's own bound is the limit; Jackson's is below the largest upload.
        format.setStreamReadConstraints(StreamReadConstraints.builder()
                .maxStringLength(Integer.MAX_VALUE)
                .maxTokenCount(TOKENS_MAX)
                .build());
        this.mediaType = mediaType;
        mapper = JsonMapper.builder(format)
                .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
                .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
                .defaultSetterInfo(JsonSetter.Value.forValueNulls(Nulls.SKIP, Nulls.FAIL))
                .withCoercionConfig(LogicalType.Textual, only -> only
                        .setCoercion(CoercionInputShape.Boolean, CoercionAction.Fail)
                        .setCoercion(CoercionInputShape.Integer, CoercionAction.Fail)
                        .setCoercion(CoercionInputShape.Float, CoercionAction.Fail)
                        .setCoercion(CoercionInputShape.Binary, CoercionAction.Fail))
                .build();
    }

    static JacksonCodec json() {
        return new JacksonCodec(JSON, new JsonFactory());
    }

    static JacksonCodec cbor() {
        return new JacksonCodec("application/cbor", new CBORFactory());
    }

    static JacksonCodec msgpack() {
        return new JacksonCodec("application/vnd.msgpack", new MessagePackFactory());
    }

    @Override
    public String contentType() {
        return mediaType;
    }

    @Override
    public List<String> mediaTypes() {
        return List.of(mediaType);
    }

    @Override
    public List<Exchange<?, ?>> exchanges(Model model) {
        return Exchanges.of(model);
    }

    @Override
    public Object read(byte[] bytes, Class<?> message) throws Malformed {
        try {
            Object read = mediaType.equals(JSON)
                    ? mapper.readValue(text(bytes), message)
                    : mapper.readValue(bytes, message);
            if (read == null) {
                throw new Malformed("null is no " + message.getSimpleName());
            }
            return read;
        } catch (CharacterCodingException error) {
            throw new Malformed("the body is not UTF-8");
        } catch (IOException error) {
            throw new Malformed(error);
        }
    }

    /** Strictly: Jackson's own decoder takes surrogates and overlong forms of UTF-8. */
    private static String text(byte[] bytes) throws CharacterCodingException {
        return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    }

    @Override
    public byte[] write(Object message) {
        try {
            return mapper.writeValueAsBytes(message);
        } catch (JsonProcessingException error) {
            throw new IllegalStateException("a reply that cannot be written", error);
        }
    }

    @Override
    public byte[] error(String text) {
        return write(new ErrorMessage(text));
    }
}
