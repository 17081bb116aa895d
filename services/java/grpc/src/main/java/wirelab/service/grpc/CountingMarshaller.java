package wirelab.service.grpc;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.Parser;
import io.grpc.KnownLength;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.io.IOException;
import java.io.InputStream;
import wirelab.service.protobuf.CountedItems;

/**
 * The library's way from bytes to a message, but that the items of lists are counted before. Both
 * parse an array that holds the whole message; what is too short to do harm goes the library's way.
 */
final class CountingMarshaller<M extends Message> implements MethodDescriptor.Marshaller<M> {
    private final MethodDescriptor.PrototypeMarshaller<M> library;
    private final M prototype;
    private final Parser<M> parser;

    @SuppressWarnings("unchecked") // a message's parser makes messages of its own class
    private CountingMarshaller(MethodDescriptor.PrototypeMarshaller<M> library) {
        this.library = library;
        prototype = library.getMessagePrototype();
        parser = (Parser<M>) prototype.getParserForType();
    }

    /** The method with its requests counted, where they have lists; otherwise as it is. */
    @SuppressWarnings("unchecked") // the generated methods' marshallers are all of messages
    static <Q, R> MethodDescriptor<Q, R> count(MethodDescriptor<Q, R> method) {
        MethodDescriptor.PrototypeMarshaller<? extends Message> library =
                (MethodDescriptor.PrototypeMarshaller<? extends Message>) method.getRequestMarshaller();
        if (!CountedItems.has(library.getMessagePrototype().getDescriptorForType())) {
            return method;
        }
        MethodDescriptor.Marshaller<Q> counting =
                (MethodDescriptor.Marshaller<Q>) new CountingMarshaller<>(library);
        return method.toBuilder(counting, method.getResponseMarshaller()).build();
    }

    @Override
    public InputStream stream(M message) {
        return library.stream(message);
    }

    @Override
    public M parse(InputStream stream) {
        try {
            if (stream instanceof KnownLength && stream.available() <= CountedItems.HARMLESS_BYTES) {
                return library.parse(stream);
            }
            byte[] bytes = stream.readAllBytes();
            CountedItems.check(prototype.getDescriptorForType(), bytes);
            return parser.parseFrom(bytes);
        } catch (InvalidProtocolBufferException error) {
            throw Status.INTERNAL.withDescription(error.getMessage()).withCause(error).asRuntimeException();
        } catch (IOException error) {
            throw Status.UNKNOWN.withDescription(error.getMessage()).withCause(error).asRuntimeException();
        }
    }
}
