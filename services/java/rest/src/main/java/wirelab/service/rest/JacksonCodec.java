package wirelab.service.rest;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.io.JsonEOFException;
import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.Module;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.deser.std.StdScalarDeserializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.util.List;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePackException;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.value.Value;
import wirelab.service.contract.Exchange;
import wirelab.service.contract.Exchanges;
import wirelab.service.contract.Model;
import wirelab.service.contract.message.ErrorMessage;
import wirelab.service.contract.message.StrictJackson;

/**
 * JSON, CBOR (RFC 8949) and MessagePack by Jackson. The options are stricter than Jackson's
 * defaults, which accept {@code "5"} and {@code 1.5} as integers.
 */
final class JacksonCodec implements Codec {
    private static final String JSON = "application/json";
    private static final String MSGPACK = "application/vnd.msgpack";
    private static final char REPLACEMENT = '\ufffd';

    /** The attribute of a reading that notes whether a text holds U+FFFD. */
    private static final String REPLACED = "replaced";

    private static final MessagePack.UnpackerConfig STRICT =
            new MessagePack.UnpackerConfig().withActionOnMalformedString(CodingErrorAction.REPORT);

    private final String mediaType;
    private final ObjectMapper mapper;

    JacksonCodec(String mediaType, JsonFactory format) {
        this.mediaType = mediaType;
        boolean text = mediaType.equals(JSON);
        mapper = StrictJackson.builder(format)
                // MessagePack's parser takes the end of the bytes for a mistake; see read().
                .configure(DeserializationFeature.FAIL_ON_TRAILING_TOKENS, text)
                .addModules(text ? List.of() : List.of(strictly()))
                .build();
    }

    /**
     * Texts and bytes by their own types, for Jackson would take either for the other, in base64;
     * integers within their range, which MessagePack's parser cuts off.
     */
    private static Module strictly() {
        return new SimpleModule()
                .addDeserializer(int.class, new Only<>(int.class, JsonToken.VALUE_NUMBER_INT, JacksonCodec::int32))
                .addDeserializer(long.class, new Only<>(long.class, JsonToken.VALUE_NUMBER_INT, JacksonCodec::int64))
                .addDeserializer(String.class, new Only<>(String.class, JsonToken.VALUE_STRING, JsonParser::getText))
                .addDeserializer(byte[].class, new Only<>(
                        byte[].class, JsonToken.VALUE_EMBEDDED_OBJECT, JsonParser::getBinaryValue));
    }

    private static int int32(JsonParser parser) throws IOException {
        long number = int64(parser);
        if (number != (int) number) {
            throw new JsonParseException(parser, "a number is beyond 32 bits");
        }
        return (int) number;
    }

    private static long int64(JsonParser parser) throws IOException {
        if (parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
            throw new JsonParseException(parser, "a number is beyond 64 bits");
        }
        return parser.getLongValue();
    }

    private interface Reader<T> {
        T read(JsonParser parser) throws IOException;
    }

    /** Reads one type from one kind of token. */
    private static final class Only<T> extends StdScalarDeserializer<T> {
        private static final long serialVersionUID = 1L;

        private final JsonToken token;
        private final transient Reader<T> reader;

        Only(Class<T> type, JsonToken token, Reader<T> reader) {
            super(type);
            this.token = token;
            this.reader = reader;
        }

        @Override
        public T deserialize(JsonParser parser, DeserializationContext context) throws IOException {
            if (!parser.hasToken(token)) {
                throw context.wrongTokenException(parser, handledType(), token, "another type than the field's");
            }
            T read = reader.read(parser);
            if (read instanceof String text && text.indexOf(REPLACEMENT) >= 0) {
                ((boolean[]) context.getAttribute(REPLACED))[0] = true;
            }
            return read;
        }
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
            Object read = mediaType.equals(JSON) ? mapper.readValue(StrictJackson.text(bytes), message) : whole(bytes, message);
            if (read == null) {
                throw new Malformed("null is not a " + message.getSimpleName());
            }
            return read;
        } catch (CharacterCodingException error) {
            throw new Malformed("the body is not UTF-8");
        } catch (IOException | MessagePackException error) {
            throw new Malformed(error);
        }
    }

    private Object whole(byte[] bytes, Class<?> message) throws IOException, Malformed {
        boolean[] replaced = {false};
        try (JsonParser parser = mapper.createParser(bytes)) {
            Object read = mapper.readerFor(message).withAttribute(REPLACED, replaced).readValue(parser);
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
        return write(new ErrorMessage(text));
    }
}
