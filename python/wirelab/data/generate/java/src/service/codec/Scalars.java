package service.codec;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.KeyDeserializer;
import com.fasterxml.jackson.databind.Module;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.deser.std.StdScalarDeserializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import java.io.IOException;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;

/** Scalars that Jackson does not read as strictly as the contract, or does not know. */
public final class Scalars {
    /** The attribute of a reading that notes whether a text has U+FFFD. */
    static final String REPLACED = "replaced";

    private static final char REPLACEMENT = '\ufffd';

    private Scalars() {}

    /** For JSON: integers of 64 bits may be texts of digits. */
    static Module ofText() {
        return common(new SimpleModule("text"))
                .addDeserializer(long.class, new Only<>(long.class, Scalars::int64OrText))
                .addDeserializer(Long.class, new Only<>(Long.class, Scalars::int64OrText));
    }

    /**
     * For binary formats: texts and bytes by their own types, for Jackson would take either for the
     * other, in base64; integers within their range, which MessagePack's parser cuts off.
     */
    static Module ofBinary() {
        return common(new SimpleModule("binary"))
                .addDeserializer(int.class, new Only<>(int.class, Scalars::int32))
                .addDeserializer(Integer.class, new Only<>(Integer.class, Scalars::int32))
                .addDeserializer(long.class, new Only<>(long.class, Scalars::int64))
                .addDeserializer(Long.class, new Only<>(Long.class, Scalars::int64))
                .addDeserializer(String.class, new Only<>(String.class, Scalars::text))
                .addDeserializer(byte[].class, new Only<>(byte[].class, Scalars::bytes));
    }

    private static SimpleModule common(SimpleModule module) {
        return module
                .addKeySerializer(Integer.class, new TextKey())
                .addKeySerializer(Long.class, new TextKey())
                .addDeserializer(Instant.class, new Only<>(Instant.class, parser -> Texts.instant(text(parser))))
                .addSerializer(Instant.class, new Written<>(Texts::write))
                .addDeserializer(Duration.class, new Only<>(Duration.class, parser -> Texts.duration(text(parser))))
                .addSerializer(Duration.class, new Written<>(Texts::write));
    }

    private interface Reader<T> {
        T read(JsonParser parser) throws IOException;
    }

    private interface Writer<T> {
        String write(T value);
    }

    private static void expect(JsonParser parser, JsonToken token) throws IOException {
        if (!parser.hasToken(token)) {
            throw new JsonParseException(parser, "another type than the field's");
        }
    }

    private static int int32(JsonParser parser) throws IOException {
        long number = int64(parser);
        if (number != (int) number) {
            throw new JsonParseException(parser, "a number is beyond 32 bits");
        }
        return (int) number;
    }

    private static long int64(JsonParser parser) throws IOException {
        expect(parser, JsonToken.VALUE_NUMBER_INT);
        if (parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
            throw new JsonParseException(parser, "a number is beyond 64 bits");
        }
        return parser.getLongValue();
    }

    private static long int64OrText(JsonParser parser) throws IOException {
        return parser.hasToken(JsonToken.VALUE_STRING) ? Texts.int64(parser.getText()) : int64(parser);
    }

    private static long unsigned64(JsonParser parser) throws IOException {
        if (parser.hasToken(JsonToken.VALUE_STRING) && isJson(parser)) {
            return Texts.unsigned64(parser.getText());
        }
        expect(parser, JsonToken.VALUE_NUMBER_INT);
        if (parser.getNumberType() != JsonParser.NumberType.BIG_INTEGER) {
            long number = parser.getLongValue();
            if (number < 0) {
                throw new JsonParseException(parser, "a negative number");
            }
            return number;
        }
        BigInteger number = parser.getBigIntegerValue();
        if (number.signum() < 0 || number.bitLength() > Long.SIZE) {
            throw new JsonParseException(parser, "a number is beyond 64 bits");
        }
        return number.longValue();
    }

    private static boolean isJson(JsonParser parser) {
        return parser.getCodec().getFactory().getFormatName().equals("JSON");
    }

    private static String text(JsonParser parser) throws IOException {
        expect(parser, JsonToken.VALUE_STRING);
        return parser.getText();
    }

    private static byte[] bytes(JsonParser parser) throws IOException {
        expect(parser, JsonToken.VALUE_EMBEDDED_OBJECT);
        return parser.getBinaryValue();
    }

    /** Reads one type. */
    private static class Only<T> extends StdScalarDeserializer<T> {
        private static final long serialVersionUID = 1L;

        private final transient Reader<T> reader;

        Only(Class<T> type, Reader<T> reader) {
            super(type);
            this.reader = reader;
        }

        @Override
        public T deserialize(JsonParser parser, DeserializationContext context) throws IOException {
            T read = reader.read(parser);
            if (read instanceof String text && text.indexOf(REPLACEMENT) >= 0) {
                ((boolean[]) context.getAttribute(REPLACED))[0] = true;
            }
            return read;
        }
    }

    /** Writes one type as text. */
    private static final class Written<T> extends JsonSerializer<T> {
        private final Writer<T> writer;

        Written(Writer<T> writer) {
            this.writer = writer;
        }

        @Override
        public void serialize(T value, JsonGenerator out, SerializerProvider provider) throws IOException {
            out.writeString(writer.write(value));
        }
    }

    /** Writes a number that is a map's key as text; CBOR would have the number. */
    private static final class TextKey extends JsonSerializer<Object> {
        @Override
        public void serialize(Object key, JsonGenerator out, SerializerProvider provider) throws IOException {
            out.writeFieldName(key.toString());
        }
    }

    /** uint32 and fixed32, as a long. */
    public static final class ReadUnsigned32 extends JsonDeserializer<Long> {
        @Override
        public Long deserialize(JsonParser parser, DeserializationContext context) throws IOException {
            return Texts.unsigned32(int64(parser));
        }
    }

    /** uint64 and fixed64, as the bits of a long. */
    public static final class ReadUnsigned64 extends JsonDeserializer<Long> {
        @Override
        public Long deserialize(JsonParser parser, DeserializationContext context) throws IOException {
            return unsigned64(parser);
        }
    }

    /** As above. */
    public static final class WriteUnsigned64 extends JsonSerializer<Long> {
        @Override
        public void serialize(Long value, JsonGenerator out, SerializerProvider provider) throws IOException {
            if (value >= 0) {
                out.writeNumber(value.longValue());
            } else {
                out.writeNumber(new BigInteger(Long.toUnsignedString(value)));
            }
        }
    }

    /** Keys of maps, which are texts in every format. */
    public static final class KeyUnsigned32 extends KeyDeserializer {
        @Override
        public Object deserializeKey(String key, DeserializationContext context) {
            return Texts.unsigned32(key);
        }
    }

    /** As above. */
    public static final class KeyUnsigned64 extends KeyDeserializer {
        @Override
        public Object deserializeKey(String key, DeserializationContext context) {
            return Texts.unsigned64(key);
        }
    }

    /** As above. */
    public static final class WriteKeyUnsigned64 extends JsonSerializer<Long> {
        @Override
        public void serialize(Long key, JsonGenerator out, SerializerProvider provider) throws IOException {
            out.writeFieldName(Long.toUnsignedString(key));
        }
    }
}
