package service.codec;

import contract.PlainOperation;

/** Codecs by their names; their libraries are loaded when they are used. */
public final class Codecs {
    private Codecs() {}

    /** The codec of that name. */
    public static Codec of(String name) {
        return switch (name) {
            case "json" -> JacksonCodec.json();
            case "protobuf" -> new ProtobufCodec();
            case "cbor" -> JacksonCodec.cbor();
            case "msgpack" -> JacksonCodec.msgpack();
            case "avro" -> new AvroCodec();
            case "xml", "soap-literal" -> new XmlCodec(PlainOperation.NAMESPACE, PlainOperation.ROOTS);
            default -> throw new IllegalArgumentException("no codec is named " + name);
        };
    }
}
