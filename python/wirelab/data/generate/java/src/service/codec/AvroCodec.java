package service.codec;

import contract.AvroTypes;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.Decoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.Encoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.io.ResolvingDecoder;
import org.apache.avro.reflect.ReflectData;
import org.apache.avro.reflect.ReflectDatumReader;
import org.apache.avro.reflect.ReflectDatumWriter;
import org.apache.avro.util.Utf8;

/** Avro by its own library, which reaches the fields of messages by reflection, and the contract's schema. */
final class AvroCodec implements Codec {
    /** Property of a map whose keys are not text in the .proto; its type of keys. */
    static final String KEYS = "protoKeys";

    private static final String SCHEMA = "/service.avsc";
    private static final String DURATION = "google.protobuf.Duration";
    private static final String TIMESTAMP = "google.protobuf.Timestamp";
    private static final char REPLACEMENT = '\ufffd';
    private static final int NANOS = 1_000_000_000;

    private final Map<Class<?>, Schema> schemas = new HashMap<>();
    private final Map<Class<?>, Reader> readers = new HashMap<>();
    private final Map<Class<?>, Writer> writers = new HashMap<>();

    AvroCodec() {
        Data data = new Data();
        for (Schema record : schema().getTypes()) {
            Class<?> message = AvroTypes.BY_NAME.get(record.getFullName());
            schemas.put(message, record);
            readers.put(message, new Reader(record, data));
            writers.put(message, new Writer(record, data));
        }
    }

    /** The union of the records of request and reply. */
    private static Schema schema() {
        try (InputStream file = AvroCodec.class.getResourceAsStream(SCHEMA)) {
            return new Schema.Parser().parse(file);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    /** Classes and constants by the names of the .proto. */
    private static final class Data extends ReflectData {
        private final Map<String, Class<?>> classes = new HashMap<>(AvroTypes.BY_NAME);
        private final Map<String, Map<String, Object>> constants = new HashMap<>();

        Data() {
            classes.put(TIMESTAMP, Instant.class);
            classes.put(DURATION, Duration.class);
            AvroTypes.BY_NAME.forEach((name, type) -> {
                if (type.isEnum()) {
                    constants.put(name, Stream.of(type.getEnumConstants())
                            .collect(Collectors.toMap(Object::toString, constant -> constant)));
                }
            });
        }

        @Override
        public Class<?> getClass(Schema schema) {
            return switch (schema.getType()) {
                case RECORD, ENUM -> classes.get(schema.getFullName());
                default -> super.getClass(schema);
            };
        }

        @Override
        public Object createEnum(String symbol, Schema schema) {
            return constants.get(schema.getFullName()).get(symbol);
        }
    }

    /** Refuses a text that is not UTF-8, in which the library replaces what is none. */
    private static final class Reader extends ReflectDatumReader<Object> {
        Reader(Schema schema, ReflectData data) {
            super(schema, schema, data);
        }

        @Override
        protected Object readRecord(Object old, Schema schema, ResolvingDecoder in) throws IOException {
            return switch (schema.getFullName()) {
                case TIMESTAMP -> Instant.ofEpochSecond(in.readLong(), in.readInt());
                case DURATION -> Duration.ofSeconds(in.readLong(), in.readInt());
                default -> super.readRecord(old, schema, in);
            };
        }

        @Override
        protected Object newArray(Object old, int size, Schema schema) {
            return new ArrayList<>(size);
        }

        @Override
        protected Object newMap(Object old, int size) {
            return new LinkedHashMap<>();
        }

        @Override
        protected Object readMapKey(Object old, Schema schema, Decoder in) throws IOException {
            String key = (String) readString(old, in);
            return AvroCheck.key(schema, key);
        }

        @Override
        protected Object readBytes(Object old, Schema schema, Decoder in) throws IOException {
            ByteBuffer bytes = in.readBytes(null);
            byte[] array = new byte[bytes.remaining()];
            bytes.get(array);
            return array;
        }

        @Override
        protected Object readString(Object old, Decoder in) throws IOException {
            Utf8 bytes = in.readString(null);
            String text = bytes.toString();
            if (text.indexOf(REPLACEMENT) >= 0) {
                StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes.getBytes(), 0, bytes.getByteLength()));
            }
            return text;
        }
    }

    /** All unions are those of null and another type. */
    private static final class Writer extends ReflectDatumWriter<Object> {
        Writer(Schema schema, ReflectData data) {
            super(schema, data);
        }

        @Override
        protected int resolveUnion(Schema union, Object value) {
            return value == null ? 0 : 1;
        }

        @Override
        protected void writeRecord(Schema schema, Object value, Encoder out) throws IOException {
            if (value instanceof Instant instant) {
                out.writeLong(instant.getEpochSecond());
                out.writeInt(instant.getNano());
            } else if (value instanceof Duration length) {
                // Java's nanoseconds are never negative.
                boolean borrowed = length.isNegative() && length.getNano() > 0;
                out.writeLong(length.getSeconds() + (borrowed ? 1 : 0));
                out.writeInt(length.getNano() - (borrowed ? NANOS : 0));
            } else {
                super.writeRecord(schema, value, out);
            }
        }

        @Override
        protected void writeMap(Schema schema, Object value, Encoder out) throws IOException {
            if (!"uint64".equals(schema.getProp(KEYS))) {
                super.writeMap(schema, value, out);
                return;
            }
            Map<String, Object> texts = new LinkedHashMap<>();
            ((Map<?, ?>) value).forEach((key, item) -> texts.put(Long.toUnsignedString((Long) key), item));
            super.writeMap(schema, texts, out);
        }
    }

    @Override
    public List<String> mediaTypes() {
        return List.of("application/avro");
    }

    @Override
    public Object read(byte[] bytes, Class<?> message) throws Malformed {
        AvroCheck.check(bytes, schemas.get(message));
        try {
            return readers.get(message).read(null, DecoderFactory.get().binaryDecoder(bytes, null));
        } catch (IOException | AvroRuntimeException | IllegalArgumentException | DateTimeException
                | ArithmeticException error) {
            throw new Malformed(error);
        }
    }

    @Override
    public byte[] write(Object message) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            BinaryEncoder out = EncoderFactory.get().binaryEncoder(bytes, null);
            writers.get(message.getClass()).write(message, out);
            out.flush();
        } catch (IOException error) {
            throw new UncheckedIOException("a reply that cannot be written", error);
        }
        return bytes.toByteArray();
    }

    /** A record with one text. */
    @Override
    public byte[] error(String text) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            BinaryEncoder out = EncoderFactory.get().binaryEncoder(bytes, null);
            out.writeString(text);
            out.flush();
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        return bytes.toByteArray();
    }
}
