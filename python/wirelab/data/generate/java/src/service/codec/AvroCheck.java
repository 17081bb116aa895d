package service.codec;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import org.apache.avro.Schema;
import service.codec.Codec.Malformed;

/**
 * Passes over the values of a body. Refuses what the library accepts, such as a number that its field
 * cannot hold, and what would make it allocate or recurse without bound.
 */
final class AvroCheck {
    private static final int DEPTH_MAX = 100;

    /** Of a body's lists together: their number alone would fill the memory. */
    private static final int EMPTY_ITEMS_MAX = 1_000_000;

    private final ByteBuffer in;
    private int depth;
    private int emptyLeft = EMPTY_ITEMS_MAX;

    private AvroCheck(byte[] bytes) {
        in = ByteBuffer.wrap(bytes);
    }

    /** Sees that the bytes are one value. */
    static void check(byte[] bytes, Schema schema) throws Malformed {
        AvroCheck check = new AvroCheck(bytes);
        try {
            check.skip(schema);
        } catch (BufferUnderflowException error) {
            throw new Malformed("the message is cut off");
        }
        require(!check.in.hasRemaining(), "bytes follow the message");
    }

    /** A key of a map by the type that it has in the .proto; throws {@link IllegalArgumentException}. */
    static Object key(Schema map, String text) {
        String type = map.getProp(AvroCodec.KEYS);
        return type == null
                ? text
                : switch (type) {
                    case "bool" -> Texts.bool(text);
                    case "int32" -> Texts.int32(text);
                    case "uint32" -> Texts.unsigned32(text);
                    case "uint64" -> Texts.unsigned64(text);
                    default -> Texts.int64(text);
                };
    }

    private void skip(Schema schema) throws Malformed {
        switch (schema.getType()) {
            case RECORD, ARRAY, MAP -> skipNested(schema);
            case UNION -> skip(schema.getTypes().get(index(schema.getTypes().size())));
            case ENUM -> index(schema.getEnumSymbols().size());
            case NULL -> { }
            case BOOLEAN -> require((in.get() & ~1) == 0, "a boolean is neither 0 nor 1");
            case FLOAT -> in.getFloat();
            case DOUBLE -> in.getDouble();
            case INT -> {
                long number = number();
                require(number == (int) number, "a number is beyond 32 bits");
            }
            case LONG -> {
                long number = number();
                boolean is32 = "uint32".equals(schema.getProp("proto"));
                require(!is32 || number == (number & 0xffff_ffffL), "a number is beyond 32 bits");
            }
            case STRING, BYTES -> skipBytes();
            default -> throw new IllegalStateException("service.avsc has a type " + schema.getType());
        }
    }

    private void skipNested(Schema schema) throws Malformed {
        require(++depth <= DEPTH_MAX, "the message is nested more than " + DEPTH_MAX + " deep");
        if (schema.getType() == Schema.Type.RECORD) {
            for (Schema.Field field : schema.getFields()) {
                skip(field.schema());
            }
        } else {
            skipBlocks(schema);
        }
        depth--;
    }

    private void skipBlocks(Schema schema) throws Malformed {
        for (long count = number(); count != 0; count = number()) {
            if (count < 0) {
                number(); // the length of the block in bytes
            }
            // The least integer has no absolute value, so it counts up.
            for (long left = -Math.abs(count); left < 0; left++) {
                skipItem(schema);
            }
        }
    }

    private void skipItem(Schema schema) throws Malformed {
        int begun = in.position();
        if (schema.getType() == Schema.Type.MAP) {
            skipBytes();
            skip(schema.getValueType());
        } else {
            skip(schema.getElementType());
        }
        boolean isEmpty = in.position() == begun;
        require(!isEmpty || --emptyLeft >= 0, "more than " + EMPTY_ITEMS_MAX + " items have no bytes");
    }

    private void skipBytes() throws Malformed {
        long length = number();
        require(length >= 0 && length <= in.remaining(), "a length is beyond the end");
        in.position(in.position() + (int) length);
    }

    /** Of a branch or a symbol. */
    private int index(int count) throws Malformed {
        long index = number();
        require(index >= 0 && index < count, "the union or enum has no member " + index);
        return (int) index;
    }

    /** An integer: zigzag, seven bits a byte, least significant first. */
    private long number() throws Malformed {
        long zigzag = 0;
        for (int shift = 0; shift < Long.SIZE; shift += 7) {
            byte next = in.get();
            zigzag |= (next & 0x7fL) << shift;
            if (next >= 0) {
                require(shift < 63 || next <= 1, "a number is beyond 64 bits");
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
}
