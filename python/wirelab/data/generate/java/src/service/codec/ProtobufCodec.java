package service.codec;

import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.Internal;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;

/** Protocol Buffers by their own library. */
public final class ProtobufCodec implements Codec {
    @Override
    public List<String> mediaTypes() {
        return List.of("application/x-protobuf");
    }

    @Override
    public Object read(byte[] bytes, Class<?> message) throws Malformed {
        try {
            return Internal.getDefaultInstance(message.asSubclass(Message.class)).getParserForType().parseFrom(bytes);
        } catch (InvalidProtocolBufferException error) {
            throw new Malformed(error);
        }
    }

    @Override
    public byte[] write(Object message) {
        return ((Message) message).toByteArray();
    }

    /** The message {@code { string error = 1; }}. */
    @Override
    public byte[] error(String text) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        CodedOutputStream out = CodedOutputStream.newInstance(bytes);
        try {
            out.writeString(1, text);
            out.flush();
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        return bytes.toByteArray();
    }
}
