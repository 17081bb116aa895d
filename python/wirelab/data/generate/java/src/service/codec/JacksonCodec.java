package service.codec;

import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.io.JsonEOFException;
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
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePackException;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.jackson.dataformat.MessagePackFactory;
import org.msgpack.value.Value;

/**
 * JSON, CBOR (RFC 8949) and MessagePack by Jackson. The options are stricter than Jackson's
 * defaults, which accept {@code "5"} and {@code 1.5} as integers.
 */
final class JacksonCodec implements Codec {
    private static final String JSON = "application/json";
    private static final String MSGPACK = "application/vnd.msgpack";
    private static final MessagePack.UnpackerConfig STRICT =
            new MessagePack.UnpackerConfig().withActionOnMalformedString(CodingErrorAction.REPORT);

    private final String mediaType;
    private final ObjectMapper mapper;

    static JacksonCodec json() {
        return new JacksonCodec(JSON, new JsonFactory());
    }

    static JacksonCodec cbor() {
        return new JacksonCodec("application/cbor", new CBORFactory());
    }

    static JacksonCodec msgpack() {
        return new JacksonCodec(MSGPACK, new MessagePackFactory());
    }

    private JacksonCodec(String mediaType, JsonFactory format) {
        this.mediaType = mediaType;
        boolean text = mediaType.equals(JSON);
        // The body's own bound is the limit.
        format.setStreamReadConstraints(
                StreamReadConstraints.builder().maxStringLength(Integer.MAX_VALUE).build());
        mapper = JsonMapper.builder(format)
                .annotationIntrospector(new EmptyNames())
                // MessagePack's parser takes the end of the bytes for a mistake; see readWhole().
                .configure(DeserializationFeature.FAIL_ON_TRAILING_TOKENS, text)
                .enable(DeserializationFeature.FAIL_ON_NUMBERS_FOR_ENUMS)
                .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
                .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
                .defaultSetterInfo(JsonSetter.Value.forValueNulls(text ? Nulls.SKIP : Nulls.FAIL, Nulls.FAIL))
                .withCoercionConfig(LogicalType.Textual, only -> only
                        .setCoercion(CoercionInputShape.Boolean, CoercionAction.Fail)
                        .setCoercion(CoercionInputShape.Integer, CoercionAction.Fail)
                        .setCoercion(CoercionInputShape.Float, CoercionAction.Fail))
                .addModule(text ? Scalars.ofText() : Scalars.ofBinary())
                .build();
    }

    @Override
    public List<String> mediaTypes() {
        return List.of(mediaType);
    }

    @Override
    public Object read(byte[] bytes, Class<?> message) throws Malformed {
        try {
            Object read = mediaType.equals(JSON)
                    ? mapper.readValue(text(bytes), message)
                    : readWhole(bytes, message);
            if (read == null) {
                throw new Malformed("null is not a " + message.getSimpleName());
            }
            return read;
        } catch (CharacterCodingException error) {
            throw new Malformed("the body is not UTF-8");
        } catch (IOException | IllegalArgumentException | MessagePackException error) {
            throw new Malformed(error);
        } catch (StackOverflowError error) {
            throw new Malformed("the message is nested too deep");
        }
    }

    /** Strictly: Jackson's own decoder takes surrogates and overlong forms of UTF-8. */
    private static String text(byte[] bytes) throws CharacterCodingException {
        return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    }

    private Object readWhole(byte[] bytes, Class<?> message) throws IOException, Malformed {
        boolean[] replaced = {false};
        try (JsonParser parser = mapper.createParser(bytes)) {
            Object read = mapper.readerFor(message).withAttribute(Scalars.REPLACED, replaced).readValue(parser);
            if (!isAtEnd(parser)) {
                throw new Malformed("bytes follow the message");
            }
            if (replaced[0] && mediaType.equals(MSGPACK)) {
                try (MessageUnpacker unpacker = STRICT.newUnpacker(bytes)) {
                    checkTexts(unpacker.unpackValue());
                }
            }
            return read;
        }
    }

    /** MessagePack's parser replaces what is not UTF-8, as if U+FFFD had been sent. */
    private static void checkTexts(Value value) {
        if (value.isStringValue()) {
            value.asStringValue().asString();
        } else if (value.isArrayValue()) {
            value.asArrayValue().forEach(JacksonCodec::checkTexts);
        } else if (value.isMapValue()) {
            value.asMapValue().keySet().forEach(JacksonCodec::checkTexts);
            value.asMapValue().values().forEach(JacksonCodec::checkTexts);
        }
    }

    /** MessagePack's parser throws where others return null. */
    private static boolean isAtEnd(JsonParser parser) throws IOException {
        try {
            return parser.nextToken() == null;
        } catch (JsonEOFException end) {
            return true;
        }
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
        return write(Map.of("error", text));
    }
}
