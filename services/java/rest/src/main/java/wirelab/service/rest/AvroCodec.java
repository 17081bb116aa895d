package wirelab.service.rest;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.Decoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.reflect.ReflectData;
import org.apache.avro.reflect.ReflectDatumReader;
import org.apache.avro.reflect.ReflectDatumWriter;
import org.apache.avro.util.Utf8;
import wirelab.service.contract.Exchange;
import wirelab.service.contract.Exchanges;
import wirelab.service.contract.Lists;
import wirelab.service.contract.Model;
import wirelab.service.contract.message.ErrorMessage;

/** Avro by its own library, which reaches the fields of messages by reflection, and the contracts' schemas. */
final class AvroCodec implements Codec {
    private static final String MEDIA_TYPE = "application/avro";

    /** The record with an error's text. */
    private static final String ERROR = "Error";

    private static final char REPLACEMENT = '\ufffd';

    private final Map<Class<?>, Schema> schemas;
    private final Map<Class<?>, Reader> readers;
    private final Map<Class<?>, ReflectDatumWriter<Object>> writers;

    AvroCodec(Model model) {
        Map<String, Class<?>> classes = classes(model);
        ReflectData data = new ReflectData() {
            @Override
            public Class<?> getClass(Schema schema) {
                // By default, the class with the record's full name.
                return schema.getType() == Schema.Type.RECORD ? classes.get(schema.getName()) : super.getClass(schema);
            }
        };
        schemas = new HashMap<>();
        for (Schema record : schema(model.contract()).getTypes()) {
            schemas.put(classes.get(record.getName()), record);
        }
        readers = eachOf(schemas, schema -> new Reader(schema, data));
        writers = eachOf(schemas, schema -> new ReflectDatumWriter<>(schema, data));
    }

    /** The message classes of a contract by their names: those of its operations, and those within them. */
    private static Map<String, Class<?>> classes(Model model) {
        Map<String, Class<?>> classes = Exchanges.of(model).stream()
                .flatMap(exchange -> Stream.of(exchange.request().getEnclosingClass().getDeclaredClasses()))
                .distinct()
                .collect(Collectors.toMap(Class::getSimpleName, Function.identity()));
        classes.put(ERROR, ErrorMessage.class);
        return classes;
    }

    /** The union of a contract's records. */
    private static Schema schema(String contract) {
        try (InputStream committed = AvroCodec.class.getResourceAsStream("avro/" + contract + ".avsc")) {
            return new Schema.Parser().parse(committed);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    private static <T> Map<Class<?>, T> eachOf(Map<Class<?>, Schema> schemas, Function<Schema, T> made) {
        return schemas.entrySet().stream()
                .collect(Collectors.toMap(Map.Entry::getKey, entry -> made.apply(entry.getValue())));
    }

    /** Reads bytes as an array, and refuses a text that is not UTF-8, in which the library replaces what is none. */
    private static final class Reader extends ReflectDatumReader<Object> {
        Reader(Schema schema, ReflectData data) {
            super(schema, schema, data);
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

    @Override
    public String contentType() {
        return MEDIA_TYPE;
    }

    @Override
    public List<String> mediaTypes() {
        return List.of(MEDIA_TYPE);
    }

    @Override
    public List<Exchange<?, ?>> exchanges(Model model) {
        return Exchanges.of(model);
    }

    @Override
    public Object read(byte[] bytes, Class<?> message) throws Malformed {
        try {
            ByteBuffer rest = ByteBuffer.wrap(bytes);
            skip(schemas.get(message), rest);
            require(!rest.hasRemaining(), "bytes follow the message");
            return readers.get(message).read(null, DecoderFactory.get().binaryDecoder(bytes, null));
        } catch (BufferUnderflowException error) {
            throw new Malformed("the message is cut off");
        } catch (IOException | AvroRuntimeException error) {
            throw new Malformed(error);
        }
    }

    /**
     * Passes over a value. Refuses what the library accepts, such as a number that its field cannot hold, and
     * what would make it allocate without bound.
     */
    private static void skip(Schema schema, ByteBuffer in) throws Malformed {
        switch (schema.getType()) {
            case RECORD -> {
                for (Schema.Field field : schema.getFields()) {
                    skip(field.schema(), in);
                }
            }
            case ARRAY -> skipBlocks(schema.getElementType(), in);
            case BOOLEAN -> require((in.get() & ~1) == 0, "a boolean is neither 0 nor 1");
            case DOUBLE -> in.getDouble();
            case LONG -> number(in);
            case INT -> {
                long number = number(in);
                require(number == (int) number, "a number is beyond 32 bits");
            }
            case STRING, BYTES -> {
                long length = number(in);
                require(length >= 0 && length <= in.remaining(), "a length is beyond the end");
                in.position(in.position() + (int) length);
            }
            default -> throw new IllegalStateException("contracts/avro has no " + schema.getType());
        }
    }

    private static void skipBlocks(Schema item, ByteBuffer in) throws Malformed {
        long left = Lists.ITEMS_MAX;
        for (long count = number(in); count != 0; count = number(in)) {
            if (count < 0) {
                number(in); // the length of the block in bytes
            }
            // The least integer has no absolute value.
            long items = Math.abs(count);
            require(items >= 0 && items <= left, Lists.TOO_MANY);
            left -= items;
            for (long i = 0; i < items; i++) {
                skip(item, in);
            }
        }
    }

    /** An integer: zigzag, seven bits a byte, least significant first. */
    private static long number(ByteBuffer in) throws Malformed {
        long zigzag = 0;
        for (int shift = 0; shift < Long.SIZE; shift += 7) {
            byte next = in.get();
            zigzag |= (next & 0x7fL) << shift;
            if (next >= 0) {
                return (zigzag >>> 1) ^ -(zigzag & 1);
            }
        }
        throw new Malformed("a number is beyond 64 bits");
    }

    private static void require(boolean holds, String otherwise) throws Malformed {
        if (!holds) {
            throw new Malformed(otherwise);
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

    @Override
    public byte[] error(String text) {
        return write(new ErrorMessage(text));
    }
}
