package wirelab.service.rest;

import com.google.protobuf.Internal;
import com.google.protobuf.Message;
import java.io.IOException;
import java.util.List;
import wirelab.service.contract.Exchange;
import wirelab.service.contract.Model;
import wirelab.service.protobuf.CountedItems;
import wirelab.service.protobuf.ErrorMessage;
import wirelab.service.protobuf.ProtobufExchanges;

/** Protocol Buffers by their own library. */
final class ProtobufCodec implements Codec {
    @Override
    public String contentType() {
        return "application/x-protobuf";
    }

    @Override
    public List<String> mediaTypes() {
        return List.of("application/x-protobuf");
    }

    @Override
    public List<Exchange<? extends Message, ? extends Message>> exchanges(Model model) {
        return ProtobufExchanges.of(model);
    }

    @Override
    public Object read(byte[] bytes, Class<?> message) throws Malformed {
        try {
            Message prototype = Internal.getDefaultInstance(message.asSubclass(Message.class));
            CountedItems.check(prototype.getDescriptorForType(), bytes);
            return prototype.getParserForType().parseFrom(bytes);
        } catch (IOException error) {
            throw new Malformed(error);
        }
    }

    @Override
    public byte[] write(Object message) {
        return ((Message) message).toByteArray();
    }

    @Override
    public byte[] error(String text) {
        return ErrorMessage.of(text);
    }
}
