package service.grpc;

import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.InputStream;

/** The library's marshaller; bytes that are not a message are the caller's fault, INVALID_ARGUMENT. */
record StrictMarshaller<M>(MethodDescriptor.Marshaller<M> library) implements MethodDescriptor.Marshaller<M> {
    static <Q, R> MethodDescriptor<Q, R> apply(MethodDescriptor<Q, R> method) {
        return method.toBuilder(new StrictMarshaller<>(method.getRequestMarshaller()), method.getResponseMarshaller())
                .build();
    }

    @Override
    public InputStream stream(M message) {
        return library.stream(message);
    }

    @Override
    public M parse(InputStream stream) {
        try {
            return library.parse(stream);
        } catch (StatusRuntimeException error) {
            if (error.getStatus().getCode() == Status.Code.INTERNAL) {
                throw Status.INVALID_ARGUMENT.withDescription(error.getStatus().getDescription()).asRuntimeException();
            }
            throw error;
        }
    }
}
