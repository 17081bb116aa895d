package wirelab.service.rest;

import wirelab.service.Coded;

/** A reply and its codec. */
record CodedReply(Codec codec, Class<?> type, Object reply) implements Coded {
    /** A copy by way of its bytes: messages of Protocol Buffers keep the size that they once had to compute. */
    @Override
    public Object message() throws Codec.Malformed {
        return codec.read(codec.write(reply), type);
    }

    @Override
    public byte[] encode(Object message) {
        return codec.write(message);
    }

    @Override
    public Object decode(byte[] bytes) throws Codec.Malformed {
        return codec.read(bytes, type);
    }
}
